// What the judge says of a journal: batches made by hand, each right but for one thing.
#include <gtest/gtest.h>
#include <string>

#include "codec/header_names.h"
#include "tests/judge/dispatches.h"
#include "tests/judge/expected_end.h"

namespace reseq::judge {
namespace {

constexpr std::int64_t kLeaseMs = 1'000;
constexpr std::int64_t kStart = 100'000;

Order order_of(std::uint64_t sequence) {
  return {Epoch(0), Sequence::of_number(sequence), Revision(0)};
}

config::Settings journal_settings() {
  config::Settings settings;
  settings.dispatch_mode = "journal";
  settings.dispatch_in_flight_max = 2;
  settings.dispatch_lease_ms = kLeaseMs;
  settings.dispatch_timeouts_max = 1;
  settings.starvation_after_ms = 0;
  for (const char* name : {"t0", "t1"}) {
    config::Target target;
    target.name = name;
    settings.targets.push_back(target);
  }
  return settings;
}

Dispatched dispatched(std::uint64_t sequence, std::uint32_t attempt, std::vector<std::string> targets = {"t0"}) {
  return {"book", order_of(sequence), attempt, Offset(static_cast<std::int64_t>(sequence)), std::move(targets)};
}

JournalEntry under_way(std::uint64_t sequence, std::uint64_t number) {
  JournalEntry entry;
  entry.order = order_of(sequence);
  entry.state = EntryState::kProcessing;
  entry.number = number;
  return entry;
}

class DispatchesTest : public testing::Test {
 protected:
  void take(ReplayedBatch batch, std::int64_t after_ms = 0) {
    now_ += after_ms;
    batch.meta.now = UnixMs(now_);
    dispatches_.take(batch);
  }
  void dispatch(const Dispatched& one, std::int64_t after_ms = 0) {
    ReplayedBatch batch;
    batch.dispatched.push_back(one);
    take(batch, after_ms);
  }
  void give_up(std::uint64_t sequence, Reason reason = Reason::kTimedOut, const std::string& target = "t0") {
    ReplayedBatch batch;
    batch.given_up.push_back({"book", Offset(static_cast<std::int64_t>(sequence)), reason, {target}});
    take(batch);
  }
  void request(std::int64_t offset, const char* payload) {
    Decided decided;
    decided.role = Role::kRequests;
    decided.record.key = "book";
    decided.record.offset = Offset(offset);
    decided.record.payload = payload;
    ReplayedBatch batch;
    batch.inputs.push_back(decided);
    take(batch);
  }
  // Of t0.
  void fail(std::uint64_t sequence, std::uint32_t attempt, TableRow row = TableRow::kF5,
            const char* effect = "unknown") {
    const std::string seq = std::to_string(sequence);
    const std::string number = std::to_string(attempt);
    Decided decided;
    decided.role = Role::kCommands;
    decided.decision = {Outcome::kApplied, Reason::kNone, row};
    decided.record.key = "book";
    decided.record.headers = {{codec::header::kCommand, "fail"},
                              {codec::header::kSeq, seq},
                              {codec::header::kTarget, "t0"},
                              {codec::header::kAttempt, number},
                              {codec::header::kEffect, effect}};
    ReplayedBatch batch;
    batch.inputs.push_back(decided);
    take(batch);
  }
  void journal(std::vector<JournalEntry> before, std::vector<JournalEntry> after) {
    ReplayedBatch batch;
    batch.journaled.push_back({"book", std::move(before), std::move(after)});
    take(batch);
  }

