#include "runtime/takeover/recovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "changelog/batch_rows.h"
#include "runtime/takeover/shelf.h"

namespace reseq::runtime {
namespace {

using changelog::LogEnds;
using store::Checkpoint;

constexpr UnixMs kJudgedAt{1'700'000'000'000};
constexpr Milliseconds kRetention{1'000'000};

Application application() {
  config::Settings settings;
  settings.application_id = "shop";
  settings.targets = {{.name = "search"}};
  settings.max_clock_drift_ms = 100;
  Application made(settings);
  made.cluster_id = "cluster";
  made.partitions = 4;
  made.delete_retention = kRetention;
  return made;
}

Identity identity_of(const Application& application) {
  Identity identity;
  identity.application_id = application.settings.application_id;
  identity.cluster_id = application.cluster_id;
  identity.partitions = application.partitions;
  return identity;
}

// A state whose changelog ends at offset 12, with a meta row written at `now`.
std::unique_ptr<store::PartitionStore> state(const Identity& identity, UnixMs now, bool ends_with_meta = true) {
  auto made = std::make_unique<store::PartitionStore>();
  Arena arena;
  Meta meta;
  meta.now = now;
  meta.lineage = {{1, Offset(0)}};
  EXPECT_TRUE(made->restore(changelog::identity_row(identity, arena), Offset(9)).ok());
  const store::Change targets = changelog::targets_row(TargetTable(), arena);
  const store::Change last = changelog::meta_row(meta, arena);
  EXPECT_TRUE(made->restore(ends_with_meta ? targets : last, Offset(10)).ok());
  EXPECT_TRUE(made->restore(ends_with_meta ? last : targets, Offset(11)).ok());
  return made;
}

struct Judged {
  Application app = application();
  Identity identity = identity_of(app);
  UnixMs written = kJudgedAt;
  LogEnds log{Offset(0), Offset(12)};
  bool ends_with_meta = true;
  Origin origin{true, UnixMs()};
  Rebuild operator()() const { return judge(*state(identity, written, ends_with_meta), origin, log, app, kJudgedAt); }
};

TEST(Recovery, ReusesACopyThatFitsTheLog) {
  EXPECT_EQ(Judged()(), Rebuild::kNone);
}

TEST(Recovery, NeedsACopy) {
  const Judged judged;
  EXPECT_EQ(judge(store::PartitionStore(), judged.origin, judged.log, judged.app, kJudgedAt), Rebuild::kNoCopy);
}

TEST(Recovery, RebuildsACopyThatACrashCutOffInsideOfATransaction) {
  Judged judged{.ends_with_meta = false};
  EXPECT_EQ(judged(), Rebuild::kInsideTransaction);
  judged.origin = {false, kJudgedAt};  // this process was reading it in: it goes on
  EXPECT_EQ(judged(), Rebuild::kNone);
}

TEST(Recovery, RebuildsAForeignCopy) {
  Judged judged;
  judged.identity.cluster_id = "another";
  EXPECT_EQ(judged(), Rebuild::kForeign);
}

TEST(Recovery, RebuildsACopyOlderThanHalfOfTheTombstones) {
  Judged judged{.written = UnixMs(kJudgedAt.value() - kRetention.value() / 2 + 100)};
  EXPECT_EQ(judged(), Rebuild::kNone);
  judged.written = UnixMs(judged.written.value() - 1);
  EXPECT_EQ(judged(), Rebuild::kTooOld);
  judged.app.guards.tombstone_horizon = false;
  EXPECT_EQ(judged(), Rebuild::kNone);
}

TEST(Recovery, RebuildsWhatWasReadFromTheBeginningLongAgoAndNotToItsEnd) {
  const UnixMs oldest(kJudgedAt.value() - kRetention.value() / 2 + 100);
  const auto judged = [](UnixMs read_since) {
    const Judged by;
    Arena arena;
    store::PartitionStore part;
    EXPECT_TRUE(part.restore(changelog::identity_row(by.identity, arena), Offset(9)).ok());
    return judge(part, {false, read_since}, by.log, by.app, kJudgedAt);
  };
  EXPECT_EQ(judged(oldest), Rebuild::kNone);
  EXPECT_EQ(judged(UnixMs(oldest.value() - 1)), Rebuild::kTooOld);
}

TEST(Recovery, RebuildsACopyThatIsAheadOfTheLog) {
  Judged judged{.log = {Offset(0), Offset(12)}};
  EXPECT_EQ(judged(), Rebuild::kNone);
  judged.log.high_watermark = Offset(11);
  EXPECT_EQ(judged(), Rebuild::kTruncated);
}

TEST(Recovery, RebuildsACopyBeforeTheBeginningOfTheLog) {
  Judged judged{.log = {Offset(12), Offset(40)}};
  EXPECT_EQ(judged(), Rebuild::kNone);
  judged.log.begin = Offset(13);
  EXPECT_EQ(judged(), Rebuild::kLogStart);
}

TEST(Recovery, FindsTheGenerationOfACopyInTheLineage) {
  const std::vector<Generation> lineage = {{3, Offset(10)}, {4, Offset(20)}, {5, Offset(30)}};
  const auto fits = [&](std::uint64_t generation, std::int64_t position) {
    return in_lineage(Checkpoint{.position = Offset(position), .last_record = {}, .generation = generation}, lineage);
  };
  EXPECT_TRUE(fits(4, 20));
  EXPECT_TRUE(fits(4, 30));
  EXPECT_FALSE(fits(4, 19)) << "before its generation began";
  EXPECT_FALSE(fits(4, 31)) << "behind where the next one began: written by a log that was cut off";
  EXPECT_TRUE(fits(5, 1000)) << "the last one is still open";
  EXPECT_FALSE(fits(2, 5)) << "forgotten";
  EXPECT_FALSE(fits(6, 40)) << "of another log";
}

TEST(Recovery, LeavesAForgottenGenerationToRecordAndDigest) {
  std::vector<Generation> lineage;
  for (std::uint64_t i = 0; i < kMaxLineage; ++i) lineage.push_back({10 + i, Offset(static_cast<std::int64_t>(i))});
  EXPECT_TRUE(in_lineage(Checkpoint{.position = Offset(5), .last_record = {}, .generation = 9}, lineage));
  EXPECT_FALSE(in_lineage(Checkpoint{.position = Offset(5), .last_record = {}, .generation = 100}, lineage));
}

TEST(Recovery, ThrowsNothingAwayForAConfigurationThatDiffers) {
  Judged judged;
  judged.identity.partitions = 8;
  judged.identity.partitioner = Partitioner::kCrc32;
  EXPECT_EQ(judged(), Rebuild::kNone);
  EXPECT_THAT(refusal(judged.identity, std::nullopt, judged.app).value_or("none"),
              testing::HasSubstr("born with 8 partitions"));
}

TEST(Recovery, RefusesLanesBesideWhatStillWaitsInTheJournal) {
  Application app = application();
  Counts counts;
  EXPECT_EQ(refusal_of_lanes(counts, app), std::nullopt);
  for (const Count waits : {Count::kWaiting, Count::kProcessing}) {
    counts = Counts();
    counts[waits] = 1;
    app.settings.targets = {{.name = "search"}};
    EXPECT_EQ(refusal_of_lanes(counts, app), std::nullopt);
    app.settings.targets.push_back({.name = "audit", .order = "total"});
    EXPECT_THAT(refusal_of_lanes(counts, app).value_or("none"), testing::HasSubstr("target audit is total"));
  }
  counts = Counts();
  counts[Count::kPlaces] = 1;
  EXPECT_EQ(refusal_of_lanes(counts, app), std::nullopt);
}

TEST(Recovery, KnowsAChangelogThatWasDeletedFromOneThatWasCutOff) {
  const Judged judged;
  const auto copy = state(judged.identity, kJudgedAt);
  EXPECT_TRUE(changelog_lost(*copy, {Offset(0), Offset(0)}));
  EXPECT_TRUE(changelog_lost(*copy, {Offset(12), Offset(12)})) << "emptied up to its end";
  EXPECT_TRUE(changelog_lost(*copy, {Offset(13), Offset(13)})) << "with the marker behind the last record";
  EXPECT_FALSE(changelog_lost(*copy, {Offset(0), Offset(3)}));
  EXPECT_FALSE(changelog_lost(store::PartitionStore(), {Offset(0), Offset(0)}));
}

TEST(Recovery, NamesEveryReason) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(Rebuild::kCount); ++i)
    EXPECT_NE(name_of(static_cast<Rebuild>(i)), "") << i;
}

}  // namespace
}  // namespace reseq::runtime
