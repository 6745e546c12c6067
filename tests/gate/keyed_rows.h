// KeyedRows: rows of other kinds than documents in a map, and what a view of the state answers from them. For tests
// that keep a state of their own beside the store.
// Thread rule: one thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "codec/row_kinds.h"
#include "engine/state_view.h"
#include "model/effects.h"

namespace reseq::gate {

class KeyedRows {
 public:
  [[nodiscard]] std::optional<std::string_view> row(std::string_view key) const {
    const auto known = rows_.find(key);
    return known == rows_.end() ? std::nullopt : std::optional<std::string_view>(known->second);
  }
  void scan(std::string_view prefix, std::string_view cursor, std::size_t rows_max,
            const engine::RowVisit& visit) const {
    for (auto one = cursor < prefix ? rows_.lower_bound(prefix) : rows_.upper_bound(cursor);
         one != rows_.end() && one->first.starts_with(prefix) && rows_max > 0; ++one, --rows_max)
      if (!visit(one->first, one->second)) return;
  }
  // All rows are looked at: there are few.
  void index(std::uint8_t index, std::string_view from, std::size_t entries_max,
             const engine::IndexVisit& visit) const {
    std::set<std::tuple<std::size_t, std::string, std::string_view>> entries;  // shorter ones first
    for (const auto& [key, value] : rows_) {
      const codec::RowKind* const kind = codec::row_kind_of(key);
      if (kind == nullptr || kind->entries == nullptr) continue;
      kind->entries(value, [&, &row = key](std::uint8_t of, std::string_view entry) {
        if (of == index && std::pair(entry.size(), entry) >= std::pair(from.size(), from))
          entries.emplace(entry.size(), entry, row);
      });
    }
    for (const auto& [bytes, entry, key] : entries)
      if (entries_max-- == 0 || !visit(entry, key)) return;
  }

  void put(std::string_view key, std::optional<std::string_view> value) {
    if (value) {
      rows_.insert_or_assign(std::string(key), std::string(*value));
    } else {
      rows_.erase(std::string(key));
    }
  }
  void apply(std::span<const KeyedChange> changes) {
    for (const KeyedChange& change : changes) put(change.key, change.value);
  }
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& all() const { return rows_; }
  friend bool operator==(const KeyedRows&, const KeyedRows&) = default;

 private:
  std::map<std::string, std::string, std::less<>> rows_;
};

// A view of documents that answers from such rows, too.
template <typename Documents = engine::StateView>
class WithOthers : public Documents {
 public:
  [[nodiscard]] std::optional<std::string_view> row(std::string_view key) const override { return others.row(key); }
  void scan(std::string_view prefix, std::string_view cursor, std::size_t rows_max,
            const engine::RowVisit& visit) const override {
    others.scan(prefix, cursor, rows_max, visit);
  }
  void index(std::uint8_t index, std::string_view from, std::size_t entries_max,
             const engine::IndexVisit& visit) const override {
    others.index(index, from, entries_max, visit);
  }
  KeyedRows others;
};

}  // namespace reseq::gate
