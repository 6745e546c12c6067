// Timer: when a live row becomes overdue. An index derived from rows: in memory a heap, on disk the table `timers`,
// whose keys are
//
//   timer key := deadline, 8 bytes, highest first, sign bit flipped | key of the row
//
// so that they compare as (deadline, key). Thread rule: plain value.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "codec/keys.h"
#include "model/ids.h"

namespace reseq::store {

struct Timer {
  UnixMs deadline;
  std::string_view key;
  friend auto operator<=>(const Timer&, const Timer&) = default;
};

void append_timer_key(const Timer& timer, std::string& out);
// A view into `bytes`; none when they are no key of a timer.
[[nodiscard]] std::optional<Timer> parse_timer_key(std::string_view bytes);

}  // namespace reseq::store
