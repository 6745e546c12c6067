// Linked records. Records A, B, C, D are linked as AB and CD and become linked as AD and BC. A run
// per changed record reads the shared links and computes both merged records that its record left and joined. Runs read
// in one order and their results arrive in another.
//
// All orders of read: every interleaving of the four changes and the four reads in which a run reads after the change
// that caused it (2520). All orders of delivery: each merged record gets two results, in either order (16); orders
// between different merged records no sink can tell apart, because ids are independent.
#include <algorithm>
#include <array>
#include <bitset>
#include <functional>
#include <gtest/gtest.h>

#include "map_state.h"

namespace reseq::engine {
namespace {

constexpr std::size_t kRecords = 4;  // A B C D
constexpr std::array<const char*, 4> kMerged = {"AB", "CD", "AD", "BC"};
constexpr std::array<std::size_t, kRecords> kLeft = {0, 0, 1, 1};    // index in kMerged that a record was in
constexpr std::array<std::size_t, kRecords> kJoined = {2, 3, 3, 2};  // and becomes part of

using Members = std::bitset<kRecords>;

// What one run computed for one merged record, with everything that might be taken for its order.
struct Computed {
  std::size_t merged = 0;
  Members members;
  std::uint64_t run_stamp = 0;      // taken while the group is held, before the read
  std::uint64_t input_maximum = 0;  // highest time of the records that were read
  std::uint64_t trigger = 0;        // time of the change that caused the run
};
using Results = std::array<std::vector<Computed>, 4>;  // by merged record, in order of read

// A step is the change of record 0 .. 3, or the read of its run (4 .. 7).
using Steps = std::array<int, 2 * kRecords>;

// A to D had times 1 .. 4 when they were linked as AB and CD, and get 5 .. 8 by their changes.
Results play(const Steps& steps) {
  Results results;
  std::array<bool, kRecords> changed{};
  std::uint64_t stamp = 0;
  for (const int step : steps) {
    const auto record = static_cast<std::size_t>(step) % kRecords;
    if (step < static_cast<int>(kRecords)) {
      changed[record] = true;
      continue;
    }
    for (const std::size_t merged : {kLeft[record], kJoined[record]}) {
      Computed computed{merged, {}, ++stamp, 0, record + 5};
      for (std::size_t r = 0; r < kRecords; ++r) {
        if ((changed[r] ? kJoined[r] : kLeft[r]) != merged) continue;
        computed.members.set(r);
        computed.input_maximum = std::max<std::uint64_t>(computed.input_maximum, changed[r] ? r + 5 : r + 1);
      }
      results[merged].push_back(computed);
    }
  }
  return results;
}

void for_each_read_order(const std::function<void(const Steps&)>& visit) {
  Steps steps = {0, 1, 2, 3, 4, 5, 6, 7};
  do {
    std::array<std::size_t, 2 * kRecords> place{};
    for (std::size_t i = 0; i < steps.size(); ++i) place[static_cast<std::size_t>(steps[i])] = i;
    bool possible = true;
    for (std::size_t r = 0; r < kRecords; ++r) possible = possible && place[r] < place[r + kRecords];
    if (possible) visit(steps);
  } while (std::next_permutation(steps.begin(), steps.end()));
}

std::vector<Computed> deliver(const Results& results, unsigned swapped) {
  std::vector<Computed> arriving;
  for (std::size_t merged = 0; merged < results.size(); ++merged) {
    const bool swap = (swapped >> merged & 1U) != 0;
    arriving.push_back(results[merged][swap ? 1 : 0]);
    arriving.push_back(results[merged][swap ? 0 : 1]);
  }
  return arriving;
}

// A sink that checks versions, behind the real engine.
using Sink = std::array<Members, 4>;

// The sequence of a result in the realm of merged records; `arrival` counts from 1.
using Scheme = std::function<std::uint64_t(const Computed&, std::uint64_t arrival)>;

class MergedRealm {
 public:
  MergedRealm() { context_.all_targets = context_.default_targets = targets({kSearch}); }

