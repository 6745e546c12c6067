#include "tests/judge/cluster_history.h"

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <variant>

#include "kafka/admin.h"
#include "kafka/librdkafka_cluster.h"
#include "runtime/application/clients.h"

namespace reseq::judge {

namespace {

using Clock = std::chrono::steady_clock;
using Ends = std::map<kafka::TopicPartition, Offset>;

constexpr Milliseconds kPollSlice{200};
constexpr Milliseconds kStallLimit{60'000};

class Reading {
 public:
  Reading(const runtime::Application& application, History& history, Verdict& verdict)
      : application_(application), history_(history), verdict_(verdict) {}

  Result<> open() {
    auto cluster = kafka::open_cluster(runtime::cluster_settings_of(application_, std::nullopt));
    if (!cluster) return cluster.error();
    cluster_ = std::move(cluster).value();
    auto reader = cluster_->log_reader();
    if (!reader) return reader.error();
    reader_ = std::move(reader).value();
    auto admin = kafka::Admin::open(runtime::connection_of(application_.settings));
    if (!admin) return admin.error();
    admin_ = std::move(admin).value();
    const auto& names = application_.topics.names();
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto count = admin_->partition_count(names[i], kAskLimit);
      if (!count) return count.error();
      for (std::int32_t p = 0; p < count.value(); ++p)
        places_.push_back({kafka::TopicIndex(static_cast<std::uint16_t>(i)), Partition(p)});
    }
    return Done{};
  }

  // Where to read to: the high watermarks, or the last stable offset where a transaction stays open.
  Result<> find_ends(Milliseconds patience) {
    const auto marks = reader_->high_watermarks(places_, kAskLimit);
    if (!marks) return marks.error();
    for (const auto& [where, offset] : marks.value()) ends_[where] = offset;
    const auto until = Clock::now() + std::chrono::milliseconds(patience.value());
    for (;;) {
      auto stable = stable_ends();
      if (!stable) return stable.error();
      if (stable.value() == ends_) return Done{};
      if (Clock::now() < until) {
        std::this_thread::sleep_for(std::chrono::milliseconds(kPollSlice.value()));
        continue;
      }
      for (const auto& [where, offset] : stable.value())
        if (offset != ends_[where])
          verdict_.add(Check::kStable, named(where) + ": the last stable offset is " + std::to_string(offset.value()) +
                                           ", the high watermark " + std::to_string(ends_[where].value()) +
                                           ": a transaction is open");
      ends_ = std::move(stable).value();
      return Done{};
    }
  }

  Result<> read() {
    const auto begins = reader_->begins(places_, kAskLimit);
    if (!begins) return begins.error();
    if (auto assigned = reader_->assign(begins.value()); !assigned) return assigned;
    for (const auto& [where, offset] : begins.value()) reach(where, offset);
    Clock::time_point moved = Clock::now();
    while (!ends_.empty()) {
      auto polled = reader_->poll(kPollSlice);
      if (!polled) return polled.error();
      if (const auto* failed = std::get_if<kafka::PartitionFailure>(&polled.value())) return failed->error;
      if (std::holds_alternative<kafka::Nothing>(polled.value())) {
        if (Clock::now() - moved > std::chrono::milliseconds(kStallLimit.value())) return stalled();
        continue;
      }
      moved = Clock::now();
      if (const auto* end = std::get_if<kafka::EndOfLog>(&polled.value())) reach(end->where, end->offset);
      if (const auto* record = std::get_if<kafka::Record>(&polled.value())) keep(*record);
    }
    return Done{};
  }

 private:
  [[nodiscard]] std::string named(const kafka::TopicPartition& where) const {
    return application_.topics.name(where.topic) + "[" + std::to_string(where.partition.value()) + "]";
  }

  Result<Ends> stable_ends() {
    Ends ends;
    const auto& names = application_.topics.names();
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto stable = admin_->stable_ends(names[i], kAskLimit);
      if (!stable) return stable.error();
      for (const kafka::PlainOffset& one : stable.value())
        ends[{kafka::TopicIndex(static_cast<std::uint16_t>(i)), one.partition}] = one.offset;
    }
    return ends;
  }

  void keep(const kafka::Record& record) {
    Record kept;
    kept.offset = record.offset;
    kept.timestamp = record.timestamp;
    kept.key = record.key;
    kept.payload = record.payload;
    kept.headers.assign(record.headers.begin(), record.headers.end());
    history_.add({record.where.topic.value(), record.where.partition}, kept);
    reach(record.where, Offset(record.offset.value() + 1));
  }

  void reach(const kafka::TopicPartition& where, Offset next) {
    const auto end = ends_.find(where);
    if (end != ends_.end() && next >= end->second) ends_.erase(end);
  }

  [[nodiscard]] Error stalled() const {
    return {
        ErrorClass::kTimeout, 0,
        named(ends_.begin()->first) + " cannot be read to its end at " + std::to_string(ends_.begin()->second.value())};
  }

  const runtime::Application& application_;
  History& history_;
  Verdict& verdict_;
  std::unique_ptr<kafka::Cluster> cluster_;
  std::unique_ptr<kafka::LogReader> reader_;
  std::unique_ptr<kafka::Admin> admin_;
  std::vector<kafka::TopicPartition> places_;
  Ends ends_;  // those that are not reached
};

}  // namespace

Result<> read_history(const runtime::Application& application, Milliseconds patience, History& history,
                      Verdict& verdict) {
  Reading reading(application, history, verdict);
  if (auto opened = reading.open(); !opened) return opened;
  if (auto found = reading.find_ends(patience); !found) return found;
  return reading.read();
}

Result<std::map<Place, Offset>> read_offsets(const runtime::Application& application) {
  auto admin = kafka::Admin::open(runtime::connection_of(application.settings));
  if (!admin) return admin.error();
  std::map<Place, Offset> offsets;
  for (const Role role : runtime::kInputs) {
    const kafka::TopicIndex topic = application.topics.of(role);
    const auto committed =
        admin.value()->committed(application.settings.application_id, application.topics.name(topic), kAskLimit);
    if (!committed) return committed.error();
    for (const kafka::PlainOffset& one : committed.value()) offsets[{topic.value(), one.partition}] = one.offset;
  }
  return offsets;
}

}  // namespace reseq::judge
