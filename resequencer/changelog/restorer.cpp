#include "changelog/restorer.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "base/assert.h"

namespace reseq::changelog {

Restorer::Restorer(kafka::LogReader& reader, kafka::TopicIndex changelog) : reader_(reader), changelog_(changelog) {}

Result<> Restorer::aim(Partition partition, std::optional<Offset> from, store::PartitionStore& store,
                       Milliseconds limit) {
  const std::array<kafka::TopicPartition, 1> where = {kafka::TopicPartition{changelog_, partition}};
  auto marks = reader_.high_watermarks(where, limit);
  if (!marks) return marks.error();
  const Offset target = marks.value().front().offset;

  const auto known = restores_.find(partition);
  if (known != restores_.end()) {
    known->second.progress.target = std::max(known->second.progress.target, target);
    return Done{};
  }
  if (!from) {
    auto begins = reader_.begins(where, limit);
    if (!begins) return begins.error();
    from = begins.value().front().offset;
  }
  restores_[partition] = Restore{&store, Progress{*from, *from, target, 0}};
  auto assigned = assign();
  if (!assigned) restores_.erase(partition);
  return assigned;
}

void Restorer::drop(Partition partition) {
  if (restores_.erase(partition) != 0) (void)assign();
}

Result<> Restorer::assign() {
  std::vector<kafka::TopicPartitionOffset> positions;
  for (const auto& [partition, restore] : restores_)
    positions.push_back({{changelog_, partition}, restore.progress.position});
  return reader_.assign(positions);
}

Result<std::vector<Restorer::Failure>> Restorer::step(std::size_t records_max, Milliseconds limit) {
  std::vector<Failure> failures;
  for (std::size_t i = 0; i < records_max; ++i) {
    auto polled = reader_.poll(i == 0 ? limit : Milliseconds(0));
    if (!polled) return polled.error();
    if (std::holds_alternative<kafka::Nothing>(polled.value())) break;

    if (const auto* end = std::get_if<kafka::EndOfLog>(&polled.value())) {
      const auto found = restores_.find(end->where.partition);
      if (found == restores_.end()) continue;
      Progress& progress = found->second.progress;
      progress.position = std::max(progress.position, end->offset);
      continue;
    }
    if (const auto* failed = std::get_if<kafka::PartitionFailure>(&polled.value())) {
      failures.push_back({failed->where.partition, failed->error});
      drop(failed->where.partition);
      continue;
    }
    const auto& record = std::get<kafka::Record>(polled.value());
    const auto found = restores_.find(record.where.partition);
    if (found == restores_.end() || record.offset < found->second.progress.position) continue;
    auto& [store, progress] = found->second;
    auto applied = record.key ? store->restore({*record.key, record.payload})
                              : Result<>(Error{ErrorClass::kInvalid, 0, "changelog: a record without a key"});
    if (!applied) {
      failures.push_back({record.where.partition, applied.error()});
      drop(record.where.partition);
      continue;
    }
    progress.position = std::max(progress.position, Offset(record.offset.value() + 1));
    ++progress.records;
  }
  return failures;
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
