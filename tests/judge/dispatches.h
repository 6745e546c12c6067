// Dispatches: what the journal of a partition sends to `work`, in any batch: never more documents under way than
// in_flight_max, a newer order of a document never beside an older one that was there before (one_at_a_time),
// attempts of an order one by one, none twice for a target, each behind the lease of the one before, no order given up
// before its last attempt, without leases none again that did not fail, for a target that cannot be reached one
// document at a time, and with markers one for each target that is given up.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "config/settings.h"
#include "tests/judge/replay.h"
#include "tests/judge/verdict.h"

namespace reseq::judge {

class Dispatches {
 public:
  Dispatches(const config::Settings& settings, Partition partition, Verdict& verdict);

  // The batches of one partition, in their order.
  void take(const ReplayedBatch& batch);

 private:
  struct Attempts {
    std::uint32_t last = 0;
    UnixMs at;            // of the last, or of its last heartbeat
    bool failed = false;  // the last: its lease is over
    bool said = false;    // that some attempt failed
    bool undone = false;  // the last: who failed says that nothing was done
    Offset request;
    std::int64_t failures = 0;  // in all, that count
  };

  void take_command(const Decided& one);
  void check_markers(const ReplayedBatch& batch);
  void check_down(const ReplayedBatch& batch);
  void take_failure(Attempts& attempts, bool is_retry, const std::string& what);
  void take_dispatched(const Dispatched& dispatched);
  void take_request(const Decided& one);
  void take_given_up(const GivenUp& given_up);
  [[nodiscard]] bool has_failed_before(const GivenUp& given_up, const std::string& target) const;
  [[nodiscard]] bool is_potent(const std::string& target) const;
  [[nodiscard]] bool is_ordered(const std::string& target) const;
  [[nodiscard]] bool is_of_lanes_alone(const JournalEntry& entry) const;
  void check_one_at_a_time(const Journaled& journaled);
  void wrong(const std::string& what);

  const config::Settings& settings_;
  bool leases_;  // else an attempt ends only when somebody says so
  TargetSet ordered_;
  Partition partition_;
  Verdict& verdict_;
  UnixMs now_;     // of the batch
  UnixMs latest_;  // of all until now: a clock may be behind that of the owner before
  // By document in its present life, order and target.
  std::map<std::string, std::map<Order, std::map<std::string, Attempts>>> attempts_;
  std::map<Offset, std::pair<std::string, Order>> by_request_;  // of what was dispatched
  std::map<Offset, std::string> contents_;                      // of requests, where what failed is inherited
  // Documents and ordered targets whose marker leaves in its turn: of which of two requests with one order nobody says.
  std::multiset<std::tuple<std::string, std::string, Reason>> given_up_in_lanes_;
};

}  // namespace reseq::judge
