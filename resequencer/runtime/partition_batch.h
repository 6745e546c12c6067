// PartitionBatch: what one partition brings into a transaction: its inputs decided, and everything to produce, encoded.
// Pure apart from the queue it reads: nothing leaves, nothing is applied.
// Thread rule: one worker; lives as long as its transaction, bytes live in its arena and in the queue.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/arena.h"
#include "engine/batch.h"
#include "runtime/partition_task.h"

namespace reseq::runtime {

// One record to produce.
struct Outgoing {
  kafka::TopicIndex topic;
  codec::OutputRecord record;
  kafka::Record* input = nullptr;  // whose headers it takes over, if it does
};

class PartitionBatch {
 public:
  // REQUIRES: task is kRunning with something to decide, or kBirth.
  PartitionBatch(const Application& application, PartitionTask& task, UnixMs now);

  // Decides what waits in the queue. A command that must wait for requests ends the batch.
  void decide();
  // Encodes outputs, rows and the meta row.
  void encode();
  // Instead of both, for a fresh partition: identity, target table, meta row, explicit offsets.
  void give_birth(const HashKey& key);

  [[nodiscard]] PartitionTask& task() { return task_; }
  [[nodiscard]] bool empty() const { return inputs_ == 0 && !birth_; }
  [[nodiscard]] bool birth() const { return birth_.has_value(); }
  // Policy on_missing = stop met a record: the partition is parked once what stands before it is committed.
  [[nodiscard]] bool stopped() const { return stopped_; }
  [[nodiscard]] std::size_t inputs() const { return inputs_; }

  [[nodiscard]] const std::vector<Outgoing>& outputs() const { return outputs_; }
  [[nodiscard]] const std::vector<store::Change>& rows() const { return rows_; }  // meta row last
  // Next offsets of all inputs, even unchanged ones: an idle zombie must be fenced by them (DESIGN 7).
  [[nodiscard]] const std::vector<InputPosition>& positions() const { return positions_; }
  [[nodiscard]] std::span<const Decision> decisions() const { return batch_->decisions(); }

  // The transaction is committed. `meta_offset` = of the meta row, as its delivery report said.
  void apply(std::optional<Offset> meta_offset);

 private:
  void decide_input(Role role);
  void settle_positions();
  void add_output(const Emission& emission);
  [[nodiscard]] kafka::TopicIndex topic_of(const codec::OutputRecord& record, const Emission& emission) const;
  [[nodiscard]] codec::EncodeContext encode_context(Role input) const;

  const Application& application_;
  PartitionTask& task_;
  UnixMs now_;
  engine::Context context_;
  Arena arena_;
  std::optional<engine::Batch> batch_;
  std::array<std::size_t, 3> taken_{};  // per kInputs
  std::vector<codec::InputRecord> records_;
  std::vector<kafka::Record*> sources_;
  std::size_t inputs_ = 0;
  bool stopped_ = false;
  std::optional<store::PartitionStore> birth_;
  std::vector<Outgoing> outputs_;
  std::vector<store::Change> rows_;
  std::vector<InputPosition> positions_;
};

}  // namespace reseq::runtime
