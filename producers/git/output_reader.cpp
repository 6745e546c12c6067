#include "producers/git/output_reader.h"

#include <algorithm>
#include <cstring>

namespace reseq::git {
namespace {

Error broken_output(const char* what) {
  return Error{.what_to_do = ErrorClass::kInvalid, .code = 0, .message = std::string("the output of git ") + what};
}

}  // namespace

Result<std::optional<std::string_view>> OutputReader::until(char delimiter) {
  std::size_t searched = 0;
  for (;;) {
    const char* from = buffer_.data() + begin_;
    const void* found = std::memchr(from + searched, delimiter, end_ - begin_ - searched);
    if (found != nullptr) {
      const std::string_view piece(from, static_cast<std::size_t>(static_cast<const char*>(found) - from));
      begin_ += piece.size() + 1;
      return std::optional(piece);
    }
    searched = end_ - begin_;
    if (searched > kPieceBytesMax) return broken_output("has a name that is too long");
    Result<bool> more = fill();
    if (!more.ok()) return more.error();
    if (!more.value()) {
      if (searched != 0) return broken_output("ends in the middle");
      return std::optional<std::string_view>();
    }
  }
}

Result<> OutputReader::exactly(std::size_t bytes, std::string* to) {
  while (bytes != 0) {
    if (begin_ == end_) {
      Result<bool> more = fill();
      if (!more.ok()) return more.error();
      if (!more.value()) return broken_output("ends in the middle");
    }
    const std::size_t part = std::min(bytes, end_ - begin_);
    if (to != nullptr) to->append(buffer_.data() + begin_, part);
    begin_ += part;
    bytes -= part;
  }
  return Done{};
}

Result<bool> OutputReader::fill() {
  if (begin_ != 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) buffer_.resize(buffer_.size() * 2);
  Result<std::size_t> n = child_.read(std::span(buffer_).subspan(end_));
  if (!n.ok()) return n.error();
  end_ += n.value();
  return n.value() != 0;
}

}  // namespace reseq::git
