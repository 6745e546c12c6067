#include "kafka/partition_list.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/assert.h"
#include "kafka/errors.h"

namespace reseq::kafka {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kBetweenQuestions = std::chrono::milliseconds(10);
// A leader that has just changed is known to all brokers some time later.
constexpr auto kBetweenLooks = std::chrono::milliseconds(500);
// How long the first question waits for its answer; each one that got none is followed by one that waits twice as long.
constexpr int kFirstPatienceMs = 2'000;
// So much longer than its limit a question takes to which nobody answers.
constexpr int kLastLookMs = 100;

PartitionList new_list(std::size_t size) {
  return PartitionList(rd_kafka_topic_partition_list_new(static_cast<int>(size)));
}

void add(rd_kafka_topic_partition_list_t& list, const std::string& topic, Partition partition, std::int64_t offset) {
  rd_kafka_topic_partition_list_add(&list, topic.c_str(), partition.value())->offset = offset;
}

std::span<const rd_kafka_topic_partition_t> elements(const rd_kafka_topic_partition_list_t& list) {
  return {list.elems, static_cast<std::size_t>(list.cnt)};
}

Offset offset_of(const rd_kafka_topic_partition_t& element) {
  return element.offset < 0 ? kNoOffset : Offset(element.offset);
}

}  // namespace

const std::string& TopicNames::name(TopicIndex topic) const {
  RESEQ_ASSERT(topic.value() < names_.size(), "a topic that the cluster was not opened with");
  return names_[topic.value()];
}

TopicIndex TopicNames::index(std::string_view name) const {
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (names_[i] == name) return TopicIndex(static_cast<std::uint16_t>(i));
  RESEQ_ASSERT(false, "a record of a topic that was never assigned");
  return {};
}

PartitionList list_of(const TopicNames& topics, std::span<const TopicPartition> which) {
  PartitionList list = new_list(which.size());
  for (const auto& one : which) add(*list, topics.name(one.topic), one.partition, RD_KAFKA_OFFSET_INVALID);
  return list;
}

PartitionList list_of(const TopicNames& topics, std::span<const TopicPartitionOffset> which) {
  PartitionList list = new_list(which.size());
  for (const auto& one : which) add(*list, topics.name(one.where.topic), one.where.partition, one.offset.value());
  return list;
}

PartitionList list_of(std::span<const PlainOffset> which) {
  PartitionList list = new_list(which.size());
  for (const auto& one : which) add(*list, one.topic, one.partition, one.offset.value());
  return list;
}

std::vector<TopicPartitionOffset> offsets_of(const TopicNames& topics, const rd_kafka_topic_partition_list_t& list) {
  std::vector<TopicPartitionOffset> offsets;
  for (const auto& one : elements(list))
    offsets.push_back({{topics.index(one.topic), Partition(one.partition)}, offset_of(one)});
  return offsets;
}

std::vector<PlainOffset> offsets_of(const rd_kafka_topic_partition_list_t& list) {
  std::vector<PlainOffset> offsets;
  for (const auto& one : elements(list)) offsets.push_back({one.topic, Partition(one.partition), offset_of(one)});
  return offsets;
}

Result<> check_each(const rd_kafka_topic_partition_list_t& list, std::string_view what) {
  for (const auto& one : elements(list))
    if (one.err != RD_KAFKA_RESP_ERR_NO_ERROR)
      return error_of(one.err,
                      std::string(what) + ", topic " + one.topic + " partition " + std::to_string(one.partition));
  return Done{};
}

namespace {

Result<> ask_once(rd_kafka_t& consumer, rd_kafka_topic_partition_list_t& list, LogSide side, int limit_ms) {
  const char* what = side == LogSide::kBegin ? "begins of logs" : "ends of logs";
  for (int i = 0; i < list.cnt; ++i) {
    list.elems[i].offset = side == LogSide::kBegin ? RD_KAFKA_OFFSET_BEGINNING : RD_KAFKA_OFFSET_END;
    list.elems[i].err = RD_KAFKA_RESP_ERR_NO_ERROR;
  }
  if (const auto code = rd_kafka_offsets_for_times(&consumer, &list, limit_ms); code != RD_KAFKA_RESP_ERR_NO_ERROR)
    return error_of(code, what);
  if (auto good = check_each(list, what); !good) return good;
  for (const auto& one : elements(list))
    if (one.offset < 0) return error_of(RD_KAFKA_RESP_ERR__PARTIAL, what);
  return Done{};
}

// A partition that was just made: librdkafka has the answer of a broker that does not know of it yet.
bool may_appear(const Error& error) {
  return error.code == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION;
}

// Whom to ask comes from what librdkafka remembers of the topics, and an answer that it asked the wrong broker does not
// make it look again: a client that reads nothing of the partition would go on asking that one for minutes.
void look_for_leaders(rd_kafka_t& consumer, int limit_ms) {
  const rd_kafka_metadata_t* topics = nullptr;
  if (rd_kafka_metadata(&consumer, 0, nullptr, &topics, limit_ms) == RD_KAFKA_RESP_ERR_NO_ERROR)
    rd_kafka_metadata_destroy(topics);
}

}  // namespace

