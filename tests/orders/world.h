// World: a history played to its end: producers, workers that answer in any order, a clock; by the lane table, and by a
// rival that has to say the same.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/orders/history.h"
#include "tests/orders/lane_table.h"

namespace reseq::orders {

// How often what was met.
struct Hits {
  std::uint64_t held = 0;
  std::uint64_t released = 0;  // for ordered targets
  std::uint64_t skipped = 0;
  std::uint64_t skipped_together = 0;  // several of a lane in one batch
  std::uint64_t ended = 0;             // by UNREGISTER or an operator
};

class World {
 public:
  // `rival` and `hits` may be null.
  World(const History& history, LaneTable& table, Player* rival, Hits* hits = nullptr)
      : history_(history), table_(table), rival_(rival), hits_(hits) {}

  // Plays all steps, then lets everything arrive and moves the clock past all dates. Returns the first thing that was
  // wrong, with its story, or nothing.
  [[nodiscard]] std::string play();
  // By lane, in the order of their versions.
  [[nodiscard]] const std::map<std::pair<TargetNumber, std::size_t>, std::vector<Released>>& released() const {
    return released_;
  }

 private:
  void play(const Step& step);
  void request(const Step& step);
  void answer(const Released& work, bool too_large);
  void unregister(const Step& step);
  void skip(const Step& step);
  void reprocess(const Step& step);
  void stray(const Step& step);
  void resend(const Step& step);
  void run_batch(bool fenced);
  void judge(const Batch& batch, const Answer& answer);
  void finish();
  [[nodiscard]] Released take_work(std::size_t pick);

  const History& history_;
  LaneTable& table_;
  Player* rival_;
  Hits* hits_;
  std::vector<Input> requests_, operations_, commands_;  // that were not decided
  std::vector<Input> old_requests_, old_results_, old_skips_;
  std::map<std::size_t, OrderNumber> newest_;  // by document, with gaps for requests that are late
  std::vector<Released> work_;                 // that nobody answered
  std::map<std::pair<TargetNumber, std::size_t>, std::vector<Released>> released_;
  std::map<std::pair<std::size_t, OrderNumber>, std::size_t> requested_;  // in which order
  UnixMs now_{10'000};
  std::int64_t position_ = 0;
  std::string story_, violation_;
};

}  // namespace reseq::orders
