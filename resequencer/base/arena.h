// Arena: memory that lives as long as a batch. Header values, keys and rows on their way to Kafka are placed here, so
// that nothing is allocated or freed record by record.
// Thread rule: one thread.
#pragma once

#include <algorithm>
#include <boost/container/pmr/monotonic_buffer_resource.hpp>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

namespace reseq {

class Arena {
 public:
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
    if (static_cast<std::size_t>(end_ - at_) <= bytes) more(bytes + 1);  // never null: no bytes are not nothing
    char* const place = at_;
    at_ += bytes;
    return place;
  }

  void reset() {
    memory_.release();
    at_ = end_ = nullptr;
  }

 private:
  static constexpr std::size_t kPiece = 4096;

  void more(std::size_t bytes) {
    const std::size_t piece = std::max(bytes, kPiece);
    at_ = static_cast<char*>(memory_.allocate(piece, 1));
    end_ = at_ + piece;
  }

  boost::container::pmr::monotonic_buffer_resource memory_;  // of pieces
  char* at_ = nullptr;
  char* end_ = nullptr;  // of the piece
};

}  // namespace reseq
