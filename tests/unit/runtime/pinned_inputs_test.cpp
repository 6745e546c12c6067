// Is the log of an input the one that the state was made from? Each case on a simulated Kafka: what is decided, what is
// done to the log while nothing runs, and what the next process makes of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <string>

#include "runtime/worker/worker.h"
#include "simulated_application.h"
#include "tests/support/log_lines.h"

namespace reseq::runtime {
namespace {

using test::good;
using testing::HasSubstr;

class PinnedLog : public SimulatedApplication {
 protected:
  void start() {
    worker.reset();
    worker.emplace(application, *kafka, clock, shelf, [] { return HashKey{}; });
    for (int i = 0; i < 10'000 && !settled(); ++i) step();
    steps(20);
  }
  void steps(int count) {
    for (int i = 0; i < count; ++i) step();
  }
  void step() {
    good(worker->step());
    ticks(1);
  }
  [[nodiscard]] bool settled() const {
    if (worker->tasks().empty()) return false;
    const Phase phase = worker->tasks().front()->phase();
    return phase == Phase::kRunning || phase == Phase::kParked;
  }
  [[nodiscard]] simulation::Place place(const std::string& role) const { return {*broker.topic("app." + role), {}}; }
  void request(const std::string& id) {
    broker.append(place("requests"), {id, "{}", {{"reseq-seq", "1"}}, broker.now()});
  }
  void decide(std::uint64_t inputs) {
    for (int i = 0; i < 10'000 && worker->totals().inputs < inputs; ++i) step();
    steps(20);
    EXPECT_EQ(worker->totals().inputs, inputs);
  }
  // Three requests are decided, and the process is gone.
  void live() {
    start();
    for (const char* id : {"a", "b", "c"}) request(id);
    decide(3);
    worker.reset();
  }
  void replace(const std::string& role) { broker.log(place(role)) = simulation::Log(); }
  [[nodiscard]] bool parked() const { return worker->tasks().front()->phase() == Phase::kParked; }
  [[nodiscard]] Parked why() const { return worker->tasks().front()->parked(); }

  std::optional<Worker> worker;
};

TEST_F(PinnedLog, ThatIsTheSameIsReadOnWithoutASecondDecision) {
  live();
  start();
  EXPECT_FALSE(parked());
  request("d");
  decide(1);
}

TEST_F(PinnedLog, ThatWasMadeAnewAndIsLongerParksThePartition) {
  live();
  replace("requests");
  for (const char* id : {"n1", "n2", "n3", "n4", "n5"}) request(id);
  const test::LogLines log;
  start();
  ASSERT_TRUE(parked());
  EXPECT_EQ(why(), Parked::kInputReplaced);
  EXPECT_EQ(worker->totals().inputs, 0U);
  EXPECT_THAT(log.text(), HasSubstr("reason=input_replaced"));
  EXPECT_THAT(log.text(), HasSubstr("app.requests offset 2 was decided last and is another record now"));
}

TEST_F(PinnedLog, ThatWasMadeAnewIsNotNoticedWhenPinsAreIgnored) {
  live();
  replace("requests");
  for (const char* id : {"n1", "n2", "n3", "n4", "n5"}) request(id);
  application.guards.pinned_inputs = false;
  start();
  EXPECT_FALSE(parked());
  EXPECT_EQ(worker->totals().inputs, 2U) << "three records are skipped";
}

TEST_F(PinnedLog, ThatWasMadeAnewWithTheSameRecordsAtAnotherTimeParksThePartition) {
  live();
  replace("requests");
  time.advance(Milliseconds(60'000));
  for (const char* id : {"a", "b", "c", "d"}) request(id);
  start();
  EXPECT_TRUE(parked());
}

TEST_F(PinnedLog, ThatHasAMarkerInThePlaceOfTheRecordParksThePartition) {
  live();
  replace("requests");
  request("n1");
  simulation::Log& log = broker.log(place("requests"));
  (void)log.append(simulation::ProducerId(7), {"n2", "{}", {{"reseq-seq", "1"}}, broker.now()});
  (void)log.end_transaction(simulation::ProducerId(7), simulation::Fate::kCommitted);
  request("n4");
  start();
  ASSERT_TRUE(parked());
  EXPECT_EQ(why(), Parked::kInputReplaced);
  EXPECT_THAT(worker->tasks().front()->parked_reason(), HasSubstr("has no record now"));
}

TEST_F(PinnedLog, WithAMarkerBehindTheRecordIsTheSame) {
  start();
  simulation::Log& log = broker.log(place("requests"));
  (void)log.append(simulation::ProducerId(7), {"a", "{}", {{"reseq-seq", "1"}}, broker.now()});
  (void)log.end_transaction(simulation::ProducerId(7), simulation::Fate::kCommitted);
  decide(1);
  start();
  EXPECT_FALSE(parked());
  request("b");
  decide(1);
}

class PinnedLogOf : public PinnedLog, public testing::WithParamInterface<const char*> {};

TEST_P(PinnedLogOf, ParksThePartitionWhenItWasReplaced) {
  const std::string replaced = GetParam();
  for (const std::string role : {"commands", "control"}) {
    start();
    const std::uint64_t before = worker->totals().inputs;
    broker.append(place(role), {role, "nonsense", {}, broker.now()});
    decide(before + 1);
    worker.reset();
  }
  replace(replaced);
  for (int i = 0; i < 3; ++i) broker.append(place(replaced), {"other", "{}", {}, broker.now()});
  start();
  ASSERT_TRUE(parked());
  EXPECT_THAT(worker->tasks().front()->parked_reason(), HasSubstr("app." + replaced));
}

INSTANTIATE_TEST_SUITE_P(Inputs, PinnedLogOf, testing::Values("commands", "control"));

TEST_F(PinnedLog, WhoseRecordRetentionTookIsReadOnWithAWarning) {
  live();
  request("d");
  broker.trim(place("requests"), Offset(3));
  const test::LogLines log;
  start();
  decide(1);
  EXPECT_FALSE(parked());
  EXPECT_THAT(log.text(), HasSubstr("input=unchecked"));
}

// It rests: all that was decided is gone, nothing has come. Each takeover meets that.
TEST_F(PinnedLog, OfAnInputThatRestsForLongerThanItsRecordsAreKeptIsReadOnEachTime) {
  live();
  broker.trim(place("requests"), broker.log(place("requests")).high_watermark());
  for (int takeovers = 0; takeovers < 2; ++takeovers) {
    const test::LogLines log;
    start();
    EXPECT_FALSE(parked());
    EXPECT_EQ(log.count("input=unchecked"), 1);
    EXPECT_THAT(log.text(), HasSubstr("begins behind it")) << "found out by an error, and all assigned anew";
    worker.reset();
  }
  start();
  request("e");
  decide(1);
}

TEST_F(PinnedLog, ThatIsShorterThanThePositionIsOutOfReachAsBefore) {
  live();
  replace("requests");
  request("n1");
  start();
  ASSERT_TRUE(parked());
  EXPECT_EQ(why(), Parked::kInputUnreadable);
}

// Aborted transactions lie between the record that was decided last and the position.
TEST_F(PinnedLog, ThatEndsBetweenTheRecordAndThePositionSkipsNothingInSilence) {
  start();
  for (const char* id : {"a", "b", "c"}) request(id);
  decide(3);
  simulation::Log& log = broker.log(place("requests"));
  for (int i = 0; i < 40; ++i) {
    (void)log.append(simulation::ProducerId(7), {"gone", "{}", {{"reseq-seq", "1"}}, broker.now()});
    (void)log.end_transaction(simulation::ProducerId(7), simulation::Fate::kAborted);
  }
  steps(20);
  broker.append(place("commands"), {"nonsense", "nonsense", {}, broker.now()});
  decide(4);
  worker.reset();
  (void)broker.truncate(place("requests"), Offset(3));
  for (const char* id : {"n1", "n2"}) request(id);
  start();
  ASSERT_TRUE(parked()) << "two requests are skipped";
}

TEST_F(PinnedLog, OfRequestsWhoseRecordWasCompactedIsReadOnWithAWarning) {
  application.requests_compacted = true;
  live();
  replace("requests");
  simulation::Log& log = broker.log(place("requests"));
  for (int i = 0; i < 2; ++i) request("a");
  (void)log.append(simulation::ProducerId(7), {"n", "{}", {}, broker.now()});
  (void)log.end_transaction(simulation::ProducerId(7), simulation::Fate::kAborted);
  request("d");
  const test::LogLines lines;
  start();
  EXPECT_FALSE(parked());
  EXPECT_THAT(lines.text(), HasSubstr("was compacted away"));
}

TEST_F(PinnedLog, ThatIsEmptyBehindTheRecordIsTheSame) {
  live();
  start();
  steps(50);
  EXPECT_FALSE(parked());
}

TEST_F(PinnedLog, OfWhichNothingWasDecidedIsNotPinned) {
  start();
  worker.reset();
  for (const char* id : {"a", "b"}) request(id);
  start();
  decide(2);
  EXPECT_FALSE(parked());
}

TEST(PinnedInputs, BehindThePositionAfterASeekOfAnOlderVersionSayNothing) {
  PinnedInputs pins;
  const InputPin pin{Role::kRequests, Offset(9), UnixMs(1), 7};
  const InputPosition back{Role::kRequests, Offset(9)};
  pins.expect({&pin, 1}, {&back, 1});
  EXPECT_EQ(pins.pin(Role::kRequests), nullptr);
  const InputPosition behind{Role::kRequests, Offset(10)};
  pins.expect({&pin, 1}, {&behind, 1});
  EXPECT_NE(pins.pin(Role::kRequests), nullptr);
  EXPECT_EQ(pins.read_from(Role::kRequests, Offset(10)), Offset(9));
}

TEST(PinnedInputs, WaitWhileALeaderDoesNotKnowItsEndYet) {
  PinnedInputs pins;
  const InputPin pin{Role::kRequests, Offset(9), UnixMs(1), 7};
  const InputPosition position{Role::kRequests, Offset(12)};
  pins.expect({&pin, 1}, {&position, 1});
  EXPECT_EQ(pins.judge_end(Role::kRequests, Offset(9), Offset(12)), PinnedInputs::Judgement::kGoOn);
  EXPECT_NE(pins.pin(Role::kRequests), nullptr) << "it is compared when the record comes";
  EXPECT_EQ(pins.judge_end(Role::kRequests, Offset(12), Offset(12)), PinnedInputs::Judgement::kMissing);
}

}  // namespace
}  // namespace reseq::runtime