  config::Settings settings_ = journal_settings();
  Verdict verdict_;
  Dispatches dispatches_{settings_, Partition(0), verdict_};
  std::int64_t now_ = kStart;
};

TEST_F(DispatchesTest, SeesMoreUnderWayThanMayBe) {
  ReplayedBatch batch;
  batch.meta.summary.counts[Count::kProcessing] = 2;
  take(batch);
  EXPECT_EQ(verdict_.count(), 0U);
  batch.meta.summary.counts[Count::kProcessing] = 3;
  take(batch);
  EXPECT_EQ(verdict_.count(), 1U);
}

TEST_F(DispatchesTest, SeesAnAttemptThatIsMadeTwice) {
  dispatch(dispatched(1, 1));
  dispatch(dispatched(1, 2), kLeaseMs);
  EXPECT_EQ(verdict_.count(), 0U);
  dispatch(dispatched(1, 2), kLeaseMs);
  EXPECT_EQ(verdict_.count(), 1U);
}

TEST_F(DispatchesTest, SeesAnAttemptThatWasLeftOut) {
  dispatch(dispatched(1, 2));
  EXPECT_EQ(verdict_.count(), 1U);
}

// It ends the lease.
TEST_F(DispatchesTest, TakesARetryBehindAFailureBeforeTheLeaseIsOver) {
  dispatch(dispatched(1, 1));
  fail(1, 1);
  dispatch(dispatched(1, 2));
  EXPECT_EQ(verdict_.count(), 0U);
}

TEST_F(DispatchesTest, SeesARetryOfATargetThatDidNotFail) {
  dispatch(dispatched(1, 1, {"t0", "t1"}));
  fail(1, 1);
  dispatch(dispatched(1, 2, {"t0", "t1"}));
  EXPECT_EQ(verdict_.count(), 1U);
}

TEST_F(DispatchesTest, SeesMoreRetriesThanMayBe) {
  settings_.failures_retries_max = 1;
  dispatch(dispatched(1, 1));
  fail(1, 1);
  dispatch(dispatched(1, 2));
  fail(1, 2);
  EXPECT_EQ(verdict_.count(), 0U);
  dispatch(dispatched(1, 3));
  fail(1, 3);
  EXPECT_EQ(verdict_.count(), 1U);
}

TEST_F(DispatchesTest, CountsNoRetryOfWhatWaitsForItsTarget) {
  settings_.failures_retries_max = 0;
  for (std::uint32_t attempt = 1; attempt < 4; ++attempt) {
    dispatch(dispatched(1, attempt));
    fail(1, attempt, TableRow::kF3);
  }
  EXPECT_EQ(verdict_.count(), 0U);
}

TEST_F(DispatchesTest, SeesTwoDocumentsThatTryTheSameTarget) {
  ReplayedBatch batch;
  batch.down = {"t0"};
  batch.dispatched = {dispatched(1, 1), dispatched(2, 1, {"t1"})};
  take(batch);
  EXPECT_EQ(verdict_.count(), 0U);
  batch.dispatched = {dispatched(3, 1), dispatched(4, 1)};
  take(batch);
  EXPECT_EQ(verdict_.count(), 1U);
}

TEST_F(DispatchesTest, SeesThatSomethingWasGivenUpThatDidNotFail) {
  dispatch(dispatched(1, 1));
  give_up(1, Reason::kFailed);
  EXPECT_EQ(verdict_.count(), 1U);
  fail(1, 1);
  give_up(1, Reason::kFailed);
  EXPECT_EQ(verdict_.count(), 1U);
}

TEST_F(DispatchesTest, SeesThatATargetWasGivenUpBesideOneThatFailed) {
  dispatch(dispatched(1, 1, {"t0", "t1"}));
  fail(1, 1);
  give_up(1, Reason::kFailed);
  EXPECT_EQ(verdict_.count(), 0U);
  give_up(1, Reason::kFailed, "t1");
  EXPECT_EQ(verdict_.count(), 1U);
}

TEST_F(DispatchesTest, SeesThatSomethingIsTriedAgainThatMayHaveBeenDone) {
  settings_.targets.front().effect = "potent";
  dispatch(dispatched(1, 1, {"t0", "t1"}));
  fail(1, 1, TableRow::kF5, "none");
  dispatch(dispatched(1, 2), kLeaseMs);
  EXPECT_EQ(verdict_.count(), 0U);
  fail(1, 2);
  dispatch(dispatched(1, 3), kLeaseMs);
  EXPECT_EQ(verdict_.count(), 1U);
  dispatch(dispatched(1, 4), kLeaseMs);
  EXPECT_EQ(verdict_.count(), 2U) << "behind a lost lease";
}

TEST_F(DispatchesTest, SeesThatAnEffectIsSaidToBeUnknownThatIsKnown) {
  settings_.targets.front().effect = "potent";
  dispatch(dispatched(1, 1, {"t0", "t1"}));
  give_up(1, Reason::kEffectUnknown);
  EXPECT_EQ(verdict_.count(), 0U);
  give_up(1, Reason::kEffectUnknown, "t1");
  EXPECT_EQ(verdict_.count(), 1U) << "work for it can be done again";
  fail(1, 1, TableRow::kF4, "none");
  give_up(1, Reason::kEffectUnknown);
  EXPECT_EQ(verdict_.count(), 2U) << "nothing was done";
}

TEST_F(DispatchesTest, SeesThatOtherContentInheritsAFailure) {
  settings_.failures_inherit_failed = true;
  request(1, "broken");
  dispatch(dispatched(1, 1));
  fail(1, 1, TableRow::kF4);
  request(2, "broken");
  give_up(2, Reason::kFailed);
  EXPECT_EQ(verdict_.count(), 0U);
  request(3, "mended");
  give_up(3, Reason::kFailed);
  EXPECT_EQ(verdict_.count(), 1U);
  settings_.failures_inherit_failed = false;
  give_up(2, Reason::kFailed);
  EXPECT_EQ(verdict_.count(), 2U);
}

TEST_F(DispatchesTest, TakesTheFirstAttemptOfATargetThatCameLater) {
  dispatch(dispatched(1, 1));
  dispatch(dispatched(1, 1, {"t1"}));
  EXPECT_EQ(verdict_.count(), 0U);
}

TEST_F(DispatchesTest, TakesTheFirstAttemptOfANewLife) {
  dispatch(dispatched(1, 1));
  ReplayedBatch end;
  end.expired.emplace_back("book");
  take(end);
  dispatch(dispatched(1, 1));
  EXPECT_EQ(verdict_.count(), 0U);
}

TEST_F(DispatchesTest, SeesALeaseThatWasLostBeforeItsEnd) {
  dispatch(dispatched(1, 1));
  dispatch(dispatched(1, 2), kLeaseMs - 1);
  EXPECT_EQ(verdict_.count(), 1U);
}

TEST_F(DispatchesTest, SeesALeaseThatWasLostAlthoughItWasRenewed) {
  dispatch(dispatched(1, 1));
  Record beat;
  beat.key = "book";
  beat.timestamp = UnixMs(now_ + 500);
  beat.headers = {{codec::header::kCommand, "heartbeat"}, {codec::header::kEpoch, "0"}, {codec::header::kSeq, "1"}};
  ReplayedBatch batch;
  batch.inputs.push_back({Role::kCommands, beat, {Outcome::kApplied, Reason::kNone, TableRow::kNone}});
  take(batch, 600);
  dispatch(dispatched(1, 2), kLeaseMs - 101);
  EXPECT_EQ(verdict_.count(), 1U);
  dispatch(dispatched(1, 3), kLeaseMs);
  EXPECT_EQ(verdict_.count(), 1U);
}

// What was lost under a clock that is ahead is dispatched under one that is not.
TEST_F(DispatchesTest, TakesTheLatestOfAllClocksForALease) {
  dispatch(dispatched(1, 1));
  take({}, kLeaseMs);
  dispatch(dispatched(1, 2), -kLeaseMs);
  EXPECT_EQ(verdict_.count(), 0U);
}

TEST_F(DispatchesTest, SeesAnOrderThatIsGivenUpTooEarly) {
  dispatch(dispatched(1, 1));
  give_up(1);
  EXPECT_EQ(verdict_.count(), 1U);
  dispatch(dispatched(1, 2), kLeaseMs);
  give_up(1);
  EXPECT_EQ(verdict_.count(), 1U);
  give_up(2);  // was never dispatched
  EXPECT_EQ(verdict_.count(), 2U);
}

TEST_F(DispatchesTest, SeesANewerOrderBesideAnOlderOne) {
  journal({under_way(1, 1)}, {under_way(1, 1), under_way(2, 2)});
  EXPECT_EQ(verdict_.count(), 1U);
}

TEST_F(DispatchesTest, TakesAnOlderOrderThatCameBack) {
  journal({under_way(2, 1)}, {under_way(2, 1), under_way(1, 2)});
  EXPECT_EQ(verdict_.count(), 0U);
}

TEST_F(DispatchesTest, TakesSeveralOrdersWhereTheyMayBe) {
  settings_.dispatch_one_at_a_time = false;
  journal({under_way(1, 1)}, {under_way(1, 1), under_way(2, 2)});
  EXPECT_EQ(verdict_.count(), 0U);
}

// Of one document, by its headers.
class ByHeaders final : public Specification {
 public:
  [[nodiscard]] std::optional<Asked> asked(const Record& request) const override {
    Asked asked;
    asked.id = *request.key;
    asked.sequence = number_of(request, codec::header::kSeq);
    asked.removal = header_of(request, codec::header::kOp).has_value();
    if (request.payload) asked.payload = std::string(*request.payload);
    if (header_of(request, codec::header::kExpiresAt))
      asked.expires_at = UnixMs(static_cast<std::int64_t>(number_of(request, codec::header::kExpiresAt)));
    if (header_of(request, codec::header::kProcessAt))
      asked.process_at = UnixMs(static_cast<std::int64_t>(number_of(request, codec::header::kProcessAt)));
    return asked;
  }
  [[nodiscard]] bool excused(const Piece& /*piece*/) const override { return false; }
};

class JournalEnd : public testing::Test {
 protected:
  Record request(const char* sequence) const {
    Record record;
    record.key = "book";
    record.offset = Offset(std::stoll(sequence));
    record.headers = {{codec::header::kSeq, sequence}};
    return record;
  }
  void ask(const Record& record, Decision decision = {Outcome::kWaiting, Reason::kNone, TableRow::kR1}) {
    ReplayedBatch batch;
    batch.inputs.push_back({Role::kRequests, record, decision});
    take(batch);
  }
  void release(std::uint64_t sequence) {
    ReplayedBatch batch;
    for (const char* target : {"t0", "t1"}) batch.releases.push_back({"book", target, 0, sequence, 0, std::nullopt});
    take(batch);
  }
  void dispatch(std::uint64_t sequence) {
    ReplayedBatch batch;
    batch.dispatched.push_back(dispatched(sequence, 1, {"t0", "t1"}));
    take(batch);
  }
  void expire(std::uint64_t sequence, std::int64_t now) {
    ReplayedBatch batch;
    batch.gone.push_back({"book", order_of(sequence), {"t0", "t1"}});
    take(batch, now);
  }
  void take(ReplayedBatch& batch, std::int64_t now = kStart) {
    batch.meta.now = UnixMs(now);
    end_.take(batch);
  }
  std::uint64_t found() {
    end_.finish({"book"});
    return verdict_.count();
  }

