// LastLine: of text that arrives in pieces the last line that is not blank.
// Invariant: memory is bounded; of a longer line only the beginning is kept.
// Thread rule: one thread.
#pragma once

#include <string>
#include <string_view>

namespace reseq::command {

class LastLine {
 public:
  static constexpr std::size_t kBytesMax = 4096;

  void add(std::string_view bytes);
  // Without blanks around it; empty when there was none. Also a line that has no end yet.
  [[nodiscard]] std::string text() const;
  void clear();

 private:
  std::string last_;     // whole
  std::string current_;  // without its end
};

}  // namespace reseq::command
