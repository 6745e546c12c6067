#include "tests/simulation/kafka/fetcher.h"

#include <utility>

namespace reseq::simulation {

namespace {

constexpr int kOutOfRange = 1;  // Kafka's code: OFFSET_OUT_OF_RANGE

}  // namespace

void Fetcher::assign(std::span<const kafka::TopicPartitionOffset> positions) {
  cursors_.clear();
  for (const auto& one : positions) cursors_.push_back({one.where, one.offset});
}

Fetcher::Fetched Fetcher::fetch(Milliseconds limit) {
  const std::size_t first = broker_.draw().below(cursors_.size());
  for (std::size_t i = 0; i < cursors_.size(); ++i)
    if (auto fetched = fetch(cursors_[(first + i) % cursors_.size()])) return std::move(*fetched);
  broker_.wait(limit);
  return kafka::Nothing{};
}

std::optional<Fetcher::Fetched> Fetcher::fetch(Cursor& cursor) {
  if (cursor.failed) return std::nullopt;
  const auto place = topics_.place(cursor.where);
  const Log* log = place ? broker_.find_log(*place) : nullptr;
  if (log == nullptr || cursor.next < log->begin() || cursor.next > log->high_watermark()) {
    cursor.failed = true;
    return kafka::PartitionFailure{
        cursor.where, Error{ErrorClass::kInvalid, kOutOfRange, "the next offset to read is not in the log any more"}};
  }
  if (const Entry* entry = log->next_committed(cursor.next)) {
    cursor.next = Offset(entry->offset.value() + 1);
    return delivered_record(cursor.where, entry->offset, *entry->record);
  }
  const Offset end = log->last_stable();
  // Beyond the last stable offset the broker has nothing to say before that moves.
  if (cursor.next > end || cursor.end_told == end) return std::nullopt;
  cursor.next = cursor.end_told = end;
  return kafka::EndOfLog{cursor.where, end};
}

Result<std::vector<kafka::TopicPartitionOffset>> Fetcher::bounds(std::span<const kafka::TopicPartition> which,
                                                                 Bound bound, Milliseconds limit) {
  if (auto refused = refusal(broker_.faults().next(Call::kOffsets, broker_.draw()), "offsets")) {
    broker_.wait(limit);
    return *refused;
  }
  std::vector<kafka::TopicPartitionOffset> answer;
  for (const kafka::TopicPartition where : which) {
    const auto place = topics_.place(where);
    const Log* log = place ? broker_.find_log(*place) : nullptr;
    if (log == nullptr) return Error{ErrorClass::kInvalid, 0, "offsets: there is no such partition"};
    answer.push_back({where, bound == Bound::kBegin        ? log->begin()
                             : bound == Bound::kLastStable ? log->last_stable()
                                                           : log->high_watermark()});
  }
  return answer;
}

}  // namespace reseq::simulation
