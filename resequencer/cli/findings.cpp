#include "cli/findings.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "admin/json_text.h"
#include "base/log.h"

namespace reseq::cli {

namespace {

constexpr std::size_t kVerdictWidth = 9;
constexpr std::size_t kSubjectWidth = 10;

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return "ok";
    case Verdict::kWarning:
      return "warning";
    case Verdict::kError:
      return "error";
  }
  return "";
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size() + 1), ' ');
  return text;
}

}  // namespace

void Findings::add(Verdict verdict, std::string subject, std::string_view text) {
  lines_.push_back({verdict, std::move(subject), log::one_line(text)});
}

bool Findings::any_error() const {
  return std::any_of(lines_.begin(), lines_.end(), [](const Line& line) { return line.verdict == Verdict::kError; });
}

std::string Findings::text(Format format) const {
  std::vector<Line> lines = lines_;
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.verdict < b.verdict; });
  if (format == Format::kJson) {
    nlohmann::ordered_json found = nlohmann::json::array();
    for (const Line& line : lines)
      found.push_back({{"verdict", name_of(line.verdict)}, {"subject", line.subject}, {"text", line.text}});
    const nlohmann::ordered_json all = {{"ok", !any_error()}, {"findings", std::move(found)}};
    return admin::indented(all);
  }
  std::string text;
  for (const Line& line : lines)
    text += padded(name_of(line.verdict), kVerdictWidth) + padded(line.subject, kSubjectWidth) + line.text + "\n";
  return text;
}

}  // namespace reseq::cli
