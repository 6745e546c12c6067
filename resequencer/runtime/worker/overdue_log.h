// OverdueLog: when the log tells of documents that became overdue. Of the first at once, then of all since, at most
// once a minute: a pipeline that is down makes every document overdue.
// Thread rule: one worker.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "model/ids.h"

namespace reseq::runtime {

class OverdueLog {
 public:
  static constexpr Milliseconds kRepeat{60'000};

  // `reported`: documents since the start. To be called often; tells how many to log now, if any.
  // REQUIRES: neither time nor count falls.
  [[nodiscard]] std::optional<std::uint64_t> look(Milliseconds now, std::uint64_t reported) {
    if (reported == told_ || (told_at_ && now.value() - told_at_->value() < kRepeat.value())) return std::nullopt;
    told_at_ = now;
    return reported - std::exchange(told_, reported);
  }

 private:
  std::optional<Milliseconds> told_at_;
  std::uint64_t told_ = 0;
};

}  // namespace reseq::runtime
