#include "tests/judge/verdict.h"

namespace reseq::judge {

namespace {

constexpr std::size_t kShownMax = 10;  // of each check

constexpr std::array<std::string_view, static_cast<std::size_t>(Check::kCount)> kNames = {
    "stable", "versions", "changelog", "tiles",    "end",     "dispatch",
    "timers", "fold",     "replay",    "produced", "offsets", "copies"};

}  // namespace

std::string_view name_of(Check check) {
  return kNames[static_cast<std::size_t>(check)];
}

void Verdict::add(Check check, const std::string& what) {
  Found& found = found_[static_cast<std::size_t>(check)];
  ++found.count;
  ++count_;
  if (found.shown.size() < kShownMax) found.shown.push_back(std::string(name_of(check)) + ": " + what);
}

std::vector<std::string> Verdict::lines() const {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < found_.size(); ++i) {
    const Found& found = found_[i];
    lines.insert(lines.end(), found.shown.begin(), found.shown.end());
    if (found.count > found.shown.size())
      lines.push_back(std::string(kNames[i]) + ": and " + std::to_string(found.count - found.shown.size()) + " more");
  }
  return lines;
}

}  // namespace reseq::judge
