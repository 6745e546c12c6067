// Lanes: what strict and total targets of a partition get, told from what was sent to `work` for them and what the
// pipeline answered, without the engine's table: each release once, in the order of its lane, with nothing in front of
// it that is still waited for; what is skipped was waited for long enough, and had no result; in the end nothing is
// waited for. Where requests wait for their turn, or may fail: nothing goes to `work` that has its result, and who has
// a lease is never skipped.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/settings.h"
#include "tests/judge/replay.h"
#include "tests/judge/verdict.h"

namespace reseq::judge {

class Lanes {
 public:
  Lanes(const config::Settings& settings, Partition partition, Verdict& verdict);

  // The batches of one partition, in their order.
  void take(const ReplayedBatch& batch);
  // No batch comes any more.
  void finish();

 private:
  // Numbers in the order of the requests.
  struct Numbers {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
  };
  struct Place {
    std::uint64_t number = 0;             // of the request that went to work
    std::optional<UnixMs> dispatched_at;  // last
    bool has_result = false;
  };
  // Places that are waited for, by document and order; of a total target all in one lane.
  struct Lane {
    std::map<Order, Place> waits;
    std::optional<Order> left;  // the highest order that was released or skipped
    // Of requests with a sequence. A version that was asked for twice has the place of whichever of them named the
    // target first: which that was is not known here. Total targets only.
    std::map<Sequence, Numbers> asked;
  };
  struct Target {
    bool total = false;
    std::map<std::string, Lane> documents;
    std::uint64_t left = 0;  // of a total one: least number of the last that was released
  };

  Place* enter(const std::string& name, const std::string& id, const Order& order, Offset request);
  [[nodiscard]] std::vector<std::string> ordered_of(const JournalEntry& entry) const;
  void take_waiting(const Journaled& one);
  void take_expired(const Journaled& one, UnixMs now);
  void take_dispatched(const Dispatched& one, UnixMs now, bool reprocessed);
  void take_given_up(const GivenUp& one);
  void take_command(const Decided& one);
  void take_skip(const Decided& one);
  void take_gap(const GivenUp& one, UnixMs now);
  void leave_gap(const GivenUp& one);
  void take_release(const Released& one);
  void end(const std::string& name, const std::string& id, const Order& order);
  void note_asked(const Decided& one);
  [[nodiscard]] static Numbers numbers_of(const Lane& lane, const Order& order, const Place& place);
  [[nodiscard]] std::optional<std::string> in_front_of(const Target& target, const std::string& id, const Order& order,
                                                       std::uint64_t number) const;
  void wrong(const std::string& what);

  const config::Settings& settings_;
  Partition partition_;
  Verdict& verdict_;
  std::map<std::string, Target> targets_;
  std::map<Offset, std::pair<std::string, Order>> requests_;
};

}  // namespace reseq::judge
