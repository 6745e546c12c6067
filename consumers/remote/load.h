// Load: what goes to the server together: records of one partition, one after the other, as the writes that they mean.
// Of a document only the newest one is written; what it outruns counts as not newer.
// When the newest one is refused, the
// newest of those that it outran takes its place, as if each had been written alone. LoadBuilder gathers one.
// Invariant: the writes and letters of a load cover all of its records; views point into them, wherever the load goes.
// Thread rule: one thread at a time; `dropped` by any.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "consumers/remote/remote_store.h"
#include "consumers/stage/in_flight.h"
#include "kafka/plain_record.h"

namespace reseq::remote {

using Clock = std::chrono::steady_clock;

struct LoadLimits {
  std::uint64_t records_max = 2'000;
  std::uint64_t bytes_max = 8 * 1024 * 1024;
  std::chrono::milliseconds time_max{50};
};

// A record that cannot be stored. It becomes a dead letter before the offset moves.
struct Letter {
  const kafka::PlainRecord* record = nullptr;
  bool malformed = false;  // it breaks the wire contract; otherwise the server refused it
  std::string words;       // what is wrong with it
};

struct LoadCounts {
  std::uint64_t records = 0;
  std::uint64_t not_for_us = 0;
  std::uint64_t outrun = 0;  // by a newer one of the same load
};

struct Load {
  stage::Ticket ticket;  // of its first offset
  Batch batch;
  std::vector<Letter> letters;
  sink::Check check = sink::Check::kVersions;
  std::vector<Write> outrun;               // by a newer one of the same document, in the order in which they came
  std::deque<kafka::PlainRecord> records;  // a deque: what is added moves no other
  LoadCounts counts;
  std::uint64_t bytes = 0;
  Clock::time_point opened;
  std::atomic<bool> dropped = false;  // its partition is somebody else's: nothing more is to be done for it
};

// Of each of these documents the newest write that was outrun, taken out of the load.
[[nodiscard]] std::vector<Write> take_outrun(Load& load, const std::unordered_set<std::string_view>& ids);

class LoadBuilder {
 public:
  // `first`: where the partition stands.
  LoadBuilder(Partition partition, Offset first, sink::Check check, std::string_view target, Clock::time_point now);

  // REQUIRES: its offset is not below the place that was reached.
  void add(kafka::PlainRecord record);
  // The reader stands at `next`, control records counted. Ignored when that is no news.
  void reached(Offset next);

  [[nodiscard]] bool is_full(const LoadLimits& limits) const {
    return load_->counts.records >= limits.records_max || load_->bytes >= limits.bytes_max;
  }
  [[nodiscard]] Clock::time_point due_at(const LoadLimits& limits) const { return load_->opened + limits.time_max; }
  [[nodiscard]] std::uint64_t bytes() const { return load_->bytes; }
  [[nodiscard]] Offset next() const { return load_->batch.next; }
  [[nodiscard]] std::shared_ptr<Load> take() { return std::move(load_); }

 private:
  void write(const kafka::PlainRecord& record, const sink::Change& change);

  sink::Check check_;
  std::string target_;
  std::shared_ptr<Load> load_;
  std::unordered_map<std::string_view, std::size_t> places_;  // of the documents in batch.writes
};

}  // namespace reseq::remote
