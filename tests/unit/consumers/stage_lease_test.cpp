// A stage whose work has leases, over a log in memory and a clock of the test: heartbeats, leases that are lost, and
// the two times at which it may commit.
#include <atomic>
#include <deque>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <thread>
#include <variant>

#include "consumers/stage/stage.h"

namespace reseq::stage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr Partition kLeased{0};
constexpr std::int64_t kLeaseMs = 6'000;

struct LeasedAway {
  bool may_commit = true;
  std::int64_t behind_ms = 0;  // a pause
};

struct LeaseWorld {
  std::deque<std::variant<WorkRecord, LeasedAway>> events;
  std::map<Partition, Offset> committed;
  std::vector<std::string> sent;  // keys
  std::vector<std::string> log;   // what happened, in order
  std::vector<std::string> beats;
  HeartbeatSender::Round round = HeartbeatSender::Round::kAcknowledged;
  std::atomic<std::int64_t> now_ms = 1'000'000;
  bool commits_fail = false;
  bool assigned = false;
  std::optional<Ticket> held;  // by the sender
};

class LeasedReader : public WorkReader {
 public:
  explicit LeasedReader(LeaseWorld& world) : world_(world) {}
  void listen(AssignmentListener& listener) override { listener_ = &listener; }
  Result<std::optional<WorkRecord>> poll(Milliseconds) override {
    const std::vector<Partition> partitions = {kLeased};
    if (!std::exchange(world_.assigned, true)) listener_->on_assigned(partitions);
    if (world_.events.empty()) return std::optional<WorkRecord>();
    auto event = std::move(world_.events.front());
    world_.events.pop_front();
    if (auto* record = std::get_if<WorkRecord>(&event)) return std::optional<WorkRecord>(std::move(*record));
    const LeasedAway& away = std::get<LeasedAway>(event);
    world_.assigned = false;
    world_.now_ms += away.behind_ms;
    listener_->on_revoked(partitions, away.may_commit);
    return std::optional<WorkRecord>();
  }
  [[nodiscard]] std::vector<NextOffset> positions() const override { return {}; }
  Result<> commit(std::span<const NextOffset> offsets) override {
    if (world_.commits_fail) return Error{.what_to_do = ErrorClass::kAbort, .message = "rebalancing"};
    for (const NextOffset& offset : offsets) {
      world_.committed[offset.partition] = offset.next;
      world_.log.push_back("commit " + std::to_string(offset.next.value()));
    }
    return Done{};
  }
  void close() override {}

 private:
  LeaseWorld& world_;
  AssignmentListener* listener_ = nullptr;
};

class LeasedSender : public ResultSender {
 public:
  explicit LeasedSender(LeaseWorld& world) : world_(world) {}
  Result<> send(const Ticket& ticket, std::optional<std::string_view> key, std::optional<std::string_view>,
                std::span<const OwnedHeader> headers) override {
    const auto attempt = last_header(headers, "reseq-attempt");
    world_.sent.push_back(std::string(key.value()) + (attempt ? " attempt " + attempt->value() : ""));
    acknowledged_.push_back(ticket);
    return Done{};
  }
  Result<std::vector<Ticket>> acknowledged(Milliseconds) override { return std::exchange(acknowledged_, {}); }
  [[nodiscard]] std::size_t held() const override { return 0; }
  [[nodiscard]] bool holds(const Ticket& ticket) const override { return world_.held == ticket; }

 private:
  LeaseWorld& world_;
  std::vector<Ticket> acknowledged_;
};

class BeatsInMemory : public HeartbeatSender {
 public:
  explicit BeatsInMemory(LeaseWorld& world) : world_(world) {}
  void send(std::span<const HeartbeatRecord> heartbeats) override {
    for (const HeartbeatRecord& beat : heartbeats) world_.beats.push_back(beat.key.value());
  }
  Round round() override { return world_.round; }

 private:
  LeaseWorld& world_;
};

class StageWithLeases : public testing::Test {
 protected:
  explicit StageWithLeases(CommitWhen commit = CommitWhen::kAfterWork)
      : stage_(
            std::make_unique<LeasedReader>(world_), std::make_unique<LeasedSender>(world_),
            {.in_flight_max = 10, .commit_interval = std::chrono::milliseconds(0), .commit = commit},
            {.heartbeats = std::make_unique<BeatsInMemory>(world_), .now = [this] { return UnixMs(world_.now_ms); }}) {}

