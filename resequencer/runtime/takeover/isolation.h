// Isolation: whether a partition shares transactions with the others of its worker, and when it may try again.
//
//   what happens                                              alone   waits
//   its third shared transaction since its last commit aborts yes     no
//   a transaction of its own aborts                           yes     longer each time
//   a transaction with it commits                             no      no
//
// So what one partition cannot get rid of costs the others a few aborts, however long it lasts.
// Thread rule: the worker that owns the partition.
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/ids.h"

namespace reseq::runtime {

class Isolation {
 public:
  static constexpr unsigned kSharedAborts = 3;
  static constexpr Milliseconds kWait{400};
  static constexpr Milliseconds kWaitMax{10'000};

  // Its transactions hold nothing else.
  [[nodiscard]] bool alone() const { return alone_; }
  // It is neither read nor decided.
  [[nodiscard]] bool waits(Milliseconds now) const { return alone_ && now < until_; }

  // A transaction of its own was aborted, and none committed since.
  [[nodiscard]] bool aborted() const { return aborts_ > 0; }

  // It may be the cause of what happened to a shared transaction.
  void suspect() { alone_ = true; }
  // Its shared transaction was aborted. Counted for each partition: in a catch-up the cause is not in all of them, and
  // those without it commit.
  void aborted_shared() { alone_ = ++shared_aborts_ >= kSharedAborts || alone_; }
  // A transaction of its own was aborted.
  void aborted(Milliseconds now) {
    alone_ = true;
    until_ = Milliseconds(now.value() + std::min(kWait.value() << std::min(aborts_, 5U), kWaitMax.value()));
    ++aborts_;
  }
  void committed() { *this = Isolation(); }

 private:
  bool alone_ = false;
  unsigned shared_aborts_ = 0;  // since the last commit
  unsigned aborts_ = 0;         // of transactions of its own, in a row
  Milliseconds until_;
};

}  // namespace reseq::runtime
