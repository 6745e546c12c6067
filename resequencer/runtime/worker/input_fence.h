// InputFence: how far the inputs had been written when it was asked, so that what is due is judged behind everything
// that was there before its time came. For each input the end that was asked stands until it has been read to: who
// asks again in the meantime would otherwise wait for what is written since, again and again. But a log may have lost
// its end since (an unclean election), and nobody would ever read to where that was: so it is looked at again.
// Thread rule: one worker.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

#include "engine/gate.h"
#include "model/partition_state.h"
#include "runtime/application/inputs.h"

namespace reseq::runtime {

class InputFence {
 public:
  using Offsets = std::array<Offset, kInputs.size()>;  // by kInputs; of positions, the next to decide

  static constexpr Milliseconds kLookAgain{10'000};

  void reset() {
    asked_ = {};
    told_at_.reset();
  }
  // Their ends, as they were told at that time. What was asked by a clock that was ahead says nothing.
  void set(const Offsets& ends, const Offsets& positions, UnixMs at) {
    told_at_ = at;
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      std::optional<Asked>& asked = asked_[i];
      if (!asked || asked->at > at)
        asked = Asked{ends[i], at, std::nullopt};
      else if (positions[i] >= asked->end)
        asked = Asked{ends[i], at, asked->at};
      else if (ends[i] < asked->end)
        asked->end = ends[i];
    }
  }

  // Ends have to be asked now before what is due at `at` can be done, and to ask would help.
  [[nodiscard]] bool lacks(const engine::Fence& fence, const Offsets& positions, UnixMs at, UnixMs now) const {
    const bool look_again = told_at_ && std::abs(now.value() - told_at_->value()) >= kLookAgain.value();
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      if (!stands_behind(fence, kInputs[i])) continue;
      if (!asked_[i] || asked_[i]->at > now) return true;
      if (positions[i] >= asked_[i]->end ? asked_[i]->at < at : look_again) return true;
    }
    return false;
  }
  // What is due until then can be done, with the inputs decided up to `positions`. None: nothing can.
  [[nodiscard]] std::optional<UnixMs> until(const engine::Fence& fence, const Offsets& positions, UnixMs now) const {
    UnixMs until = now;
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      if (!stands_behind(fence, kInputs[i])) continue;
      const std::optional<Asked>& asked = asked_[i];
      if (!asked || asked->at > now) return std::nullopt;
      const auto read = positions[i] >= asked->end ? std::optional(asked->at) : asked->before;
      if (!read) return std::nullopt;
      until = std::min(until, *read);
    }
    return until;
  }

 private:
  struct Asked {
    Offset end;
    UnixMs at;
    std::optional<UnixMs> before;  // when the end was asked that has been read to
  };
  [[nodiscard]] static bool stands_behind(const engine::Fence& fence, Role role) {
    return role == Role::kRequests ? fence.requests : role == Role::kControl ? fence.control : fence.commands;
  }
  std::array<std::optional<Asked>, kInputs.size()> asked_;
  std::optional<UnixMs> told_at_;  // when they were told last
};

}  // namespace reseq::runtime
