// KeyFilter: which keys the copy on disk may have, so that a new document does not cost a search of the disk. A Bloom
// filter of hashes, in blocks of one cache line; when it is full another one, four times as large, stands beside it.
//
// Invariants: a hash that was added is always found; another one is, about once in a hundred times. Nothing is ever
// taken out, so the owner gives it up when too much of what was added is gone. Memory: 10 to 40 bits for each hash that
// was added. Thread rule: one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace reseq::store {

class KeyFilter {
 public:
  void add(std::uint64_t hash);
  [[nodiscard]] bool may_have(std::uint64_t hash) const;
  // It will be asked soon.
  void prefetch(std::uint64_t hash) const;
  // Different ones, as far as it can tell.
  [[nodiscard]] std::uint64_t added() const { return added_; }

 private:
  struct alignas(64) Block {
    std::array<std::uint64_t, 8> words{};
  };
  struct Layer {
    std::vector<Block> blocks;  // a power of two
    std::size_t room = 0;       // hashes that it still takes
  };
  // The largest last: most hashes are there.
  std::vector<Layer> layers_;
  std::uint64_t added_ = 0;
};

}  // namespace reseq::store
