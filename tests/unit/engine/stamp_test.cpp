// Versions: what they rise above, what they refuse.
#include "engine/stamp.h"

#include <gtest/gtest.h>

#include "map_state.h"

namespace reseq::engine {
namespace {

constexpr UnixMs kNow{1'700'000'000'000};
constexpr Milliseconds kDrift{60'000};
constexpr Milliseconds kNoDrift{};

Version at(std::int64_t ms, std::uint64_t counter = 0) {
  return Version((static_cast<std::uint64_t>(ms) << 16) + counter);
}

Version given(const std::variant<Version, Reason>& stamp) {
  const Version* version = std::get_if<Version>(&stamp);
  return version == nullptr ? Version{} : *version;
}

Reason refused(const std::variant<Version, Reason>& stamp) {
  const Reason* reason = std::get_if<Reason>(&stamp);
  return reason == nullptr ? Reason::kNone : *reason;
}

std::variant<Version, Reason> stamp(const PartitionState& state, std::optional<Version> observed = std::nullopt,
                                    TargetNumber t = kSearch) {
  return next_stamp(state, t, observed, kNow, kDrift);
}

TEST(Clock, FollowsTheTimeInTheUpper48Bits) {
  EXPECT_EQ(clock_at(Version{}, kNow), at(kNow.value()));
}

TEST(Clock, NeverFallsOnAHostWhoseClockIsSlow) {
  EXPECT_EQ(clock_at(at(kNow.value()), UnixMs(kNow.value() - 3'600'000)), at(kNow.value()));
  EXPECT_EQ(clock_at(at(5), UnixMs(-1)), at(5));
}

TEST(Clock, OfAnAbsurdTimeStopsAtTheLimitOfVersions) {
  EXPECT_EQ(clock_at(Version{}, UnixMs(INT64_MAX)), Version(kVersionLimit));
}

TEST(Stamp, IsOneAboveTheClock) {
  PartitionState state;
  state.clock = at(kNow.value());
  EXPECT_EQ(given(stamp(state)), at(kNow.value(), 1));
}

TEST(Stamp, IsAboveTheLastOneThoughTheClockStands) {
  PartitionState state;
  state.clock = at(kNow.value());
  state.last = at(kNow.value(), 41);
  EXPECT_EQ(given(stamp(state)), at(kNow.value(), 42));
}

TEST(Stamp, IsAboveTheFloorOfAllTargetsAndOfItsOwn) {
  PartitionState state;
  state.floors.global = at(kNow.value() + 10);
  state.floors.by_target[kCatalogue] = at(kNow.value() + 20);
  EXPECT_EQ(given(stamp(state, std::nullopt, kSearch)), at(kNow.value() + 10, 1));
  EXPECT_EQ(given(stamp(state, std::nullopt, kCatalogue)), at(kNow.value() + 20, 1));
}

TEST(Stamp, IsAboveWhatTheComputationObserved) {
  EXPECT_EQ(given(stamp({}, at(kNow.value() + 5, 9))), at(kNow.value() + 5, 10));
}

TEST(Stamp, AcceptsAnObservedVersionUpToTheDriftAboveTheTime) {
  const Version highest = at(kNow.value() + kDrift.value());
  EXPECT_EQ(given(stamp({}, highest)), Version(highest.value() + 1));
  EXPECT_EQ(refused(stamp({}, Version(highest.value() + 1))), Reason::kObservedVersionTooHigh);
}

TEST(Stamp, BoundsTheObservedVersionByTheFloorWhenThatIsAboveTheTime) {
  PartitionState state;
  state.floors.by_target[kSearch] = at(kNow.value() + 1'000'000);
  const Version highest = at(kNow.value() + 1'000'000 + kDrift.value());
  EXPECT_EQ(given(stamp(state, highest)), Version(highest.value() + 1));
  EXPECT_EQ(refused(stamp(state, Version(highest.value() + 1))), Reason::kObservedVersionTooHigh);
}

TEST(Stamp, JudgesTheDriftByTheTimeAndNotByStampsGivenBefore) {
  PartitionState state;
  state.clock = state.last = at(kNow.value() + 10 * kDrift.value());
  EXPECT_EQ(refused(stamp(state, at(kNow.value() + 2 * kDrift.value()))), Reason::kObservedVersionTooHigh);
  EXPECT_EQ(given(stamp(state)), Version(state.last.value() + 1));
}

TEST(Stamp, RefusesTheHighestNumbersWithoutWrappingAround) {
  EXPECT_EQ(refused(stamp({}, Version(UINT64_MAX))), Reason::kObservedVersionTooHigh);
  EXPECT_EQ(refused(next_stamp({}, kSearch, Version(UINT64_MAX), UnixMs(INT64_MAX), Milliseconds(INT64_MAX))),
            Reason::kVersionExhausted);
}

TEST(Stamp, GivesTheLastVersionBelowTheLimitAndThenNoMore) {
  PartitionState state;
  state.last = Version(kVersionLimit - 2);
  EXPECT_EQ(given(stamp(state)), Version(kVersionLimit - 1));
  state.last = Version(kVersionLimit - 1);
  EXPECT_EQ(refused(stamp(state)), Reason::kVersionExhausted);
}

TEST(Stamp, IsExhaustedByAFloorAtTheLimit) {
  PartitionState state;
  state.floors.global = Version(UINT64_MAX);
  EXPECT_EQ(refused(next_stamp(state, kSearch, std::nullopt, kNow, kNoDrift)), Reason::kVersionExhausted);
}

// A partition that moves between hosts whose clocks differ: the versions of its releases still rise.
TEST(Versions, RiseOverFailoverToAHostWithASlowClock) {
  MapState state;
  Context context = two_targets();
  Version previous;
  for (const std::int64_t now : {5'000, 3'000, 3'000, 5'000, 4'999, 6'000}) {
    context.now = UnixMs(now);
    Batch batch(state, state.partition, context);
    const std::string id = "d" + std::to_string(previous.value());
    ASSERT_EQ(batch.decide(request(id, 1), Offset(0), true), Taken::kDecided);
    for (const TargetNumber t : {kSearch, kCatalogue})
      ASSERT_EQ(batch.decide(result(id, 1, t), Offset(0), true), Taken::kDecided);
    batch.close();
    int releases = 0;
    for (const Emission& emission : batch.emissions())
      if (const Release* release = std::get_if<Release>(&emission.what)) {
        EXPECT_GT(release->version, previous);
        previous = release->version;
        ++releases;
      }
    EXPECT_EQ(releases, 2);
    state.commit(batch);
    EXPECT_EQ(state.partition.last, previous);
    EXPECT_EQ(state.rows.find(id)->second.last_version, previous);
  }
}

TEST(Versions, ARefusedObservedVersionLeavesTheTargetPending) {
  MapState state;
  const Context context = two_targets();
  Batch batch(state, state.partition, context);
  ASSERT_EQ(batch.decide(request("d", 1), Offset(0), true), Taken::kDecided);
  SequenceResult high = result("d", 1, kSearch);
  high.observed = Version(kVersionLimit);
  ASSERT_EQ(batch.decide(high, Offset(0), true), Taken::kDecided);
  ASSERT_EQ(batch.decide(result("d", 1, kSearch), Offset(1), true), Taken::kDecided);
  batch.close();
  EXPECT_EQ(batch.decisions()[1].reason, Reason::kObservedVersionTooHigh);
  EXPECT_EQ(batch.decisions()[2].outcome, Outcome::kReleased);
}

}  // namespace
}  // namespace reseq::engine
