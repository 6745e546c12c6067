// Arena: memory that lives as long as a batch. Header values, keys and rows on their way to Kafka are placed here, so
// that nothing is allocated or freed record by record.
// Thread rule: one thread.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace reseq {

class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // A view of `bytes` that lives until reset().
  [[nodiscard]] std::string_view copy(std::string_view bytes) {
    char* place = allocate(bytes.size());
    if (!bytes.empty()) std::memcpy(place, bytes.data(), bytes.size());
    return {place, bytes.size()};
  }

  // The same of values that need no destructor.
  template <typename Value>
  [[nodiscard]] std::span<const Value> copy(std::span<const Value> values) {
    static_assert(std::is_trivially_copyable_v<Value>);
    const std::size_t bytes = values.size_bytes() + alignof(Value) - 1;
    void* place = allocate(bytes);
    std::size_t room = bytes;
    place = std::align(alignof(Value), values.size_bytes(), place, room);
    std::uninitialized_copy(values.begin(), values.end(), static_cast<Value*>(place));
    return {static_cast<const Value*>(place), values.size()};
  }

  [[nodiscard]] char* allocate(std::size_t bytes) {
    if (static_cast<std::size_t>(end_ - at_) <= bytes) return allocate_anew(bytes);
    char* const place = at_;
    at_ += bytes;
    return place;
  }

  void reset() {
    pieces_.clear();
    at_ = end_ = nullptr;
  }

 private:
  // Pieces double up to a size of which a half is no loss: large arenas stay for as long as a checkpoint needs.
  static constexpr std::size_t kPieceMin = 4096;
  static constexpr std::size_t kDoublings = 6;
  static constexpr std::size_t kAloneFrom = (kPieceMin << kDoublings) / 4;  // in a piece of its own

  // Never null: no bytes are not nothing.
  [[gnu::noinline]] char* allocate_anew(std::size_t bytes) {
    const bool alone = bytes >= kAloneFrom;
    const std::size_t doubled = kPieceMin << std::min(pieces_.size(), kDoublings);
    const std::size_t piece = alone ? bytes : std::max(bytes + 1, doubled);
    pieces_.push_back(std::make_unique_for_overwrite<char[]>(piece));
    char* const place = pieces_.back().get();
    if (alone) return place;
    at_ = place + bytes;
    end_ = place + piece;
    return place;
  }

  std::vector<std::unique_ptr<char[]>> pieces_;
  char* at_ = nullptr;
  char* end_ = nullptr;  // of the piece
};

}  // namespace reseq
