// State: that of a scenario: documents in a map, and beside them what waits.
// Thread rule: one thread.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "codec/held_rows.h"
#include "codec/keys.h"
#include "codec/rows.h"
#include "tests/gate/keyed_rows.h"
#include "tests/unit/engine/map_state.h"

namespace reseq::scenarios {

class State final : public gate::WithOthers<engine::MapState> {
 public:
  // `first`: the position of its first input. REQUIRES: batch is closed.
  void take(const engine::Batch& batch, Offset first) {
    Arena arena;
    std::vector<KeyedChange> held;
    for (const Hold& hold : batch.holds()) {
      codec::InputRecord record;
      record.offset = Offset(first.value() + hold.input.value());
      codec::append_held(hold, record, hash_, arena, held);
    }
    others.apply(held);
    others.apply(batch.row_changes());
    commit(batch);
    keep_documents();
  }

  [[nodiscard]] const Summary& summary() const override { return summary_; }
  [[nodiscard]] std::optional<std::string_view> row(std::string_view key) const override {
    return documents_.row(key) ? documents_.row(key) : others.row(key);
  }
  void index(std::uint8_t index, std::string_view from, std::size_t entries_max,
             const engine::IndexVisit& visit) const override {
    (index == codec::kLeaseIndex ? documents_ : others).index(index, from, entries_max, visit);
  }

 private:
  // As rows, and what they add up to.
  void keep_documents() {
    documents_ = {};
    summary_ = {};
    std::map<std::uint8_t, PriorityCount> by_priority;
    for (const auto& [id, row] : rows) {
      std::string key;
      codec::append_document_key(id, hash_, key);
      std::string value;
      codec::encode_row(key, id, row, value);
      documents_.put(key, value);
      summary_.counts.add(codec::count_document(value));
      const auto priorities = codec::priorities_of(value);
      if (priorities.waiting) ++by_priority[*priorities.waiting].waiting;
      if (priorities.processing) ++by_priority[*priorities.processing].processing;
    }
    for (auto& [priority, count] : by_priority) {
      count.priority = priority;
      summary_.priorities.push_back(count);
    }
    for (const auto& [key, value] : others.all()) summary_.counts[Count::kHeldBytes] += value.size();
  }

  const codec::KeyedHash hash_{HashKey()};
  gate::KeyedRows documents_;
  Summary summary_;
};

}  // namespace reseq::scenarios
