// References: records that a gate holds by their place in `requests`, as far as they have been read again. What they
// say, the engine does not see; a batch that is decided again has to find the same of them.
// Thread rule: one thread.
#pragma once

#include <cstdint>

#include "codec/held_rows.h"

namespace reseq::engine {

class References {
 public:
  enum class Found : std::uint8_t {
    kUnread,  // nothing that would need it can be done yet
    kRead,
    kGone,        // it is not in the log any more, or another record is in its place
    kUnreadable,  // that was tried, and may pass: what is behind it need not wait for it
  };
  virtual ~References() = default;
  // REQUIRES: held.reference.
  [[nodiscard]] virtual Found find(const codec::HeldRow& held) = 0;
};

}  // namespace reseq::engine
