#include "demo/pipeline/work_log.h"

#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <unistd.h>

#include "demo/pipeline/treatment.h"

namespace reseq::demo {
namespace {

Error log_error(const std::string& path) {
  return {.what_to_do = ErrorClass::kFatal, .message = "cannot write " + path + ": " + std::strerror(errno)};
}

}  // namespace

std::uint64_t request_number(std::string_view id, std::string_view sequence) {
  return mix(mix(kHashBasis, id), sequence);
}

std::int64_t micros_now() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Result<WorkLog> WorkLog::open(const std::string& path) {
  WorkLog log;
  if (path.empty()) return log;
  log.file_ = FileDescriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (log.file_.number() < 0) return log_error(path);
  return log;
}

Result<> WorkLog::write(const WorkBegun& begun) {
  if (file_.number() < 0) return Done{};
  char line[80];
  const int length = std::snprintf(line, sizeof line, "%" PRId64 " %016" PRIx64 " %" PRIu32 "\n", begun.micros,
                                   begun.request, begun.attempt);
  const auto bytes = static_cast<std::size_t>(length);
  if (::write(file_.number(), line, bytes) != length) return log_error("the work log");
  return Done{};
}

std::vector<WorkBegun> read_work_log(const std::string& path) {
  std::vector<WorkBegun> all;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line) && !file.eof();) {
    WorkBegun begun;
    if (std::sscanf(line.c_str(), "%" SCNd64 " %" SCNx64 " %" SCNu32, &begun.micros, &begun.request, &begun.attempt) ==
        3)
      all.push_back(begun);
  }
  return all;
}

}  // namespace reseq::demo
