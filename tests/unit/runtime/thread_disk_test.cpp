// What the kernel counts for a thread, also in a process that keeps its memory to itself and is not root's.
#include "runtime/process/thread_disk.h"

#include <array>
#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <string>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <thread>
#include <unistd.h>

#include "tests/support/process.h"

namespace reseq::runtime {
namespace {

constexpr uid_t kNobody = 65534;

std::uint64_t seen_by_another(const ThreadDisk& disk) {
  std::uint64_t bytes = 0;
  std::thread([&] { bytes = disk.bytes(); }).join();
  return bytes;
}

// True: this thread writes to a disk and reads from it, another one sees both, and the memory is private afterwards.
bool is_seen(const std::string& file) {
  if (::prctl(PR_SET_DUMPABLE, 0) != 0) return false;
  ThreadDisk disk;
  if (!disk.watch_this_thread() || ::prctl(PR_GET_DUMPABLE) != 0) return false;
  const std::uint64_t before = disk.bytes();
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  std::array<char, 65'536> page{};
  if (::write(descriptor, page.data(), page.size()) != static_cast<ssize_t>(page.size())) return false;
  const std::uint64_t written = seen_by_another(disk);
  if (::fdatasync(descriptor) != 0 || ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) != 0) return false;
  if (::pread(descriptor, page.data(), page.size(), 0) != static_cast<ssize_t>(page.size())) return false;
  ::close(descriptor);
  return written >= before + page.size() && seen_by_another(disk) >= written + page.size();
}

TEST(ThreadDisk, IsSeenInAProcessOfAnyUserThatKeepsItsMemoryToItself) {
  const test::TempDir folder;
  struct statfs disk {};
  ASSERT_EQ(::statfs(folder.path().c_str(), &disk), 0);
  if (disk.f_type == TMPFS_MAGIC) GTEST_SKIP() << folder.path() << " is memory, for which nothing is counted";
  ASSERT_EQ(::chmod(folder.path().c_str(), 0777), 0);
  const auto as_nobody = [&] {
    if (::geteuid() == 0 && ::setuid(kNobody) != 0) std::_Exit(2);
    std::_Exit(is_seen(folder.path() + "/file") ? 0 : 1);
  };
  EXPECT_EXIT(as_nobody(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace reseq::runtime
