#include "runtime/process/thread_disk.h"

#include <array>
#include <charconv>
#include <fcntl.h>
#include <mutex>
#include <string_view>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/assert.h"

namespace reseq::runtime {

namespace {

// Behind "NAME: " in proc(5)'s io; 0: it is not there.
std::uint64_t counted(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(name);
  std::uint64_t bytes = 0;
  if (at != std::string_view::npos)
    (void)std::from_chars(text.data() + at + name.size(), text.data() + text.size(), bytes);
  return bytes;
}

// While a process keeps its memory to itself (cli/privacy.h) its files in /proc are root's. One that is open stays
// readable for its own threads, so the memory is everybody's of this user for the moment of one open. One thread at a
// time, or one would end the moment of another.
int open_own(const char* file) {
  static std::mutex moment;
  const std::lock_guard<std::mutex> alone(moment);
  const bool keeps_private = ::prctl(PR_GET_DUMPABLE) == 0;
  if (keeps_private) ::prctl(PR_SET_DUMPABLE, 1);
  const int descriptor = ::open(file, O_RDONLY | O_CLOEXEC);
  if (keeps_private) RESEQ_ASSERT(::prctl(PR_SET_DUMPABLE, 0) == 0, "the memory of this process is no longer private");
  return descriptor;
}

}  // namespace

ThreadDisk::~ThreadDisk() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool ThreadDisk::watch_this_thread() {
  descriptor_ = open_own("/proc/thread-self/io");
  return descriptor_ >= 0;
}

std::uint64_t ThreadDisk::bytes() const {
  std::array<char, 512> text{};
  const int descriptor = descriptor_;
  const ssize_t size = descriptor < 0 ? 0 : ::pread(descriptor, text.data(), text.size(), 0);
  if (size <= 0) return 0;
  const std::string_view all(text.data(), static_cast<std::size_t>(size));
  return counted(all, "\nread_bytes: ") + counted(all, "\nwrite_bytes: ");
}

}  // namespace reseq::runtime
