#include "observe/merged_log.h"

#include <algorithm>
#include <utility>

namespace reseq::observe {

MergedLog::MergedLog(kafka::Bystander& bystander, const std::vector<Stream>& streams) : bystander_(bystander) {
  for (const Stream& stream : streams) {
    One& one = all_.emplace_back();
    one.stream = stream;
    one.end = one.behind = stream.position;
  }
}

void MergedLog::read_to(const std::vector<Offset>& ends) {
  for (std::size_t i = 0; i < all_.size(); ++i) all_[i].end = std::max(all_[i].end, ends[i]);
}

// Within the round.
bool MergedLog::has_more(const One& one) {
  return one.head ? one.head->record.offset < one.end : one.behind < one.end;
}

// True: its head is there, or nothing of the round is left of it.
Result<bool> MergedLog::fill(std::size_t at, Milliseconds limit) {
  One& one = all_[at];
  if (one.head || !has_more(one)) return true;
  auto polled = bystander_.poll(at, limit);
  if (!polled) return polled.error();
  if (auto* failure = std::get_if<kafka::PartitionFailure>(&polled.value())) return failure->error;
  if (const auto* end = std::get_if<kafka::EndOfLog>(&polled.value())) one.behind = std::max(one.behind, end->offset);
  if (auto* record = std::get_if<kafka::Record>(&polled.value())) {
    one.behind = Offset(record->offset.value() + 1);
    Taken& head = one.head.emplace();
    head.stream = at;
    head.timed = record->timestamp.value() > 0;
    head.timestamp = one.timestamp = head.timed ? record->timestamp : one.timestamp;
    head.record = std::move(*record);
  }
  return one.head.has_value() || !has_more(one);
}

Result<MergedLog::State> MergedLog::take(std::optional<UnixMs> only, Milliseconds limit, Taken& taken) {
  One* first = nullptr;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    One& one = all_[i];
    if (only && one.stream.role != Role::kRequests) continue;
    const auto filled = fill(i, limit);
    if (!filled) return filled.error();
    if (!filled.value()) return State::kWaiting;
    if (!one.head || !has_more(one) || (only && one.head->timestamp > *only)) continue;
    const auto before = [](const One& a, const One& b) {
      return a.head->timestamp != b.head->timestamp ? a.head->timestamp < b.head->timestamp
                                                    : a.stream.role < b.stream.role;
    };
    if (first == nullptr || before(one, *first)) first = &one;
  }
  if (first == nullptr) return State::kRoundOver;
  taken = std::move(*first->head);
  first->head.reset();
  return State::kTaken;
}

Offset MergedLog::position(std::size_t stream) const {
  const One& one = all_[stream];
  return one.head ? one.head->record.offset : one.behind;
}

std::int64_t MergedLog::left(Role role) const {
  std::int64_t left = 0;
  for (std::size_t i = 0; i < all_.size(); ++i)
    if (all_[i].stream.role == role) left += std::max<std::int64_t>(0, all_[i].end.value() - position(i).value());
  return left;
}

}  // namespace reseq::observe
