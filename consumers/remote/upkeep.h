// Upkeep: what is done beside the writing. Now and then it tends the store; and while nothing is written it asks whether
// the server is still there, because then nobody else would notice that it is gone.
// Thread rule: run() is the whole life of a thread; interrupt() by any.
#pragma once

#include <atomic>
#include <chrono>

#include "consumers/remote/lanes.h"
#include "consumers/remote/remote_store.h"
#include "consumers/remote/tally.h"

namespace reseq::remote {

inline constexpr std::chrono::milliseconds kAskEvery{5'000};

class Upkeep {
 public:
  // REQUIRES: all of them outlive it; the store is used by nobody else.
  Upkeep(RemoteStore& store, Lanes& lanes, Tally& tally, std::chrono::milliseconds tend_interval)
      : store_(store), lanes_(lanes), tally_(tally), tend_interval_(tend_interval) {}

  // Until the lanes stop.
  void run();
  // One question. What writers find out counts more: while something is written nothing is asked.
  void ask();
  // The program ends: what the store waits for is given up, and is no trouble.
  void interrupt();

 private:
  [[nodiscard]] bool is_idle() const { return lanes_.running() + lanes_.waiting() == 0; }
  // An error when there is nothing to write into, or no answer.
  Result<> look();
  void tend();

  RemoteStore& store_;
  Lanes& lanes_;
  Tally& tally_;
  const std::chrono::milliseconds tend_interval_;
  std::atomic<bool> interrupted_ = false;
  bool is_away_ = false;  // it has told so
};

}  // namespace reseq::remote
