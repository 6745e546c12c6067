#include "runtime/log_reading.h"

#include <array>
#include <chrono>
#include <utility>
#include <variant>

#include "kafka/admin.h"
#include "kafka/librdkafka_cluster.h"
#include "runtime/clients.h"

namespace reseq::runtime {

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr kafka::TopicIndex kTopic{0};
constexpr Milliseconds kAskLimit{10'000};
constexpr Milliseconds kPollLimit{1'000};
constexpr Milliseconds kFollowSlice{100};
constexpr std::chrono::seconds kSilenceMax{30};

Error silent(const std::string& topic) {
  return {ErrorClass::kTimeout, 0, topic + " cannot be read on: no broker answers"};
}

}  // namespace

Result<LogReading> LogReading::open(const Application& application, const std::string& topic) {
  kafka::ClusterSettings clients = cluster_settings_of(application, std::nullopt);
  clients.topics = {topic};
  auto admin = kafka::Admin::open(clients.connection);
  if (!admin) return admin.error();
  const auto partitions = admin.value()->partition_count(topic, kAskLimit);
  if (!partitions) return partitions.error();
  auto cluster = kafka::open_cluster(clients);
  if (!cluster) return cluster.error();
  auto reader = cluster.value()->log_reader();
  if (!reader) return reader.error();
  return LogReading(topic, std::move(cluster).value(), std::move(reader).value(), partitions.value());
}

Result<LogReading::Bounds> LogReading::bounds(Partition partition) {
  const std::array<kafka::TopicPartition, 1> here = {{{kTopic, partition}}};
  const auto begin = reader_->begins(here, kAskLimit);
  if (!begin) return begin.error();
  const auto end = reader_->high_watermarks(here, kAskLimit);
  if (!end) return end.error();
  return Bounds{begin.value().front().offset, end.value().front().offset};
}

Result<bool> LogReading::read(Partition partition, const Visit& visit, const GoOn& go_on, std::int64_t offsets_max) {
  const auto log = bounds(partition);
  if (!log) return log.error();
  const auto [begin, end] = log.value();
  Offset at = end.value() - begin.value() > offsets_max ? Offset(end.value() - offsets_max) : begin;
  const bool whole = at == begin;
  const std::array<kafka::TopicPartitionOffset, 1> from = {{{{kTopic, partition}, at}}};
  if (auto assigned = reader_->assign(from); !assigned) return assigned.error();
  auto heard_at = SteadyClock::now();
  while (go_on(partition, at, end)) {
    auto polled = reader_->poll(kPollLimit);
    if (!polled) return polled.error();
    if (const auto* failed = std::get_if<kafka::PartitionFailure>(&polled.value())) return failed->error;
    if (std::holds_alternative<kafka::EndOfLog>(polled.value())) return whole;
    if (const auto* record = std::get_if<kafka::Record>(&polled.value())) {
      heard_at = SteadyClock::now();
      at = record->offset;
      visit(*record);
    } else if (SteadyClock::now() - heard_at > kSilenceMax) {
      return silent(topic_);
    }
  }
  return false;
}

Result<> LogReading::read_one(Partition partition, Offset offset, const Visit& visit) {
  const std::string where = topic_ + "[" + std::to_string(partition.value()) + "]@" + std::to_string(offset.value());
  const auto missing = [&](const std::string& why) { return Error{ErrorClass::kInvalid, 0, where + " " + why}; };
  if (partition.value() < 0 || partition.value() >= partitions_)
    return missing("cannot be: there are " + std::to_string(partitions_) + " partitions");
  const auto log = bounds(partition);
  if (!log) return log.error();
  if (offset < log.value().begin) return missing("is not kept any more");
  if (offset >= log.value().end) return missing("is not written yet");
  const std::array<kafka::TopicPartitionOffset, 1> from = {{{{kTopic, partition}, offset}}};
  if (auto assigned = reader_->assign(from); !assigned) return assigned;
  const auto until = SteadyClock::now() + kSilenceMax;
  while (SteadyClock::now() < until) {
    auto polled = reader_->poll(kPollLimit);
    if (!polled) return polled.error();
    if (const auto* failed = std::get_if<kafka::PartitionFailure>(&polled.value())) return failed->error;
    const auto* record = std::get_if<kafka::Record>(&polled.value());
    if (record == nullptr && !std::holds_alternative<kafka::EndOfLog>(polled.value())) continue;
    if (record == nullptr || record->offset != offset) return missing("is no record that was committed and kept");
    visit(*record);
    return Done{};
  }
  return silent(topic_);
}

Result<> LogReading::mark_ends() {
  std::vector<kafka::TopicPartition> all;
  for (std::int32_t p = 0; p < partitions_; ++p) all.push_back({kTopic, Partition(p)});
  const auto ends = reader_->high_watermarks(all, kAskLimit);
  if (!ends) return ends.error();
  return reader_->assign(ends.value());
}

Result<> LogReading::follow(Milliseconds limit, const Visit& visit, const std::function<bool()>& enough) {
  const auto until = SteadyClock::now() + std::chrono::milliseconds(limit.value());
  while (!enough()) {
    if (SteadyClock::now() > until) return Error{ErrorClass::kTimeout, 0, "nothing more came on " + topic_};
    auto polled = reader_->poll(kFollowSlice);
    if (!polled) return polled.error();
    if (const auto* failed = std::get_if<kafka::PartitionFailure>(&polled.value())) return failed->error;
    if (const auto* record = std::get_if<kafka::Record>(&polled.value())) visit(*record);
  }
  return Done{};
}

}  // namespace reseq::runtime
