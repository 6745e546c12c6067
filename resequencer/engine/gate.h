// Gate: stands at the exit to `work`. It keeps requests that are to be forwarded as rows of the state, and lets them
// through from the agenda of later batches. What a request does to the row of its document is done when it is decided:
// waiting changes when something leaves, never what is newest.
//
// A gate is a pure rule: the same forward, rows and turn give the same effects. Its number stands in the keys of its
// rows and its capability in meta rows, so both are given out once:
//
//   gate   capability
//   255    bit 63       that of the tests
//
// Thread rule: const; any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/arena.h"
#include "engine/context.h"
#include "engine/dispatch.h"
#include "engine/effects.h"
#include "engine/overlay.h"
#include "engine/rows.h"
#include "engine/state_view.h"
#include "model/partition_state.h"

namespace reseq::engine {

// Which inputs must have been read to ends that were asked at or after the time of what is due, before it is done.
struct Fence {
  bool requests = false;
  bool control = false;
  bool commands = false;
  [[nodiscard]] bool open() const { return !requests && !control && !commands; }
};

struct AgendaKind {
  std::string_view name;
  Fence fence;
};

// Bytes that may still leave in a batch: inputs and all turns share them.
struct BytesLeft {
  std::uint64_t bytes = UINT64_MAX;
};

// What is done of one kind of the agenda in one batch.
class Turn {
 public:
  // What was due by `until`, `rows_max` of it at most. REQUIRES: left outlives the turn.
  Turn(std::uint8_t kind, UnixMs until, std::uint32_t rows_max, BytesLeft& left)
      : kind_(kind), until_(until), rows_max_(rows_max), left_(left) {}

  [[nodiscard]] std::uint8_t kind() const { return kind_; }
  [[nodiscard]] UnixMs until() const { return until_; }
  // Whether there is room for one more, which then is done. Of each turn the first has room whatever it takes: nothing
  // waits for ever because it is large. Once there was none there is none for what is smaller: with so many rows, and
  // whatever room, the same is done again.
  [[nodiscard]] bool take(std::uint64_t bytes) {
    ended_ = ended_ || rows_ >= rows_max_ || (rows_ > 0 && bytes > left_.bytes);
    if (ended_) return false;
    left_.bytes -= std::min(bytes, left_.bytes);
    ++rows_;
    return true;
  }
  [[nodiscard]] std::uint32_t rows() const { return rows_; }

 private:
  std::uint8_t kind_;
  UnixMs until_;
  std::uint32_t rows_max_;
  std::uint32_t rows_ = 0;
  bool ended_ = false;
  BytesLeft& left_;
};

// What a gate works with in a batch, behind its inputs.
struct GateBatch {
  const StateView& view;  // committed: indexes are read here
  Rows& rows;
  Overlay& overlay;
  Dispatch& dispatch;
  Effects& effects;
  const Context& context;
};

// A forward that is about to leave.
struct Leaving {
  DocumentId id;
  const Forward& forward;
  Offset position;  // of its request
  std::uint64_t bytes;
  UnixMs now;
};

class Gate {
 public:
  virtual ~Gate() = default;

  // The bit of it: stands in the meta row from the first batch on.
  [[nodiscard]] virtual std::uint64_t capability() const = 0;
  // Its kinds, in the order of their turns; a kind is its place in the list.
  [[nodiscard]] virtual std::span<const AgendaKind> agenda() const = 0;
  // When the first of a kind is due; none = nothing is, ever.
  [[nodiscard]] virtual std::optional<UnixMs> next(std::uint8_t kind, const StateView& view) const = 0;
  // How this forward is to be held; none: it leaves. What it says of input is not looked at. Bytes go into the arena.
  [[nodiscard]] virtual std::optional<Hold> holds(const Leaving& leaving, Arena& arena) const = 0;
  // Does what is due, as far as the turn has room.
  virtual void take(Turn& turn, GateBatch& batch) const = 0;
};

}  // namespace reseq::engine
