// Arrays in PostgreSQL's binary format (array_recv, array_send): int32 dimensions, int32 has-null flag, int32 element
// type, then per dimension int32 length and int32 lower bound, then per element int32 bytes (-1 = null) and the bytes.
// All numbers highest byte first.
// Thread rule: pure; one thread per object.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace reseq::postgres {

// Object identifiers of built-in types (pg_type.dat); they never change.
using TypeId = std::uint32_t;
inline constexpr TypeId kByteaType = 17;
inline constexpr TypeId kInt8Type = 20;
inline constexpr TypeId kInt4Type = 23;
inline constexpr TypeId kTextType = 25;
inline constexpr TypeId kByteaArrayType = 1001;
inline constexpr TypeId kTextArrayType = 1009;
inline constexpr TypeId kInt8ArrayType = 1016;
inline constexpr TypeId kInt4ArrayType = 1007;

// An array with one dimension.
class ArrayWriter {
 public:
  ArrayWriter(TypeId element, std::size_t count);
  void add(std::string_view bytes);
  void add_int8(std::int64_t number);
  void add_int4(std::int32_t number);
  void add_null();
  // REQUIRES: `count` elements were added.
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  void put(std::uint64_t number, std::size_t bytes);
  std::string bytes_;
};

[[nodiscard]] std::string int8_bytes(std::int64_t number);
[[nodiscard]] std::string int4_bytes(std::int32_t number);

// Nothing: it is not what the server writes.
[[nodiscard]] std::optional<std::int64_t> read_int8(std::string_view bytes);
[[nodiscard]] std::optional<std::vector<std::int64_t>> read_int8_array(std::string_view bytes);

}  // namespace reseq::postgres
