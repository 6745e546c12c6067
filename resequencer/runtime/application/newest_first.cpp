#include "runtime/application/newest_first.h"

#include <algorithm>
#include <chrono>

#include "codec/hash.h"
#include "runtime/application/clock.h"

namespace reseq::runtime {

namespace {

using PieceClock = std::chrono::steady_clock;

// An open transaction holds the end back, and somebody waits.
constexpr std::chrono::milliseconds kStablePatience{100};
// Without a limit of time: what a piece brings is held until it ends.
constexpr std::int64_t kPieceMax = 1'000'000;

// Outputs are written by Java's partitioner unless inputs are by librdkafka's (clients.cpp).
Partition partition_of(const std::string& key, Partitioner inputs, std::int32_t partitions) {
  const bool crc32 = inputs == Partitioner::kCrc32;
  return codec::partition_of(key, crc32 ? Partitioner::kCrc32 : Partitioner::kMurmur2, partitions);
}

}  // namespace

std::int64_t next_piece(std::int64_t first, std::int64_t read, std::chrono::nanoseconds took, Milliseconds time_max) {
  if (read == 0) return first;
  const std::int64_t wanted = std::min(std::max(read, first), kPieceMax);
  if (time_max == Milliseconds(0)) return wanted;
  const std::chrono::nanoseconds left = std::chrono::milliseconds(time_max.value()) - took;
  const double per_ns = static_cast<double>(read) / static_cast<double>(std::max<std::int64_t>(took.count(), 1));
  const double affordable = per_ns * static_cast<double>(left.count()) / 2;
  return affordable < static_cast<double>(first) ? 0 : std::min(wanted, static_cast<std::int64_t>(affordable));
}

admin::Json unread_json(const Unread& unread) {
  if (unread.offsets == 0) return {};
  return {{"partition", unread.partition.value()},
          {"offsets", unread.offsets},
          {"of", unread.of},
          {"before", admin::time_text(unread.before)}};
}

Result<Unread> read_newest_first(const Application& application, const std::string& topic, const std::string& key,
                                 const InPieces& what, Milliseconds time_max) {
  auto opened = LogReading::open(application, topic, kStablePatience);
  if (!opened) return opened.error();
  LogReading& log = opened.value();
  Unread unread;
  unread.before = SystemClock().now();  // until a record was read
  unread.partition = partition_of(key, application.partitioner, log.partitions());
  const auto bounds = log.bounds(unread.partition);
  if (!bounds) return bounds.error();
  const Offset begin = bounds.value().begin;
  const Offset end = bounds.value().end;
  unread.of = end.value() - begin.value();
  const auto began = PieceClock::now();
  for (Offset until = end; until > begin;) {
    const std::int64_t offsets =
        next_piece(what.first, end.value() - until.value(), PieceClock::now() - began, time_max);
    const Offset from(std::max(until.value() - offsets, begin.value()));
    if (from == until) {
      unread.offsets = until.value() - begin.value();
      return unread;
    }
    // One that takes longer than it should is given up: what it has brought is not the newest that is lacking.
    const auto go_on = [&](Partition partition, Offset at, Offset piece_end) {
      const bool in_time = until == end || time_max == Milliseconds(0) ||
                           PieceClock::now() - began < std::chrono::milliseconds(time_max.value());
      return in_time && what.go_on(partition, at, piece_end);
    };
    bool is_first = true;
    UnixMs oldest;
    const auto visit = [&](const kafka::Record& record) {
      if (is_first) oldest = record.timestamp;
      is_first = false;
      if (record.key == key) what.visit(record);
    };
    const auto read = log.read_range(unread.partition, {from, until}, visit, go_on);
    if (!read) {
      // Retention does not wait for who reads.
      const auto kept = log.bounds(unread.partition);
      if (!kept || kept.value().begin <= from) return read.error();
      unread.offsets = std::max<std::int64_t>(0, until.value() - kept.value().begin.value());
      return unread;
    }
    if (!read.value()) {
      unread.offsets = until.value() - begin.value();
      return unread;
    }
    if (!is_first) unread.before = oldest;
    if (what.enough()) return unread;
    until = from;
  }
  return unread;
}

}  // namespace reseq::runtime
