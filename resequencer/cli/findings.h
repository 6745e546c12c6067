// Findings: what a command has looked at, one line each, printed with the worst last, so that the output ends in the
// line that names the fix.
// Thread rule: one thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace reseq::cli {

enum class Verdict : unsigned char { kOk, kWarning, kError };
enum class Format : unsigned char { kTable, kJson };

struct Line {
  Verdict verdict = Verdict::kOk;
  std::string subject;  // one word: brokers, topics, state, ...
  std::string text;
};

class Findings {
 public:
  void add(Verdict verdict, std::string subject, std::string_view text);
  [[nodiscard]] bool any_error() const;
  // Table: one line per finding. JSON: {"ok": bool, "findings": [{"verdict", "subject", "text"}]}.
  [[nodiscard]] std::string text(Format format) const;

 private:
  std::vector<Line> lines_;
};

}  // namespace reseq::cli
