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

#include "codec/keys.h"
#include "codec/row_kinds.h"
#include "codec/rows.h"
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
  void index(std::uint8_t index, std::string_view from, std::size_t entries_max,
             const engine::IndexVisit& visit) const {
    for (auto one = entries_.lower_bound(EntryView{index, from, ""}); one != entries_.end() && one->index == index;
         ++one)
      if (entries_max-- == 0 || !visit(one->entry, one->key)) return;
  }

  void put(std::string_view key, std::optional<std::string_view> value) {
    const codec::RowKind* const kind = codec::row_kind_of(key);
    const bool counts = kind != nullptr && kind->type != codec::KeyType::kDocument;
    const auto known = rows_.find(key);
    if (counts && known != rows_.end()) {
      counts_.subtract(kind->counted(known->second));
      if (kind->held) codec::count_held(key, known->second.size(), 0, counts_);
    }
    if (counts && value) {
      counts_.add(kind->counted(*value));
      if (kind->held) codec::count_held(key, 0, value->size(), counts_);
    }
    if (kind != nullptr && kind->entries != nullptr) {
      const auto entries_of = [&](std::string_view row, const auto& each) {
        kind->entries(row, [&](std::uint8_t index, std::string_view entry) { each(EntryView{index, entry, key}); });
      };
      if (known != rows_.end())
        entries_of(known->second, [this](const EntryView& gone) {
          if (const auto at = entries_.find(gone); at != entries_.end()) entries_.erase(at);
        });
      if (value) entries_of(*value, [this](const EntryView& made) { entries_.emplace(made); });
    }
    if (value) {
      rows_.insert_or_assign(std::string(key), std::string(*value));
    } else if (known != rows_.end()) {
      rows_.erase(known);
    }
  }
  // Of all but documents.
  [[nodiscard]] const Counts& counts() const { return counts_; }
  void apply(std::span<const KeyedChange> changes) {
    for (const KeyedChange& change : changes) put(change.key, change.value);
  }
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& all() const { return rows_; }
  // Entries follow from rows.
  friend bool operator==(const KeyedRows& a, const KeyedRows& b) {
    return a.rows_ == b.rows_ && a.counts_ == b.counts_;
  }

 private:
  struct EntryView {
    std::uint8_t index;
    std::string_view entry;
    std::string_view key;
  };
  struct Entry {
    explicit Entry(const EntryView& from) : index(from.index), entry(from.entry), key(from.key) {}
    std::uint8_t index;
    std::string entry;
    std::string key;
  };
  struct ShorterFirst {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return std::tuple(a.index, a.entry.size(), std::string_view(a.entry), std::string_view(a.key)) <
             std::tuple(b.index, b.entry.size(), std::string_view(b.entry), std::string_view(b.key));
    }
  };

  std::map<std::string, std::string, std::less<>> rows_;
  std::set<Entry, ShorterFirst> entries_;  // by index: a judge of 100,000 rows asks with each batch
  Counts counts_;
};

// Documents with a journal, encoded, and what they add up to.
class JournaledDocuments {
 public:
  // `row` null: it is gone.
  void put(DocumentId id, const Row* row, const codec::KeyedHash& hash) {
    std::string key;
    codec::append_document_key(id, hash, key);
    if (const auto known = rows_.row(key)) {
      summary_.counts.subtract(codec::count_document(*known));
      summary_.subtract(codec::priorities_of(*known));
      rows_.put(key, std::nullopt);
    }
    if (row == nullptr || row->journal.empty()) return;
    std::string value;
    codec::encode_row(key, id, *row, value);
    summary_.counts.add(codec::count_document(value));
    summary_.add(codec::priorities_of(value));
    rows_.put(key, value);
  }
  [[nodiscard]] const KeyedRows& rows() const { return rows_; }
  [[nodiscard]] const Summary& summary(const KeyedRows& others) const {
    for (const Count count : {Count::kHeldBytes, Count::kPlaces, Count::kQueued, Count::kResultBytes})
      summary_.counts[count] = others.counts()[count];
    return summary_;
  }

 private:
  KeyedRows rows_;
  mutable Summary summary_;
};

// A view of documents that answers from such rows, too.
template <typename Documents = engine::StateView>
class WithOthers : public Documents {
 public:
  [[nodiscard]] const Summary& summary() const override { return journaled.summary(others); }
  [[nodiscard]] std::optional<std::string_view> row(std::string_view key) const override {
    const auto document = journaled.rows().row(key);
    return document ? document : others.row(key);
  }
  void scan(std::string_view prefix, std::string_view cursor, std::size_t rows_max,
            const engine::RowVisit& visit) const override {
    others.scan(prefix, cursor, rows_max, visit);
  }
  void index(std::uint8_t index, std::string_view from, std::size_t entries_max,
             const engine::IndexVisit& visit) const override {
    (index == codec::kLeaseIndex ? journaled.rows() : others).index(index, from, entries_max, visit);
  }
  KeyedRows others;
  JournaledDocuments journaled;
};

}  // namespace reseq::gate
