// InputFence: how far the inputs had been written when it was asked, so that what is due is judged behind everything
// that was there before its time came.
// Thread rule: one worker.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "engine/gate.h"
#include "model/partition_state.h"

namespace reseq::runtime {

class InputFence {
 public:
  void reset() { ends_.reset(); }
  // Of kInputs, asked at that time.
  void set(const std::array<Offset, 3>& ends, UnixMs asked_at) { ends_ = Ends{ends, asked_at}; }

  // The ends have to be asked before what is due at `at` can be done.
  [[nodiscard]] bool lacks(UnixMs at) const { return !ends_ || ends_->asked_at < at; }
  // What is due until then can be done, with the inputs decided up to `positions` (of kInputs). None: nothing can.
  [[nodiscard]] std::optional<UnixMs> until(const engine::Fence& fence, const std::vector<InputPosition>& positions,
                                            UnixMs now) const {
    if (fence.open()) return now;
    if (!ends_) return std::nullopt;
    for (std::size_t i = 0; i < positions.size(); ++i)
      if (stands_behind(fence, positions[i].role) && positions[i].next < ends_->offsets[i]) return std::nullopt;
    return std::min(now, ends_->asked_at);
  }

 private:
  struct Ends {
    std::array<Offset, 3> offsets;
    UnixMs asked_at;
  };
  [[nodiscard]] static bool stands_behind(const engine::Fence& fence, Role role) {
    return role == Role::kRequests ? fence.requests : role == Role::kControl ? fence.control : fence.commands;
  }
  std::optional<Ends> ends_;
};

}  // namespace reseq::runtime
