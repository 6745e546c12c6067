// What failed is told by its error, and no more of it than has a place, whatever workers say.
#include "runtime/worker/failure_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/desk/failures_report.h"
#include "runtime/worker/breaker_log.h"
#include "tests/unit/store/rows.h"

namespace reseq::runtime {
namespace {

using testing::ElementsAre;

Failure failure(unsigned target, bool for_good, const std::string& error, std::int64_t at = 1) {
  Failure one;
  one.targets = TargetSet(std::uint64_t{1} << target);
  one.order = store::live(2, 1).groups.front().order;
  one.for_good = for_good;
  one.error = error;
  one.at = UnixMs(at);
  return one;
}

// Targets 0 and 1 wait, 2 and 3 were given up.
Row failed(std::initializer_list<Failure> failures) {
  Row row = store::live(2, 1);
  row.groups.front().pending = TargetSet(0b0011);
  row.groups.front().removed = TargetSet(0b1100);
  for (const Failure& one : failures) row.failures.push_back(one);
  return row;
}

Row given_up(const std::string& error) {
  return failed({failure(2, true, error)});
}

TEST(FailureGroups, CountDocumentsByWhatWasSaidLast) {
  FailureGroups groups;
  groups.note("a", failed({failure(0, false, "locked", 7), failure(2, true, "no PDF", 8)}));
  groups.note("b", failed({failure(2, true, "no PDF", 9), failure(3, true, "no PDF", 5)}));
  groups.note("c", failed({failure(4, true, "of a target that has got its result since")}));
  groups.note("d", given_up(""));
  EXPECT_EQ(groups.documents(), (FailureCounts{3, 1}));
  EXPECT_EQ(groups.others(), FailureCounts());
  const std::vector<FailureGroup> all = groups.largest(10);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].error, "no PDF");
  EXPECT_EQ(all[0].documents, (FailureCounts{2, 0})) << "a document counts once";
  EXPECT_EQ(all[0].last, UnixMs(9));
  EXPECT_THAT(all[0].examples, ElementsAre("a", "b"));
  EXPECT_EQ(all[1].error, "");
  EXPECT_EQ(all[2].documents, (FailureCounts{0, 1}));
}

