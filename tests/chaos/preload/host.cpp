// Preloaded (LD_PRELOAD) into a process: its wall clock and its disk are those of the page that RESEQ_CHAOS_HOST names
// (host_page.h). Only std::chrono::system_clock is moved, as in tests/modes/clock_shift
// (docs/testing.md, "Chaos"). The disk refuses what changes a file: pwrite, pwritev, writev, write,
// fsync, fdatasync below the folder of the page; reads go on, and so does what is mapped. A slow disk takes its time
// for every page of a pwrite, pwritev or writev there, as the kernel makes a writer wait that is ahead of its disk.
// Thread rule: any thread.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/chaos/preload/host_page.h"

namespace {

using reseq::chaos::HostPage;

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr size_t kPageBytes = 4096;

template <typename Function>
Function* next_of(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

HostPage* map_page() {
  const char* path = std::getenv(reseq::chaos::kHostPageVariable);
  if (path == nullptr) return nullptr;
  const int file = ::open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* mapped = ::mmap(nullptr, sizeof(HostPage), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  return mapped == MAP_FAILED ? nullptr : static_cast<HostPage*>(mapped);
}

HostPage* page() {
  static HostPage* const kPage = map_page();
  return kPage;
}

bool below_folder(int descriptor, const char* folder) {
  char link[64];
  char path[4096];
  (void)std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t size = ::readlink(link, path, sizeof path - 1);
  const std::size_t prefix = std::strlen(folder);
  return size > 0 && static_cast<std::size_t>(size) > prefix && std::memcmp(path, folder, prefix) == 0;
}

// True, with errno set: the disk does not take it.
bool refuses(int descriptor) {
  HostPage* host = page();
  if (host == nullptr) return false;
  const std::int32_t error = host->disk_error;
  if (error == 0 || !below_folder(descriptor, host->folder.data())) return false;
  ++host->disk_refusals;
  errno = error;
  return true;
}

// A full disk takes a sync, and gives back what it has; one that fails does neither.
bool refuses_sync(int descriptor) {
  const HostPage* host = page();
  return host != nullptr && host->disk_error == EIO && refuses(descriptor);
}

// How long the disk takes for one page of this file; 0 = it is fast.
std::int64_t page_us(int descriptor) {
  const HostPage* host = page();
  if (host == nullptr || host->disk_page_us == 0 || !below_folder(descriptor, host->folder.data())) return 0;
  return host->disk_page_us;
}

// Page by page. What was written, or the error of the first page. `write`: of bytes at an offset from the first.
template <typename Write>
ssize_t write_slowly(std::int64_t us, const iovec* pieces, int count, const Write& write) {
  ssize_t done = 0;
  for (int i = 0; i < count; ++i)
    for (size_t at = 0; at < pieces[i].iov_len; at += kPageBytes) {
      (void)::usleep(static_cast<useconds_t>(us));
      const size_t size = std::min(kPageBytes, pieces[i].iov_len - at);
      const ssize_t wrote = write(static_cast<const char*>(pieces[i].iov_base) + at, size, done);
      if (wrote < 0) return done == 0 ? wrote : done;
      done += wrote;
      if (static_cast<size_t>(wrote) < size) return done;
    }
  return done;
}

}  // namespace

extern "C" {

// The symbol of std::chrono::system_clock::now().
std::int64_t _ZNSt6chrono3_V212system_clock3nowEv() {
  timespec now{};
  (void)::clock_gettime(CLOCK_REALTIME, &now);
  const HostPage* host = page();
  const std::int64_t shift_s = host == nullptr ? 0 : host->clock_shift_s.load();
  return (std::int64_t{now.tv_sec} + shift_s) * kNsPerSecond + now.tv_nsec;
}

ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t offset) {
  using Function = ssize_t(int, const void*, size_t, off_t);
  static Function* const kReal = next_of<Function>("pwrite");
  if (refuses(descriptor)) return -1;
  const std::int64_t us = page_us(descriptor);
  if (us == 0) return kReal(descriptor, bytes, size, offset);
  const iovec all{const_cast<void*>(bytes), size};
  return write_slowly(us, &all, 1, [&](const void* page, size_t length, off_t at) {
    return kReal(descriptor, page, length, offset + at);
  });
}

ssize_t pwritev(int descriptor, const iovec* pieces, int count, off_t offset) {
  using Function = ssize_t(int, const iovec*, int, off_t);
  static Function* const kReal = next_of<Function>("pwritev");
  if (refuses(descriptor)) return -1;
  const std::int64_t us = page_us(descriptor);
  if (us == 0) return kReal(descriptor, pieces, count, offset);
  return write_slowly(us, pieces, count, [&](const void* page, size_t length, off_t at) {
    const iovec one{const_cast<void*>(page), length};
    return kReal(descriptor, &one, 1, offset + at);
  });
}

ssize_t writev(int descriptor, const iovec* pieces, int count) {
  using Function = ssize_t(int, const iovec*, int);
  static Function* const kReal = next_of<Function>("writev");
  if (refuses(descriptor)) return -1;
  const std::int64_t us = page_us(descriptor);
  if (us == 0) return kReal(descriptor, pieces, count);
  return write_slowly(us, pieces, count, [&](const void* page, size_t length, off_t) {
    const iovec one{const_cast<void*>(page), length};
    return kReal(descriptor, &one, 1);
  });
}

ssize_t write(int descriptor, const void* bytes, size_t size) {
  using Function = ssize_t(int, const void*, size_t);
  static Function* const kReal = next_of<Function>("write");
  return refuses(descriptor) ? -1 : kReal(descriptor, bytes, size);
}

int fsync(int descriptor) {
  using Function = int(int);
  static Function* const kReal = next_of<Function>("fsync");
  return refuses_sync(descriptor) ? -1 : kReal(descriptor);
}

int fdatasync(int descriptor) {
  using Function = int(int);
  static Function* const kReal = next_of<Function>("fdatasync");
  return refuses_sync(descriptor) ? -1 : kReal(descriptor);
}

}  // extern "C"
