// MemoryTable: encoded rows by key, in memory. Keys come from outside, so the hash is keyed with the state's own key.
// Thread rule: used by the worker that owns the partition.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "codec/hash.h"

namespace reseq::store {

class MemoryTable {
 public:
  explicit MemoryTable(const codec::KeyedHash& hash) : rows_(0, KeyHash{hash}) {}

  // The value of a key; the view lives until that key changes.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view key) const {
    const auto found = rows_.find(key);
    if (found == rows_.end()) return std::nullopt;
    return std::string_view(found->second);
  }

  void put(std::string_view key, std::string_view value) {
    const auto found = rows_.find(key);
    if (found != rows_.end()) {
      found->second.assign(value);
    } else {
      rows_.emplace(key, value);
    }
  }

  void erase(std::string_view key) {
    const auto found = rows_.find(key);
    if (found != rows_.end()) rows_.erase(found);
  }

  [[nodiscard]] std::size_t size() const { return rows_.size(); }

  // Visits every row once, in no order: only for results that do not depend on one (sums, unions).
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (const auto& [key, value] : rows_) visit(std::string_view(key), std::string_view(value));
  }

 private:
  struct KeyHash {
    using is_transparent = void;
    codec::KeyedHash hash;
    std::size_t operator()(std::string_view key) const { return hash(key).low; }
  };
  std::unordered_map<std::string, std::string, KeyHash, std::equal_to<>> rows_;
};

}  // namespace reseq::store
