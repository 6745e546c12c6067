// What the tests of the simulated Kafka share: a broker with topics a and b of two partitions and a compacted one, and
// answers that must be good.
// Thread rule: one thread.
#pragma once

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "tests/simulation/kafka/cluster.h"
#include "tests/support/good.h"

namespace reseq::simulation {

inline constexpr Milliseconds kLimit{1'000};
inline const kafka::TopicIndex kA{0};
inline const kafka::TopicIndex kB{1};
inline const kafka::TopicIndex kCompacted{2};
inline const kafka::TopicPartition kA0{kA, Partition(0)};
inline const kafka::TopicPartition kA1{kA, Partition(1)};
inline const kafka::TopicPartition kB0{kB, Partition(0)};
inline const kafka::TopicPartition kC0{kCompacted, Partition(0)};

using test::good;

class SimulatedKafka : public testing::Test {
 protected:
  explicit SimulatedKafka(std::uint64_t seed = 1) : draw(seed) {
    broker.create_topic("a", {.partitions = 2, .max_message_bytes = 1'000});
    broker.create_topic("b", {.partitions = 2, .max_message_bytes = 1'000});
    broker.create_topic("c",
                        {.partitions = 2, .max_message_bytes = 1'000, .compacts = true, .delete_retention_ms = 5'000});
    broker.settings().early_per_mille = 0;
  }

  ClientSettings settings(const std::string& name, bool is_static = true) {
    return {.topics = {"a", "b", "c", "missing"},
            .group_instance_id = is_static ? name : "",
            .transactional_id = "app." + name};
  }
  std::unique_ptr<SimulatedCluster> cluster(const std::string& name, bool is_static = true) {
    return std::make_unique<SimulatedCluster>(broker, process, settings(name, is_static));
  }
  void ticks(int count = 40, std::int64_t ms = 10) {
    for (int i = 0; i < count; ++i) {
      time.advance(Milliseconds(ms));
      broker.tick();
    }
  }
  std::unique_ptr<kafka::Producer> producer(const std::string& name = "1") {
    auto made = good(cluster(name)->producer());
    for (int i = 0; i < 100 && !made->init(kLimit); ++i) ticks(1);
    return made;
  }
  static void produce(kafka::Producer& by, kafka::TopicPartition where, const std::string& key,
                      std::optional<std::string_view> payload = "x") {
    good(by.produce({.topic = where.topic, .partition = where.partition, .key = key, .payload = payload}));
    good(by.flush(kLimit));
  }
  void commit_record(kafka::Producer& by, kafka::TopicPartition where, const std::string& key,
                     std::optional<std::string_view> payload = "x") {
    good(by.begin());
    produce(by, where, key, payload);
    good(by.commit(kLimit));
    ticks();
  }
  std::unique_ptr<kafka::LogReader> reader(kafka::TopicPartition where, Offset from = Offset(0)) {
    auto made = good(cluster("r")->log_reader());
    const kafka::TopicPartitionOffset start{where, from};
    good(made->assign({&start, 1}));
    return made;
  }
  // Keys of what can be read now, and where the log ends ("@5").
  static std::vector<std::string> read(kafka::LogReader& from) {
    std::vector<std::string> seen;
    while (true) {
      const auto polled = good(from.poll(Milliseconds(0)));
      if (const auto* record = std::get_if<kafka::Record>(&polled)) {
        seen.emplace_back(*record->key);
      } else if (const auto* end = std::get_if<kafka::EndOfLog>(&polled)) {
        seen.push_back("@" + std::to_string(end->offset.value()));
      } else if (std::holds_alternative<kafka::PartitionFailure>(polled)) {
        seen.emplace_back("failed");
      } else {
        return seen;
      }
    }
  }
  template <typename Event>
  std::optional<Event> wait_for(kafka::Consumer& consumer, int polls = 20) {
    for (int i = 0; i < polls; ++i) {
      auto polled = good(consumer.poll(Milliseconds(0)));
      if (auto* event = std::get_if<Event>(&polled)) return std::move(*event);
      ticks(1);
    }
    return std::nullopt;
  }
  static ErrorClass kind(const Result<>& result) { return result ? ErrorClass::kInvalid : result.error().what_to_do; }
  Log& log(std::size_t topic, std::int32_t p = 0) { return broker.log({topic, Partition(p)}); }

  Draw draw;
  VirtualTime time{UnixMs(1'700'000'000'000)};
  Broker broker{time, draw, {}};
  Process process;
};

using Strings = std::vector<std::string>;

}  // namespace reseq::simulation