  [[nodiscard]] Sink sink_after(const std::vector<Computed>& arriving, const Scheme& sequence, bool register_first) {
    const MapState empty;
    Batch batch(empty, {}, context_);
    std::vector<const Computed*> inputs;  // of each decided input
    const auto decide = [&](const Command& command, const Computed& computed) {
      EXPECT_EQ(batch.decide(command, Offset(0), true), Taken::kDecided);
      inputs.push_back(&computed);
    };
    const auto register_one = [&](std::size_t i) {
      decide(registration(kMerged[arriving[i].merged], sequence(arriving[i], i + 1)), arriving[i]);
    };
    if (register_first)
      for (std::size_t i = 0; i < arriving.size(); ++i) register_one(i);
    for (std::size_t i = 0; i < arriving.size(); ++i) {
      if (!register_first) register_one(i);
      decide(result(kMerged[arriving[i].merged], sequence(arriving[i], i + 1), kSearch), arriving[i]);
    }
    batch.close();
    return replay(batch, inputs);
  }

 private:
  static Sink replay(const Batch& batch, const std::vector<const Computed*>& inputs) {
    Sink sink{};
    std::array<Version, 4> versions{};
    for (const Emission& emission : batch.emissions()) {
      const Release* release = std::get_if<Release>(&emission.what);
      if (release == nullptr) continue;
      const Computed& computed = *inputs[emission.input.value()];
      if (release->version <= versions[computed.merged]) continue;
      versions[computed.merged] = release->version;
      sink[computed.merged] = computed.members;
    }
    return sink;
  }

  Context context_ = two_targets();
};

const Sink& computed_over_the_final_state() {
  static const Sink sink = {Members(0), Members(0), Members(0b1001), Members(0b0110)};  // AB CD AD BC
  return sink;
}

struct Tally {
  int plays = 0;
  int wrong = 0;
};

// Plays all orders, or until the first one that ends wrong.
Tally play_all(const Scheme& sequence, bool register_first, bool until_wrong) {
  Tally tally;
  MergedRealm realm;
  for_each_read_order([&](const Steps& steps) {
    if (until_wrong && tally.wrong > 0) return;
    const Results results = play(steps);
    for (unsigned swapped = 0; swapped < 16; ++swapped) {
      ++tally.plays;
      const Sink sink = realm.sink_after(deliver(results, swapped), sequence, register_first);
      if (sink != computed_over_the_final_state()) ++tally.wrong;
    }
  });
  return tally;
}

TEST(Relinking, WithRunStampsEveryOrderEndsLikeTheComputationOverTheFinalState) {
  const Scheme run_stamp = [](const Computed& computed, std::uint64_t) { return computed.run_stamp; };
  for (const bool register_first : {false, true}) {
    const Tally tally = play_all(run_stamp, register_first, false);
    EXPECT_EQ(tally.plays, 2520 * 16);
    EXPECT_EQ(tally.wrong, 0) << "registered before all results: " << register_first;
  }
}

TEST(Relinking, WithTheMaximumOfTheInputsSomeOrderEndsWrong) {
  const Scheme maximum = [](const Computed& computed, std::uint64_t) { return computed.input_maximum; };
  EXPECT_GT(play_all(maximum, false, true).wrong, 0);
}

TEST(Relinking, WithArrivalStampsAloneSomeOrderEndsWrong) {
  const Scheme arrival = [](const Computed&, std::uint64_t number) { return number; };
  EXPECT_GT(play_all(arrival, false, true).wrong, 0);
}

TEST(Relinking, WithTheStampOfTheTriggerSomeOrderEndsWrong) {
  const Scheme trigger = [](const Computed& computed, std::uint64_t) { return computed.trigger; };
  EXPECT_GT(play_all(trigger, false, true).wrong, 0);
}

// The text of the example: results arrive in the order in which they were read, C before the late B, and still the sink
// keeps BC without B, because the maximum of C alone and of B and C is the same.
TEST(Relinking, TheMaximumOfTheInputsIsStuckEvenWhenResultsArriveAsTheyWereRead) {
  const Results results = play({0, 2, 3, 4, 6, 7, 1, 5});
  const Scheme maximum = [](const Computed& computed, std::uint64_t) { return computed.input_maximum; };
  const Sink sink = MergedRealm().sink_after(deliver(results, 0), maximum, false);
  EXPECT_EQ(sink[3], Members(0b0100));
  const Scheme run_stamp = [](const Computed& computed, std::uint64_t) { return computed.run_stamp; };
  EXPECT_EQ(MergedRealm().sink_after(deliver(results, 0), run_stamp, false), computed_over_the_final_state());
}

}  // namespace
}  // namespace reseq::engine
