// Turn: what is done of one kind of a gate's agenda in one batch, within its bounds.
// Thread rule: one thread.
#pragma once

#include <algorithm>
#include <cstdint>

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
  // What was due by `until`, `rows_max` of it at most. REQUIRES: left outlives the turn.
  Turn(std::uint8_t kind, UnixMs until, std::uint32_t rows_max, BytesLeft& left)
      : kind_(kind), until_(until), rows_max_(rows_max), left_(left) {}

  [[nodiscard]] std::uint8_t kind() const { return kind_; }
  [[nodiscard]] UnixMs until() const { return until_; }
  // Whether there is room for one more, which then is done. Of each turn the first has room whatever it takes: nothing
  // waits for ever because it is large. Once there was none there is none for what is smaller: with so many rows, and
  // whatever room, the same is done again.
  [[nodiscard]] bool take(std::uint64_t bytes) {
    const bool fits = bytes <= left_.bytes;
    left_.lacked = left_.lacked || !fits;
    ended_ = ended_ || rows_ >= rows_max_ || (rows_ > 0 && !fits);
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

}  // namespace reseq::engine
