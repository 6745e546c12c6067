// MarkerPause: how long to gather after a commit before the next transaction begins. A commit returns when the
// coordinator has written that it will be; the markers in the logs, and the record that they are there, come after. A
// transaction that begins meanwhile is put off, and librdkafka asks again only after a fixed time (kPutOff), so a
// shorter pause is cheaper: what arrives in it goes along (docs/decisions/0093-pause-for-markers.md).
//
// What the coordinator has still to do is as much as it has done, a few times: the pause is a multiple of how long
// commits take here, and never longer than what it saves.
// Thread rule: one worker.
#pragma once

#include "model/ids.h"

namespace reseq::runtime {

class MarkerPause {
 public:
  // A commit was called and came back good at these times of the steady clock.
  void committed(Milliseconds called, Milliseconds returned);

  // Begin nothing before, unless a whole batch waits.
  [[nodiscard]] Milliseconds until() const { return until_; }

 private:
  std::int64_t commit_us_ = 0;  // average: the clock counts whole milliseconds, of which one commit is a part
  Milliseconds until_;
};

// After CONCURRENT_TRANSACTIONS librdkafka to 2.8 asks again after so long (rdkafka_txnmgr.c, AddPartitionsToTxn).
inline constexpr Milliseconds kPutOff{20};

}  // namespace reseq::runtime
