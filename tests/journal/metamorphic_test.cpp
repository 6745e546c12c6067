// Waiting changes when, never what.
#include <gtest/gtest.h>
#include <iostream>

#include "tests/journal/checking.h"
#include "tests/journal/job_table.h"
#include "tests/journal/playing.h"
#include "tests/journal/world.h"

namespace reseq::journal {
namespace {

// Each is played twice, so there are fewer of them.
Amount of_two_worlds(std::uint64_t seed) {
  return {suite_amount().cases / 3, seed, true};
}

// A journal in which nothing waits.
Rules unlimited() {
  Rules rules;
  rules.in_flight_max = UINT64_MAX;
  rules.idle_from = 256;
  rules.one_at_a_time = false;
  rules.lease_ms = 1'000'000'000;
  return rules;
}

// Of a history that refuses no date. What is unchanged depends on what was released by then.
Rules patient(const History& history) {
  Rules rules = rules_of(history);
  rules.skips_unchanged = false;
  rules.process_at_max_ms = kBehindAllDates;
  return rules;
}

// Who has no journal knows nothing of attempts, leases and what is under way.
class AtOnce final : public JobTable {
 public:
  AtOnce() : JobTable(unlimited()) {}
  [[nodiscard]] Answer play(const Batch& batch) override {
    Answer answer = JobTable::play(batch);
    answer.processing = 0;
    for (Dispatched& one : answer.dispatched) one.lease_until = UnixMs();
    return answer;
  }

 private:
  [[nodiscard]] std::uint32_t next_attempt(const DocumentJob&, const Waiting&) const override { return 1; }
};

// The same path with no limit. One input at a time: behind a request of its own batch a command sees what was
// dispatched before.
TEST(Immediate, IsAJournalWithoutLimits) {
  const auto failure = check(of_two_worlds(11), [](const History& history) -> std::optional<Wrong> {
    EnginePlayer engine(unlimited(), Mode::kAtOnce);
    AtOnce rival;
    World world(history, engine, &rival, nullptr, {.wishes = true, .crowds = true, .failures = true});
    const std::string violation = world.play();
    if (violation.empty()) return std::nullopt;
    return Wrong{violation, world.story()};
  });
  if (failure) FAIL() << *failure;
}

// Stripped of priorities, dates, leases, expirations and failures, and played at once, a history ends with the same
// releases, for what did not end expired, timed out or given up.
std::optional<Wrong> compare_ends(const History& history, Player& journal, const JobTable& table, Player* rival,
                                  std::uint64_t& compared) {
  World waited(history, journal, rival, nullptr, {.strangers = true});
  if (const std::string violation = waited.play(); !violation.empty()) return Wrong{violation, waited.story()};
  EnginePlayer engine(unlimited(), Mode::kAtOnce);
  World at_once(history, engine, nullptr, nullptr, {.wishes = true, .strangers = true, .failures = true});
  if (const std::string violation = at_once.play(); !violation.empty()) return Wrong{violation, at_once.story()};
  for (std::size_t document = 0; document < kDocuments; ++document)
    for (const auto& [target, newest] : table.document(document).accepted) {
      const auto& jobs = table.document(document).targets;
      const auto job = jobs.find(target);
      // Its newest order expired or timed out.
      if (job == jobs.end() || job->second.newest != newest || job->second.state != TargetState::kServed) continue;
      ++compared;
      const std::pair where(document, target);
      if (waited.last_releases().at(where) != newest || at_once.last_releases().at(where) != newest)
        return Wrong{"document " + std::to_string(document) + " does not end with order " + std::to_string(newest) +
                         " at target " + std::to_string(target.value()),
                     waited.story() + "at once:\n" + at_once.story()};
    }
  return std::nullopt;
}

TEST(Waiting, ChangesWhenNeverWhatInTheTable) {
  std::uint64_t compared = 0;
  const Amount amount = of_two_worlds(12);
  const auto failure = check(amount, [&](const History& history) {
    JobTable table(patient(history));
    return compare_ends(history, table, table, nullptr, compared);
  });
  std::cout << compared << " last releases compared\n";
  if (failure) FAIL() << *failure;
  EXPECT_GT(compared, static_cast<std::uint64_t>(amount.cases));
}

TEST(Waiting, ChangesWhenNeverWhatInTheEngine) {
  std::uint64_t compared = 0;
  const Amount amount = of_two_worlds(13);
  const auto failure = check(amount, [&](const History& history) {
    JobTable table(patient(history));
    EnginePlayer engine(patient(history), Mode::kJournal);
    return compare_ends(history, engine, table, &table, compared);
  });
  if (failure) FAIL() << *failure;
  EXPECT_GT(compared, static_cast<std::uint64_t>(amount.cases));
}

}  // namespace
}  // namespace reseq::journal
