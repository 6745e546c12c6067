#include "store/key_filter.h"

#include <algorithm>

namespace reseq::store {

namespace {

constexpr std::size_t kFirstBlocks = 1024;   // 64 KB
constexpr std::size_t kHashesPerBlock = 51;  // of 512 bits: 10 for each
constexpr std::size_t kGrowth = 4;
constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio, odd

// The blocks are chosen by low bits of the hash, the bits of a block by all of them.
std::uint64_t mixed(std::uint64_t hash) {
  const std::uint64_t product = (hash ^ hash >> 32U) * kMix;
  return product ^ product >> 32U;
}

// One bit of each word: six bits of the number say which.
std::uint64_t bit_of_word(std::uint64_t number, unsigned word) {
  return std::uint64_t{1} << ((number >> (word * 6)) & 63U);
}

}  // namespace

void KeyFilter::add(std::uint64_t hash) {
  if (may_have(hash)) return;
  ++added_;
  if (layers_.empty() || layers_.back().room == 0) {
    const std::size_t blocks = layers_.empty() ? kFirstBlocks : layers_.back().blocks.size() * kGrowth;
    layers_.push_back({std::vector<Block>(blocks), blocks * kHashesPerBlock});
  }
  Layer& layer = layers_.back();
  --layer.room;
  Block& block = layer.blocks[hash & (layer.blocks.size() - 1)];
  const std::uint64_t number = mixed(hash);
  for (unsigned word = 0; word < block.words.size(); ++word) block.words[word] |= bit_of_word(number, word);
}

void KeyFilter::prefetch(std::uint64_t hash) const {
  for (const Layer& layer : layers_) __builtin_prefetch(&layer.blocks[hash & (layer.blocks.size() - 1)]);
}

bool KeyFilter::may_have(std::uint64_t hash) const {
  const std::uint64_t number = mixed(hash);
  return std::any_of(layers_.rbegin(), layers_.rend(), [&](const Layer& layer) {
    const Block& block = layer.blocks[hash & (layer.blocks.size() - 1)];
    std::uint64_t missing = 0;
    for (unsigned word = 0; word < block.words.size(); ++word)
      missing |= bit_of_word(number, word) & ~block.words[word];
    return missing == 0;
  });
}

}  // namespace reseq::store
