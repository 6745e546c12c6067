// ResumeFile: how far a stream has been acknowledged, in a small JSON file that is replaced in one step.
// Invariant: the file holds the last mark that was saved, or the one before, never a part of one.
// Thread rule: one thread; one producer per file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"
#include "producers/sending/change_source.h"

namespace reseq::sending {

struct ResumeState {
  std::string stream;
  std::string destination;  // where the records were acknowledged: the topic
  Mark mark;

  friend bool operator==(const ResumeState&, const ResumeState&) = default;
};

class ResumeFile {
 public:
  explicit ResumeFile(std::filesystem::path path) : path_(std::move(path)) {}

  // Nothing when there is no such file. kInvalid: it is there, but is no resume file.
  [[nodiscard]] Result<std::optional<ResumeState>> load() const;

  // Written to a file beside it, synced, renamed over it, and the folder synced.
  [[nodiscard]] Result<> save(const ResumeState& state) const;

 private:
  std::filesystem::path path_;
};

}  // namespace reseq::sending