Result<> ask_offsets(rd_kafka_t& consumer, rd_kafka_topic_partition_list_t& list, LogSide side, Milliseconds limit) {
  const auto until = Clock::now() + std::chrono::milliseconds(timeout_ms(limit));
  const auto left_ms = [until] {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    return std::max(1, static_cast<int>(left.count()));
  };
  int patience_ms = kFirstPatienceMs;
  for (auto next_look = Clock::now();;) {
    auto asked = ask_once(consumer, list, side, std::min(left_ms(), patience_ms));
    // A leader that has just changed, or of a topic that was just made, is found within milliseconds. One that was
    // killed is silent, and another one leads when its session is over.
    const bool silent = !asked && asked.error().what_to_do == ErrorClass::kTimeout;
    if (asked || (!silent && asked.error().what_to_do != ErrorClass::kRetriable && !may_appear(asked.error())))
      return asked;
    if (Clock::now() + kBetweenQuestions >= until) {
      // Who gives little time asks again, and a silent leader must not be asked for ever.
      if (silent) look_for_leaders(consumer, kLastLookMs);
      return asked;
    }
    if (silent) patience_ms *= 2;
    if (Clock::now() >= next_look) {
      look_for_leaders(consumer, left_ms());
      next_look = Clock::now() + kBetweenLooks;
    }
    std::this_thread::sleep_for(kBetweenQuestions);
  }
}

Result<std::vector<TopicPartitionOffset>> ask_offsets(rd_kafka_t& consumer, const TopicNames& topics,
                                                      std::span<const TopicPartition> which, LogSide side,
                                                      Milliseconds limit) {
  if (which.empty()) return std::vector<TopicPartitionOffset>{};
  const PartitionList list = list_of(topics, which);
  if (auto good = ask_offsets(consumer, *list, side, limit); !good) return good.error();
  return offsets_of(topics, *list);
}

namespace {

// Comes back when nothing is read any more. A partition that is taken away again while librdkafka to 2.15 still stops
// it ends the process ("rktp_started" in rdkafka_assignment.c, confluentinc/librdkafka#5573), and librdkafka takes
// partitions away by itself, at any moment, after a fatal error. So none may come back before it has stopped. Nothing
// reports that; but librdkafka's main thread serves one queue, in order, and puts what follows from an entry behind it:
//   assign none · n × stop · the question · n × stopped · assign
// Without the question, whose answer is waited for, the last one could come in front of some "stopped".
Result<> stop_reading(rd_kafka_t& consumer) {
  const PartitionList none = new_list(0);
  if (const auto code = rd_kafka_assign(&consumer, none.get()); code != RD_KAFKA_RESP_ERR_NO_ERROR)
    return error_of(code, "assign");
  rd_kafka_topic_partition_list_t* left = nullptr;
  const auto code = rd_kafka_assignment(&consumer, &left);
  const PartitionList owner(left);
  return code == RD_KAFKA_RESP_ERR_NO_ERROR ? Result<>(Done{}) : error_of(code, "assign");
}

}  // namespace

Result<> assign_list(rd_kafka_t& consumer, rd_kafka_topic_partition_list_t& list) {
  if (auto stopped = stop_reading(consumer); !stopped || list.cnt == 0) return stopped;
  if (const auto code = rd_kafka_assign(&consumer, &list); code != RD_KAFKA_RESP_ERR_NO_ERROR)
    return error_of(code, "assign");
  return check_each(list, "assign");
}

Result<> assign_offsets(rd_kafka_t& consumer, const TopicNames& topics,
                        std::span<const TopicPartitionOffset> positions) {
  for (const auto& one : positions) RESEQ_ASSERT(one.offset.value() >= 0, "assign needs an explicit offset");
  return assign_list(consumer, *list_of(topics, positions));
}

}  // namespace reseq::kafka
