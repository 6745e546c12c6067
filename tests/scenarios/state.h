// State: that of a scenario: documents in a map, and beside them what waits.
// Thread rule: one thread.
#pragma once

#include <variant>
#include <vector>

#include "base/arena.h"
#include "codec/hash.h"
#include "codec/held_rows.h"
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
      if (hold.input.value() >= batch.decisions().size()) {
        const LetThrough& again = batch.let_through()[hold.input.value() - batch.decisions().size()];
        record.offset = std::get<codec::HeldRow>(codec::decode_held(again.key, again.row)).offset;
      }
      codec::append_held(hold, record, hash_, arena, held);
    }
    others.apply(held);
    others.apply(batch.row_changes());
    commit(batch);
    for (const RowChange& change : batch.changes()) journaled.put(change.id, change.row, hash_);
  }

 private:
  const codec::KeyedHash hash_{HashKey()};
};

}  // namespace reseq::scenarios
