// The one seam to Kafka. runtime/ sees only this file; librdkafka_cluster.h implements it with librdkafka, a simulation
// implements it with a log in memory. Semantics are those of a real cluster as measured (docs/recovery.md):
//   - a control record (transaction marker) occupies an offset, so a position is not "last message + 1";
//   - commit and abort may return before their marker has landed: compare ends with >=, never with ==;
//   - a committed offset may be unstable for as long as a foreign transaction is open: that is kTimeout, never "none".
//
// Thread rule: every object is used by one thread. Calls that wait take a time limit and never wait longer than it plus
// what librdkafka needs to notice.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "model/header.h"
#include "model/ids.h"

namespace reseq::kafka {

// Index into the list of topic names that the cluster was opened with.
using TopicIndex = Strong<struct TopicIndexTag, std::uint16_t>;

struct TopicPartition {
  TopicIndex topic;
  Partition partition;
  friend auto operator<=>(const TopicPartition&, const TopicPartition&) = default;
};

struct TopicPartitionOffset {
  TopicPartition where;
  Offset offset;  // kNoOffset = none committed
  friend bool operator==(const TopicPartitionOffset&, const TopicPartitionOffset&) = default;
};

// Headers that were not made into objects, because they are more than headers_max: how many, and their bytes, which the
// record's owner holds.
struct HeadersLeftOut {
  std::uint32_t count = 0;
  std::uint64_t bytes = 0;
};

// A consumed record. Views stay valid, wherever the Record is moved, until it is destroyed. It must be destroyed before
// the client that made it: that one's destruction would wait for it for ever.
struct Record {
  TopicPartition where;
  Offset offset;
  UnixMs timestamp;
  std::optional<std::string_view> key;
  std::optional<std::string_view> payload;
  boost::container::small_vector<Header, 6> headers;
  HeadersLeftOut left_out;  // then headers is empty
  // What keeps the bytes alive; made by the cluster that made the record and understood only by it.
  std::unique_ptr<void, void (*)(void*)> owner{nullptr, [](void*) {}};
};

struct OutgoingRecord {
  TopicIndex topic;
  std::optional<Partition> partition = {};  // absent: by the key, as Java's clients do (murmur2)
  std::optional<std::string_view> key = {};
  std::optional<std::string_view> payload = {};  // absent = null
  UnixMs timestamp = {};                         // 0 = now
  // It starts from headers that are moved over from a record (once, because it has none afterwards) or from a copy of
  // some, nulls and repetitions too; not from both.
  Record* headers_from = nullptr;
  std::span<const Header> headers = {};
  std::span<const HeaderEdit> edits = {};  // then one by one: a header is removed, or the only one of its name
};

// Who is allowed to commit offsets: captured when partitions were assigned, never fetched later.
class GroupMetadata {
 public:
  virtual ~GroupMetadata() = default;
};

// Nothing arrived within the time limit.
struct Nothing {};
// The group gave these partitions of the subscribed topic to this member. Nothing is read until assign().
struct Assigned {
  std::vector<Partition> partitions;
  std::shared_ptr<const GroupMetadata> group;
};
// The group took them back; when this is returned they are not read any more. `lost`: another member may own them
// already.
struct Revoked {
  std::vector<Partition> partitions;
  bool lost = false;
};
// The reader waits at the end of this log: last stable offset, control records counted. Comes again whenever the end
// moved and was reached, even if only control records were in between.
struct EndOfLog {
  TopicPartition where;
  Offset offset;
};
// One partition cannot be read on: its next offset is not in the log any more, the record there is too large, the
// brokers refuse to let it be read, or a batch is damaged (error_questions.h tells them apart). It has to be assigned
// again from where it was read to. The others go on.
struct PartitionFailure {
  TopicPartition where;
  Error error;
};
// EndOfLog comes from the inputs too: "read up to the stable end" cannot be told from message offsets alone.
using Polled = std::variant<Nothing, Record, Assigned, Revoked, EndOfLog, PartitionFailure>;

// kReadCommitted: the last stable offset. kReadUncommitted: the high watermark.
enum class Isolation : std::uint8_t { kReadCommitted, kReadUncommitted };

// Reads the inputs as a member of the group. read_committed, no automatic offset reset, no automatic commit.
class Consumer {
 public:
  virtual ~Consumer() = default;

  // The next record of what is assigned, or what the group says.
  virtual Result<Polled> poll(Milliseconds limit) = 0;

  // Replaces what is read. Each with its explicit next offset; records already fetched are not delivered twice.
  // REQUIRES: every partition belongs to this member.
  virtual Result<> assign(std::span<const TopicPartitionOffset> positions) = 0;

  // Stable committed offsets of this group, in the order asked; kNoOffset where none. kTimeout while one is unstable.
  virtual Result<std::vector<TopicPartitionOffset>> committed(std::span<const TopicPartition> which,
                                                              Milliseconds limit) = 0;

  // First offsets of the logs.
  virtual Result<std::vector<TopicPartitionOffset>> begins(std::span<const TopicPartition> which,
                                                           Milliseconds limit) = 0;

  // Last stable offsets, all in one call.
  virtual Result<std::vector<TopicPartitionOffset>> stable_ends(std::span<const TopicPartition> which,
                                                                Milliseconds limit) = 0;

