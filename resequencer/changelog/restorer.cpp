#include "changelog/restorer.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/assert.h"

namespace reseq::changelog {

Restorer::Restorer(kafka::LogReader& reader, kafka::TopicIndex changelog, MemoryLimit limit)
    : reader_(reader), changelog_(changelog), limit_(limit) {}

Result<std::vector<LogEnds>> Restorer::ends(std::span<const Partition> partitions, Milliseconds limit) {
  std::vector<kafka::TopicPartition> where;
  for (const Partition partition : partitions) where.push_back({changelog_, partition});
  const auto stable = reader_.stable_ends(where, limit);
  if (!stable) return stable.error();
  const auto marks = reader_.high_watermarks(where, limit);
  if (!marks) return marks.error();
  const auto begins = reader_.begins(where, limit);
  if (!begins) return begins.error();
  std::vector<LogEnds> ends;
  for (std::size_t i = 0; i < where.size(); ++i)
    ends.push_back({begins.value()[i].offset, marks.value()[i].offset, stable.value()[i].offset});
  return ends;
}

void Restorer::aim(Partition partition, const LogEnds& ends, store::PartitionStore& store) {
  const auto known = restores_.find(partition);
  if (known != restores_.end()) {
    known->second.progress.target = std::max(known->second.progress.target, ends.high_watermark);
    return;
  }
  Restore restore{&store, Progress{ends.begin, ends.begin, ends.high_watermark}, std::nullopt};
  if (const auto standing = store.checkpoint()) {
    // One record earlier: it tells whether this log is the one that the store was made from.
    const bool readable = standing->position > ends.begin;
    const Offset from = readable ? Offset(standing->position.value() - 1) : standing->position;
    if (readable) restore.record_before = standing->last_record;
    restore.progress.from = restore.progress.position = from;
  }
  restores_[partition] = restore;
  to_assign_ = true;
}

void Restorer::drop(Partition partition) {
  restores_.erase(partition);
}

bool Restorer::assign_due() const {
  return to_assign_ || restores_.empty() || restores_.size() * 2 <= reads_;
}

Result<> Restorer::assign() {
  std::vector<kafka::TopicPartitionOffset> positions;
  for (const auto& [partition, restore] : restores_)
    positions.push_back({{changelog_, partition}, restore.progress.position});
  auto assigned = reader_.assign(positions);
  if (!assigned) return assigned;
  reads_ = positions.size();
  to_assign_ = false;
  return assigned;
}

Result<std::vector<Restorer::Failure>> Restorer::step(std::size_t records_max, Milliseconds limit) {
  std::vector<Failure> failures;
  if (assign_due())
    if (auto assigned = assign(); !assigned) return assigned.error();
  if (restores_.empty()) return failures;
  for (std::size_t i = 0; i < records_max; ++i) {
    auto polled = reader_.poll(i == 0 ? limit : Milliseconds(0));
    if (!polled) return polled.error();
    if (std::holds_alternative<kafka::Nothing>(polled.value())) break;

    if (const auto* end = std::get_if<kafka::EndOfLog>(&polled.value())) {
      const auto found = restores_.find(end->where.partition);
      if (found == restores_.end()) continue;
      Progress& progress = found->second.progress;
      progress.position = std::max(progress.position, end->offset);
      progress.transaction_open = progress.position < progress.target;
      if (progress.transaction_open || !found->second.record_before) continue;
      // Compaction removes a record only when a newer one of its key is behind it.
      failures.push_back(
          {end->where.partition,
           Trouble::kOtherLog,
           {ErrorClass::kInvalid, 0, "the changelog has no record where the copy ends, nor behind that"}});
      drop(end->where.partition);
      continue;
    }
    if (const auto* failed = std::get_if<kafka::PartitionFailure>(&polled.value())) {
      if (restores_.contains(failed->where.partition))
        failures.push_back({failed->where.partition, Trouble::kPassing, failed->error});
      drop(failed->where.partition);
      continue;
    }
    const auto& record = std::get<kafka::Record>(polled.value());
    const auto found = restores_.find(record.where.partition);
    if (found == restores_.end() || record.offset < found->second.progress.position) continue;
    if (auto failure = apply(record, found->second)) {
      failures.push_back(std::move(*failure));
      drop(record.where.partition);
    } else if (full(*found->second.store)) {
      break;
    }
  }
  return failures;
}

std::optional<Restorer::Failure> Restorer::apply(const kafka::Record& record, Restore& restore) {
  auto& [store, progress, record_before] = restore;
  const auto failure = [&](Trouble trouble, Error error) {
    return Failure{record.where.partition, trouble, std::move(error)};
  };
  if (!record.key) return failure(Trouble::kUnreadable, {ErrorClass::kInvalid, 0, "changelog: a record without a key"});
  const std::optional<Digest> expected = std::exchange(record_before, std::nullopt);
  const auto standing = store->checkpoint();
  if (standing && record.offset < standing->position) {
    // Compaction may have removed it: then there is nothing to compare, and the first record comes from behind it.
    if (expected && store->hash().of_record(*record.key, record.payload.value_or(std::string_view())) != *expected)
      return failure(Trouble::kOtherLog,
                     {ErrorClass::kInvalid, 0, "the record in front of the position of the copy is another one"});
  } else if (auto applied = store->restore({*record.key, record.payload}, record.offset); !applied) {
    const bool fault = applied.error().what_to_do == ErrorClass::kFatal;
    return failure(fault ? Trouble::kFault : Trouble::kUnreadable, applied.error());
  } else {
    ++progress.records;
  }
  progress.position = std::max(progress.position, Offset(record.offset.value() + 1));
  progress.transaction_open = false;
  return std::nullopt;
}

bool Restorer::full(const store::PartitionStore& store) const {
  const bool reached = store.dirty_rows() >= limit_.rows || store.dirty_bytes() >= limit_.bytes;
  const auto standing = store.checkpoint();
  return reached &&
         ((standing && standing->generation != 0) || store.dirty_rows() / MemoryLimit::kRowsStretch >= limit_.rows ||
          store.dirty_bytes() / MemoryLimit::kBytesStretch >= limit_.bytes);
}

bool Restorer::reached(Partition partition) const {
  const Progress& at = progress(partition);
  return at.position >= at.target;
}

const Progress& Restorer::progress(Partition partition) const {
  const auto found = restores_.find(partition);
  RESEQ_ASSERT(found != restores_.end(), "progress of a partition that is not being restored");
  return found->second.progress;
}

}  // namespace reseq::changelog
