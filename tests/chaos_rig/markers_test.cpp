// Markers that a broker skipped can be written for it, and clients come in only after that.
#include <atomic>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iostream>
#include <list>
#include <optional>
#include <set>
#include <thread>

#include "tests/chaos/cluster/broker_call.h"
#include "tests/chaos/cluster/marker_repair.h"
#include "tests/chaos/cluster/txn_markers.h"
#include "tests/chaos_rig/scene.h"
#include "tests/e2e/patience.h"
#include "tests/support/process.h"

namespace reseq::chaos {
namespace {

using test::wait_until;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;

using Payloads = std::vector<std::string>;

constexpr std::chrono::milliseconds kAnswer{5'000};
constexpr std::chrono::minutes kStart{2};

struct ActiveProducer {
  std::int64_t id = -1;
  std::int32_t epoch = -1;
  std::int64_t open_from = -1;  // offset; -1 = it has no transaction open
};

// The first of so many producers that have written to the topic of the scene, as the broker knows it.
std::optional<ActiveProducer> one_producer(Scene& scene, std::uint32_t producers = 1) {
  WireWriter body;
  body.no_tags().compact_count(1).compact_text(scene.topic()).compact_count(1).i32(0).no_tags().no_tags();
  const auto answer = call(scene.cluster().direct_port(1), Api::kDescribeProducers, 0, body, kAnswer);
  if (!answer) return std::nullopt;
  WireReader reader(*answer);
  reader.skip_tags();
  (void)reader.i32();           // throttle time
  (void)reader.varint();        // topics
  (void)reader.compact_text();  // name
  (void)reader.varint();        // partitions
  (void)reader.i32();           // its number
  (void)reader.i16();           // error
  (void)reader.compact_text();  // its words
  if (reader.varint() != producers + 1) return std::nullopt;
  ActiveProducer found{.id = reader.i64(), .epoch = reader.i32()};
  (void)reader.i32();  // last sequence
  (void)reader.i64();  // last timestamp
  (void)reader.i32();  // coordinator epoch
  found.open_from = reader.i64();
  if (!reader.good()) return std::nullopt;
  return found;
}

// What a coordinator logs that skips all markers of this producer.
std::string log_of(Scene& scene, const ActiveProducer& producer, const std::string& result) {
  return "NOTE: a line of another kind\nINFO Sending txn markers for "
         "TransactionalIdCoordinatorEpochAndTransitMetadata(" +
         scene.name() + ",0," + result + ",TransactionMetadata(transactionalId=" + scene.name() +
         ", producerId=" + std::to_string(producer.id) + ", producerEpoch=" + std::to_string(producer.epoch) +
         ", state=PREPARE_" + result + ")) after loading partition 1 (TransactionStateManager)\nINFO Couldn't find " +
         "leader endpoint for partitions Set(" + scene.topic() + "-0) while trying to send transaction markers for " +
         scene.name() +
         ", these partitions are likely deleted already and hence can be skipped (TransactionMarkerChannelManager)\n";
}

class Markers : public testing::Test {
 protected:
  // The coordinator knows nothing of markers that others write: it ends what it takes for open.
  void TearDown() override { (void)scene_.producer(scene_.settings()); }
  // A transaction is open, and the log says that its markers were skipped.
  void leave_open(const std::string& payload, const std::string& result) {
    producer_ = scene_.producer(scene_.settings());
    good(producer_->begin());
    put(*producer_, payload);
    const auto active = one_producer(scene_);
    ASSERT_TRUE(active);
    ASSERT_GE(active->open_from, 0);
    active_ = *active;
    std::ofstream(log_) << log_of(scene_, active_, result);
  }
  [[nodiscard]] bool heal() {
    return repair_.heal([this](const NamedPartition&) { return scene_.cluster().direct_port(1); }, news_);
  }

  Scene scene_{one_broker()};
  test::TempDir folder_;
  std::string log_ = folder_.path() + "/broker.log";
  MarkerRepair repair_{1, log_, true};
  MarkerNews news_;
  std::unique_ptr<kafka::Producer> producer_;
  ActiveProducer active_;
};

TEST_F(Markers, OfACommitMakeItsRecordsVisible) {
  leave_open("committed", "COMMIT");
  ASSERT_TRUE(wait_until(kAnswer, [&] { return heal(); }));
  EXPECT_THAT(news_.wrong, IsEmpty());
  EXPECT_THAT(news_.healed, ElementsAre(HasSubstr("decision=COMMIT producer=" + std::to_string(active_.id))));
  EXPECT_EQ(one_producer(scene_)->open_from, -1);
  EXPECT_EQ(scene_.committed_payloads(), (Payloads{"committed"}));
  EXPECT_TRUE(heal());
  EXPECT_EQ(news_.healed.size(), 1U) << "they are written once";
}

TEST_F(Markers, OfAnAbortHideItsRecords) {
  leave_open("aborted", "ABORT");
  ASSERT_TRUE(wait_until(kAnswer, [&] { return heal(); }));
  EXPECT_THAT(news_.wrong, IsEmpty());
  EXPECT_EQ(one_producer(scene_)->open_from, -1);
  EXPECT_EQ(scene_.committed_payloads(), Payloads{});
}

// Its log may say that the transaction is complete, and then nobody sends them.
TEST_F(Markers, OfATermThatIsOverAreWrittenIfNobodyElseCanHaveSentThem) {
  leave_open("committed", "COMMIT");
  std::ofstream(log_, std::ios::app) << "INFO No longer the coordinator for transactionalId: " << scene_.name()
                                     << " while trying to append to transaction log, skip writing\n";
  MarkerRepair one_of_three(1, log_, false);
  EXPECT_TRUE(one_of_three.heal([](const NamedPartition&) { return 0; }, news_));
  EXPECT_GE(one_producer(scene_)->open_from, 0) << "another broker does that";
  ASSERT_TRUE(wait_until(kAnswer, [&] { return heal(); }));
  EXPECT_THAT(news_.wrong, IsEmpty());
  EXPECT_THAT(news_.healed, ElementsAre(HasSubstr("decision=COMMIT producer=" + std::to_string(active_.id))));
  EXPECT_EQ(scene_.committed_payloads(), (Payloads{"committed"}));
}

TEST_F(Markers, ThatCameTooLateAreAViolation) {
  leave_open("first", "COMMIT");
  const auto next = scene_.producer(scene_.settings());  // aborts it, and raises the epoch
  good(next->begin());
  put(*next, "second");
  ASSERT_TRUE(wait_until(kAnswer, [&] { return heal(); }));
  EXPECT_THAT(news_.healed, IsEmpty());
  EXPECT_THAT(news_.wrong, ElementsAre(HasSubstr("a newer epoch has ended a transaction")));
  good(next->commit(kLong));
  EXPECT_EQ(scene_.committed_payloads(), (Payloads{"second"}));
}

TEST_F(Markers, OfWhichTheLogDoesNotSayEnoughAreAViolation) {
  const std::string all = log_of(scene_, {}, "COMMIT");
  std::ofstream(log_) << all.substr(all.find("INFO Couldn't"));
  EXPECT_TRUE(heal());
  EXPECT_THAT(news_.wrong, ElementsAre(HasSubstr("skipped markers and does not say which")));
  repair_.begin_life();
  std::ofstream(log_) << all;
  repair_.give_up(news_);
  EXPECT_THAT(news_.wrong.back(), HasSubstr("while clients could go on"));
}

// One of several producers that commit one transaction after the other.
class Committer {
 public:
  Committer(Scene& scene, int number) : name_(scene.name() + "." + std::to_string(number)) {
    auto settings = scene.settings();
    settings.transactional_id = name_;
    settings.transaction_timeout = kLong;  // none is aborted because it is old
    producer_ = scene.producer(settings);
    thread_ = std::thread([this] { run(); });
  }

  // Ends with the transaction that it is in, as it did if its broker died; returns what is committed for certain.
  std::set<std::string> stop() {
    stopping_ = true;
    thread_.join();
    return committed_;
  }

 private:
  void run() {
    for (int i = 0; !stopping_; ++i) {
      const std::string payload = name_ + "." + std::to_string(i);
      const kafka::OutgoingRecord record{.topic = kPlace.topic, .partition = kPlace.partition, .payload = payload};
      if (!producer_->begin() || !producer_->produce(record) || !producer_->flush(kLong)) return;
      if (!settled([&] { return producer_->commit(kLong); })) return;
      committed_.insert(payload);
      if (producer_->in_doubt()) return;
    }
  }

  std::string name_;
  std::unique_ptr<kafka::Producer> producer_;
  std::set<std::string> committed_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

// So many that some were decided when it died, and not marked yet.
TEST(OneBrokerThatStarts, TakesClientsAfterItsTransactionsAreMarked) {
  Scene scene(one_broker());
  Cluster& cluster = scene.cluster();
  const auto answers = [](std::uint16_t port) { return ask_partitions(port, kAnswer).has_value(); };
  ASSERT_TRUE(answers(cluster.proxy().port(1)));
  std::list<Committer> committers;
  for (int i = 0; i < 8; ++i) committers.emplace_back(scene, i);
  ASSERT_TRUE(wait_until(kStart, [&] { return one_producer(scene, 8).has_value(); })) << "all of them have written";
  cluster.kill(1);
  cluster.start(1);
  ASSERT_TRUE(wait_until(kStart, [&] { return answers(cluster.direct_port(1)); }));
  EXPECT_FALSE(answers(cluster.proxy().port(1)));
  ASSERT_TRUE(wait_until(kStart, [&] {
    cluster.tend();
    return answers(cluster.proxy().port(1));
  }));
  const MarkerNews news = cluster.take_news();
  EXPECT_THAT(news.wrong, IsEmpty());
  std::set<std::string> committed;
  for (Committer& one : committers) committed.merge(one.stop());
  const Payloads read = scene.committed_payloads();
  EXPECT_THAT(read, IsSupersetOf(committed));
  std::cout << "committed=" << committed.size() << " healed=" << news.healed.size() << std::endl;
}

}  // namespace
}  // namespace reseq::chaos
