// WorkLog: which requests the workers of a process began with, when, and for the how-manieth time. Each line is with
// the system before the work begins, so that a kill takes none away.
//
//   line := time SP request SP attempt LF        microseconds since 1970; request_number() in hexadecimal; as on `work`
//
// Thread rule: any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace reseq::demo {

// Names a request: a hash of its document and its sequence.
[[nodiscard]] std::uint64_t request_number(std::string_view id, std::string_view sequence);

[[nodiscard]] std::int64_t micros_now();

struct WorkBegun {
  std::int64_t micros = 0;
  std::uint64_t request = 0;
  std::uint32_t attempt = 1;
};

class WorkLog {
 public:
  // Goes on behind what is there. No path: nothing is written.
  static Result<WorkLog> open(const std::string& path);
  Result<> write(const WorkBegun& begun);

 private:
  FileDescriptor file_;
};

// All whole lines of a log. A file that is not there has none.
[[nodiscard]] std::vector<WorkBegun> read_work_log(const std::string& path);

}  // namespace reseq::demo
