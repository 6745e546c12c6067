// MemoryTable: encoded rows by key, in memory, over a copy on disk: an entry hides the row of its key there, one
// without a value says that it is gone. Keys come from outside, so they are found by their keyed hash.
//
// A HashIndex finds an entry; entries stand in blocks that never move, keys and values in an arena. A value that grows
// gets a new place with some room, the old one is lost until clear(); so one that is changed for ever costs a small
// multiple of its size. Keys of index entries that are moved are lost likewise, and counted.
//
// Timers stand in a heap by deadline, each with the number of its entry; one whose entry has another timer by now, or
// none, is left where it is until it comes up or the heap has grown to a multiple of the entries. So to set a timer is
// to push a number behind smaller ones, and rows without a deadline cost nothing.
//
// Invariants: an entry stays until clear(), and so do its address and its key; its value until that key is put again.
// Every entry with a timer stands in the heap with it.
// Thread rule: used by the worker that owns the partition.
#pragma once

#include <array>
#include <boost/container/pmr/set.hpp>
#include <boost/container/pmr/unsynchronized_pool_resource.hpp>
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
    bool has_entries_ = false;  // of indexes, or its value may have some
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

  [[nodiscard]] std::optional<UnixMs> earliest_timer() const;
  // With a deadline at or before `now`, earliest first, ties by key: the first `least` of them, or all; some more may
  // come behind those.
  [[nodiscard]] std::set<Timer> timers_until(UnixMs now, std::size_t least) const;
  // In the heap, void ones too: at most twice the entries and kVoidTimersMin.
  [[nodiscard]] std::size_t timers_held() const { return timers_.size(); }
  static constexpr std::size_t kVoidTimersMin = 1024;
  [[nodiscard]] const SortedKeys& keys() const { return keys_; }
  // Keys of index entries (store/index_key.h) that rows in memory have.
  using IndexKeys = boost::container::pmr::set<std::string_view>;
  [[nodiscard]] const IndexKeys& index_keys() const { return index_keys_; }

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
  struct Waiting {
    UnixMs deadline;
    std::uint32_t entry;
  };

  [[nodiscard]] const Entry& entry(std::size_t i) const { return (*blocks_[i / kBlockEntries])[i % kBlockEntries]; }
  [[nodiscard]] Entry& entry(std::size_t i) { return (*blocks_[i / kBlockEntries])[i % kBlockEntries]; }
  [[nodiscard]] std::uint32_t number_of(const codec::HashedKey& key) const;
  std::uint32_t add(const codec::HashedKey& key);
  void set_value(Entry& entry, std::string_view value);
  void move_index_keys(const Entry& entry, std::optional<std::string_view> fresh);
  void set_timer(std::uint32_t number, std::optional<UnixMs> timer);
  [[nodiscard]] bool holds(const Waiting& one) const { return entry(one.entry).timer() == one.deadline; }
  void drop_void_timers();

  codec::KeyedHash hash_;
  HashIndex index_;  // of blocks_
  std::vector<std::unique_ptr<Block>> blocks_;
  std::size_t size_ = 0;
  Arena arena_;
  mutable std::vector<Waiting> timers_;  // a heap, the earliest at its top
  SortedKeys keys_;
  boost::container::pmr::unsynchronized_pool_resource index_memory_;  // of the nodes of index_keys_
  IndexKeys index_keys_{&index_memory_};                              // their bytes are in the arena
  std::uint64_t bytes_ = 0;
};

}  // namespace reseq::store
