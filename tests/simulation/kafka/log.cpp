#include "tests/simulation/kafka/log.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "base/assert.h"

namespace reseq::simulation {

namespace {

std::optional<std::string_view> view(const std::optional<std::string>& bytes) {
  if (!bytes) return std::nullopt;
  return std::string_view(*bytes);
}

Offset after(Offset offset) {
  return Offset(offset.value() + 1);
}

void release_record(void* owner) {
  const std::unique_ptr<StoredRecord> released(static_cast<StoredRecord*>(owner));
}

}  // namespace

std::uint64_t size_of(const StoredRecord& record) {
  std::uint64_t size = (record.key ? record.key->size() : 0) + (record.payload ? record.payload->size() : 0);
  for (const StoredHeader& header : record.headers)
    size += header.name.size() + (header.value ? header.value->size() : 0);
  return size;
}

kafka::Record delivered_record(kafka::TopicPartition where, Offset offset, const StoredRecord& stored) {
  auto owner = std::make_unique<StoredRecord>(stored);
  kafka::Record record;
  record.where = where;
  record.offset = offset;
  record.timestamp = owner->timestamp;
  record.key = view(owner->key);
  record.payload = view(owner->payload);
  for (const StoredHeader& header : owner->headers) record.headers.push_back({header.name, view(header.value)});
  record.owner = {owner.release(), release_record};
  return record;
}

Offset Log::append(ProducerId producer, StoredRecord record) {
  const Offset at = end_;
  const bool plain = producer == kNoProducer;
  if (!plain && std::none_of(open_.begin(), open_.end(), [&](const Open& one) { return one.producer == producer; }))
    open_.push_back({producer, at});
  entries_.push_back({at, producer, plain ? Fate::kCommitted : Fate::kOpen,
                      std::make_shared<const StoredRecord>(std::move(record)), std::nullopt});
  end_ = after(end_);
  return at;
}

Offset Log::end_transaction(ProducerId producer, Fate fate) {
  RESEQ_ASSERT(fate != Fate::kOpen, "a marker says how a transaction ended");
  const auto open = std::find_if(open_.begin(), open_.end(), [&](const Open& one) { return one.producer == producer; });
  if (open != open_.end()) {
    for (auto entry = entries_.rbegin(); entry != entries_.rend() && entry->offset >= open->first; ++entry)
      if (entry->producer == producer && entry->fate == Fate::kOpen) entry->fate = fate;
    open_.erase(open);
  }
  const Offset at = end_;
  entries_.push_back({at, producer, fate, nullptr, std::nullopt});
  end_ = after(end_);
  return at;
}

Offset Log::last_stable() const {
  return open_.empty() ? end_ : open_.front().first;
}

const Entry* Log::next_committed(Offset from) const {
  const Offset stable = last_stable();
  auto entry = std::lower_bound(entries_.begin(), entries_.end(), from,
                                [](const Entry& one, Offset wanted) { return one.offset < wanted; });
  for (; entry != entries_.end() && entry->offset < stable; ++entry)
    if (entry->record && entry->fate == Fate::kCommitted) return &*entry;
  return nullptr;
}

void Log::compact(UnixMs now, Milliseconds delete_retention, Offset until) {
  const Offset limit = std::min(last_stable(), until);
  std::map<std::string_view, Offset> last;
  for (const Entry& entry : entries_)
    if (entry.offset < limit && entry.record && entry.fate == Fate::kCommitted && entry.record->key)
      last[*entry.record->key] = entry.offset;

  std::deque<Entry> kept;
  for (Entry& entry : entries_) {
    bool keeps = true;
    if (entry.offset < limit) {
      const bool fades = !entry.record || !entry.record->payload;
      const bool aborted = entry.record && entry.fate == Fate::kAborted;
      if (aborted || (entry.record && (!entry.record->key || last.at(*entry.record->key) != entry.offset))) {
        keeps = false;
      } else if (fades && entry.removable_at) {
        keeps = now <= *entry.removable_at;
      } else if (fades) {
        entry.removable_at = UnixMs(now.value() + delete_retention.value());
      }
    }
    // `last` looks into the records: nothing is let go of before the round is over.
    if (keeps) kept.push_back(entry);
  }
  last.clear();
  entries_ = std::move(kept);
}

void Log::trim(Offset begin) {
  begin_ = std::max(begin_, std::min(begin, last_stable()));
  while (!entries_.empty() && entries_.front().offset < begin_) entries_.pop_front();
}

Offset Log::truncate(Offset end) {
  Offset cut = std::clamp(end, begin_, end_);
  // What ends behind the cut and began in front of it moves the cut; that may cut another one in two.
  std::map<ProducerId, Offset> first;
  std::vector<std::pair<Offset, Offset>> finished;  // first, marker
  for (const Entry& entry : entries_) {
    if (entry.producer == kNoProducer) continue;
    if (entry.record) {
      first.try_emplace(entry.producer, entry.offset);
    } else if (const auto began = first.find(entry.producer); began != first.end()) {
      finished.emplace_back(began->second, entry.offset);
      first.erase(began);
    }
  }
  for (auto one = finished.rbegin(); one != finished.rend(); ++one)
    if (one->second >= cut && one->first < cut) cut = one->first;
  while (!entries_.empty() && entries_.back().offset >= cut) entries_.pop_back();
  std::erase_if(open_, [&](const Open& one) { return one.first >= cut; });
  end_ = cut;
  return cut;
}

}  // namespace reseq::simulation
