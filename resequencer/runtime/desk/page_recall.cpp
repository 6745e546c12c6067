#include "runtime/desk/page_recall.h"

#include <algorithm>
#include <chrono>
#include <functional>

#include "admin/json_text.h"
#include "kafka/bystander.h"
#include "runtime/application/clients.h"
#include "runtime/application/log_reading.h"
#include "runtime/application/newest_first.h"

namespace reseq::runtime {

namespace {

using RecallClock = std::chrono::steady_clock;

// Replies for thousands of partitions have a megabyte each.
constexpr std::int64_t kFirstReplies = 8;
// Replies are written outside of transactions; whose is open there is not waited for.
constexpr std::chrono::milliseconds kRepliesPatience{100};

// A piece that was not read to its end is left out: who answers last behind it would seem to have ended before.
Result<bool> recall_range(LogReading& log, Partition partition, const LogReading::Bounds& range,
                          const RecallBounds& share, const std::function<void(const kafka::Record&, PageMemory&)>& take,
                          const std::atomic<bool>& stop, PageMemory& memory) {
  const auto began = RecallClock::now();
  std::uint64_t bytes = 0;
  const auto go_on = [&](Partition, Offset, Offset) {
    return !stop && bytes <= share.bytes && RecallClock::now() - began < std::chrono::milliseconds(share.time.value());
  };
  for (Offset until = range.end; until > range.begin;) {
    const std::int64_t offsets =
        next_piece(kFirstReplies, range.end.value() - until.value(), RecallClock::now() - began, share.time);
    if (offsets == 0) return false;
    const Offset from(std::max(until.value() - offsets, range.begin.value()));
    PageMemory piece;
    const auto visit = [&](const kafka::Record& record) {
      bytes += record.payload.value_or("").size();
      take(record, piece);
    };
    const auto read = log.read_range(partition, {from, until}, visit, go_on);
    if (!read) return read.error();
    if (!read.value()) return false;
    memory.hear(piece);
    until = from;
  }
  return true;
}

}  // namespace

Result<bool> recall_instances(const Application& application, UnixMs now, const std::atomic<bool>& stop,
                              PageMemory& memory, const RecallBounds& bounds) {
  const config::Settings& settings = application.settings;
  const UnixMs since(now.value() - PageMemory::kSpan.value());
  const auto begins = kafka::offsets_at(cluster_settings_of(application, std::nullopt).connection,
                                        settings.topic_admin_replies, since, kafka::kBrokerAnswerLimit);
  if (!begins) return begins.error();
  auto log = LogReading::open(application, settings.topic_admin_replies, kRepliesPatience);
  if (!log) return log.error();
  const auto take = [&](const kafka::Record& record, PageMemory& heard) {
    const admin::Json reply = admin::parse_object(record.payload.value_or(""));
    // Who writes may have a clock that is ahead.
    if (!reply.is_discarded() && tells_of_another(reply, settings)) heard.hear(reply, std::min(record.timestamp, now));
  };
  const auto partitions = static_cast<std::int64_t>(begins.value().size());
  const RecallBounds share{bounds.bytes / static_cast<std::uint64_t>(partitions),
                           Milliseconds(bounds.time.value() / partitions)};
  bool whole = true;
  for (const kafka::PlainOffset& begin : begins.value()) {
    auto range = log.value().bounds(begin.partition);
    if (!range) return range.error();
    range.value().begin = std::max(range.value().begin, begin.offset);
    const auto read = recall_range(log.value(), begin.partition, range.value(), share, take, stop, memory);
    if (!read) return read.error();
    whole = whole && read.value();
  }
  return whole;
}

}  // namespace reseq::runtime
