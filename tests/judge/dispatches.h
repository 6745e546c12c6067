// Dispatches: what the journal of a partition sends to `work`, in any batch: never more documents under way than
// in_flight_max, a newer order of a document never beside an older one that was there before (one_at_a_time),
// attempts of an order one by one, none twice for a target, each behind the lease of the one before, and no order given
// up before its last attempt.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "config/settings.h"
#include "tests/judge/replay.h"
#include "tests/judge/verdict.h"

namespace reseq::judge {

class Dispatches {
 public:
  Dispatches(const config::Settings& settings, Partition partition, Verdict& verdict)
      : settings_(settings), partition_(partition), verdict_(verdict) {}

  // The batches of one partition, in their order.
  void take(const ReplayedBatch& batch);

 private:
  struct Attempts {
    std::uint32_t last = 0;
    UnixMs at;  // of the last, or of its last heartbeat
  };

  void take_heartbeat(const Record& record);
  void take_dispatched(const Dispatched& dispatched);
  void take_given_up(const GivenUp& given_up);
  void check_one_at_a_time(const Journaled& journaled);
  void wrong(const std::string& what);

  const config::Settings& settings_;
  Partition partition_;
  Verdict& verdict_;
  UnixMs now_;     // of the batch
  UnixMs latest_;  // of all until now: a clock may be behind that of the owner before
  // By document in its present life, order and target.
  std::map<std::string, std::map<Order, std::map<std::string, Attempts>>> attempts_;
  std::map<Offset, std::pair<std::string, Order>> by_request_;  // of what was dispatched
};

}  // namespace reseq::judge
