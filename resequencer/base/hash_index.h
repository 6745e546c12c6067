// HashIndex: the numbers of entries by their hash, with open addressing. The entries and their keys stand elsewhere; a
// slot holds half of the hash, which is all that growing needs and nearly all that a comparison needs.
// Invariants: a power of two of slots, at most three quarters of them in use; a number stays until clear().
// Thread rule: one thread; several may only find.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/assert.h"

namespace reseq {

class HashIndex {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // The number under this hash of which is_it(number) says that it is the one; kNone if there is none.
  template <typename IsIt>
  [[nodiscard]] std::uint32_t find(std::uint64_t hash, const IsIt& is_it) const {
    if (slots_.empty()) return kNone;
    const std::uint32_t piece = piece_of(hash);
    for (std::size_t i = piece & mask();; i = (i + 1) & mask()) {
      const Slot& slot = slots_[i];
      if (slot.number_plus_one == 0) return kNone;
      if (slot.piece == piece && is_it(slot.number_plus_one - 1)) return slot.number_plus_one - 1;
    }
  }

  // Room for so many, before the first: cheaper than to grow.
  void expect(std::size_t entries) {
    if (size_ != 0 || entries * 4 <= slots_.size() * 3) return;
    slots_ = std::vector<Slot>(std::max(std::bit_ceil(entries * 4 / 3 + 1), kSlotsMin));
  }

  // REQUIRES: number < kNone, and nothing that is found by this hash is the same
  // In place: a call costs as much as it does.
  [[gnu::always_inline]] void add(std::uint64_t hash, std::uint32_t number) {
    RESEQ_ASSERT(number < kNone, "more entries than can be numbered");
    if ((size_ + 1) * 4 > slots_.size() * 3) grow();
    place({piece_of(hash), number + 1});
    ++size_;
  }

  // The memory is given back.
  void clear() { *this = HashIndex(); }

 private:
  struct Slot {
    std::uint32_t piece = 0;
    std::uint32_t number_plus_one = 0;  // 0 = free
  };
  static constexpr std::size_t kSlotsMin = 64;

  static std::uint32_t piece_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32U); }
  [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }

  void place(Slot slot) {
    std::size_t i = slot.piece & mask();
    while (slots_[i].number_plus_one != 0) i = (i + 1) & mask();
    slots_[i] = slot;
  }

  [[gnu::noinline]] void grow() {
    std::vector<Slot> old(std::max(slots_.size() * 2, kSlotsMin));
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.number_plus_one != 0) place(slot);
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace reseq
