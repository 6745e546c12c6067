#include "tests/chaos/nemesis/footprint.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace reseq::chaos {

namespace {

constexpr std::uint64_t kBlockBytes = 512;  // of st_blocks, whatever the file system has

std::uint64_t entries_of(const std::string& folder) {
  std::error_code gone;
  std::uint64_t count = 0;
  for (std::filesystem::directory_iterator one(folder, gone), end; !gone && one != end; one.increment(gone)) ++count;
  return count;
}

std::uint64_t blocks_of(const std::string& folder) {
  std::error_code gone;
  std::uint64_t blocks = 0;
  for (std::filesystem::recursive_directory_iterator one(folder, gone), end; !gone && one != end; one.increment(gone)) {
    struct stat status {};
    if (::lstat(one->path().c_str(), &status) == 0) blocks += static_cast<std::uint64_t>(status.st_blocks);
  }
  return blocks;
}

}  // namespace

void Footprint::raise_to(const Footprint& other) {
  memory_bytes = std::max(memory_bytes, other.memory_bytes);
  descriptors = std::max(descriptors, other.descriptors);
  disk_bytes = std::max(disk_bytes, other.disk_bytes);
}

Footprint footprint_of(pid_t pid, const std::string& folder) {
  const std::string process = "/proc/" + std::to_string(pid);
  std::uint64_t size_pages = 0;
  std::uint64_t resident_pages = 0;
  std::ifstream(process + "/statm") >> size_pages >> resident_pages;
  return {.memory_bytes = resident_pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)),
          .descriptors = entries_of(process + "/fd"),
          .disk_bytes = blocks_of(folder) * kBlockBytes};
}

}  // namespace reseq::chaos
