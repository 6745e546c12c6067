// Progress: how far a run is, as JSON lines in a file about once per second and as a bar on a terminal.
// Thread rule: one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"

namespace reseq::sending {

struct Progress {
  std::uint64_t sent = 0;              // records queued in this run
  std::uint64_t skipped = 0;           // items that were no request
  std::optional<std::uint64_t> total;  // items of this run; at the end sent + skipped
  std::chrono::milliseconds elapsed{0};
  bool done = false;  // everything was acknowledged

  [[nodiscard]] std::uint64_t passed() const { return sent + skipped; }
  // Time left at the pace so far; nothing while it cannot be told.
  [[nodiscard]] std::optional<std::chrono::seconds> left() const;
};

// One line of JSON without its end: sent, skipped, total (null when unknown), elapsed_ms, done.
[[nodiscard]] std::string progress_json(const Progress& progress);
// One line of text of at most 78 columns.
[[nodiscard]] std::string progress_bar(const Progress& progress);

class ProgressReport {
 public:
  // `file` is emptied, when given; `bar` draws on stderr.
  [[nodiscard]] static Result<ProgressReport> open(const std::optional<std::filesystem::path>& file, bool bar);
  ProgressReport(ProgressReport&& other) noexcept;
  ProgressReport& operator=(ProgressReport&&) = delete;
  ~ProgressReport();

  void show(const Progress& progress);
  // Ends the bar, so that a line can be written to the terminal.
  void clear();

 private:
  ProgressReport(std::FILE* file, bool bar) : file_(file), bar_(bar) {}

  std::FILE* file_;
  bool bar_;
  bool drawn_ = false;
};

}  // namespace reseq::sending
