#include "consumers/command/line_buffer.h"

#include <utility>

namespace reseq::command {

void LineBuffer::add(std::string_view bytes) {
  bytes_.erase(0, begin_);
  searched_ -= begin_;
  begin_ = 0;
  bytes_ += bytes;
}

std::optional<LineBuffer::Line> LineBuffer::next() {
  const std::size_t end = bytes_.find('\n', searched_);
  if (end == std::string::npos) {
    searched_ = bytes_.size();
    if (searched_ - begin_ > kLineBytesMax) {
      if (!dropped_) dropped_ = bytes_.substr(begin_, kShownBytes);
      bytes_.clear();
      begin_ = searched_ = 0;
    }
    return std::nullopt;
  }
  Line line{.text = bytes_.substr(begin_, end - begin_)};
  begin_ = searched_ = end + 1;
  if (dropped_) line = {.text = std::move(*std::exchange(dropped_, std::nullopt)), .too_long = true};
  if (line.text.size() > kLineBytesMax) line = {.text = line.text.substr(0, kShownBytes), .too_long = true};
  return line;
}

std::optional<LineBuffer::Line> LineBuffer::rest() {
  if (begin_ == bytes_.size() && !dropped_) return std::nullopt;
  add("\n");
  std::optional<Line> line = next();
  line->ended = false;
  return line;
}

}  // namespace reseq::command
