#include "store/state_folder.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <system_error>
#include <unistd.h>

#include "base/assert.h"

namespace reseq::store {
namespace {

constexpr const char* kLock = "lock";
constexpr const char* kCopyFile = "data.mdb";
constexpr const char* kReadersFile = "lock.mdb";
constexpr const char* kBoot = "boot";
constexpr const char* kClean = "clean";
constexpr const char* kPoisoned = "poisoned";
constexpr std::size_t kNoteBytesMax = 512;

// f_type of the file systems with coherent shared mappings and working locks (statfs(2)); see ADR 0050.
constexpr std::array<unsigned long, 6> kFileSystems = {
    0xEF53,      // ext4
    0x58465342,  // xfs
    0x9123683E,  // btrfs
    0x2FC12FC1,  // zfs
    0x01021994,  // tmpfs
    0x794C7630,  // overlayfs
};

Error invalid(std::string message) {
  return {ErrorClass::kInvalid, 0, std::move(message)};
}

std::string reason(int error) {
  return std::generic_category().message(error);
}

// A descriptor that is closed when the scope ends.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] int get() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

// What may be over by itself, or is not about this folder.
bool passes(int error) {
  return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOSPC || error == EDQUOT || error == EIO ||
         error == EINTR || error == EAGAIN;
}

Error refused(const std::string& path, const std::string& what, int error) {
  return {passes(error) ? ErrorClass::kRetriable : ErrorClass::kInvalid, error,
          "state: " + path + " " + what + ": " + reason(error)};
}

// 0 or errno.
int make_directories(const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) return errno;
    if (end == std::string::npos) return 0;
  }
}

Result<> check_directory(const std::string& path, int directory) {
  struct stat status {};
  struct statfs system {};
  if (::fstat(directory, &status) != 0 || ::fstatfs(directory, &system) != 0)
    return Error{ErrorClass::kRetriable, errno, "state: " + path + ": " + reason(errno)};
  if (status.st_uid != ::geteuid())
    return invalid("state: " + path + " belongs to user " + std::to_string(status.st_uid) +
                   ", not to this one: chown it");
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return invalid("state: " + path + " can be written by others: chmod go-w it");
  for (const unsigned long known : kFileSystems)
    if (static_cast<unsigned long>(system.f_type) == known) return Done{};
  return invalid("state: " + path + " lies on a file system on which LMDB is not safe (network, FUSE or unknown): " +
                 "use a local disk with ext4, xfs, btrfs or zfs");
}

}  // namespace

std::string_view name_of(StateFolder::Copy copy) {
  static constexpr std::array<std::string_view, 5> kNames = {"none", "clean", "same_boot", "other_boot", "poisoned"};
  return kNames[static_cast<std::size_t>(copy)];
}

