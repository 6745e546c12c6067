// OutputReader: what a child prints, cut at a delimiter or by length; no byte has a meaning of its own.
// Thread rule: one thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "producers/git/child_process.h"

namespace reseq::git {

class OutputReader {
 public:
  // Longest piece that until() returns; git has no such limit, a hostile tree could otherwise take all memory.
  static constexpr std::size_t kPieceBytesMax = std::size_t{16} << 20;

  // REQUIRES: `child` outlives the reader.
  explicit OutputReader(ChildProcess& child) : child_(child), buffer_(kBufferBytes) {}

  // The bytes before the next `delimiter`, valid until the next call; nothing at the end of the output.
  // kInvalid: the output ends without the delimiter, or the piece is longer than kPieceBytesMax.
  Result<std::optional<std::string_view>> until(char delimiter);

  // Appends exactly `bytes` bytes to `to`, or only passes over them when `to` is null. kInvalid: there are fewer.
  Result<> exactly(std::size_t bytes, std::string* to);

 private:
  static constexpr std::size_t kBufferBytes = std::size_t{1} << 16;

  // False at the end of the output.
  Result<bool> fill();

  ChildProcess& child_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace reseq::git