  // High watermark as it came with the last records that were fetched, which may be a while ago; asks nobody. Nothing:
  // none came.
  [[nodiscard]] virtual std::optional<Offset> known_end(TopicPartition where) const = 0;

  // The metadata of this member as it is now. Never for a batch: a member that was thrown out has metadata that passes
  // the broker's checks. It is here to show exactly that.
  virtual std::shared_ptr<const GroupMetadata> group_now() = 0;

  // Leaves nothing behind but the static membership. Waits up to the limit.
  virtual void close(Milliseconds limit) = 0;
};

// Transactional producer. One transaction at a time; every call with a time limit may be repeated with the same
// arguments when it answers kRetriable or kTimeout.
class Producer {
 public:
  virtual ~Producer() = default;

  // Fences older instances of this transactional id and ends their transactions.
  virtual Result<> init(Milliseconds limit) = 0;
  virtual Result<> begin() = 0;

  // Queues a record. Key and payload bytes must live until commit() or abort() came back good, or the producer is
  // destroyed. kRetriable: the queue is full, poll() and try again.
  virtual Result<> produce(const OutgoingRecord& record) = 0;

  // Serves delivery reports.
  virtual void poll(Milliseconds limit) = 0;

  // Waits until everything queued has been acknowledged.
  virtual Result<> flush(Milliseconds limit) = 0;
  virtual Result<> send_offsets(std::span<const TopicPartitionOffset> next, const GroupMetadata& group,
                                Milliseconds limit) = 0;
  virtual Result<> commit(Milliseconds limit) = 0;

  // Flushes, then aborts (aborting unflushed records may end fatal: docs/recovery.md).
  virtual Result<> abort(Milliseconds limit) = 0;

  // Offset that the last record produced to `where` with an explicit partition got, once it was acknowledged.
  [[nodiscard]] virtual std::optional<Offset> delivered(TopicPartition where) const = 0;

  // True when a transaction call may still reach the broker late (a timeout, a lost connection, a retry): the producer
  // must be recycled before the next begin().
  [[nodiscard]] virtual bool in_doubt() const = 0;
};

using LogPolled = std::variant<Nothing, Record, EndOfLog, PartitionFailure>;

// Reads logs from explicit offsets, outside any group: the changelog at a takeover.
class LogReader {
 public:
  virtual ~LogReader() = default;
  // Replaces what is read; read_committed, end of log reported.
  virtual Result<> assign(std::span<const TopicPartitionOffset> positions) = 0;
  virtual Result<LogPolled> poll(Milliseconds limit) = 0;
  virtual Result<std::vector<TopicPartitionOffset>> begins(std::span<const TopicPartition> which,
                                                           Milliseconds limit) = 0;
  // Last stable offsets: behind the high watermark, a transaction is open from there on.
  virtual Result<std::vector<TopicPartitionOffset>> stable_ends(std::span<const TopicPartition> which,
                                                                Milliseconds limit) = 0;
  // High watermarks (never the last stable offsets: a restore must wait for open transactions).
  virtual Result<std::vector<TopicPartitionOffset>> high_watermarks(std::span<const TopicPartition> which,
                                                                    Milliseconds limit) = 0;
  // Tells what became of its connections, which otherwise only the calls above do. Now and then while nothing is read.
  virtual void serve() = 0;
};

struct TopicFacts {
  std::int32_t partitions = 0;
  std::uint64_t max_message_bytes = 0;
  bool compacts = false;                 // cleanup.policy: older records of a key go
  bool deletes = true;                   // cleanup.policy: records older than retention_ms go
  std::int64_t retention_ms = -1;        // -1 = for ever
  std::int64_t segment_ms = 0;           // records go with their segment, which takes new ones for so long
  std::int64_t delete_retention_ms = 0;  // how long tombstones of a compacted topic stay readable at least
  std::int32_t replicas = 1;             // of the partition that has fewest
  std::int32_t brokers = 1;              // of the cluster, those that are down, too, as far as they have a replica
  std::int64_t min_insync_replicas = 1;
  bool unclean_election = false;  // a replica that lacks what was acknowledged may lead
};

// Makes the clients of one worker. `topics` is fixed for its life.
class Cluster {
 public:
  virtual ~Cluster() = default;
  // Joins the group of the application, subscribed to `subscribed` only (co-partitioning by construction).
  virtual Result<std::unique_ptr<Consumer>> consumer(TopicIndex subscribed) = 0;
  virtual Result<std::unique_ptr<Producer>> producer() = 0;
  virtual Result<std::unique_ptr<LogReader>> log_reader() = 0;
  // One that is assigned anew all the time, for a few records each time.
  virtual Result<std::unique_ptr<LogReader>> scattered_reader() { return log_reader(); }
  // To be asked first: its error says why no broker can be talked to. kInvalid: they refuse us.
  virtual Result<std::string> cluster_id(Milliseconds limit) = 0;
  // Facts of a topic as the brokers tell them. kInvalid: it does not exist.
  virtual Result<TopicFacts> topic_facts(TopicIndex topic, Milliseconds limit) = 0;
};

}  // namespace reseq::kafka
