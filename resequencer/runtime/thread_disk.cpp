#include "runtime/thread_disk.h"

#include <array>
#include <charconv>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>

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

}  // namespace

ThreadDisk::~ThreadDisk() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool ThreadDisk::watch_this_thread() {
  descriptor_ = ::open("/proc/thread-self/io", O_RDONLY | O_CLOEXEC);
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