  config::Settings settings_ = journal_settings();
  Verdict verdict_;
  ByHeaders specification_;
  ExpectedEnd end_{settings_, specification_, verdict_};
};

TEST_F(JournalEnd, SeesARequestThatWaitsAndIsNeverReleased) {
  ask(request("1"));
  EXPECT_EQ(found(), 2U);  // for each target
}

TEST_F(JournalEnd, ExcusesWhatExpired) {
  Record record = request("1");
  record.headers.push_back({codec::header::kExpiresAt, "100500"});
  ask(record);
  expire(1, 100'500);
  EXPECT_EQ(found(), 0U);
}

TEST_F(JournalEnd, SeesWhatExpiredBeforeItsDate) {
  Record record = request("1");
  record.headers.push_back({codec::header::kExpiresAt, "100500"});
  ask(record);
  expire(1, 100'499);
  EXPECT_EQ(found(), 1U);
}

TEST_F(JournalEnd, SeesThatSomethingExpiredThatNobodyWantsToExpire) {
  ask(request("1"));
  expire(1, kStart);
  EXPECT_EQ(verdict_.count(), 1U);
}

TEST_F(JournalEnd, SeesThatTheOneBelowWhatExpiredWasLost) {
  ask(request("1"));
  dispatch(1);
  Record record = request("2");
  record.headers.push_back({codec::header::kExpiresAt, "100500"});
  ask(record);
  expire(2, 100'500);
  EXPECT_EQ(found(), 2U);
}

TEST_F(JournalEnd, TakesTheOneBelowWhatExpired) {
  ask(request("1"));
  dispatch(1);
  Record record = request("2");
  record.headers.push_back({codec::header::kExpiresAt, "100500"});
  ask(record);
  expire(2, 100'500);
  release(1);
  EXPECT_EQ(found(), 0U);
}

TEST_F(JournalEnd, TakesWhatWasReleasedBeforeADeleteForAllIsDispatched) {
  ask(request("1"));
  dispatch(1);
  Record record = request("2");
  record.headers.push_back({codec::header::kOp, "delete"});
  ask(record);
  release(1);
  dispatch(2);
  release(2);
  EXPECT_EQ(found(), 0U);
}

TEST_F(JournalEnd, SeesWhatWasReleasedBehindTheDispatchOfADeleteForAll) {
  ask(request("1"));
  dispatch(1);
  Record record = request("2");
  record.headers.push_back({codec::header::kOp, "delete"});
  ask(record);
  dispatch(2);
  release(1);
  release(2);
  EXPECT_EQ(found(), 2U);
}

TEST_F(JournalEnd, ExcusesWhatTimedOut) {
  ask(request("1"));
  dispatch(1);
  ReplayedBatch batch;
  batch.given_up.push_back({"book", Offset(1), Reason::kTimedOut, {"t0", "t1"}});
  take(batch);
  EXPECT_EQ(found(), 0U);
}

TEST_F(JournalEnd, SeesWhatWasLostBesideATargetThatWasGivenUp) {
  ask(request("1"));
  dispatch(1);
  ReplayedBatch batch;
  batch.given_up.push_back({"book", Offset(1), Reason::kTimedOut, {"t0"}});
  take(batch);
  EXPECT_EQ(found(), 1U);
}

TEST_F(JournalEnd, ExcusesWhatFailedForGoodAndWhatThatHadTakenOver) {
  ask(request("1"));
  ask(request("2"));
  dispatch(2);
  ReplayedBatch batch;
  batch.given_up.push_back({"book", Offset(2), Reason::kFailed, {"t0", "t1"}});
  take(batch);
  EXPECT_EQ(found(), 0U);
}

TEST_F(JournalEnd, SeesThatAGoodDateWasRefused) {
  constexpr Decision kRefused = {Outcome::kDeadLettered, Reason::kMalformedHeader, TableRow::kNone};
  settings_.dispatch_process_at_max_ms = 500;
  Record record = request("1");
  record.headers.push_back({codec::header::kProcessAt, "100501"});
  ask(record, kRefused);
  EXPECT_EQ(verdict_.count(), 0U);
  record.headers.back().value = "100500";
  ask(record, kRefused);
  EXPECT_EQ(verdict_.count(), 1U);
}

}  // namespace
}  // namespace reseq::judge
