// ProgressFile: how far a program is, as lines of JSON in a file, so that whoever started it can follow. The last whole
// line is what counts.
// Thread rule: one thread.
#pragma once

#include <cstdio>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/result.h"

namespace reseq::progress {

class ProgressFile {
 public:
  // Empties the file. An empty path gives a ProgressFile that writes nothing.
  static Result<ProgressFile> open(const std::string& path);

  // Appends one line. A disk that is full loses progress, never work: it is not an error.
  void write(const nlohmann::ordered_json& line);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  explicit ProgressFile(std::FILE* file) : file_(file) {}
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace reseq::progress