std::string boot_id() {
  const File file(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  std::array<char, 64> text{};
  const ssize_t size = file ? ::read(file.get(), text.data(), text.size()) : 0;
  std::string id(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

Result<std::unique_ptr<StateFolder>> StateFolder::open(const std::string& path, const std::string& boot_id) {
  if (path.empty()) return invalid("state: the path of the folder is empty");
  if (const int error = make_directories(path); error != 0) return refused(path, "cannot be created", error);
  const int directory = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (directory < 0) {
    if (errno == ELOOP || errno == ENOTDIR)
      return invalid("state: " + path + " is a symbolic link or no directory: name the directory itself");
    return refused(path, "cannot be opened", errno);
  }
  auto folder = std::unique_ptr<StateFolder>(new StateFolder(path, boot_id, directory));
  if (auto checked = check_directory(path, directory); !checked) return checked.error();
  if (auto taken = folder->take_lock(); !taken) return taken.error();
  if (auto looked = folder->look(); !looked) return looked.error();
  return folder;
}

StateFolder::~StateFolder() {
  if (lock_ >= 0) ::close(lock_);
  if (directory_ >= 0) ::close(directory_);
}

Result<> StateFolder::take_lock() {
  lock_ = ::openat(directory_, kLock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock_ < 0) {
    if (errno == ELOOP) return invalid("state: " + path_ + "/lock is a symbolic link: remove it");
    return failed("cannot open its lock", errno);
  }
  if (::flock(lock_, LOCK_EX | LOCK_NB) == 0) return Done{};
  if (errno == EWOULDBLOCK)
    return Error{ErrorClass::kRetriable, errno, "state: " + path_ + " is held by another process or partition"};
  return failed("cannot be locked", errno);
}

Result<> StateFolder::look() {
  struct stat status {};
  for (const char* name : {kReadersFile, kCopyFile}) {
    status = {};
    if (::fstatat(directory_, name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno != ENOENT) return failed(std::string("cannot look at ") + name, errno);
      continue;
    }
    // A second name of the file could be opened as another environment.
    if (!S_ISREG(status.st_mode) || status.st_nlink > 1 || status.st_uid != ::geteuid())
      return invalid("state: " + path_ + "/" + name + " is a link or belongs to another user: remove it");
  }
  if (status.st_size == 0) return wipe();  // none, or an empty one that LMDB would take for new
  struct stat poisoned {};
  if (::fstatat(directory_, kPoisoned, &poisoned, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT) {
    found_ = Copy::kPoisoned;
    poisoned_ = true;
  } else if (read(kClean) == clean_note()) {
    found_ = Copy::kClean;
  } else {
    found_ = !boot_id_.empty() && read(kBoot) == boot_note() ? Copy::kSameBoot : Copy::kOtherBoot;
  }
  return Done{};
}

Result<> StateFolder::begin_writing() {
  if (writing_) return Done{};
  // The note first: without it a copy that lost its clean mark would count as written under another boot.
  if (auto written = write(kBoot, boot_note()); !written) return written;
  if (auto removed = remove(kClean); !removed) return removed;
  if (auto synced = sync_directory(); !synced) return synced;
  writing_ = true;
  return Done{};
}

Result<> StateFolder::mark_clean() {
  if (poisoned_) return Error{ErrorClass::kFatal, 0, "state: " + path_ + " is poisoned and cannot be clean"};
  if (auto written = write(kClean, clean_note()); !written) return written;
  if (auto synced = sync_directory(); !synced) return synced;
  writing_ = false;
  return Done{};
}

Result<> StateFolder::poison() {
  poisoned_ = true;
  // Two ways to say it, because the disk may be full or failing: without its boot note no unclean copy is trusted.
  auto marked = write(kPoisoned, "rebuild\n");
  const auto no_clean = remove(kClean);
  const auto no_boot = remove(kBoot);
  const auto synced = sync_directory();
  if (marked || (no_clean && no_boot && synced)) return Done{};
  return marked;
}

Result<> StateFolder::wipe() {
  // The copy before its marks, so that a wipe cut short never leaves a copy that looks better than it is.
  if (auto removed = remove(kCopyFile); !removed) return removed;
  if (auto synced = sync_directory(); !synced) return synced;
  for (const char* name : {kReadersFile, kClean, kBoot, kPoisoned})
    if (auto removed = remove(name); !removed) return removed;
  if (auto synced = sync_directory(); !synced) return synced;
  found_ = Copy::kNone;
  writing_ = false;
  poisoned_ = false;
  return Done{};
}

std::string StateFolder::boot_note() const {
  struct stat status {};
  if (::fstat(directory_, &status) != 0) return {};
  return "1 " + boot_id_ + " " + std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino) + "\n";
}

std::string StateFolder::clean_note() const {
  struct stat status {};
  if (::fstatat(directory_, kCopyFile, &status, AT_SYMLINK_NOFOLLOW) != 0) return "1 none\n";
  return "1 " + std::to_string(status.st_size) + "\n";
}

std::string StateFolder::read(const char* name) const {
  const File file(::openat(directory_, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  std::array<char, kNoteBytesMax> text{};
  const ssize_t size = file ? ::read(file.get(), text.data(), text.size()) : 0;
  return {text.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
}

// Whole or not at all: a new file takes the place of the old one.
Result<> StateFolder::write(const char* name, const std::string& text) {
  const std::string fresh = std::string(name) + ".new";
  const File file(::openat(directory_, fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return failed("cannot write " + fresh, errno);
  errno = 0;
  if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return failed("cannot write " + fresh, errno == 0 ? ENOSPC : errno);
  if (::fsync(file.get()) != 0) return failed("cannot sync " + fresh, errno);
  if (::renameat(directory_, fresh.c_str(), directory_, name) != 0) return failed("cannot rename " + fresh, errno);
  return Done{};
}

Result<> StateFolder::remove(const char* name) {
  if (::unlinkat(directory_, name, 0) != 0 && errno != ENOENT)
    return failed(std::string("cannot remove ") + name, errno);
  return Done{};
}

Result<> StateFolder::sync_directory() {
  if (::fsync(directory_) != 0) return failed("cannot sync the directory", errno);
  return Done{};
}

Error StateFolder::failed(const std::string& what, int error) const {
  return {ErrorClass::kRetriable, error, "state: " + path_ + ": " + what + ": " + reason(error)};
}

}  // namespace reseq::store
