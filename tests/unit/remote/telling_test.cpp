// What a remote sink tells: metrics, readiness, progress while it catches up, and where it starts.
#include "consumers/remote/telling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "consumers/remote/catching_up.h"
#include "consumers/remote/start.h"

namespace reseq::remote {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

TEST(SinkMetrics, TellCountsLagAndTheServer) {
  Tally tally;
  tally.add({.records = 7, .written = 4, .not_newer = 2, .refused = 1, .retried = 3});
  tally.trouble({ErrorClass::kRetriable, 0, "connection refused"});
  tally.publish({.lag = {{Partition(2), 41}}, .batches_in_flight = 5, .oldest = std::chrono::milliseconds(1'500)});
  const std::string text = metrics_text(tally.counts(), tally.standing(), tally.places(), std::nullopt);
  EXPECT_THAT(text, HasSubstr("reseq_sink_brokers_away_seconds 0\n"));
  EXPECT_THAT(text, HasSubstr("reseq_sink_records_total 7"));
  EXPECT_THAT(text, HasSubstr("reseq_sink_rejected_total{reason=\"refused_by_server\"} 1"));
  EXPECT_THAT(text, HasSubstr("reseq_sink_lag_records{partition=\"2\"} 41"));
  EXPECT_THAT(text, HasSubstr("reseq_sink_batches_in_flight 5"));
  EXPECT_THAT(text, HasSubstr("reseq_sink_oldest_unacknowledged_seconds 1.5"));
  EXPECT_THAT(text, HasSubstr("reseq_sink_server_up 0"));
  EXPECT_THAT(text, HasSubstr("reseq_sink_server_refuses 0"));
}

TEST(SinkReadiness, FollowsTheServer) {
  Tally tally;
  EXPECT_EQ(readiness(tally.standing(), {}, {}).status, 503);
  tally.good();
  EXPECT_EQ(readiness(tally.standing(), {}, {}).status, 200);
  tally.trouble({ErrorClass::kInvalid, 0, "permission denied"});
  EXPECT_EQ(readiness(tally.standing(), {}, {}).body, "server refuses: permission denied\n");
}

TEST(SinkReadiness, IsLostWithTheBrokers) {
  Tally tally;
  tally.good();
  const kafka::BrokersAway away{UnixMs(0), Milliseconds(61'500), "connection refused"};
  const auto answer = readiness(tally.standing(), {}, away);
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.body, "brokers away for 61 s: connection refused\n");
  EXPECT_THAT(metrics_text({}, tally.standing(), {}, away), HasSubstr("reseq_sink_brokers_away_seconds 61.5\n"));
}

TEST(SinkLiveness, IsLostWhenTheReaderStandsStill) {
  const auto now = std::chrono::steady_clock::now();
  EXPECT_EQ(liveness({}, now).status, 200) << "it waits for a server before it begins";
  EXPECT_EQ(liveness({.published = now - seconds(120)}, now).status, 200);
  const auto answer = liveness({.published = now - seconds(301)}, now);
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.body, "the reader has not gone round for 301 s\n");
}

TEST(CatchingUp, SaysNothingWhileItKeepsUp) {
  CatchingUp progress;
  const auto begin = CatchingUp::Clock::now();
  EXPECT_FALSE(progress.look(CatchingUp::kBehind - 1, 0, begin));
}

TEST(CatchingUp, TellsPercentRateAndTimeLeft) {
  CatchingUp progress;
  const auto begin = CatchingUp::Clock::now();
  EXPECT_EQ(progress.look(100'000, 0, begin), "catching_up=begun left=100000");
  EXPECT_FALSE(progress.look(90'000, 10'000, begin + seconds(1)));
  EXPECT_EQ(progress.look(75'000, 25'000, begin + seconds(5)),
            "catching_up=25% left=75000 rate=5000/s seconds_left=15");
  EXPECT_EQ(progress.look(9, 99'991, begin + seconds(6)), "catching_up=done records=99991 left=9");
}

TEST(CatchingUp, DoesNotCountTheTimeInWhichTheServerTakesNothing) {
  CatchingUp progress;
  const auto begin = CatchingUp::Clock::now();
  EXPECT_TRUE(progress.look(100'000, 0, begin));
  progress.wait(15'000, begin + seconds(60));
  EXPECT_FALSE(progress.look(80'000, 20'000, begin + seconds(62)));
  EXPECT_EQ(progress.look(60'000, 40'000, begin + seconds(65)),
            "catching_up=40% left=60000 rate=5000/s seconds_left=12");
}

TEST(StartOfReading, IsThePositionIfTheLogStillHasIt) {
  const LogRange log{.begin = Offset(10), .end = Offset(20)};
  EXPECT_EQ(start_of(Partition(0), std::nullopt, log, false).value(), Offset(10));
  EXPECT_EQ(start_of(Partition(0), Offset(15), log, false).value(), Offset(15));
  EXPECT_EQ(start_of(Partition(0), Offset(20), log, false).value(), Offset(20));
}

TEST(StartOfReading, KnowsWhetherAGroupHasRead) {
  const LogRange log{.begin = Offset(10), .end = Offset(20)};
  EXPECT_FALSE(has_read(log, Offset(9))) << "what it has read is not there any more, which start_of() judges";
  EXPECT_FALSE(has_read(log, Offset(10))) << "set back to the beginning";
  EXPECT_TRUE(has_read(log, Offset(11)));
  EXPECT_TRUE(has_read({.begin = Offset(10), .end = Offset(10)}, Offset(10))) << "all that it read has expired";
  EXPECT_FALSE(has_read({.begin = Offset(0), .end = Offset(0)}, Offset(0)));
}

TEST(StartOfReading, RefusesALogThatLostReleasesOrIsAnother) {
  const LogRange log{.begin = Offset(10), .end = Offset(20)};
  const auto lost = start_of(Partition(0), Offset(9), log, false);
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().what_to_do, ErrorClass::kInvalid);
  EXPECT_THAT(lost.error().message, HasSubstr("--skip-lost"));
  EXPECT_EQ(start_of(Partition(0), Offset(9), log, true).value(), Offset(10));
  const auto another = start_of(Partition(0), Offset(21), log, true);
  ASSERT_FALSE(another);
  EXPECT_THAT(another.error().message, HasSubstr("made anew"));
}

}  // namespace
}  // namespace reseq::remote
