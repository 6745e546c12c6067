// MemoryTable: encoded rows by key, in memory, over a copy on disk: an entry hides the row of its key there, one
// without a value says that it is gone. Keys come from outside, so they are found by their keyed hash.
//
// A HashIndex finds an entry; entries stand in blocks that never move, keys and values in an arena. A value that grows
// gets a new place with some room, the old one is lost until clear(); so one that is changed for ever costs a small
// multiple of its size.
//
// Invariants: an entry stays until clear(), and so do its address and its key; its value until that key is put again.
// timers() holds the entries that have one, rows without a deadline cost it nothing.
// Thread rule: used by the worker that owns the partition.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/hash_index.h"
#include "codec/hash.h"
#include "store/sorted_keys.h"
#include "store/timer.h"

namespace reseq::store {

class MemoryTable {
 public:
  class Entry {
   public:
    [[nodiscard]] std::string_view key() const { return key_; }
    // None: the row is gone.
    [[nodiscard]] std::optional<std::string_view> value() const {
      return gone_ ? std::nullopt : std::optional(std::string_view(value_, size_));
    }
    // Of the value.
    [[nodiscard]] std::optional<UnixMs> timer() const { return has_timer_ ? std::optional(timer_) : std::nullopt; }
    // Of the key.
    [[nodiscard]] std::uint64_t hash() const { return hash_; }
    // Its value will be read soon.
    void prefetch() const { __builtin_prefetch(value_); }

   private:
    friend class MemoryTable;
    std::string_view key_;
    std::uint64_t hash_ = 0;
    char* value_ = nullptr;
    std::uint32_t size_ = 0;
    std::uint32_t room_ = 0;  // at value_
    UnixMs timer_;
    bool has_timer_ = false;
    bool gone_ = true;
  };

  explicit MemoryTable(const codec::KeyedHash& hash) : hash_(hash) {}

  // None: ask the copy on disk.
  [[nodiscard]] const Entry* find(const codec::HashedKey& key) const;
  [[nodiscard]] const Entry* find(std::string_view key) const { return find(hash_.hashed(key)); }

  // No value: the row is gone.
  void put(const codec::HashedKey& key, std::optional<std::string_view> value);

  // Entries, those without a value among them.
  [[nodiscard]] std::size_t size() const { return size_; }
  // What keys and values hold of the arena, those that were replaced or removed too: it falls at clear() alone.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

  // Earliest first, ties by key.
  [[nodiscard]] const std::set<Timer>& timers() const { return timers_; }
  [[nodiscard]] const SortedKeys& keys() const { return keys_; }

  // Every entry once, in no order: only for results that do not depend on one (sums, unions).
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (std::size_t i = 0; i < size_; ++i) visit(entry(i));
  }
  [[nodiscard]] std::vector<const Entry*> in_key_order() const;

  void clear();

 private:
  static constexpr std::size_t kBlockEntries = 1024;
  using Block = std::array<Entry, kBlockEntries>;

  [[nodiscard]] const Entry& entry(std::size_t i) const { return (*blocks_[i / kBlockEntries])[i % kBlockEntries]; }
  [[nodiscard]] Entry& entry(std::size_t i) { return (*blocks_[i / kBlockEntries])[i % kBlockEntries]; }
  [[nodiscard]] std::uint32_t number_of(const codec::HashedKey& key) const;
  Entry& add(const codec::HashedKey& key);
  void set_value(Entry& entry, std::string_view value);
  void set_timer(Entry& entry, std::optional<UnixMs> timer);

  codec::KeyedHash hash_;
  HashIndex index_;  // of blocks_
  std::vector<std::unique_ptr<Block>> blocks_;
  std::size_t size_ = 0;
  Arena arena_;
  std::set<Timer> timers_;
  SortedKeys keys_;
  std::uint64_t bytes_ = 0;
};

}  // namespace reseq::store
