// RemoteSink as a member of a real group, with a store that a test holds up: how it ends.
#include "consumers/remote/remote_sink.h"

#include <algorithm>
#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <thread>

#include "codec/hash.h"
#include "kafka/plain_producer.h"
#include "tests/e2e/patience.h"
#include "tests/support/broker.h"
#include "tests/support/good.h"

namespace reseq::test {
namespace {

using std::chrono::milliseconds;

constexpr Milliseconds kAskLimit{30'000};
constexpr std::chrono::seconds kSoon{15};

// What the stores of a sink share.
struct World {
  std::atomic<int> writes = 0;
  std::atomic<int> tends = 0;
  std::atomic<bool> takes_writes = true;
  std::atomic<bool> tends_for_ever = false;
  std::mutex mutex;
  std::map<std::string, int> offered;  // how often, by id
  std::map<std::string, int> stored;
  std::string refused;  // a batch that holds this id is
};

class HeldStore : public remote::RemoteStore {
 public:
  explicit HeldStore(World& world) : world_(world) {}
  [[nodiscard]] std::string place() const override { return "a test"; }
  Result<> prepare() override { return Done{}; }
  std::vector<remote::Finding> check() override { return {}; }
  Result<> write(const remote::Batch& batch, std::span<remote::Answer> answers) override {
    ++world_.writes;
    const std::lock_guard lock(world_.mutex);
    const bool takes = world_.takes_writes &&
                       std::none_of(batch.writes.begin(), batch.writes.end(),
                                    [&](const remote::Write& write) { return write.change.id == world_.refused; });
    for (const remote::Write& write : batch.writes)
      ++(takes ? world_.stored : world_.offered)[std::string(write.change.id)];
    if (!takes) return Error{ErrorClass::kRetriable, 0, "away"};
    for (remote::Answer& answer : answers) answer.kind = remote::Answer::Kind::kStored;
    return Done{};
  }
  Result<> tend() override {
    ++world_.tends;
    while (world_.tends_for_ever && !interrupted_) std::this_thread::sleep_for(milliseconds(5));
    return Done{};
  }
  void interrupt() override { interrupted_ = true; }

 private:
  World& world_;
  std::atomic<bool> interrupted_ = false;
};

class RemoteSinkTest : public testing::Test {
 protected:
  RemoteSinkTest() : topic_(unique_name("end") + ".output.search") {
    connection_.bootstrap_servers = Broker::shared().bootstrap_servers();
    const auto admin = good(kafka::Admin::open(connection_));
    const std::vector<kafka::TopicSpec> specs = {{.name = topic_, .partitions = 2}};
    good(admin->create_topics(specs, kAskLimit));
    producer_ = good(kafka::PlainProducer::open(connection_));
    options_.topic = topic_;
    options_.group = topic_ + ".group";
    options_.load.records_max = 10;
    options_.session_timeout = milliseconds(60'000);
    options_.tend_interval = milliseconds(10);
  }

  void release(int count) {
    for (int i = 0; i < count; ++i) {
      const std::string version = std::to_string(++version_);
      const std::vector<Header> headers = {{"reseq-version", version}};
      good(producer_->send(topic_, "id-" + version, "{}", headers));
    }
    good(producer_->flush(kAskLimit));
  }

  std::unique_ptr<remote::RemoteSink> start() {
    auto sink = std::make_unique<remote::RemoteSink>(
        options_, connection_,
        [this]() -> Result<std::unique_ptr<remote::RemoteStore>> {
          return std::unique_ptr<remote::RemoteStore>(std::make_unique<HeldStore>(world_));
        },
        letters_, tally_);
    good(sink->start([] { return false; }));
    return sink;
  }

  // Steps until it is so.
  template <typename Condition>
  static bool step_until(remote::RemoteSink& sink, Condition condition) {
    return wait_until(kPatience, [&] {
      good(sink.step());
      return condition();
    });
  }

  World world_;
  remote::RemoteSinkOptions options_;
  std::string topic_;
  kafka::Connection connection_;
  std::unique_ptr<kafka::PlainProducer> producer_;
  remote::DeadLetters letters_{{}, "", 0};
  remote::Tally tally_;
  int version_ = 0;
};

// As when a poll failed: finish() is not called, and the group takes the partitions back while the sink is destroyed.
// Under AddressSanitizer this is red when anything that a rebalance touches is gone before the consumer.
TEST_F(RemoteSinkTest, IsDestroyedWhileItOwnsPartitionsAndWritesThem) {
  world_.takes_writes = false;
  release(100);
  auto sink = start();
  ASSERT_TRUE(step_until(*sink, [&] { return world_.writes > 0; }));
  EXPECT_EQ(tally_.counts().records, 0U);
  sink.reset();
  // It has left the group: the next one does not wait for its session, and reads what was not done.
  world_.takes_writes = true;
  const auto begun = std::chrono::steady_clock::now();
  sink = start();
  ASSERT_TRUE(step_until(*sink, [&] { return tally_.counts().records == 100; }));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(60));
  good(sink->finish(milliseconds(5'000)));
}

TEST_F(RemoteSinkTest, EndsWhileItsUpkeepTakesForEver) {
  world_.tends_for_ever = true;
  auto sink = start();
  ASSERT_TRUE(step_until(*sink, [&] { return world_.tends > 0; }));
  const auto begun = std::chrono::steady_clock::now();
  good(sink->finish(milliseconds(5'000)));
  sink.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, kSoon);
}

TEST_F(RemoteSinkTest, GoesOnWithItsUpkeepWhileItIsBehind) {
  world_.takes_writes = false;
  release(50);
  auto sink = start();
  ASSERT_TRUE(step_until(*sink, [&] { return world_.writes > 0; }));
  const int before = world_.tends;
  EXPECT_TRUE(step_until(*sink, [&] { return world_.tends > before + 3; }));
  EXPECT_EQ(tally_.counts().records, 0U);
}

// Batches that still wait for more records are in the buffer, too: full of them, it would hold up what it has.
TEST_F(RemoteSinkTest, WritesWhatItHasWhenItsBufferIsFullOfOpenBatches) {
  options_.load.records_max = 1'000;
  options_.load.time_max = milliseconds(600'000);
  options_.bytes_max = 1;
  release(20);
  auto sink = start();
  ASSERT_TRUE(step_until(*sink, [&] { return tally_.counts().records == 20; }));
  good(sink->finish(milliseconds(5'000)));
}

// Two of its batches are written at once, and each of those behind the first is done before it.
TEST_F(RemoteSinkTest, CommitsNothingBehindABatchThatIsNotDone) {
  constexpr int kRecords = 100;
  options_.commit_interval = milliseconds(10);
  world_.refused = "id-1";
  release(kRecords);
  const Partition held = codec::partition_of("id-1", Partitioner::kMurmur2, 2);
  const auto admin = good(kafka::Admin::open(connection_));
  const auto of = [](Partition partition, const std::vector<kafka::PlainOffset>& offsets) {
    return offsets[static_cast<std::size_t>(partition.value())].offset;
  };
  const auto ends = good(admin->stable_ends(topic_, kAskLimit));
  const auto committed = [&](Partition partition) {
    return of(partition, good(admin->committed(options_.group, topic_, kAskLimit)));
  };
  auto sink = start();
  const auto all_but_one_batch = [&] {
    const std::lock_guard lock(world_.mutex);
    return world_.stored.size() + world_.offered.size() == kRecords;
  };
  ASSERT_TRUE(step_until(*sink, all_but_one_batch));
  ASSERT_TRUE(step_until(*sink, [&] {
    const Partition other(1 - held.value());
    return committed(other) == of(other, ends);
  }));
  EXPECT_LE(committed(held), Offset(0)) << "it is the first record of its partition";
  {
    const std::lock_guard lock(world_.mutex);
    world_.refused.clear();
  }
  ASSERT_TRUE(step_until(*sink, [&] { return tally_.counts().records == kRecords; }));
  good(sink->finish(milliseconds(5'000)));
  EXPECT_EQ(committed(held), of(held, ends));
}

// For longer than its session, which it would lose if it did not poll; and it goes on where it stopped.
TEST_F(RemoteSinkTest, StaysAMemberAndHoldsLittleWhileItsServerIsAway) {
  constexpr int kRecords = 500;
  options_.session_timeout = milliseconds(6'000);
  options_.bytes_max = 1;
  world_.takes_writes = false;
  release(kRecords);
  auto sink = start();
  ASSERT_TRUE(step_until(*sink, [&] { return tally_.places().resting; }));
  const auto since = std::chrono::steady_clock::now();
  ASSERT_TRUE(
      step_until(*sink, [&] { return std::chrono::steady_clock::now() - since > 2 * options_.session_timeout; }));
  EXPECT_TRUE(tally_.places().resting);
  EXPECT_EQ(tally_.counts().records, 0U);
  {
    const std::lock_guard lock(world_.mutex);
    EXPECT_LT(world_.offered.size(), kRecords / 2) << "what it holds";
  }
  world_.takes_writes = true;
  ASSERT_TRUE(step_until(*sink, [&] { return tally_.counts().records == kRecords; }));
  good(sink->finish(milliseconds(5'000)));
  EXPECT_EQ(tally_.counts().dropped, 0U) << "it has lost its partitions";
  EXPECT_EQ(world_.stored.size(), kRecords);
  for (const auto& [id, times] : world_.stored) EXPECT_EQ(times, 1) << id;
}

}  // namespace
}  // namespace reseq::test
