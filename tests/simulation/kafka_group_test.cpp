// The simulated Kafka: membership, offsets of the group, and that a seed decides everything.
#include "tests/simulation/kafka/consumer.h"
#include "tests/simulation/kafka_rig.h"

namespace reseq::simulation {
namespace {

class SimulatedGroup : public SimulatedKafka {
 protected:
  Result<> send(kafka::Producer& by, std::int64_t next, const kafka::GroupMetadata& group) {
    good(by.begin());
    const kafka::TopicPartitionOffset offset{kA0, Offset(next)};
    return by.send_offsets({&offset, 1}, group, kLimit);
  }
  static std::size_t count(const std::optional<kafka::Assigned>& assigned) {
    return assigned ? assigned->partitions.size() : 99;
  }
};

TEST_F(SimulatedGroup, OffsetsArePendingUntilTheMarkerLandsAndThatIsATimeout) {
  const auto worker = cluster("1");
  const auto consumer = good(worker->consumer(kA));
  const auto group = wait_for<kafka::Assigned>(*consumer)->group;
  const auto by = producer();
  EXPECT_EQ(good(consumer->committed({&kA0, 1}, kLimit))[0].offset, kNoOffset);
  good(send(*by, 7, *group));
  EXPECT_EQ(consumer->committed({&kA0, 1}, kLimit).error().what_to_do, ErrorClass::kTimeout);
  EXPECT_TRUE(consumer->committed({&kA1, 1}, kLimit)) << "of another partition";
  good(by->commit(kLimit));
  EXPECT_EQ(consumer->committed({&kA0, 1}, kLimit).error().what_to_do, ErrorClass::kTimeout);
  ticks();
  EXPECT_EQ(good(consumer->committed({&kA0, 1}, kLimit))[0].offset, Offset(7));
  good(send(*by, 9, *group));
  good(by->abort(kLimit));
  ticks();
  EXPECT_EQ(good(consumer->committed({&kA0, 1}, kLimit))[0].offset, Offset(7));
}

TEST_F(SimulatedGroup, ARebalanceWaitsForASlowMemberAndMakesAllOldMetadataVoid) {
  const auto one = cluster("1");
  const auto first = good(one->consumer(kA));
  const auto old = wait_for<kafka::Assigned>(*first);
  EXPECT_EQ(count(old), 2U);
  const auto two = cluster("2");
  const auto second = good(two->consumer(kA));
  EXPECT_FALSE(wait_for<kafka::Assigned>(*second)) << "the first has not polled";
  const kafka::TopicPartitionOffset position{kA1, Offset(0)};
  EXPECT_TRUE(first->assign({&position, 1})) << "in its head it owns both";
  auto revoked = wait_for<kafka::Revoked>(*first);
  ASSERT_TRUE(revoked);
  EXPECT_FALSE(revoked->lost);
  EXPECT_EQ(revoked->partitions.size(), 2U);
  const auto mine = wait_for<kafka::Assigned>(*first);
  ASSERT_EQ(count(mine), 1U);
  EXPECT_EQ(mine->partitions[0], Partition(0));
  const auto others = wait_for<kafka::Assigned>(*second);
  ASSERT_EQ(count(others), 1U);
  EXPECT_EQ(others->partitions[0], Partition(1));
  const auto by = producer();
  EXPECT_EQ(kind(send(*by, 1, *old->group)), ErrorClass::kAbort);
  good(by->abort(kLimit));
  ticks();
  EXPECT_TRUE(send(*by, 1, *others->group)) << "nobody checks who owns the partition";
}

TEST_F(SimulatedGroup, APausedMemberIsThrownOutAndLearnsThatItsPartitionsAreLost) {
  const auto worker = cluster("1", false);
  const auto first = good(worker->consumer(kA));
  const auto old = wait_for<kafka::Assigned>(*first);
  Process other;
  SimulatedCluster two(broker, other, settings("2", false));
  const auto second = good(two.consumer(kA));
  process.paused = true;
  EXPECT_FALSE(wait_for<kafka::Assigned>(*second));
  ticks(12, 1'000);
  EXPECT_EQ(count(wait_for<kafka::Assigned>(*second)), 2U);
  process.paused = false;
  EXPECT_TRUE(wait_for<kafka::Revoked>(*first)->lost);
  const auto by = producer();
  EXPECT_EQ(kind(send(*by, 1, *old->group)), ErrorClass::kAbort);
}

TEST_F(SimulatedGroup, ABusyMemberKeepsItsSessionUntilItHasNotPolledForTooLong) {
  const auto worker = cluster("1");
  const auto consumer = good(worker->consumer(kA));
  EXPECT_TRUE(wait_for<kafka::Assigned>(*consumer));
  ticks(100, 1'000);
  EXPECT_EQ(broker.group().members(), 1U);
  ticks(230, 1'000);
  EXPECT_EQ(broker.group().members(), 0U);
  EXPECT_TRUE(wait_for<kafka::Revoked>(*consumer)->lost);
  EXPECT_EQ(count(wait_for<kafka::Assigned>(*consumer)), 2U);
}

TEST_F(SimulatedGroup, AStaticMemberComesBackWithTheSameGenerationAndFencesTheOldOne) {
  const auto worker = cluster("1");
  const auto first = good(worker->consumer(kA));
  const auto old = wait_for<kafka::Assigned>(*first);
  const auto generation = broker.group().generation();
  const auto second = good(worker->consumer(kA));
  const auto fresh = wait_for<kafka::Assigned>(*second);
  EXPECT_EQ(count(fresh), 2U);
  EXPECT_EQ(broker.group().generation(), generation);
  const auto by = producer();
  EXPECT_EQ(kind(send(*by, 1, *old->group)), ErrorClass::kAbort);
  good(by->abort(kLimit));
  ticks();
  EXPECT_TRUE(send(*by, 1, *fresh->group));
  const auto polled = first->poll(kLimit);
  ASSERT_FALSE(polled);
  EXPECT_EQ(polled.error().what_to_do, ErrorClass::kFenced);
}

TEST_F(SimulatedGroup, OnlyADynamicMemberLeavesOnClose) {
  for (const bool is_static : {true, false}) {
    const auto worker = cluster("1", is_static);
    auto consumer = good(worker->consumer(kA));
    EXPECT_TRUE(wait_for<kafka::Assigned>(*consumer));
    consumer->close(kLimit);
    consumer.reset();
    EXPECT_EQ(broker.group().members(), is_static ? 1U : 0U);
    ticks(12, 1'000);
    EXPECT_EQ(broker.group().members(), 0U);
  }
}

TEST_F(SimulatedGroup, MetadataWithoutGenerationPassesTheBrokerButNotTheClient) {
  const auto worker = cluster("1", false);
  const auto consumer = good(worker->consumer(kA));
  EXPECT_TRUE(wait_for<kafka::Assigned>(*consumer));
  const auto other = good(cluster("2", false)->consumer(kA));
  const auto never_joined = other->group_now();
  const auto by = producer();
  EXPECT_EQ(kind(send(*by, 1, *never_joined)), ErrorClass::kAbort);
  good(by->abort(kLimit));
  ticks();
  broker.settings().refuse_without_generation = false;
  EXPECT_TRUE(send(*by, 1, *never_joined));
  good(by->abort(kLimit));
  ticks();
  const SimulatedGroupMetadata static_one({-1, "", "3"});
  EXPECT_EQ(kind(send(*by, 1, static_one)), ErrorClass::kAbort) << "a static member closes the hole";
}

TEST_F(SimulatedGroup, TheConsumerReadsFromItsPositionsAndHearsOfEnds) {
  const auto by = producer();
  commit_record(*by, kA0, "a");
  commit_record(*by, kA0, "b");
  const auto worker = cluster("1");
  const auto consumer = good(worker->consumer(kA));
  EXPECT_TRUE(wait_for<kafka::Assigned>(*consumer));
  const std::vector<kafka::TopicPartitionOffset> positions = {{kA0, Offset(2)}, {kB0, Offset(0)}};
  good(consumer->assign(positions));
  EXPECT_EQ(wait_for<kafka::Record>(*consumer)->key, "b");
  good(consumer->assign(std::span(positions).first(1)));
  EXPECT_EQ(wait_for<kafka::Record>(*consumer)->offset, Offset(2)) << "a rewind is exact";
  EXPECT_EQ(wait_for<kafka::EndOfLog>(*consumer)->offset, Offset(4));
  EXPECT_EQ(good(consumer->stable_ends({&kA0, 1}, kLimit))[0].offset, Offset(4));
  EXPECT_EQ(good(consumer->begins({&kA0, 1}, kLimit))[0].offset, Offset(0));
}

// A small life with faults of every kind.
class SeededLife : public SimulatedKafka {
 public:
  explicit SeededLife(std::uint64_t seed) : SimulatedKafka(seed) {}
  void TestBody() override {}

  std::uint64_t journal() {
    broker.faults().set_rates({.passing = 50, .ending = 100, .fatal = 10});
    broker.settings().early_per_mille = 200;
    const auto worker = cluster("1");
    auto consumer = good(worker->consumer(kA));
    auto by = good(worker->producer());
    bool initialised = false;
    for (int i = 0; i < 300; ++i) {
      ticks(1);
      (void)consumer->poll(kLimit);
      if (!initialised) {
        initialised = by->init(kLimit).ok();
        continue;
      }
      const bool done = by->begin() && by->produce({.topic = kA, .key = "k", .payload = "x"}) && by->flush(kLimit) &&
                        by->commit(kLimit) && !by->in_doubt();
      if (done) continue;
      by = good(worker->producer());
      initialised = false;
    }
    return broker.journal().hash();
  }
};

TEST(SimulatedSeed, DecidesEverything) {
  EXPECT_EQ(SeededLife(5).journal(), SeededLife(5).journal());
  EXPECT_NE(SeededLife(5).journal(), SeededLife(6).journal());
}

}  // namespace
}  // namespace reseq::simulation
