// RecentReads: what the disk answered since it was last written, for keys that are asked for again at once: a batch
// looks a document up to decide, and again when it sums up what it changes. One place for each hash, the last answer
// wins.
//
// Invariants: an answer is that of the same key, byte by byte; long keys are not kept. Memory: none until the first
// answer, then fixed. Thread rule: one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "codec/hash.h"

namespace reseq::store {

class RecentReads {
 public:
  using Answer = std::optional<std::string_view>;

  [[nodiscard]] const Answer* find(const codec::HashedKey& key) const {
    if (!places_) return nullptr;
    const Place& place = (*places_)[key.hash.low % kPlaces];
    const bool same = place.round == round_ && place.hash == key.hash.low && place.key() == key.bytes;
    return same ? &place.answer : nullptr;
  }

  // REQUIRES: the answer is valid until clear().
  void add(const codec::HashedKey& key, const Answer& answer) {
    if (key.bytes.size() > kKeyBytesMax) return;
    if (!places_) places_ = std::make_unique<Places>();
    Place& place = (*places_)[key.hash.low % kPlaces];
    place.hash = key.hash.low;
    place.answer = answer;
    place.round = round_;
    place.size = static_cast<std::uint8_t>(key.bytes.size());
    std::memcpy(place.bytes.data(), key.bytes.data(), key.bytes.size());
  }

  void clear() { ++round_; }

 private:
  static constexpr std::size_t kPlaces = 4096;
  static constexpr std::size_t kKeyBytesMax = 47;
  struct Place {
    std::uint64_t hash = 0;
    std::uint64_t round = 0;
    Answer answer;
    std::uint8_t size = 0;
    std::array<char, kKeyBytesMax> bytes{};
    [[nodiscard]] std::string_view key() const { return {bytes.data(), size}; }
  };
  using Places = std::array<Place, kPlaces>;

  std::unique_ptr<Places> places_;
  std::uint64_t round_ = 1;  // of the answers that are valid
};

}  // namespace reseq::store
