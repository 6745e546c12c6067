#include "runtime/application/open_files.h"

#include <algorithm>
#include <sys/resource.h>

namespace reseq::runtime {

std::uint64_t raise_open_files() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return UINT64_MAX;
  const rlim_t before = files.rlim_cur;
  files.rlim_cur = files.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &files) == 0 ? files.rlim_cur : before;
}

std::optional<std::string> too_few_open_files(std::uint64_t limit, std::int32_t partitions, std::int64_t workers) {
  const std::uint64_t besides = kFilesBesides + kFilesOfWorker * static_cast<std::uint64_t>(workers);
  const std::uint64_t needed = besides + kFilesOfPartition * static_cast<std::uint64_t>(partitions);
  if (limit >= needed) return std::nullopt;
  const std::uint64_t carried = (std::max(limit, besides) - besides) / kFilesOfPartition;
  return "at most " + std::to_string(limit) + " files may be open, which carries " + std::to_string(carried) + " of " +
         std::to_string(partitions) + " partitions, and the last process of a group gets them all: allow " +
         std::to_string(needed) + " (LimitNOFILE=, ulimit -Hn)";
}

}  // namespace reseq::runtime
