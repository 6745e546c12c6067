// When a lease is renewed and when it is lost, by a clock of the test.
#include "consumers/stage/lease.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reseq::stage {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr UnixMs kWritten{1'000'000};
constexpr Milliseconds kLength{6'000};

UnixMs behind_written(std::int64_t ms) {
  return UnixMs(kWritten.value() + ms);
}

Ticket lease_ticket(std::int64_t offset) {
  return {.partition = Partition(0), .offset = Offset(offset), .assignment = Assignment(1)};
}

std::optional<Lease> read_lease(const std::optional<std::string>& until, UnixMs written, UnixMs now) {
  const std::vector<OwnedHeader> headers = {{"reseq-seq", "1"}, {"reseq-lease-until", until}};
  return lease_of(headers, written, [=] { return now; });
}

class LeasesTest : public testing::Test {
 protected:
  std::stop_token add(std::int64_t offset, std::int64_t since = 0) {
    const Lease lease{.until = behind_written(since + kLength.value()), .length = kLength};
    return leases_.add(lease_ticket(offset), lease, {.key = std::to_string(offset), .headers = {}});
  }
  std::vector<std::string> round_at(std::int64_t ms) {
    std::vector<std::string> keys;
    for (const HeartbeatRecord& beat : leases_.begin_round(behind_written(ms))) keys.push_back(beat.key.value());
    return keys;
  }
  std::vector<LostLease> lost_at(std::int64_t ms) { return leases_.take_lost(behind_written(ms)); }

  Leases leases_;
};

TEST(Lease, IsAsLongAsFromTheRecordToItsEnd) {
  const auto lease = read_lease("1006000", kWritten, behind_written(4'000));
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->until, UnixMs(1'006'000));
  EXPECT_EQ(lease->length, kLength);
}

TEST(Lease, IsWhatIsLeftOfItWhereTheRecordSaysNoTime) {
  for (const UnixMs written : {UnixMs(), UnixMs(1'006'000), UnixMs(2'000'000)}) {
    const auto lease = read_lease("1006000", written, behind_written(4'000));
    ASSERT_TRUE(lease);
    EXPECT_EQ(lease->length, Milliseconds(2'000));
  }
  EXPECT_EQ(read_lease("1006000", UnixMs(), UnixMs(3'000'000))->length, Milliseconds(0)) << "it is over";
}

TEST(Lease, IsNoneWhereNoDateStands) {
  for (const char* text : {"", "soon", "0", "-1", "1006000 ", "99999999999999999999"})
    EXPECT_FALSE(read_lease(text, kWritten, kWritten)) << text;
  EXPECT_FALSE(read_lease(std::nullopt, kWritten, kWritten));
  const auto never = [] { return ADD_FAILURE() << "the clock is asked for work without a lease", UnixMs(); };
  EXPECT_FALSE(lease_of({}, kWritten, never));
}

TEST(Lease, IsRenewedAfterAThirdAndLeftASixthBeforeItsEnd) {
  const Lease lease{.until = behind_written(6'000), .length = kLength};
  EXPECT_EQ(beat_at(lease), behind_written(2'000));
  EXPECT_EQ(stop_at(lease), behind_written(5'000));
}

TEST(Lease, IsLeftAtMostTheMarginBeforeItsEnd) {
  const Lease hour{.until = behind_written(3'600'000), .length = Milliseconds(3'600'000)};
  EXPECT_EQ(stop_at(hour), behind_written(3'600'000 - kStopMarginMax.value()));
}

TEST(Heartbeat, HasTheKeyAndWhatSaysWhichAttemptItIs) {
  const std::vector<OwnedHeader> work = {{"reseq-seq", "17"},      {"reseq-epoch", "2"},    {"reseq-revision", "3"},
                                         {"reseq-attempt", "4"},   {"reseq-op", "delete"},  {"traceparent", "x"},
                                         {"reseq-targets", "a,b"}, {"reseq-priority", "1"}, {"mine", std::nullopt}};
  const HeartbeatRecord heartbeat = heartbeat_of("id", work);
  EXPECT_EQ(heartbeat.key, "id");
  std::vector<std::string> headers;
  for (const OwnedHeader& header : heartbeat.headers) headers.push_back(header.name + "=" + header.value.value());
  EXPECT_THAT(headers, ElementsAre("reseq-command=heartbeat", "reseq-seq=17", "reseq-epoch=2", "reseq-revision=3",
                                   "reseq-attempt=4"));
  const std::vector<OwnedHeader> first = {{"reseq-seq", "17"}, {"reseq-epoch", "0"}};
  EXPECT_THAT(heartbeat_of("id", first).headers, SizeIs(3)) << "what work does not say is not said";
}

TEST_F(LeasesTest, BeatWhenAThirdIsOver) {
  add(1);
  EXPECT_THAT(round_at(1'999), IsEmpty());
  EXPECT_THAT(round_at(2'000), ElementsAre("1"));
}

TEST_F(LeasesTest, BeatAtOnceForWorkThatLayInTheTopic) {
  add(1, -3'000);
  EXPECT_THAT(round_at(0), ElementsAre("1"));
}

TEST_F(LeasesTest, GoOnFromWhenTheHeartbeatWasSentNotFromItsAcknowledgement) {
  add(1);
  EXPECT_THAT(round_at(2'000), SizeIs(1));
  leases_.round_acknowledged();  // however late
  EXPECT_THAT(lost_at(6'999), IsEmpty());
  EXPECT_THAT(lost_at(7'000), SizeIs(1)) << "2,000 + 6,000 less a sixth";
}

TEST_F(LeasesTest, AreLostWhenNoHeartbeatIsAcknowledgedInTime) {
  const std::stop_token token = add(1);
  EXPECT_THAT(round_at(2'000), SizeIs(1));
  EXPECT_THAT(lost_at(4'999), IsEmpty());
  EXPECT_FALSE(token.stop_requested());
  const std::vector<LostLease> lost = lost_at(5'000);
  ASSERT_THAT(lost, SizeIs(1));
  EXPECT_EQ(lost[0].ticket, lease_ticket(1));
  EXPECT_EQ(lost[0].left, Milliseconds(1'000)) << "for ending what runs";
  EXPECT_TRUE(token.stop_requested());
  leases_.round_acknowledged();  // too late
  EXPECT_TRUE(leases_.empty());
}

TEST_F(LeasesTest, SayThatNothingIsLeftAfterALongPause) {
  add(1);
  EXPECT_EQ(lost_at(60'000).at(0).left, Milliseconds(0));
}

TEST_F(LeasesTest, SendNoSecondRoundBeforeTheFirstHasEnded) {
  add(1);
  EXPECT_THAT(round_at(2'000), SizeIs(1));
  add(2, -3'000);
  EXPECT_THAT(round_at(2'100), IsEmpty());
  leases_.round_acknowledged();
  EXPECT_THAT(round_at(2'200), ElementsAre("2"));
}

TEST_F(LeasesTest, SendAgainWhatCouldNotBeSentButNotAtOnce) {
  add(1);
  EXPECT_THAT(round_at(2'000), SizeIs(1));
  leases_.round_failed(behind_written(2'050));
  EXPECT_THAT(round_at(2'149), IsEmpty());
  EXPECT_THAT(round_at(2'150), ElementsAre("1"));
}

TEST_F(LeasesTest, AreForgottenWithWhatNobodyHolds) {
  const std::stop_token token = add(1);
  add(2);
  leases_.keep_only([](const Ticket& ticket) { return ticket.offset == Offset(2); });
  EXPECT_THAT(round_at(2'000), ElementsAre("2"));
  EXPECT_THAT(lost_at(60'000), SizeIs(1));
  EXPECT_FALSE(token.stop_requested());
}

}  // namespace
}  // namespace reseq::stage
