#include "tests/simulation/kafka/broker.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace reseq::simulation {

Broker::Broker(VirtualTime& time, Draw& draw, BrokerSettings settings)
    : time_(time), draw_(draw), settings_(std::move(settings)), sweep_at_(settings_.sweep_interval) {}

std::size_t Broker::create_topic(std::string name, kafka::TopicFacts facts) {
  RESEQ_ASSERT(!topic(name), "a topic is created once");
  topics_.push_back({std::move(name), facts, std::deque<Log>(static_cast<std::size_t>(facts.partitions))});
  return topics_.size() - 1;
}

std::optional<std::size_t> Broker::topic(std::string_view name) const {
  for (std::size_t i = 0; i < topics_.size(); ++i)
    if (topics_[i].name == name) return i;
  return std::nullopt;
}

Log* Broker::find_log(Place place) {
  if (place.topic >= topics_.size() || place.partition.value() < 0) return nullptr;
  auto& logs = topics_[place.topic].logs;
  return index(place) < logs.size() ? &logs[index(place)] : nullptr;
}

Offset Broker::append(Place place, StoredRecord record) {
  const Offset at = log(place).append(kNoProducer, std::move(record));
  journal_.note("append", place.topic, place.partition.value(), at.value());
  return at;
}

void Broker::tick() {
  for (Heartbeats* one : alive_) one->heartbeat();
  const std::int32_t before = group_.generation();
  group_.expire(now());
  if (group_.generation() != before) journal_.note("generation", group_.generation());
  counters_.generations = static_cast<std::uint64_t>(group_.generation());
  if (time_.passed() >= sweep_at_) {
    counters_.transactions_overdue += transactions_.sweep(now());
    sweep_at_ = Milliseconds(time_.passed().value() + settings_.sweep_interval.value());
  }
  land_markers();
  arrive();
}

void Broker::land_markers() {
  for (const Marker& marker : transactions_.land(draw_, settings_.marker_per_mille)) {
    journal_.note("marker", marker.producer.value(), static_cast<int>(marker.fate),
                  marker.place ? marker.place->topic : topics_.size());
    if (marker.place) {
      log(*marker.place).end_transaction(marker.producer, marker.fate);
    } else {
      group_.end_transaction(marker.producer, marker.fate);
    }
  }
}

void Broker::arrive() {
  std::vector<Late> waiting;
  for (const Late& one : late_) {
    if (!draw_.chance(settings_.late_per_mille)) {
      waiting.push_back(one);
      continue;
    }
    const std::size_t open = transactions_.ongoing();
    const TransactionAnswer answer = end(one.who, one.fate);
    if (answer == TransactionAnswer::kConcurrent) {
      waiting.push_back(one);
    } else if (transactions_.ongoing() != open && current_[one.who.id] != one.transaction) {
      ++counters_.late_hits;
    }
  }
  late_ = std::move(waiting);
}

void Broker::compact(std::size_t topic, std::int64_t active) {
  journal_.note("compact", topic);
  for (Log& log : topics_[topic].logs)
    log.compact(now(), Milliseconds(topics_[topic].facts.delete_retention_ms),
                Offset(log.high_watermark().value() - active));
}

void Broker::trim(Place place, Offset begin) {
  journal_.note("trim", place.topic, place.partition.value(), begin.value());
  log(place).trim(begin);
}

Offset Broker::truncate(Place place, Offset end) {
  const Offset cut = log(place).truncate(end);
  journal_.note("truncate", place.topic, place.partition.value(), cut.value());
  return cut;
}

TransactionAnswer Broker::end(ProducerIdentity who, Fate fate) {
  const TransactionAnswer answer = transactions_.end(who, fate);
  journal_.note("end", who.id.value(), who.epoch, static_cast<int>(fate), static_cast<int>(answer));
  if (answer == TransactionAnswer::kFenced) ++counters_.fenced;
  return answer;
}

TransactionAnswer Broker::append(ProducerIdentity who, Place place, StoredRecord record, Offset& at) {
  const TransactionAnswer answer = transactions_.verify(who, place);
  if (answer != TransactionAnswer::kGood) return answer;
  at = log(place).append(who.id, std::move(record));
  journal_.note("produce", who.id.value(), place.topic, place.partition.value(), at.value());
  return answer;
}

void Broker::arrive_late(ProducerIdentity who, Fate fate, std::uint64_t transaction) {
  late_.push_back({who, fate, transaction});
}

void Broker::wait(Milliseconds limit) {
  time_.advance(Milliseconds(std::clamp<std::int64_t>(limit.value(), 0, settings_.wait_max.value())));
}

}  // namespace reseq::simulation
