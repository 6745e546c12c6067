#include "consumers/stage/transactional_reader.h"

#include <utility>
#include <variant>

#include "base/assert.h"

namespace reseq::stage {
namespace {

WorkRecord work_record(const kafka::Record& record) {
  WorkRecord work{record.where.partition, record.offset, owned_bytes(record.key), owned_bytes(record.payload), {},
                  record.timestamp};
  for (const Header& header : record.headers)
    work.headers.push_back({std::string(header.name), owned_bytes(header.value)});
  return work;
}

}  // namespace

void TransactionalReader::close() {
  if (!positions_.empty()) give_back(owned(), true);
  consumer_->close(kCloseLimit);
}

Result<std::optional<WorkRecord>> TransactionalReader::poll(Milliseconds limit) {
  if (!placed_)
    if (Result<> done = place(limit); !done) return done.error();
  Result<kafka::Polled> polled = consumer_->poll(placed_ ? limit : kAtOnce);
  if (!polled) {
    if (polled.error().what_to_do != ErrorClass::kFenced) return polled.error();
    return same_instance(polled.error());
  }
  if (const auto* record = std::get_if<kafka::Record>(&polled.value())) {
    const auto position = positions_.find(record->where.partition);
    // Fetched before the assignment changed: it is read again by whoever has the partition now.
    if (!placed_ || position == positions_.end()) return std::optional<WorkRecord>();
    position->second = Offset(record->offset.value() + 1);
    return std::optional<WorkRecord>(work_record(*record));
  }
  if (const auto* end = std::get_if<kafka::EndOfLog>(&polled.value())) {
    const auto position = positions_.find(end->where.partition);
    if (placed_ && position != positions_.end() && position->second < end->offset) position->second = end->offset;
  }
  if (const auto* failure = std::get_if<kafka::PartitionFailure>(&polled.value())) return failure->error;
  if (const auto* assignment = std::get_if<kafka::Assigned>(&polled.value())) assigned(*assignment);
  if (const auto* revoked = std::get_if<kafka::Revoked>(&polled.value()))
    give_back(revoked->partitions, !revoked->lost);
  return std::optional<WorkRecord>();
}

std::vector<NextOffset> TransactionalReader::positions() const {
  std::vector<NextOffset> known;
  for (const auto& [partition, next] : positions_)
    if (next != kNoOffset) known.push_back({partition, next});
  return known;
}

std::vector<Partition> TransactionalReader::owned() const {
  std::vector<Partition> partitions;
  for (const auto& [partition, next] : positions_) partitions.push_back(partition);
  return partitions;
}

void TransactionalReader::assigned(const kafka::Assigned& assignment) {
  RESEQ_ASSERT(positions_.empty(), "partitions assigned before the old ones were revoked");
  group_ = assignment.group;
  for (const Partition partition : assignment.partitions) positions_[partition] = kNoOffset;
  placed_ = positions_.empty();
  listener_->on_assigned(assignment.partitions);
}

void TransactionalReader::give_back(std::span<const Partition> partitions, bool may_commit) {
  giving_back_ = true;
  listener_->on_revoked(partitions, may_commit);
  giving_back_ = false;
  for (const Partition partition : partitions) {
    sender_.drop(partition);
    positions_.erase(partition);
  }
  placed_ = positions_.empty();
}

Result<> TransactionalReader::commit(std::span<const NextOffset> offsets) {
  for (const NextOffset& one : offsets)
    RESEQ_ASSERT(positions_.contains(one.partition), "an offset of a partition that is not owned");
  Result<> committed = sender_.commit(offsets, *group_);
  if (committed || committed.error().what_to_do != ErrorClass::kAbort || giving_back_) return committed;
  if (Result<> again = rewind(); !again) return again;
  return committed;
}

Result<> TransactionalReader::rewind() {
  const std::vector<Partition> partitions = owned();
  listener_->on_revoked(partitions, false);
  for (const Partition partition : partitions) {
    sender_.drop(partition);
    positions_[partition] = kNoOffset;
  }
  placed_ = false;
  listener_->on_assigned(partitions);
  return consumer_->assign({});
}

Result<> TransactionalReader::place(Milliseconds limit) {
  const auto answer_of = [](const Error& error) { return means_later(error) ? Result<>(Done{}) : Result<>(error); };
  if (Result<> settled = sender_.settle(limit); !settled) return answer_of(settled.error());
  Result<std::vector<kafka::TopicPartitionOffset>> from = starts(limit);
  if (!from) return answer_of(from.error());
  if (Result<> reading = consumer_->assign(from.value()); !reading) return answer_of(reading.error());
  for (const kafka::TopicPartitionOffset& one : from.value()) positions_[one.where.partition] = one.offset;
  placed_ = true;
  return Done{};
}

// The committed offsets; the beginning of the log where there is none.
Result<std::vector<kafka::TopicPartitionOffset>> TransactionalReader::starts(Milliseconds limit) {
  std::vector<kafka::TopicPartition> all;
  for (const auto& [partition, next] : positions_) all.push_back({kWorkTopic, partition});
  Result<std::vector<kafka::TopicPartitionOffset>> committed = consumer_->committed(all, limit);
  if (!committed) return committed;
  std::vector<kafka::TopicPartition> fresh;
  for (const kafka::TopicPartitionOffset& one : committed.value())
    if (one.offset == kNoOffset) fresh.push_back(one.where);
  if (fresh.empty()) return committed;
  Result<std::vector<kafka::TopicPartitionOffset>> begins = consumer_->begins(fresh, limit);
  if (!begins) return begins;
  std::size_t found = 0;
  for (kafka::TopicPartitionOffset& one : committed.value())
    if (one.offset == kNoOffset) one = begins.value()[found++];
  return committed;
}

}  // namespace reseq::stage