TEST(FailureGroups, AreBoundedHoweverManyErrorsAndHoweverLongTheyAre) {
  FailureGroups groups;
  const std::string long_text = std::string(FailureGroups::kTextBytes, 'x');
  for (int i = 0; i < 500; ++i) {
    groups.note("id-" + std::to_string(i), given_up("error " + std::to_string(i)));
    groups.note("long-" + std::to_string(i), given_up(long_text + std::to_string(i)));
  }
  groups.note(std::string(FailureGroups::kIdBytes + 1, 'i'), given_up("of a long id"));
  EXPECT_EQ(groups.documents().failed, 1'001U) << "what has no place is counted all the same";
  const std::vector<FailureGroup> all = groups.largest(SIZE_MAX);
  ASSERT_EQ(all.size(), FailureGroups::kGroupsMax);
  EXPECT_EQ(all[0].error, long_text) << "texts are cut, and what begins alike is one error";
  EXPECT_EQ(all[0].documents.failed, 500U);
  EXPECT_EQ(all[0].examples.size(), FailureGroups::kExamplesMax);
  std::uint64_t told = groups.others().failed;
  for (const FailureGroup& one : all) {
    told += one.documents.failed;
    EXPECT_LE(one.error.size(), FailureGroups::kTextBytes);
    for (const std::string& id : one.examples) EXPECT_LE(id.size(), FailureGroups::kIdBytes);
  }
  EXPECT_EQ(told, 1'001U);
}

TEST(FailureGroups, CutNoCharacterThrough) {
  FailureGroups groups;
  groups.note("a", given_up(std::string(FailureGroups::kTextBytes - 1, 'x') + "ä"));
  EXPECT_EQ(groups.largest(1).front().error, std::string(FailureGroups::kTextBytes - 1, 'x'));
}

// Errors that each have a text of their own are many, and say little.
TEST(FailureGroups, KeepWhatManyFailedOfAmongErrorsThatComeOnce) {
  FailureGroups groups;
  for (std::size_t i = 0; i < 2 * FailureGroups::kGroupsMax; ++i) groups.note("a", given_up(std::to_string(i)));
  for (int i = 0; i < 200; ++i) {
    groups.note("b", given_up("no PDF"));
    groups.note("c", given_up("page " + std::to_string(i)));
  }
  EXPECT_EQ(groups.largest(1).front().error, "no PDF");
  EXPECT_EQ(groups.largest(1).front().documents.failed, 200U);
}

TEST(FailureGroups, OfPartitionsAreAddedUp) {
  FailureGroups all;
  for (int partition = 0; partition < 3; ++partition) {
    FailureGroups one;
    for (std::size_t i = 0; i < FailureGroups::kGroupsMax - 1; ++i)
      one.note("a", given_up(std::to_string(partition) + " " + std::to_string(i)));
    for (int i = 0; i < 5; ++i) one.note("b" + std::to_string(partition), given_up("everywhere"));
    all.add(one);
  }
  EXPECT_EQ(all.documents().failed, 3 * (FailureGroups::kGroupsMax - 1 + 5));
  const std::vector<FailureGroup> groups = all.largest(SIZE_MAX);
  ASSERT_EQ(groups.size(), FailureGroups::kGroupsMax);
  EXPECT_EQ(groups.front().error, "everywhere");
  EXPECT_EQ(groups.front().documents.failed, 15U);
  EXPECT_THAT(groups.front().examples, ElementsAre("b0", "b1", "b2"));
  std::uint64_t told = all.others().failed;
  for (const FailureGroup& one : groups) told += one.documents.failed;
  EXPECT_EQ(told, all.documents().failed);
}

// A record takes a megabyte, and there are the partitions in it, too.
TEST(FailuresReport, IsSmallWhateverFailed) {
  auto groups = std::make_shared<FailureGroups>();
  for (int i = 0; i < 100; ++i)
    for (int k = 0; k < 4; ++k)
      groups->note(std::string(FailureGroups::kIdBytes - 4, '\x01') + std::to_string(k),
                   given_up(std::to_string(i) + std::string(2'000, '\x01')));
  WorkerReport report;
  Survey::Found found;
  found.failures = groups;
  report.partitions.emplace_back().survey = found;
  for (int i = 0; i < 100; ++i)
    report.breaker_changes.push_back({Partition(0), "search", true, UnixMs(i), std::string(200, '\x01')});
  Board board(1);
  board.publish(report);
  const admin::Json failures = failures_json(board.look());
  EXPECT_EQ(failures["failed"], 400);
  EXPECT_EQ(failures["errors"].size(), 10U);
  EXPECT_EQ(failures["others"]["failed"], 400 - 40);
  EXPECT_LT(failures.dump().size(), 64U * 1024);
  const admin::Json changes = breaker_changes_json(board.look());
  ASSERT_EQ(changes.size(), 30U);
  EXPECT_EQ(changes[0]["at"], "1970-01-01T00:00:00.099Z") << "the newest are told";
  EXPECT_LT(changes.dump().size(), 64U * 1024);
}

Breaker down(std::uint8_t target, std::int64_t since, const std::string& error = "away") {
  Breaker breaker;
  breaker.target = TargetNumber(target);
  breaker.open = true;
  breaker.opened_at = UnixMs(since);
  breaker.error = error;
  return breaker;
}

TEST(BreakerLog, TellsWhatABatchHasOpenedAndClosed) {
  const TargetTable targets({"search", "lake"});
  const auto changes = [&](const std::vector<Breaker>& before, const std::vector<Breaker>& after) {
    std::string told;
    for (const BreakerChange& one : changes_between(before, after, Partition(3), targets, UnixMs(9)))
      told += one.target + (one.down ? " down " : " up ") + std::to_string(one.at.value()) + " " + one.error + ";";
    return told;
  };
  EXPECT_EQ(changes({}, {down(0, 9)}), "search down 9 away;");
  EXPECT_EQ(changes({down(0, 2)}, {down(0, 2, "away again")}), "") << "it is down as before";
  EXPECT_EQ(changes({down(0, 2)}, {down(1, 9)}), "search up 9 ;lake down 9 away;");
  EXPECT_EQ(changes({down(0, 2)}, {down(0, 9)}), "search up 9 ;search down 9 away;") << "within one batch";
  Breaker counting = down(0, 0);
  counting.open = false;
  EXPECT_EQ(changes({}, {counting}), "") << "some documents have failed, and it is not taken to be down";
  EXPECT_EQ(changes({down(0, 2)}, {counting}), "search up 9 ;");
}

TEST(BreakerLog, KeepsTheNewestChanges) {
  BreakerLog log;
  for (int i = 0; i < 1'000; ++i) log.add({{Partition(0), "search", i % 2 == 0, UnixMs(i), "away"}});
  ASSERT_EQ(log.changes().size(), BreakerLog::kChangesMax);
  EXPECT_EQ(log.changes().back().at, UnixMs(999));
  EXPECT_EQ(log.changes().front().at, UnixMs(1'000 - static_cast<std::int64_t>(BreakerLog::kChangesMax)));
}

}  // namespace
}  // namespace reseq::runtime
