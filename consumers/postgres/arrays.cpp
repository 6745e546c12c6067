#include "consumers/postgres/arrays.h"

#include <utility>

namespace reseq::postgres {
namespace {

constexpr std::size_t kHeaderBytes = 20;

std::uint64_t read(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < count; ++i) number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

void append(std::string& bytes, std::uint64_t number, std::size_t count) {
  for (std::size_t i = count; i-- > 0;) bytes.push_back(static_cast<char>(number >> (8 * i)));
}

}  // namespace

ArrayWriter::ArrayWriter(TypeId element, std::size_t count) {
  put(count == 0 ? 0 : 1, 4);
  put(1, 4);  // there may be nulls
  put(element, 4);
  if (count == 0) return;
  put(count, 4);
  put(1, 4);
}

void ArrayWriter::put(std::uint64_t number, std::size_t bytes) {
  append(bytes_, number, bytes);
}

void ArrayWriter::add(std::string_view bytes) {
  put(bytes.size(), 4);
  bytes_.append(bytes);
}

void ArrayWriter::add_int8(std::int64_t number) {
  put(8, 4);
  put(static_cast<std::uint64_t>(number), 8);
}

void ArrayWriter::add_int4(std::int32_t number) {
  put(4, 4);
  put(static_cast<std::uint32_t>(number), 4);
}

void ArrayWriter::add_null() {
  put(0xffffffffU, 4);
}

std::string int8_bytes(std::int64_t number) {
  std::string bytes;
  append(bytes, static_cast<std::uint64_t>(number), 8);
  return bytes;
}

std::string int4_bytes(std::int32_t number) {
  std::string bytes;
  append(bytes, static_cast<std::uint32_t>(number), 4);
  return bytes;
}

std::optional<std::int64_t> read_int8(std::string_view bytes) {
  if (bytes.size() != 8) return std::nullopt;
  return static_cast<std::int64_t>(read(bytes, 0, 8));
}

std::optional<std::vector<std::int64_t>> read_int8_array(std::string_view bytes) {
  if (bytes.size() < 12) return std::nullopt;
  const std::uint64_t dimensions = read(bytes, 0, 4);
  if (dimensions == 0) return std::vector<std::int64_t>();
  if (dimensions != 1 || bytes.size() < kHeaderBytes || read(bytes, 8, 4) != kInt8Type) return std::nullopt;
  const std::uint64_t count = read(bytes, 12, 4);
  if (bytes.size() != kHeaderBytes + count * 12) return std::nullopt;
  std::vector<std::int64_t> numbers;
  numbers.reserve(count);
  for (std::size_t at = kHeaderBytes; at < bytes.size(); at += 12) {
    if (read(bytes, at, 4) != 8) return std::nullopt;
    numbers.push_back(static_cast<std::int64_t>(read(bytes, at + 4, 8)));
  }
  return numbers;
}

}  // namespace reseq::postgres
