// The simulated Kafka: logs, transactions, faults. Mirrors what tests/component shows for the real one.
#include "tests/simulation/kafka_rig.h"

namespace reseq::simulation {
namespace {

TEST_F(SimulatedKafka, AnOpenTransactionPinsTheStableEndAndItsMarkerOccupiesAnOffset) {
  const auto one = producer("1");
  const auto two = producer("2");
  good(one->begin());
  produce(*one, kA0, "one");
  commit_record(*two, kA0, "two");
  const auto from = reader(kA0);
  EXPECT_EQ(read(*from), Strings({"@0"}));
  EXPECT_EQ(good(from->high_watermarks({&kA0, 1}, kLimit))[0].offset, Offset(3));
  good(one->commit(kLimit));
  broker.settings().marker_per_mille = 0;
  ticks();
  EXPECT_EQ(read(*from), Strings()) << "the marker has not landed";
  broker.settings().marker_per_mille = 500;
  ticks();
  EXPECT_EQ(read(*from), Strings({"one", "two", "@4"}));
}

TEST_F(SimulatedKafka, AnAbortHidesItsRecordsAndTheEndMovesOn) {
  const auto by = producer();
  commit_record(*by, kA0, "kept");
  const auto from = reader(kA0);
  EXPECT_EQ(read(*from), Strings({"kept", "@2"}));
  good(by->begin());
  produce(*by, kA0, "hidden");
  good(by->abort(kLimit));
  ticks();
  EXPECT_EQ(read(*from), Strings({"@4"}));
}

TEST_F(SimulatedKafka, AnOffsetOutsideOfTheLogFailsItsPartition) {
  EXPECT_EQ(read(*reader(kA0, Offset(7))), Strings({"failed"}));
  const auto by = producer();
  commit_record(*by, kA0, "a");
  commit_record(*by, kA0, "b");
  broker.trim({0, Partition(0)}, Offset(2));
  EXPECT_EQ(read(*reader(kA0, Offset(1))), Strings({"failed"}));
  EXPECT_EQ(read(*reader(kA0, Offset(2))), Strings({"b", "@4"}));
}

TEST_F(SimulatedKafka, ACutTailNeverHappenedAndTakesWholeTransactions) {
  const auto by = producer();
  commit_record(*by, kA0, "a");
  commit_record(*by, kA0, "b");
  EXPECT_EQ(broker.truncate({0, Partition(0)}, Offset(3)), Offset(2));
  EXPECT_EQ(read(*reader(kA0)), Strings({"a", "@2"}));
  EXPECT_EQ(read(*reader(kA0, Offset(4))), Strings({"failed"}));
}

TEST_F(SimulatedKafka, ACrashedProducerPinsTheLogUntilItsIdIsInitialisedAgain) {
  auto by = producer();
  good(by->begin());
  produce(*by, kA0, "lost");
  by.reset();
  const auto other = producer("2");
  ticks();
  EXPECT_EQ(log(0).last_stable(), Offset(0));
  by = good(cluster("1")->producer());
  EXPECT_EQ(kind(by->init(kLimit)), ErrorClass::kTimeout) << "the old transaction has to end first";
  ticks();
  good(by->init(kLimit));
  EXPECT_EQ(read(*reader(kA0)), Strings({"@2"}));
}

TEST_F(SimulatedKafka, ASecondInstanceFencesTheFirstWhoseFlushSaysNothing) {
  const auto first = producer();
  good(first->begin());
  produce(*first, kA0, "a");
  const auto second = producer();
  good(first->produce({.topic = kA, .partition = Partition(0), .key = "zombie", .payload = "x"}));
  EXPECT_TRUE(first->flush(kLimit));
  EXPECT_EQ(first->delivered(kA0), std::nullopt);
  EXPECT_EQ(kind(first->commit(kLimit)), ErrorClass::kFenced);
  EXPECT_EQ(kind(first->flush(kLimit)), ErrorClass::kFenced);
  commit_record(*second, kA0, "b");
  EXPECT_EQ(read(*reader(kA0)), Strings({"b", "@4"}));
}

TEST_F(SimulatedKafka, TheBrokerAbortsAndFencesWhatIsOpenTooLong) {
  const auto by = producer();
  good(by->begin());
  produce(*by, kA0, "slow");
  ticks(9, 1'000);
  EXPECT_EQ(log(0).last_stable(), Offset(0));
  ticks(20, 1'000);
  EXPECT_EQ(read(*reader(kA0)), Strings({"@2"}));
  EXPECT_EQ(kind(by->commit(kLimit)), ErrorClass::kFenced);
  EXPECT_EQ(broker.counters().transactions_overdue, 1U);
}

TEST_F(SimulatedKafka, DeliveredIsTheOffsetOnceAcknowledged) {
  const auto by = producer();
  commit_record(*by, kA0, "a");
  EXPECT_EQ(by->delivered(kA0), Offset(0));
  good(by->begin());
  good(by->produce({.topic = kA, .partition = Partition(0), .payload = "x"}));
  EXPECT_EQ(by->delivered(kA0), std::nullopt);
  good(by->flush(kLimit));
  EXPECT_EQ(by->delivered(kA0), Offset(2));
}

TEST_F(SimulatedKafka, ACommitThatTimesOutMayHaveHappenedAndMayBeRepeated) {
  for (const Fault fault : {Fault::kTimeout, Fault::kUnanswered}) {
    const auto by = producer();
    good(by->begin());
    produce(*by, kA0, "a");
    broker.faults().order(Call::kCommit, fault);
    EXPECT_EQ(kind(by->commit(kLimit)), ErrorClass::kTimeout);
    EXPECT_TRUE(by->in_doubt());
    ticks();
    const bool happened = log(0).last_stable() == log(0).high_watermark();
    EXPECT_EQ(happened, fault == Fault::kUnanswered);
    good(by->commit(kLimit));
    ticks();
    EXPECT_TRUE(by->in_doubt());
  }
  EXPECT_EQ(read(*reader(kA0)), Strings({"a", "a", "@4"}));
}

TEST_F(SimulatedKafka, AFatalCommitMayHaveHappenedOrNot) {
  for (const Fault fault : {Fault::kFatal, Fault::kFatalHappened}) {
    auto by = producer();
    good(by->begin());
    produce(*by, kA0, fault == Fault::kFatal ? "no" : "yes");
    broker.faults().order(Call::kCommit, fault);
    EXPECT_EQ(kind(by->commit(kLimit)), ErrorClass::kFatal);
    EXPECT_EQ(kind(by->commit(kLimit)), ErrorClass::kFatal);
    ticks();
    by = producer();
    ticks();
  }
  EXPECT_EQ(read(*reader(kA0)), Strings({"yes", "@4"}));
}

TEST_F(SimulatedKafka, ALateRequestEndsTheNextTransactionOfTheSameEpochButNotOfANewOne) {
  for (const bool recycles : {false, true}) {
    auto by = producer();
    broker.settings().late_per_mille = 0;
    good(by->begin());
    produce(*by, kA0, "first");
    broker.faults().order(Call::kCommit, Fault::kRepeated);
    good(by->commit(kLimit));
    EXPECT_TRUE(by->in_doubt());
    ticks();
    if (recycles) by = producer();
    good(by->begin());
    produce(*by, kA0, "next");
    const Offset stable = log(0).last_stable();
    broker.settings().late_per_mille = 1'000;
    ticks();
    EXPECT_EQ(log(0).last_stable() > stable, !recycles);
    EXPECT_EQ(broker.counters().late_hits, 1U);
  }
  EXPECT_EQ(broker.counters().begins_in_doubt, 1U);
}

TEST_F(SimulatedKafka, CallsThatFailWithoutEffectLetTimePassAndMayBeRepeated) {
  const auto by = producer();
  good(by->begin());
  good(by->produce({.topic = kA, .partition = Partition(0), .key = "a", .payload = "x"}));
  const Milliseconds before = time.passed();
  broker.faults().order(Call::kFlush, Fault::kTimeout);
  EXPECT_EQ(kind(by->flush(kLimit)), ErrorClass::kTimeout);
  EXPECT_GT(time.passed(), before);
  broker.faults().order(Call::kProduce, Fault::kRetriable);
  EXPECT_EQ(kind(by->produce({.topic = kA, .payload = "y"})), ErrorClass::kRetriable);
  by->poll(Milliseconds(7));
  EXPECT_EQ(by->delivered(kA0), Offset(0));
  good(by->commit(kLimit));
}

TEST_F(SimulatedKafka, HeadersAreMovedOverAndEdited) {
  const auto by = producer();
  const std::vector<HeaderEdit> original = {{"keep", "1"}, {"drop", "2"}, {"set", "3"}};
  good(by->begin());
  good(by->produce({.topic = kA, .partition = Partition(0), .payload = "x", .edits = original}));
  good(by->commit(kLimit));
  ticks();
  const auto from = reader(kA0);
  auto polled = good(from->poll(kLimit));
  auto consumed = std::move(std::get<kafka::Record>(polled));
  ASSERT_EQ(consumed.headers.size(), 3U);
  const std::vector<HeaderEdit> edits = {{"drop", std::nullopt}, {"set", "4"}};
  good(by->begin());
  good(
      by->produce({.topic = kB, .partition = Partition(0), .payload = "x", .headers_from = &consumed, .edits = edits}));
  EXPECT_TRUE(consumed.headers.empty());
  good(by->commit(kLimit));
  const auto& stored = log(1).entries().front().record->headers;
  ASSERT_EQ(stored.size(), 2U);
  EXPECT_EQ(stored[0].name + *stored[0].value + stored[1].name + *stored[1].value, "keep1set4");
}

TEST_F(SimulatedKafka, NullIsNotEmptyAndATooLargeRecordIsRefused) {
  const auto by = producer();
  good(by->begin());
  good(by->produce({.topic = kA, .partition = Partition(0)}));
  good(by->produce({.topic = kA, .partition = Partition(0), .key = "", .payload = ""}));
  const std::string huge(1'001, 'x');
  EXPECT_EQ(kind(by->produce({.topic = kA, .partition = Partition(0), .payload = huge})), ErrorClass::kInvalid);
  good(by->commit(kLimit));
  EXPECT_EQ(log(0).entries()[0].record->payload, std::nullopt);
  EXPECT_EQ(log(0).entries()[1].record->payload, "");
}

TEST_F(SimulatedKafka, CompactionKeepsTheLastCommittedRecordOfAKeyAndAllOffsets) {
  const auto by = producer();
  commit_record(*by, kC0, "k", "1");  // 0, marker 1
  commit_record(*by, kC0, "k", "2");  // 2, marker 3
  commit_record(*by, kC0, "gone", std::nullopt);
  good(by->begin());
  produce(*by, kC0, "never", "aborted");
  good(by->abort(kLimit));
  ticks();
  const Offset end = log(2).high_watermark();
  broker.compact(2, 0);
  EXPECT_EQ(read(*reader(kC0)), Strings({"k", "gone", "@8"}));
  EXPECT_EQ(log(2).entries().front().offset, Offset(1)) << "markers stay for a while";
  ticks(10, 1'000);
  broker.compact(2, 0);
  EXPECT_EQ(read(*reader(kC0)), Strings({"k", "@8"}));
  EXPECT_EQ(log(2).entries().size(), 1U);
  EXPECT_EQ(log(2).entries().front().offset, Offset(2));
  EXPECT_EQ(log(2).high_watermark(), end);
}

TEST_F(SimulatedKafka, CompactionStopsAtTheStableEnd) {
  const auto by = producer();
  good(by->begin());
  produce(*by, kC0, "k", "open");
  const auto other = producer("2");
  commit_record(*other, kC0, "k", "1");
  commit_record(*other, kC0, "k", "2");
  broker.compact(2, 0);
  EXPECT_EQ(log(2).entries().size(), 5U);
}

TEST_F(SimulatedKafka, AKeyGoesWhereJavaPutsItAndFactsAreTold) {
  const auto by = producer();
  good(by->begin());
  for (const char* key : {"a", "b", "c", "d", "e", "f"}) good(by->produce({.topic = kA, .key = key, .payload = "x"}));
  good(by->commit(kLimit));
  EXPECT_GT(log(0, 0).entries().size(), 0U);
  EXPECT_GT(log(0, 1).entries().size(), 0U);
  const auto told = cluster("1");
  const auto facts = good(told->topic_facts(kCompacted, kLimit));
  EXPECT_TRUE(facts.compacts);
  EXPECT_EQ(facts.delete_retention_ms, 5'000);
  const auto missing = told->topic_facts(kafka::TopicIndex(3), kLimit);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().what_to_do, ErrorClass::kInvalid);
}

TEST(SimulatedTime, WallClocksOfProcessesStepAndSteadyOnesDoNot) {
  VirtualTime time(UnixMs(1'000));
  ProcessClock clock(time, Milliseconds(5));
  time.advance(Milliseconds(10));
  clock.step(Milliseconds(-100));
  EXPECT_EQ(clock.now(), UnixMs(915));
  EXPECT_EQ(clock.steady(), Milliseconds(10));
}

}  // namespace
}  // namespace reseq::simulation
