// World: a history played to its end by one player, and by a rival that has to say the same.
// Thread rule: one thread.
#pragma once

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/journal/feed.h"

namespace reseq::journal {

// How often what was met.
struct Hits {
  std::array<std::uint64_t, static_cast<std::size_t>(Outcome::kCount)> outcomes{};
  std::array<std::uint64_t, static_cast<std::size_t>(Reason::kCount)> reasons{};
  std::uint64_t batches = 0;
  std::uint64_t dispatched = 0;
  std::uint64_t dispatched_later = 0;  // than in the batch of their requests
  std::uint64_t again = 0;             // attempts above 1
  std::uint64_t timed_out = 0;

  void count(const Answer& answer);
};

std::ostream& operator<<(std::ostream& out, const Hits& hits);

class World {
 public:
  // `rival` and `hits` may be null.
  World(const History& history, Player& player, Player* rival, Hits* hits = nullptr, const Without& without = {})
      : history_(history), player_(player), rival_(rival), hits_(hits), feed_(without) {}

  // Plays all steps, then lets everything arrive and moves the clock past all dates. Returns the first thing that was
  // wrong, or nothing.
  [[nodiscard]] std::string play();

  // All batches, for a person.
  [[nodiscard]] std::string story() const;
  // By document and target.
  [[nodiscard]] const std::map<std::pair<std::size_t, TargetNumber>, OrderNumber>& last_releases() const {
    return last_releases_;
  }

 private:
  void run_batches();
  void finish();

  const History& history_;
  Player& player_;
  Player* rival_;
  Hits* hits_;
  Feed feed_;
  std::vector<std::pair<Batch, Answer>> batches_;
  std::map<std::pair<std::size_t, TargetNumber>, OrderNumber> last_releases_;
  Answer rivals_last_;
  std::string violation_;
};

}  // namespace reseq::journal