  // Its lease began so long ago.
  void record(std::int64_t offset, const std::string& key, std::int64_t ago_ms = 0) {
    const std::int64_t written = world_.now_ms - ago_ms;
    world_.events.emplace_back(WorkRecord{
        kLeased,
        Offset(offset),
        key,
        "text",
        {{"reseq-seq", "1"}, {"reseq-attempt", "2"}, {"reseq-lease-until", std::to_string(written + kLeaseMs)}},
        UnixMs(written)});
  }
  void record_without_lease(std::int64_t offset) {
    world_.events.emplace_back(WorkRecord{kLeased, Offset(offset), "plain", "text", {{"reseq-seq", "1"}}});
  }
  std::optional<Work> step() { return stage_.next(Milliseconds(0)).value(); }
  void pass(std::int64_t ms) {
    world_.now_ms += ms;
    stage_.keep_leases();
  }
  void answer(const Work& work) {
    ASSERT_TRUE(stage_.send(work, {.target = "search"}));
    stage_.finish(work);
  }

  LeaseWorld world_;
  Stage stage_;
};

class StageOnReceipt : public StageWithLeases {
 protected:
  StageOnReceipt() : StageWithLeases(CommitWhen::kOnReceipt) {}
};

TEST_F(StageWithLeases, SendsHeartbeatsWhileWorkRunsAndNoneBehindIt) {
  record(0, "a");
  const Work work = step().value();
  EXPECT_TRUE(work.has_lease);
  pass(1'999);
  EXPECT_THAT(world_.beats, IsEmpty());
  for (int i = 0; i < 400; ++i) pass(50);
  EXPECT_THAT(world_.beats, SizeIs(testing::AllOf(testing::Ge(9U), testing::Le(11U)))) << "22 s, one in two seconds";
  EXPECT_FALSE(work.lease_lost());
  answer(work);
  step();
  world_.beats.clear();
  for (int i = 0; i < 400; ++i) pass(50);
  EXPECT_THAT(world_.beats, IsEmpty());
  EXPECT_EQ(world_.committed[kLeased], Offset(1));
  EXPECT_THAT(world_.sent, ElementsAre("a attempt 2"));
}

TEST_F(StageWithLeases, SendsNothingForWorkWhoseLeaseItLostAndCommitsIt) {
  world_.round = HeartbeatSender::Round::kUnderWay;
  record(0, "a");
  const Work work = step().value();
  pass(2'000);
  EXPECT_THAT(world_.beats, ElementsAre("a"));
  pass(2'999);
  EXPECT_FALSE(work.lease_lost());
  EXPECT_TRUE(stage_.in_flight(work));
  pass(20);
  EXPECT_TRUE(work.lease_lost());
  EXPECT_FALSE(stage_.in_flight(work));
  const std::vector<LostLease> lost = stage_.take_lost();
  ASSERT_THAT(lost, SizeIs(1));
  EXPECT_EQ(lost[0].ticket, work.ticket);
  EXPECT_THAT(stage_.take_lost(), IsEmpty());
  answer(work);
  step();
  EXPECT_THAT(world_.sent, IsEmpty());
  EXPECT_EQ(world_.committed[kLeased], Offset(1)) << "its lease gives it back, not the log";
}

// A process that was stopped for longer than its lease has its answer in hand when it goes on.
TEST_F(StageWithLeases, SendsNothingWhenTheLeaseEndedInAPause) {
  record(0, "a");
  const Work work = step().value();
  world_.now_ms += 60'000;
  answer(work);
  EXPECT_THAT(world_.sent, IsEmpty());
  EXPECT_TRUE(work.lease_lost());
}

TEST_F(StageWithLeases, TakesAHeartbeatThatFailedForNone) {
  world_.round = HeartbeatSender::Round::kFailed;
  record(0, "a");
  const Work work = step().value();
  for (int i = 0; i < 120; ++i) pass(50);
  EXPECT_TRUE(work.lease_lost());
  EXPECT_GT(world_.beats.size(), 5U) << "it was tried again";
}

TEST_F(StageWithLeases, PassesOverWhatOthersHaveAlready) {
  record(0, "over", kLeaseMs);
  record(1, "nearly over", kLeaseMs * 5 / 6);
  record(2, "fresh");
  std::vector<std::string> keys;
  for (int i = 0; i < 5; ++i)
    if (const auto work = step()) keys.push_back(work->key.value());
  EXPECT_THAT(keys, ElementsAre("fresh"));
  EXPECT_EQ(world_.committed[kLeased], Offset(2));
}

TEST_F(StageWithLeases, KeepsTheLeaseOfResultsThatWaitForTheirTransaction) {
  record(0, "a");
  const Work work = step().value();
  world_.held = work.ticket;
  answer(work);
  step();
  EXPECT_FALSE(stage_.in_flight(work));
  pass(2'000);
  EXPECT_THAT(world_.beats, ElementsAre("a"));
  world_.held.reset();
  pass(50);
  pass(4'000);
  EXPECT_THAT(world_.beats, ElementsAre("a"));
}

TEST_F(StageWithLeases, SendsNoHeartbeatsForWorkThatWentToAnotherMember) {
  record(0, "a");
  const Work work = step().value();
  world_.events.emplace_back(LeasedAway{});
  step();
  pass(3'000);
  EXPECT_THAT(world_.beats, IsEmpty());
  pass(10'000);
  EXPECT_FALSE(work.lease_lost()) << "it is not lost, others have the partition";
}

// The group hears of the pause before anybody looks at the leases.
TEST_F(StageWithLeases, TellsWorkWhosePartitionWentInAPauseThatOutlastedItsLease) {
  record(0, "a");
  const Work work = step().value();
  world_.events.emplace_back(LeasedAway{.may_commit = false, .behind_ms = 60'000});
  step();
  stage_.keep_leases();
  EXPECT_TRUE(work.lease_lost());
  EXPECT_THAT(stage_.take_lost(), SizeIs(1));
  EXPECT_NE(world_.committed[kLeased], Offset(1)) << "others read it";
}

TEST_F(StageWithLeases, HandsOutWorkWithoutALeaseAsEver) {
  record_without_lease(0);
  const Work work = step().value();
  EXPECT_FALSE(work.has_lease);
  pass(100'000'000);
  EXPECT_TRUE(stage_.in_flight(work));
  EXPECT_THAT(world_.beats, IsEmpty());
}

TEST_F(StageWithLeases, CommitsAfterTheWorkUnlessToldOtherwise) {
  record(0, "a");
  const Work work = step().value();
  step();
  EXPECT_NE(world_.committed[kLeased], Offset(1));
  answer(work);
  step();
  EXPECT_EQ(world_.committed[kLeased], Offset(1));
}

TEST_F(StageWithLeases, GivesUpWhatTheLeaseGivesBack) {
  record(0, "a");
  const Work work = step().value();
  stage_.give_up(work);
  EXPECT_FALSE(stage_.in_flight(work));
  pass(3'000);
  EXPECT_THAT(world_.beats, IsEmpty());
  step();
  EXPECT_EQ(world_.committed[kLeased], Offset(1));
}

// The handler blocks the thread of the stage, so the heartbeats would stop.
TEST_F(StageWithLeases, KeepsTheLeaseWhileAHandlerWorks) {
  record(0, "a");
  int calls = 0;
  bool told = false;
  const auto handler = [&](const Work& work) {
    ++calls;
    for (int i = 0; i < 40; ++i) {
      world_.now_ms += 200;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    told = work.lease_lost();
    return std::vector<StageResult>{{.target = "search"}};
  };
  ASSERT_TRUE(run_stage(stage_, handler, [&] { return calls > 0; }).ok());
  EXPECT_FALSE(told);
  EXPECT_THAT(world_.sent, SizeIs(1)) << "8 s of work on a lease of six";
  EXPECT_GE(world_.beats.size(), 2U);
}

TEST_F(StageWithLeases, TellsAHandlerThatItsLeaseIsLost) {
  world_.round = HeartbeatSender::Round::kUnderWay;
  record(0, "a");
  bool told = false;
  const auto handler = [&](const Work& work) {
    for (int i = 0; i < 1'000 && !work.lease_lost(); ++i) {
      world_.now_ms += 100;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    told = work.lease_lost();
    return std::vector<StageResult>{{.target = "search"}};
  };
  ASSERT_TRUE(run_stage(stage_, handler, [&] { return told; }).ok());
  EXPECT_TRUE(told);
  EXPECT_THAT(world_.sent, IsEmpty());
}

TEST_F(StageOnReceipt, CommitsBeforeTheWorkIsHandedOut) {
  record(0, "a");
  const Work work = step().value();
  EXPECT_THAT(world_.log, ElementsAre("commit 1"));
  answer(work);
  EXPECT_THAT(world_.sent, ElementsAre("a attempt 2"));
  step();
  EXPECT_EQ(stage_.in_flight_count(), 0U);
}

TEST_F(StageOnReceipt, HandsNothingOutThatCouldNotBeCommitted) {
  world_.commits_fail = true;
  record(0, "a");
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(step());
  world_.commits_fail = false;
  const auto work = step();
  ASSERT_TRUE(work);
  EXPECT_EQ(work->key, "a");
  EXPECT_EQ(world_.committed[kLeased], Offset(1));
}

// A commit that fails because the group rebalances succeeds only when the reader has heard of that.
TEST_F(StageOnReceipt, LeavesToOthersWhatItCouldNotCommitBeforeARevoke) {
  world_.commits_fail = true;
  record(0, "a");
  EXPECT_FALSE(step());
  world_.events.emplace_back(LeasedAway{.may_commit = false});
  EXPECT_FALSE(step());
  world_.commits_fail = false;
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(step());
  EXPECT_EQ(stage_.in_flight_count(), 0U);
  EXPECT_FALSE(world_.committed.contains(kLeased));
}

TEST_F(StageOnReceipt, HandsOutWhatItCommittedInARevoke) {
  world_.commits_fail = true;
  record(0, "a");
  record(1, "b");
  EXPECT_FALSE(step());
  EXPECT_FALSE(step());
  world_.events.emplace_back(LeasedAway{});
  world_.commits_fail = false;
  EXPECT_EQ(step()->key, "a");
  EXPECT_EQ(step()->key, "b");
  EXPECT_EQ(world_.committed[kLeased], Offset(2));
}

TEST_F(StageOnReceipt, KeepsWhatItHasWhenItsPartitionGoes) {
  record(0, "a");
  const Work work = step().value();
  world_.events.emplace_back(LeasedAway{.may_commit = false});
  step();
  EXPECT_TRUE(stage_.in_flight(work)) << "nobody else reads it: it is committed";
  pass(2'000);
  EXPECT_THAT(world_.beats, ElementsAre("a"));
  answer(work);
  EXPECT_THAT(world_.sent, ElementsAre("a attempt 2"));
  step();
  EXPECT_EQ(stage_.in_flight_count(), 0U);
}

TEST_F(StageOnReceipt, RefusesWorkWithoutALease) {
  record_without_lease(0);
  const auto refused = stage_.next(Milliseconds(0));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what_to_do, ErrorClass::kInvalid);
  EXPECT_THAT(refused.error().message, HasSubstr("offset 0 of partition 0"));
  EXPECT_THAT(refused.error().message, HasSubstr("dispatch.mode = \"journal\""));
  EXPECT_THAT(world_.log, IsEmpty()) << "it is not committed";
}

TEST_F(StageOnReceipt, ReadsNoFurtherWhileTooMuchIsInFlight) {
  for (int i = 0; i < 11; ++i) record(i, "a");
  int handed_out = 0;
  for (int i = 0; i < 20; ++i) handed_out += step() ? 1 : 0;
  EXPECT_EQ(handed_out, 10);
}

TEST_F(StageOnReceipt, ReadsNoFurtherWhenNothingCanBeCommittedForLong) {
  world_.commits_fail = true;
  for (int i = 0; i < 200; ++i) record(i, "a");
  for (int i = 0; i < 300; ++i) EXPECT_FALSE(step());
  EXPECT_EQ(stage_.in_flight_count(), 110U);
  world_.commits_fail = false;
  for (int i = 0; i < 110; ++i) EXPECT_TRUE(step()) << i;
}

}  // namespace
}  // namespace reseq::stage
