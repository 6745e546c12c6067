// TransactionalReader: `work` as a member of a group whose offsets are committed by a TransactionalSender.
// Invariants: nothing is read of a partition before its committed offset is known and stable; after a transaction that
// was not seen to be committed everything in flight is dropped and read again from what is committed, because only the
// broker knows; nothing is committed for a partition that was taken away.
// Thread rule: one thread.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "consumers/stage/transactional_sender.h"
#include "consumers/stage/work_reader.h"
#include "kafka/cluster.h"

namespace reseq::stage {

class TransactionalReader final : public WorkReader {
 public:
  // REQUIRES: the sender outlives the reader.
  TransactionalReader(std::unique_ptr<kafka::Consumer> consumer, TransactionalSender& sender)
      : consumer_(std::move(consumer)), sender_(sender) {}
  void listen(AssignmentListener& listener) override { listener_ = &listener; }
  Result<std::optional<WorkRecord>> poll(Milliseconds limit) override;
  [[nodiscard]] std::vector<NextOffset> positions() const override;
  Result<> commit(std::span<const NextOffset> offsets) override;
  void close() override;

 private:
  void assigned(const kafka::Assigned& assignment);
  void give_back(std::span<const Partition> partitions, bool may_commit);
  // Reads everything again from the committed offsets.
  Result<> rewind();
  // Starts to read when the committed offsets are known; good without having done so when that takes longer.
  Result<> place(Milliseconds limit);
  Result<std::vector<kafka::TopicPartitionOffset>> starts(Milliseconds limit);
  [[nodiscard]] std::vector<Partition> owned() const;

  std::unique_ptr<kafka::Consumer> consumer_;
  TransactionalSender& sender_;
  AssignmentListener* listener_ = nullptr;
  std::shared_ptr<const kafka::GroupMetadata> group_;  // of the assignment
  std::map<Partition, Offset> positions_;              // of all that is owned; kNoOffset until placed
  bool placed_ = true;
  bool giving_back_ = false;
};

}  // namespace reseq::stage
