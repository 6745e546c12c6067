// Upkeep: what is done beside the writing. Now and then it tends the store; and while nothing is written it asks
// whether the server is still there, because then nobody else would notice that it is gone, or back.
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
  // `begins_reading`: the reader asks where its partitions begin, and tells of it. REQUIRES: all of them outlive it;
  // the store is used by nobody else.
  Upkeep(RemoteStore& store, Lanes& lanes, const std::atomic<bool>& begins_reading, Tally& tally,
         std::chrono::milliseconds tend_interval)
      : store_(store), lanes_(lanes), begins_reading_(begins_reading), tally_(tally), tend_interval_(tend_interval) {}

  // Until the lanes stop.
  void run();
  // One question, and what the answer says of the server. What writers and the reader find out counts more: while they
  // are at it nothing is asked.
  void ask();
  // The program ends: what the store waits for is given up, and is no trouble.
  void interrupt();

 private:
  [[nodiscard]] bool is_idle() const { return !interrupted_ && !begins_reading_ && !lanes_.oldest(); }
  void tend();

  RemoteStore& store_;
  Lanes& lanes_;
  const std::atomic<bool>& begins_reading_;
  Tally& tally_;
  const std::chrono::milliseconds tend_interval_;
  std::atomic<bool> interrupted_ = false;
};

}  // namespace reseq::remote
