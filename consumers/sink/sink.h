// Sink: moves a topic into a Store, batch by batch, from the positions that the store itself keeps. There is no
// consumer group: the store is the only truth about what it has read.
// Invariant: a batch goes into the store together with its positions; it is bounded by records, bytes and time.
// Thread rule: one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "consumers/sink/store.h"
#include "kafka/group_consumer.h"
#include "kafka/plain_record.h"

namespace reseq::sink {

struct SinkOptions {
  Check check = Check::kVersions;
  std::string target{};  // with Check::kOff: the target whose results are read; empty = all
  std::uint64_t batch_records_max = 2'000;
  std::uint64_t batch_bytes_max = 32 * 1024 * 1024;
  std::chrono::milliseconds batch_time_max{200};
};

struct SinkCounts {
  std::uint64_t records = 0;    // read since the start, without control records
  std::uint64_t written = 0;    // changed a document
  std::uint64_t not_newer = 0;  // replays and older versions
  std::uint64_t not_for_us = 0;
  std::uint64_t rejected = 0;  // outside the wire contract, kept aside by the store
};

class Sink {
 public:
  // REQUIRES: reader and store outlive the sink; the reader has no group.
  Sink(kafka::GroupConsumer& reader, Store& store, SinkOptions options);

  // Finds where to go on. `begins`: first offsets of all partitions of the topic. Partitions that the store does not
  // know start there. kInvalid: the log does not go back to a position any more, so releases are lost.
  Result<> start(std::string_view topic, std::span<const kafka::PlainOffset> begins);

  // Waits up to `limit` for a record and applies it; commits when the batch is full or old enough.
  Result<> step(Milliseconds limit);

  // Commits what is open. For an orderly end.
  Result<> commit();

  [[nodiscard]] const SinkCounts& counts() const { return counts_; }
  // Next offsets that are committed to the store.
  [[nodiscard]] const std::map<Partition, Offset>& committed() const { return committed_; }

 private:
  using Clock = std::chrono::steady_clock;
  Result<> open_batch();
  Result<> follow_positions();
  Result<> take(const kafka::PlainRecord& record);
  Result<> write(const kafka::PlainRecord& record);
  Result<> reject(const kafka::PlainRecord& record, std::string_view why);
  [[nodiscard]] bool batch_is_due() const;

  kafka::GroupConsumer& reader_;
  Store& store_;
  SinkOptions options_;
  SinkCounts counts_;
  std::map<Partition, Offset> committed_;
  std::map<Partition, Offset> moved_;  // of the open batch
  bool batch_open_ = false;
  std::uint64_t batch_records_ = 0;
  std::uint64_t batch_bytes_ = 0;
  Clock::time_point batch_opened_;
};

}  // namespace reseq::sink
