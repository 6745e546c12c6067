// The engine says of every random history what the job table says.
#include <gtest/gtest.h>
#include <iostream>
#include <set>

#include "tests/journal/checking.h"
#include "tests/journal/job_table.h"
#include "tests/journal/playing.h"
#include "tests/journal/world.h"

namespace reseq::journal {
namespace {

TEST(Engine, SaysWhatTheJobTableSays) {
  Hits hits;
  std::set<TableRow> met;
  const auto failure = check(suite_amount(), [&](const History& history) -> std::optional<Wrong> {
    JobTable table(rules_of(history));
    EnginePlayer engine(rules_of(history), Mode::kJournal);
    World world(history, table, &engine, &hits);
    std::string violation = world.play();
    met.insert(engine.met().begin(), engine.met().end());
    if (violation.empty() && engine.held() != 0) violation = "something is held although nothing waits";
    if (violation.empty()) return std::nullopt;
    return Wrong{violation, world.story()};
  });
  std::cout << hits;
  if (failure) FAIL() << *failure;
  for (const TableRow row : {TableRow::kR7, TableRow::kF0, TableRow::kF1, TableRow::kF2, TableRow::kF3, TableRow::kF4,
                             TableRow::kF5, TableRow::kF6})
    EXPECT_TRUE(met.contains(row)) << "table row " << name_of(row) << " was never met";
}

// Without leases, priorities and limits: what fails is tried again all the same.
Rules at_once(const History& history) {
  Rules rules = rules_of(history);
  rules.in_flight_max = UINT64_MAX;
  rules.idle_from = 256;
  rules.one_at_a_time = rules.consolidate_measured = false;
  rules.consolidate_ms = 0;
  return rules;
}

class WithoutLeases final : public JobTable {
 public:
  using JobTable::JobTable;
  [[nodiscard]] Answer play(const Batch& batch) override {
    Answer answer = JobTable::play(batch);
    for (Dispatched& one : answer.dispatched) one.lease_until = UnixMs();
    answer.processing = 0;  // only those with leases are counted
    return answer;
  }

 private:
  [[nodiscard]] bool is_lost(const UnderWay&) const override { return false; }
  // What has just come stands behind nothing that is to be tried again.
  [[nodiscard]] bool goes_before(const Waiting& a, const Waiting& b) const override {
    if (a.input.has_value() != b.input.has_value()) return a.input.has_value();
    return a.input.has_value() ? a.number < b.number : JobTable::goes_before(a, b);
  }
};

TEST(Engine, TriesAgainWithoutAJournalAsTheJobTableSays) {
  std::set<TableRow> met;
  const auto failure = check(suite_amount(), [&](const History& history) -> std::optional<Wrong> {
    WithoutLeases table(at_once(history));
    EnginePlayer engine(at_once(history), Mode::kTriedAgain);
    World world(history, table, &engine, nullptr, {.wishes = true});
    std::string violation = world.play();
    met.insert(engine.met().begin(), engine.met().end());
    if (violation.empty() && engine.held() != 0) violation = "something is held although nothing waits";
    if (violation.empty()) return std::nullopt;
    return Wrong{violation, world.story()};
  });
  if (failure) FAIL() << *failure;
  for (const TableRow row : {TableRow::kF2, TableRow::kF3, TableRow::kF4, TableRow::kF5})
    EXPECT_TRUE(met.contains(row)) << "table row " << name_of(row) << " was never met";
}

// Whoever switches breakers off lets go what one of them has kept.
TEST(Engine, WakesUpForWhatABreakerKeepsThatIsSwitchedOff) {
  Rules rules;
  rules.breaker_documents = 1;
  EnginePlayer engine(rules, Mode::kJournal);
  Input request;
  request.order = 1;
  request.targets = TargetSet(1);
  (void)engine.play({UnixMs(1'000), {request}});
  Input fails = request;
  fails.kind = Kind::kFail;
  fails.failure = FailureKind::kPermanent;
  fails.scope = FailureScope::kUniversal;
  EXPECT_EQ(engine.play({UnixMs(1'001), {fails}}).down, TargetSet(1));
  rules.breaker_documents = 0;
  engine.take(rules, Mode::kJournal);
  engine.check_wake_up();
  const Answer answer = engine.play({UnixMs(1'001), {}});
  ASSERT_EQ(answer.dispatched.size(), 1U);
  EXPECT_EQ(answer.dispatched[0].attempt, 2U);
}

}  // namespace
}  // namespace reseq::journal
