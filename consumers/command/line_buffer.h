// LineBuffer: bytes that arrive in pieces as lines.
// Invariant: memory is bounded by the longest line that is allowed; what is longer is dropped and reported.
// Thread rule: one thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace reseq::command {

class LineBuffer {
 public:
  static constexpr std::size_t kLineBytesMax = std::size_t{64} << 20;

  struct Line {
    std::string text;  // without its end; the beginning of it when it was too long
    bool too_long = false;
    bool ended = true;  // false: nothing more came, also no line end
  };

  void add(std::string_view bytes);
  // The next whole line.
  [[nodiscard]] std::optional<Line> next();
  // What stands behind the last line end, when nothing more comes.
  [[nodiscard]] std::optional<Line> rest();

 private:
  static constexpr std::size_t kShownBytes = 200;

  std::string bytes_;
  std::size_t begin_ = 0;               // of the next line
  std::size_t searched_ = 0;            // no line end before this
  std::optional<std::string> dropped_;  // beginning of a line that is too long
};

}  // namespace reseq::command
