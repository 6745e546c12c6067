#include "store/private_directory.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <system_error>
#include <unistd.h>

namespace reseq::store {
namespace {

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

// What may be over by itself, or is not about this folder.
bool passes(int error) {
  return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOSPC || error == EDQUOT || error == EIO ||
         error == EINTR || error == EAGAIN;
}

std::string fix_of(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return ": the disk is full, free some of it or set state.dir to another one";
    case EACCES:
    case EPERM:
      return ": let this user (uid " + std::to_string(::geteuid()) +
             ") write it, or set state.dir to another directory";
    case EROFS:
      return ": the disk is read-only, set state.dir to another one";
    default:
      return "";
  }
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

Error refused(const std::string& path, const std::string& what, int error) {
  return {passes(error) ? ErrorClass::kRetriable : ErrorClass::kInvalid, error,
          "state: " + path + " " + what + ": " + reason(error) + fix_of(error)};
}

Result<> check_parents(const std::string& path) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::weakly_canonical(path, error);
  if (error) return refused(path, "cannot be looked at", error.value());
  for (std::filesystem::path parent = whole.parent_path();; parent = parent.parent_path()) {
    struct stat status {};
    if (::stat(parent.c_str(), &status) != 0) return refused(parent.string(), "cannot be looked at", errno);
    if ((status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0)
      return invalid("state: everybody can write " + parent.string() + ", and so replace " + whole.string() +
                     ": let its owner (user " + std::to_string(status.st_uid) + ") or root `chmod o-w " +
                     parent.string() + "`, or set state.dir to another directory");
    if (parent == parent.root_path()) return Done{};
  }
}

Result<PrivateDirectory> PrivateDirectory::open(const std::string& path, Missing missing) {
  if (path.empty()) return invalid("state: the path of the folder is empty");
  if (missing == Missing::kCreate)
    if (const int error = make_directories(path); error != 0) return refused(path, "cannot be created", error);
  FileDescriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (directory.number() < 0) {
    if (errno == ELOOP || errno == ENOTDIR)
      return invalid("state: " + path + " is a symbolic link or no directory: name the directory itself");
    return refused(path, "cannot be opened", errno);
  }
  if (auto checked = check_directory(path, directory.number()); !checked) return checked.error();
  if (auto checked = check_parents(path); !checked) return checked.error();
  return PrivateDirectory(path, std::move(directory));
}

Result<FileDescriptor> PrivateDirectory::lock(const char* name, Missing missing) const {
  const int create = missing == Missing::kCreate ? O_CREAT : 0;
  FileDescriptor lock(::openat(directory_.number(), name, O_RDWR | create | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (lock.number() < 0) {
    if (errno == ELOOP) return invalid("state: " + path_ + "/" + name + " is a symbolic link: remove it");
    return refused(path_ + "/" + name, "cannot be opened", errno);
  }
  if (::flock(lock.number(), LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno == EWOULDBLOCK)
    return Error{ErrorClass::kRetriable, errno, "state: " + path_ + " is held by another process or partition"};
  return failed("cannot be locked", errno);
}

std::string PrivateDirectory::read(const char* name) const {
  const FileDescriptor file(::openat(directory_.number(), name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  std::array<char, kNoteBytesMax> text{};
  const ssize_t size = file.number() >= 0 ? ::read(file.number(), text.data(), text.size()) : 0;
  return {text.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
}

Result<> PrivateDirectory::write(const char* name, const std::string& text) const {
  const std::string fresh = std::string(name) + ".new";
  const int directory = directory_.number();
  const FileDescriptor file(
      ::openat(directory, fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.number() < 0) return failed("cannot write " + fresh, errno);
  errno = 0;
  if (::write(file.number(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return failed("cannot write " + fresh, errno == 0 ? ENOSPC : errno);
  if (::fsync(file.number()) != 0) return failed("cannot sync " + fresh, errno);
  return rename(fresh.c_str(), name);
}

Result<> PrivateDirectory::rename(const char* from, const char* to) const {
  if (::renameat(directory_.number(), from, directory_.number(), to) != 0)
    return failed(std::string("cannot rename ") + from, errno);
  return Done{};
}

Result<> PrivateDirectory::remove(const char* name) const {
  if (::unlinkat(directory_.number(), name, 0) != 0 && errno != ENOENT)
    return failed(std::string("cannot remove ") + name, errno);
  return Done{};
}

Result<> PrivateDirectory::sync() const {
  if (::fsync(directory_.number()) != 0) return failed("cannot sync the directory", errno);
  return Done{};
}

Error PrivateDirectory::failed(const std::string& what, int error) const {
  return {ErrorClass::kRetriable, error, "state: " + path_ + ": " + what + ": " + reason(error) + fix_of(error)};
}

}  // namespace reseq::store
