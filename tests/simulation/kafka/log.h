// Log: one partition of a topic as its leader holds it. A transaction is open in a log from its first record to its
// marker; the marker occupies an offset. Offsets never change: compaction leaves holes.
//   begin <= first entry; every entry < high watermark; last stable offset = first offset of the earliest open
//   transaction, else the high watermark.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kafka/cluster.h"
#include "model/ids.h"

namespace reseq::simulation {

struct StoredHeader {
  std::string name;
  std::optional<std::string> value;
};

struct StoredRecord {
  std::optional<std::string> key;
  std::optional<std::string> payload;
  std::vector<StoredHeader> headers;
  UnixMs timestamp;
};

[[nodiscard]] std::uint64_t size_of(const StoredRecord& record);

// A record as a consumer gets it. Its views live as long as it does and no longer, though the log keeps the bytes: who
// reads them afterwards is found by the sanitizers.
[[nodiscard]] kafka::Record delivered_record(kafka::TopicPartition where, Offset offset, const StoredRecord& stored);

using ProducerId = Strong<struct ProducerIdTag, std::int64_t>;
inline constexpr ProducerId kNoProducer{-1};

enum class Fate : std::uint8_t { kOpen, kCommitted, kAborted };

struct Entry {
  Offset offset;
  ProducerId producer = kNoProducer;
  Fate fate = Fate::kOpen;                     // of a marker: what it says
  std::shared_ptr<const StoredRecord> record;  // none: a marker
  std::optional<UnixMs> removable_at;          // tombstones and markers: set by the first cleaning that saw them
};

class Log {
 public:
  // kNoProducer: outside of any transaction.
  Offset append(ProducerId producer, StoredRecord record);
  // Writes the marker, even if the transaction has no record here. `fate` is not kOpen.
  Offset end_transaction(ProducerId producer, Fate fate);

  [[nodiscard]] Offset begin() const { return begin_; }
  [[nodiscard]] Offset high_watermark() const { return end_; }
  [[nodiscard]] Offset last_stable() const;
  [[nodiscard]] const std::deque<Entry>& entries() const { return entries_; }

  // The first committed record at or behind `from` and in front of the last stable offset; null if there is none.
  [[nodiscard]] const Entry* next_committed(Offset from) const;

  // One round of the cleaner in front of min(last stable offset, `until`).
  void compact(UnixMs now, Milliseconds delete_retention, Offset until);
  // Retention: the log begins here now.
  void trim(Offset begin);
  // Unclean election: what is behind `end` never happened. A finished transaction is lost as a whole or not at all, so
  // the cut may lie deeper. Returns where it is.
  Offset truncate(Offset end);

 private:
  struct Open {
    ProducerId producer;
    Offset first;
  };

  std::deque<Entry> entries_;
  std::vector<Open> open_;  // by first offset
  Offset begin_{0};
  Offset end_{0};
};

}  // namespace reseq::simulation
