// Turn: what is done of one kind of a gate's agenda in one batch, within its bounds.
// Thread rule: one thread.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/assert.h"
#include "codec/held_rows.h"
#include "engine/references.h"
#include "model/ids.h"

namespace reseq::engine {

// Bytes that turns may still let through: all that share a transaction share them.
struct BytesLeft {
  std::uint64_t bytes = UINT64_MAX;
  bool lacked = false;  // something had no room, or only because it was the first of its turn
};

// What is done of one kind of the agenda in one batch.
class Turn {
 public:
  // What was due by `until`, `rows_max` of it at most. `references` null: nothing is held by reference.
  // REQUIRES: left and references outlive the turn.
  Turn(std::uint8_t kind, UnixMs until, std::uint32_t rows_max, BytesLeft& left, References* references = nullptr)
      : kind_(kind), until_(until), rows_max_(rows_max), left_(left), references_(references) {}

  [[nodiscard]] std::uint8_t kind() const { return kind_; }
  [[nodiscard]] UnixMs until() const { return until_; }
  [[nodiscard]] std::uint32_t rows_max() const { return rows_max_; }
  // Whether there is room for one more, which then is done. Of each turn the first has room whatever it takes: nothing
  // waits for ever because it is large. Once there was none there is none for what is smaller: with so many rows, and
  // whatever room, the same is done again.
  [[nodiscard]] bool take(std::uint64_t bytes) {
    left_.lacked = left_.lacked || bytes > left_.bytes;
    ended_ = !has_room(bytes);
    if (ended_) return false;
    left_.bytes -= std::min(bytes, left_.bytes);
    ++rows_;
    return true;
  }
  // The same for what is held, before it is let through: for a reference there is no room before its record is read,
  // nor while it cannot be, unless its gate passes it over.
  [[nodiscard]] bool take(const codec::HeldRow& held) {
    if (held.reference && has_room(held.record_bytes) && lacks(found(held))) ended_ = lacks_record_ = true;
    return take(held.record_bytes);
  }
  // What came of reading it again. REQUIRES: held.reference.
  [[nodiscard]] References::Found found(const codec::HeldRow& held) const {
    RESEQ_ASSERT(references_ != nullptr, "a reference where nothing is read again");
    return references_->find(held);
  }
  [[nodiscard]] std::uint32_t rows() const { return rows_; }
  // It ended in front of a reference whose record was not read.
  [[nodiscard]] bool lacks_record() const { return lacks_record_; }

 private:
  [[nodiscard]] static bool lacks(References::Found found) {
    return found == References::Found::kUnread || found == References::Found::kUnreadable;
  }
  [[nodiscard]] bool has_room(std::uint64_t bytes) const {
    return !ended_ && rows_ < rows_max_ && (rows_ == 0 || bytes <= left_.bytes);
  }

  std::uint8_t kind_;
  UnixMs until_;
  std::uint32_t rows_max_;
  std::uint32_t rows_ = 0;
  bool ended_ = false;
  bool lacks_record_ = false;
  BytesLeft& left_;
  References* references_;
};

}  // namespace reseq::engine
