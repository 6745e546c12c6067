#include "demo/run/progress_line.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

namespace reseq::demo {
namespace {

constexpr std::size_t kBarCells = 28;
constexpr std::chrono::milliseconds kRedraw{200};
constexpr std::chrono::seconds kLineEvery{5};  // where nothing can be redrawn

}  // namespace

std::string progress_text(std::uint64_t done, std::uint64_t whole, std::chrono::seconds elapsed,
                          const std::string& phase) {
  if (whole == 0) return phase;
  // The last hundredth is kept for the proof that everything has arrived.
  const double share = std::min(0.99, static_cast<double>(done) / static_cast<double>(whole));
  const auto cells = static_cast<std::size_t>(share * static_cast<double>(kBarCells));
  char tail[48] = "";
  if (share >= 0.02) {
    const double left = static_cast<double>(elapsed.count()) * (1.0 - share) / share;
    std::snprintf(tail, sizeof tail, "  about %.0f s left", left);
  }
  char text[200];
  std::snprintf(text, sizeof text, "[%s%s] %3.0f%%%s  %s", std::string(cells, '#').c_str(),
                std::string(kBarCells - cells, '.').c_str(), share * 100.0, tail, phase.c_str());
  return text;
}

ProgressLine::ProgressLine() : terminal_(::isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(std::uint64_t done, std::uint64_t whole, const std::string& phase) {
  const Clock::time_point now = Clock::now();
  if (now - shown_ < (terminal_ ? Clock::duration(kRedraw) : Clock::duration(kLineEvery))) return;
  shown_ = now;
  const auto elapsed = std::chrono::duration_cast<std::chrono::seconds>(now - started_);
  const std::string text = progress_text(done, whole, elapsed, phase);
  std::fprintf(stderr, terminal_ ? "\r%-79.79s" : "%s\n", text.c_str());
  open_ = terminal_;
}

void ProgressLine::end() {
  if (open_) std::fprintf(stderr, "\r%-79s\r", "");
  open_ = false;
}

}  // namespace reseq::demo
