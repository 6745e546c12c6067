// MemoryTable: encoded rows by key, in memory, over a copy on disk: an entry hides the row of its key there, one
// without a value says that it is gone. Keys come from outside, so the hash is keyed with the state's own key.
//
// Invariants: an entry stays until clear(), so views of keys live that long; timers() holds the entries that have one,
// rows without a deadline cost it nothing.
// Thread rule: used by the worker that owns the partition.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "codec/hash.h"
#include "store/sorted_keys.h"
#include "store/timer.h"

namespace reseq::store {

class MemoryTable {
 public:
  struct Entry {
    std::optional<std::string> value;  // none: the row is gone
    std::optional<UnixMs> timer;       // of the value
  };

  explicit MemoryTable(const codec::KeyedHash& hash) : rows_(0, KeyHash{hash}) {}

  // None: ask the copy on disk.
  [[nodiscard]] const Entry* find(std::string_view key) const {
    const auto found = rows_.find(key);
    return found == rows_.end() ? nullptr : &found->second;
  }

  // No value: the row is gone.
  void put(std::string_view key, std::optional<std::string_view> value);

  // Entries, those without a value among them.
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  // Of keys and values.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

  // Earliest first, ties by key.
  [[nodiscard]] const std::set<Timer>& timers() const { return timers_; }
  [[nodiscard]] const SortedKeys& keys() const { return keys_; }

  // Visits every entry once, in no order: only for results that do not depend on one (sums, unions).
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (const auto& [key, entry] : rows_) visit(std::string_view(key), entry);
  }

  void clear();

 private:
  struct KeyHash {
    using is_transparent = void;
    codec::KeyedHash hash;
    std::size_t operator()(std::string_view key) const { return hash(key).low; }
  };
  std::unordered_map<std::string, Entry, KeyHash, std::equal_to<>> rows_;
  std::set<Timer> timers_;
  SortedKeys keys_;
  std::uint64_t bytes_ = 0;
};

}  // namespace reseq::store
