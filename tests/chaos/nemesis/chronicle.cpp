#include "tests/chaos/nemesis/chronicle.h"

#include <algorithm>
#include <iostream>
#include <stdexcept>
#include <utility>

namespace reseq::chaos {

namespace {

// Logs are read every now and then, and a call that fails because of a fault may take its time-out to say so.
constexpr std::chrono::seconds kExcusedAfter{30};

bool has_all(const std::string& text, const Words& words) {
  return std::all_of(words.begin(), words.end(),
                     [&](const std::string& word) { return text.find(word) != std::string::npos; });
}

}  // namespace

Chronicle::Chronicle(const std::string& file) : file_(file) {
  if (!file_) throw std::runtime_error("cannot write " + file);
}

void Chronicle::note(const std::string& line) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin_).count();
  std::string seconds = std::to_string(ms / 1000) + "." + std::to_string(ms % 1000 + 1000).substr(1);
  file_ << std::string(9 - std::min<std::size_t>(seconds.size(), 8), ' ') << seconds << "  " << line << std::endl;
}

void Chronicle::violation(const std::string& what) {
  note("VIOLATION " + what);
  std::cout << "violation: " << what << std::endl;
  violations_.push_back(what);
}

void Chronicle::complain(const std::string& what) {
  const auto now = Clock::now();
  std::erase_if(excuses_, [&](const Excuse& one) { return one.until && *one.until < now; });
  const bool excused =
      std::any_of(excuses_.begin(), excuses_.end(), [&](const Excuse& one) { return has_all(what, one.words); });
  if (excused) return note("excused " + what);
  violation(what);
}

std::uint64_t Chronicle::excuse(Words words) {
  excuses_.push_back({.number = next_, .words = std::move(words)});
  return next_++;
}

void Chronicle::end_excuse(std::uint64_t number) {
  for (Excuse& one : excuses_)
    if (one.number == number) one.until = Clock::now() + kExcusedAfter;
}

}  // namespace reseq::chaos
