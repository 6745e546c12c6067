#include "store/memory_table.h"

#include <algorithm>
#include <boost/sort/pdqsort/pdqsort.hpp>
#include <cstring>
#include <queue>

#include "base/assert.h"
#include "codec/row_kinds.h"
#include "store/index_key.h"

namespace reseq::store {

namespace {

// A heap has the largest on top.
constexpr auto kIsLater = [](const auto& a, const auto& b) { return a.deadline > b.deadline; };

// Room for a value to grow into: rows grow by a few bytes when a target is served.
std::size_t room_for(std::size_t size) {
  return size + size / 4 + 8;
}

// Bytes that all of these have in front.
std::size_t common_prefix(const std::vector<const MemoryTable::Entry*>& entries) {
  const std::string_view first = entries.front()->key();
  std::size_t common = first.size();
  for (const auto* entry : entries) {
    const std::string_view key = entry->key();
    const std::size_t most = std::min(common, key.size());
    common = static_cast<std::size_t>(
        std::mismatch(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(most), key.begin()).first -
        first.begin());
  }
  return common;
}

// The eight bytes behind the common ones as a number that compares as they do; a shorter key counts as one with zeros.
std::uint64_t number_at(std::string_view key, std::size_t from) {
  unsigned char bytes[8] = {};
  const std::string_view rest = key.substr(from, sizeof bytes);
  std::memcpy(bytes, rest.data(), rest.size());
  std::uint64_t number = 0;
  for (const unsigned char byte : bytes) number = number << 8U | byte;
  return number;
}

}  // namespace

std::uint32_t MemoryTable::number_of(const codec::HashedKey& key) const {
  return index_.find(key.hash.low, [&](std::uint32_t number) { return entry(number).key_ == key.bytes; });
}

const MemoryTable::Entry* MemoryTable::find(const codec::HashedKey& key) const {
  const std::uint32_t number = number_of(key);
  return number == HashIndex::kNone ? nullptr : &entry(number);
}

void MemoryTable::put(const codec::HashedKey& key, std::optional<std::string_view> value) {
  std::uint32_t number = number_of(key);
  if (number == HashIndex::kNone) number = add(key);
  Entry& entry = this->entry(number);
  const codec::RowKind* const kind = codec::row_kind_of(key.bytes);
  const bool has_entries = value && kind != nullptr && codec::may_have_entries(*kind, *value);
  if (has_entries || entry.has_entries_) {
    move_index_keys(entry, value);
    entry.has_entries_ = has_entries;
  }
  entry.gone_ = !value;
  if (value) set_value(entry, *value);
  set_timer(number, value && kind != nullptr ? kind->timer(*value) : std::nullopt);
}

// From those of the row that is there to those of the new one.
void MemoryTable::move_index_keys(const Entry& entry, std::optional<std::string_view> fresh) {
  if (const auto old = entry.value())
    each_index_key(entry.key_, *old, [&](const std::string& key) { index_keys_.erase(key); });
  if (!fresh) return;
  each_index_key(entry.key_, *fresh, [&](const std::string& key) {
    const auto behind = index_keys_.lower_bound(key);
    if (behind != index_keys_.end() && *behind == key) return;
    bytes_ += key.size();
    index_keys_.insert(behind, arena_.copy(key));
  });
}

std::uint32_t MemoryTable::add(const codec::HashedKey& key) {
  if (size_ == blocks_.size() * kBlockEntries) blocks_.push_back(std::make_unique<Block>());
  Entry& entry = this->entry(size_);
  entry = Entry();
  entry.key_ = arena_.copy(key.bytes);
  entry.hash_ = key.hash.low;
  const auto number = static_cast<std::uint32_t>(size_++);
  index_.add(key.hash.low, number);
  keys_.add(entry.key_);
  bytes_ += key.bytes.size();
  return number;
}

void MemoryTable::set_value(Entry& entry, std::string_view value) {
  if (value.size() > entry.room_) {
    entry.room_ = static_cast<std::uint32_t>(entry.value_ == nullptr ? value.size() : room_for(value.size()));
    entry.value_ = arena_.allocate(entry.room_);
    bytes_ += entry.room_;
  }
  if (!value.empty()) std::memmove(entry.value_, value.data(), value.size());
  entry.size_ = static_cast<std::uint32_t>(value.size());
}

void MemoryTable::set_timer(std::uint32_t number, std::optional<UnixMs> timer) {
  Entry& entry = this->entry(number);
  if (timer == entry.timer()) return;
  entry.has_timer_ = timer.has_value();
  entry.timer_ = timer.value_or(UnixMs());
  if (!timer) return;
  timers_.push_back({*timer, number});
  std::push_heap(timers_.begin(), timers_.end(), kIsLater);
  if (timers_.size() > kVoidTimersMin + 2 * size_) drop_void_timers();
}

void MemoryTable::drop_void_timers() {
  timers_.clear();
  for (std::uint32_t i = 0; i < size_; ++i)
    if (const auto timer = entry(i).timer()) timers_.push_back({*timer, i});
  std::make_heap(timers_.begin(), timers_.end(), kIsLater);
}

std::optional<UnixMs> MemoryTable::earliest_timer() const {
  while (!timers_.empty() && !holds(timers_.front())) {
    std::pop_heap(timers_.begin(), timers_.end(), kIsLater);
    timers_.pop_back();
  }
  return timers_.empty() ? std::nullopt : std::optional(timers_.front().deadline);
}

// In a heap nothing below a place is earlier than what stands there. So the earliest of the places below those that
// were taken is next.
std::set<Timer> MemoryTable::timers_until(UnixMs now, std::size_t least) const {
  std::set<Timer> due;  // one that was set, removed and set again to the same time is in it once
  const auto stands_later = [this](std::size_t a, std::size_t b) { return kIsLater(timers_[a], timers_[b]); };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(stands_later)> next(stands_later);
  const auto look_at = [&](std::size_t place) {
    if (place < timers_.size() && timers_[place].deadline <= now) next.push(place);
  };
  look_at(0);
  while (!next.empty()) {
    const std::size_t place = next.top();
    next.pop();
    const Waiting& one = timers_[place];
    if (!due.empty() && due.size() >= least && one.deadline > due.rbegin()->deadline) break;
    if (holds(one)) due.insert({one.deadline, entry(one.entry).key()});
    look_at(2 * place + 1);
    look_at(2 * place + 2);
  }
  return due;
}

// Ids often begin alike, so eight bytes behind that beginning decide nearly every comparison without a look at the key.
// They often count, too, and come in that order: std::sort falls back to a heap there (docs/performance.md, "What was
// done").
std::vector<const MemoryTable::Entry*> MemoryTable::in_key_order() const {
  std::vector<const Entry*> entries;
  entries.reserve(size_);
  for_each([&](const Entry& entry) { entries.push_back(&entry); });
  if (entries.empty()) return entries;
  struct Keyed {
    std::uint64_t number;
    const Entry* entry;
  };
  const std::size_t common = common_prefix(entries);
  std::vector<Keyed> keyed;
  keyed.reserve(size_);
  for (const Entry* entry : entries) keyed.push_back({number_at(entry->key(), common), entry});
  boost::sort::pdqsort(keyed.begin(), keyed.end(), [](const Keyed& a, const Keyed& b) {
    return a.number != b.number ? a.number < b.number : a.entry->key() < b.entry->key();
  });
  std::transform(keyed.begin(), keyed.end(), entries.begin(), [](const Keyed& one) { return one.entry; });
  return entries;
}

void MemoryTable::clear() {
  timers_ = {};
  keys_.clear();
  index_keys_.clear();
  index_memory_.release();
  index_.clear();
  blocks_.clear();
  size_ = 0;
  bytes_ = 0;
  arena_.reset();
}

}  // namespace reseq::store
