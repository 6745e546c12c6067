#include "store/memory_table.h"

#include "codec/rows.h"

namespace reseq::store {

void MemoryTable::put(std::string_view key, std::optional<std::string_view> value) {
  auto found = rows_.find(key);
  if (found == rows_.end()) {
    found = rows_.emplace(key, Entry{}).first;
    keys_.add(found->first);
    bytes_ += key.size();
  }
  Entry& entry = found->second;
  bytes_ -= entry.value ? entry.value->size() : 0;
  if (!value) {
    entry.value.reset();
  } else if (entry.value) {
    entry.value->assign(*value);
  } else {
    entry.value.emplace(*value);
  }
  bytes_ += value ? value->size() : 0;

  const auto timer = value && is_document(key) ? codec::timer_of(*value) : std::nullopt;
  if (timer == entry.timer) return;
  if (entry.timer) timers_.erase({*entry.timer, found->first});
  if (timer) timers_.insert({*timer, found->first});
  entry.timer = timer;
}

void MemoryTable::clear() {
  timers_.clear();
  keys_.clear();
  rows_.clear();
  bytes_ = 0;
}

}  // namespace reseq::store
