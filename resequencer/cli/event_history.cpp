#include "cli/event_history.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <utility>
#include <variant>

#include "codec/hash.h"
#include "kafka/admin.h"
#include "kafka/librdkafka_cluster.h"
#include "runtime/clients.h"

namespace reseq::cli {

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr kafka::TopicIndex kEvents{0};
constexpr Milliseconds kAskLimit{10'000};
constexpr Milliseconds kPollLimit{1'000};
constexpr std::chrono::seconds kSilenceMax{30};
constexpr std::chrono::seconds kTellEvery{3};

// Outputs are written by Java's partitioner unless inputs are by librdkafka's (runtime/clients.cpp).
Partition partition_of(const std::string& id, Partitioner inputs, std::int32_t partitions) {
  const bool crc32 = inputs == Partitioner::kCrc32;
  return codec::partition_of(id, crc32 ? Partitioner::kCrc32 : Partitioner::kMurmur2, partitions);
}

// Reads one partition from its beginning to its stable end.
class Reading {
 public:
  explicit Reading(kafka::LogReader& reader, Partition partition) : reader_(reader), where_{kEvents, partition} {}

  Result<std::vector<PastEvent>> run(const std::string& id) {
    const std::array<kafka::TopicPartition, 1> here = {where_};
    const auto begin = reader_.begins(here, kAskLimit);
    if (!begin) return begin.error();
    const auto end = reader_.high_watermarks(here, kAskLimit);
    if (!end) return end.error();
    end_ = end.value().front().offset;
    if (auto assigned = reader_.assign(begin.value()); !assigned) return assigned.error();
    std::vector<PastEvent> found;
    while (!ended_) {
      auto polled = reader_.poll(kPollLimit);
      if (!polled) return polled.error();
      if (auto taken = take(polled.value(), id, found); !taken) return taken.error();
    }
    return found;
  }

 private:
  Result<> take(const kafka::LogPolled& polled, const std::string& id, std::vector<PastEvent>& found) {
    if (const auto* failed = std::get_if<kafka::PartitionFailure>(&polled)) return failed->error;
    if (std::holds_alternative<kafka::Nothing>(polled)) {
      if (SteadyClock::now() - heard_at_ < kSilenceMax) return Done{};
      return Error{ErrorClass::kTimeout, 0, "the events topic cannot be read on: no broker answers"};
    }
    heard_at_ = SteadyClock::now();
    ended_ = std::holds_alternative<kafka::EndOfLog>(polled);
    const auto* record = std::get_if<kafka::Record>(&polled);
    if (record == nullptr) return Done{};
    tell(record->offset);
    if (record->key != id) return Done{};
    admin::Json json = admin::Json::parse(record->payload.value_or(""), nullptr, false);
    if (json.is_object()) found.push_back({record->timestamp, std::move(json)});
    return Done{};
  }

  void tell(Offset at) {
    if (heard_at_ - told_at_ < kTellEvery) return;
    told_at_ = heard_at_;
    std::fprintf(stderr, "reading events of partition %d: %lld of %lld\n", where_.partition.value(),
                 static_cast<long long>(at.value()), static_cast<long long>(end_.value()));
  }

  kafka::LogReader& reader_;
  kafka::TopicPartition where_;
  Offset end_;
  bool ended_ = false;
  SteadyClock::time_point heard_at_ = SteadyClock::now();
  SteadyClock::time_point told_at_ = heard_at_;
};

}  // namespace

Result<std::vector<PastEvent>> read_events_of(const runtime::Application& application, const std::string& id) {
  kafka::ClusterSettings clients = runtime::cluster_settings_of(application, std::nullopt);
  clients.topics = {application.settings.topic_events};
  auto admin = kafka::Admin::open(clients.connection);
  if (!admin) return admin.error();
  const auto partitions = admin.value()->partition_count(clients.topics.front(), kAskLimit);
  if (!partitions) return partitions.error();
  auto cluster = kafka::open_cluster(clients);
  if (!cluster) return cluster.error();
  auto reader = cluster.value()->log_reader();
  if (!reader) return reader.error();
  return Reading(*reader.value(), partition_of(id, application.partitioner, partitions.value())).run(id);
}

}  // namespace reseq::cli
