// State: that of a scenario: documents in a map, and beside them what a gate holds.
// Thread rule: one thread.
#pragma once

#include <string_view>
#include <vector>

#include "base/arena.h"
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
      codec::append_held(hold, record, codec::KeyedHash(HashKey()), arena, held);
    }
    others.apply(held);
    others.apply(batch.row_changes());
    commit(batch);
  }
};

}  // namespace reseq::scenarios
