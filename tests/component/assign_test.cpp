// What a consumer reads is replaced while librdkafka takes partitions back by itself, as it does at any moment after a
// fatal error: a partition that it stops twice ends the process ("rktp_started" in rdkafka_assignment.c).
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include "kafka/client_conf.h"
#include "kafka/partition_list.h"
#include "tests/component/rig.h"

namespace reseq::kafka {
namespace {

TEST(Assigning, LivesThroughAnUnassignOfLibrdkafkaAtAnyMoment) {
  constexpr std::int32_t kPartitions = 20;
  constexpr int kTries = 1'000;
  const Rig rig(1, kPartitions);
  const TopicNames names({rig.topic(0)});
  ClientContext context;
  ClientConf conf(rig.connection(), context);
  conf.set("group.id", rig.name());
  const ConsumerHandle consumer = good(conf.make_consumer());
  std::vector<TopicPartitionOffset> all;
  for (std::int32_t p = 0; p < kPartitions; ++p) all.push_back({{kA, Partition(p)}, Offset(0)});

  // Each try assigns again what is being read; the other thread unassigns a little later, each time at another moment.
  std::atomic<int> began = 0;
  std::atomic<int> unassigned = 0;
  std::thread librdkafka([&] {
    for (int i = 1; i <= kTries; ++i) {
      while (began < i) std::this_thread::yield();
      const auto at = std::chrono::steady_clock::now() + std::chrono::microseconds(i % 200);
      while (std::chrono::steady_clock::now() < at) continue;
      rd_kafka_assign(consumer.get(), nullptr);
      unassigned = i;
    }
  });
  for (int i = 1; i <= kTries; ++i) {
    EXPECT_TRUE(assign_offsets(*consumer, names, all));
    began = i;
    EXPECT_TRUE(assign_offsets(*consumer, names, all));
    while (unassigned < i) std::this_thread::yield();
    const MessageHandle message(rd_kafka_consumer_poll(consumer.get(), 0));  // what each stop leaves in its queue
  }
  librdkafka.join();
}

}  // namespace
}  // namespace reseq::kafka
