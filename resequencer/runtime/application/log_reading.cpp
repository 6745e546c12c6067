#include "runtime/application/log_reading.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <utility>
#include <variant>

#include "kafka/admin.h"
#include "kafka/librdkafka_cluster.h"
#include "runtime/application/clients.h"

namespace reseq::runtime {

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr kafka::TopicIndex kTopic{0};
constexpr Milliseconds kPollLimit{1'000};
constexpr Milliseconds kFollowSlice{100};
constexpr std::chrono::seconds kSilenceMax{30};
constexpr std::chrono::milliseconds kStablePause{10};
// To begin anew somewhere else takes as long as to read so many records.
constexpr std::int64_t kReadThroughMax = 5'000;

Error silent(const std::string& topic) {
  return {ErrorClass::kTimeout, 0, topic + " cannot be read on: no broker answers"};
}

}  // namespace

Result<LogReading> LogReading::open(const Application& application, const std::string& topic,
                                    std::chrono::milliseconds stable_patience) {
  kafka::ClusterSettings clients = cluster_settings_of(application, std::nullopt);
  clients.topics = {topic};
  auto admin = kafka::Admin::open(clients.connection);
  if (!admin) return admin.error();
  const auto partitions = admin.value()->partition_count(topic, kafka::kBrokerAnswerLimit);
  if (!partitions) return partitions.error();
  auto cluster = kafka::open_cluster(clients);
  if (!cluster) return cluster.error();
  auto reader = cluster.value()->log_reader();
  if (!reader) return reader.error();
  return LogReading(topic, std::move(cluster).value(), std::move(reader).value(), partitions.value(), stable_patience);
}

Result<LogReading::Bounds> LogReading::bounds(Partition partition) {
  const std::array<kafka::TopicPartition, 1> here = {{{kTopic, partition}}};
  const auto begin = reader_->begins(here, kafka::kBrokerAnswerLimit);
  if (!begin) return begin.error();
  const auto written = reader_->high_watermarks(here, kafka::kBrokerAnswerLimit);
  if (!written) return written.error();
  // Behind the stable end nothing is read while a transaction is open, and the client does not say that nothing more
  // comes. An offset is seen as committed a moment before what was written with it can be read.
  while (true) {
    const auto asked_at = SteadyClock::now();
    const auto end = reader_->stable_ends(here, kafka::kBrokerAnswerLimit);
    if (!end) return end.error();
    if (end.value().front().offset >= written.value().front().offset || stable_patience_.count() <= 0)
      return Bounds{begin.value().front().offset, end.value().front().offset};
    std::this_thread::sleep_for(kStablePause);
    stable_patience_ -= SteadyClock::now() - asked_at;
  }
}

Result<bool> LogReading::read(Partition partition, const Visit& visit, const GoOn& go_on) {
  const auto log = bounds(partition);
  if (!log) return log.error();
  return read_range(partition, log.value(), visit, go_on);
}

Result<bool> LogReading::read_range(Partition partition, const Bounds& range, const Visit& visit, const GoOn& go_on) {
  if (range.begin >= range.end) return true;
  Offset at = range.begin;
  const std::array<kafka::TopicPartitionOffset, 1> from = {{{{kTopic, partition}, at}}};
  if (auto assigned = reader_->assign(from); !assigned) return assigned.error();
  auto heard_at = SteadyClock::now();
  while (go_on(partition, at, range.end)) {
    auto polled = reader_->poll(kPollLimit);
    if (!polled) return polled.error();
    if (const auto* failed = std::get_if<kafka::PartitionFailure>(&polled.value())) return failed->error;
    if (std::holds_alternative<kafka::EndOfLog>(polled.value())) return true;
    if (const auto* record = std::get_if<kafka::Record>(&polled.value())) {
      heard_at = SteadyClock::now();
      if (record->offset >= range.end) return true;
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
  if (offset >= log.value().end) return missing("is not written yet, or its transaction is open");
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

Result<> LogReading::read_each(Partition partition, std::span<const Offset> offsets, const Visit& visit) {
  const auto log = bounds(partition);
  if (!log) return log.error();
  for (std::size_t first = 0; first < offsets.size();) {
    std::size_t last = first;  // of those that are read in one go
    while (last + 1 < offsets.size() && offsets[last + 1].value() - offsets[last].value() <= kReadThroughMax) ++last;
    const Bounds range{std::max(offsets[first], log.value().begin),
                       std::min(Offset(offsets[last].value() + 1), log.value().end)};
    const auto wanted = offsets.subspan(first, last + 1 - first);
    bool has_read_last = false;
    const auto choose = [&](const kafka::Record& record) {
      has_read_last = record.offset >= wanted.back();
      if (std::binary_search(wanted.begin(), wanted.end(), record.offset)) visit(record);
    };
    const auto read = read_range(partition, range, choose, [&](Partition, Offset, Offset) { return !has_read_last; });
    if (!read) return read.error();
    first = last + 1;
  }
  return Done{};
}

Result<> LogReading::mark_ends() {
  std::vector<kafka::TopicPartition> all;
  for (std::int32_t p = 0; p < partitions_; ++p) all.push_back({kTopic, Partition(p)});
  const auto ends = reader_->high_watermarks(all, kafka::kBrokerAnswerLimit);
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
