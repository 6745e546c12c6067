#include "consumers/progress/progress_file.h"

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

namespace reseq::progress {

Result<ProgressFile> ProgressFile::open(const std::string& path) {
  if (path.empty()) return ProgressFile(nullptr);
  std::FILE* file = std::fopen(path.c_str(), "we");
  if (file == nullptr)
    return Error{.what_to_do = ErrorClass::kInvalid,
                 .code = errno,
                 .message = "cannot write " + path + ": " + std::strerror(errno)};
  return ProgressFile(file);
}

void ProgressFile::write(const nlohmann::ordered_json& line) {
  if (!file_) return;
  const std::string text = line.dump() + "\n";
  std::fwrite(text.data(), 1, text.size(), file_.get());
  std::fflush(file_.get());
}

}  // namespace reseq::progress
