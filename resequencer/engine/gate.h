// Gate: stands at the exit to `work`. It keeps requests that are to be forwarded as rows of the state, and lets them
// through from the agenda of later batches. What a request does to the row of its document is done when it is decided:
// waiting changes when something leaves, never what is newest.
//
// A gate is a pure rule: the same forward, rows and turn give the same effects. Its numbers are given out in
// engine/gate_numbers.h.
//
// Thread rule: const; any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/arena.h"
#include "engine/agenda.h"
#include "engine/context.h"
#include "engine/dispatch.h"
#include "engine/effects.h"
#include "engine/overlay.h"
#include "engine/rows.h"
#include "engine/state_view.h"
#include "engine/turn.h"
#include "model/partition_state.h"

namespace reseq::engine {

// What a gate works with in a batch, behind its inputs.
class GateBatch {
 public:
  // REQUIRES: all of them outlive it.
  GateBatch(const StateView& view, Rows& rows, Overlay& overlay, Dispatch& dispatch, Effects& effects,
            const Context& context, const Turn& turn)
      : view_(view),
        rows_(rows),
        overlay_(overlay),
        dispatch_(dispatch),
        effects_(effects),
        context_(context),
        turn_(turn) {}

  // Indexes of the committed state: what the batch changed is to be looked up in rows().
  [[nodiscard]] const StateView& view() const { return view_; }
  [[nodiscard]] Rows& rows() { return rows_; }

  // What is held under this key leaves for those of its targets that still wait for it; all of its rows are removed.
  // False: nothing leaves, because nobody waits, `work` does not take it any more, its record is gone, or no row is
  // there: it has left in this batch, or the disk cannot be read, and then nothing of this batch will be.
  // REQUIRES: the turn had room for it.
  bool let_through(const std::string& key, DocumentId id, const Forward& held);
  // A record of which nothing comes from an input.
  void generate(const GeneratedRecord& record, Partition to) { effects_.generate(record, to); }

  // So much was done: by it is seen whether a turn did anything.
  [[nodiscard]] std::size_t done() const { return rows_.touched() + effects_.emissions().size(); }

 private:
  const StateView& view_;
  Rows& rows_;
  Overlay& overlay_;
  Dispatch& dispatch_;
  Effects& effects_;
  const Context& context_;
  const Turn& turn_;
};

// A forward that is about to leave.
struct Leaving {
  DocumentId id;
  const Forward& forward;
  const Request& request;
  Offset position;  // of the request
  UnixMs now;
};

class Gate : public AgendaSource {
 public:
  // How this forward is to be held; none: it leaves. No two records are held under one key at a time. Input and bytes
  // of the hold are not looked at; what it names goes into the arena.
  [[nodiscard]] virtual std::optional<Hold> holds(const Leaving& leaving, Arena& arena) const = 0;
  // Does what is due, as far as the turn has room: nothing without having taken room for it.
  virtual void take(Turn& turn, GateBatch& batch) const = 0;
};

}  // namespace reseq::engine
