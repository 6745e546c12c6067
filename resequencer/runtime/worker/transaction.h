// Transaction: one batch of a worker through Kafka. Every step is one word of
//
//   for each partition: decide, encode, begin (once, when there is something to produce), produce
//   flush, send offsets, commit, apply
//
// and step() does one of them, so that a crash between any two can be played. While a partition is decided, librdkafka
// sends what the ones before it have produced.
//
// Invariants: memory changes only after commit came back good; every transaction carries the next offsets of all inputs
// of every partition in it, with the group metadata of the assignment that gave them; a call that may be repeated is
// repeated with the same arguments; a commit whose outcome is not known ends as kUnknown, never as "failed".
// Thread rule: one worker.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kafka/cluster.h"
#include "runtime/application/clock.h"
#include "runtime/worker/partition_batch.h"

namespace reseq::runtime {

enum class Step : unsigned char {
  kDecide,
  kEncode,
  kBegin,
  kProduce,
  kFlush,
  kSendOffsets,
  kCommit,
  kApply,
  kAbort,
  kEnd
};
[[nodiscard]] std::string_view name_of(Step step);

enum class Ending : unsigned char {
  kRunning,
  kCommitted,  // applied
  kEmpty,      // nothing to commit: no transaction was begun
  kAborted,    // nothing happened; what was fetched must be read again
  kUnknown,    // destroy the producer, initialise a new one, take over again
  kFenced,     // as kUnknown, because another instance has this transactional id
  kFault,      // as kAborted: the state of a partition cannot be read
};

struct Participant {
  PartitionTask* task = nullptr;
  bool heartbeat = false;  // writes a meta row even if nothing else is to be written
};

class Transaction {
 public:
  // `group`: captured when the partitions were assigned. `deadlines_at`: see PartitionBatch.
  // REQUIRES: producer is initialised and in no transaction; the tasks are kRunning or kBirth, and own their
  // partitions.
  Transaction(const Application& application, kafka::Producer& producer, kafka::Consumer& consumer, const Clock& clock,
              std::shared_ptr<const kafka::GroupMetadata> group, const std::vector<Participant>& participants,
              std::optional<UnixMs> deadlines_at, const std::function<HashKey()>& draw_key);

  void step();

  [[nodiscard]] Ending ending() const { return ending_; }
  [[nodiscard]] Step next() const { return next_; }
  [[nodiscard]] Milliseconds age() const { return Milliseconds(clock_.steady().value() - started_.value()); }
  // Of kCommitted, on the steady clock: the call that committed it.
  [[nodiscard]] Milliseconds commit_called() const { return commit_called_; }
  [[nodiscard]] Milliseconds commit_returned() const { return commit_returned_; }
  [[nodiscard]] const Error& error() const { return error_; }  // of kAborted, kUnknown, kFenced
  // Of kCommitted and kEmpty: kInvalid when policy on_missing = stop met a record, which ends the process.
  [[nodiscard]] const Result<>& stopped() const { return stopped_; }
  // The first one that there was no time for.
  [[nodiscard]] std::optional<Partition> left_out() const { return left_out_; }
  [[nodiscard]] std::vector<std::unique_ptr<PartitionBatch>>& batches() { return batches_; }
  [[nodiscard]] const std::vector<std::unique_ptr<PartitionBatch>>& batches() const { return batches_; }

 private:
  void decide();
  void encode();
  void begin();
  void produce();
  void flush();
  void send_offsets();
  void commit();
  void apply();
  void abort();

  // Queues one record, waiting for room. False: failed, and the next step is chosen.
  bool queue(const kafka::OutgoingRecord& record);
  // Goes to `after` when the call was good; otherwise chooses by triage.
  void settle(const Result<>& called, Step after);
  void end(Ending ending);
  bool faulty();
  // To the next partition, or to what all of them have in common.
  void go_on();
  [[nodiscard]] bool begun() const { return current_ > 0; }  // while a partition is decided or encoded
  [[nodiscard]] Error missing_at(Partition partition, Offset offset) const;
  [[nodiscard]] bool late() const;
  // More than this part of the time-out: 2 = half of it.
  [[nodiscard]] bool spent(std::int64_t part) const;

  const Application& application_;
  kafka::Producer& producer_;
  kafka::Consumer& consumer_;
  const Clock& clock_;
  std::shared_ptr<const kafka::GroupMetadata> group_;
  std::function<HashKey()> draw_key_;
  engine::BytesLeft left_;  // for what gates let through
  std::vector<std::unique_ptr<PartitionBatch>> batches_;
  UnixMs now_;
  Milliseconds started_;
  Milliseconds commit_called_;
  Milliseconds commit_returned_;
  std::size_t current_ = 0;  // of batches_: the ones before it are produced
  std::optional<Partition> left_out_;
  bool fault_ = false;
  Step next_ = Step::kDecide;
  Ending ending_ = Ending::kRunning;
  Error error_;
  Result<> stopped_ = Done{};
};

}  // namespace reseq::runtime
