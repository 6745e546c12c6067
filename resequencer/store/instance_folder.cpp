#include "store/instance_folder.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace reseq::store {
namespace {

constexpr const char* kProcessLock = "lock";
constexpr const char* kOwner = "owner";
constexpr const char* kTrial = "trial";
// As much as the first pages of an LMDB environment take.
constexpr std::size_t kTrialBytes = 64 * 1024;

std::string note_of(const Owner& owner) {
  return "1 application " + owner.application_id + " cluster " + owner.cluster_id + "\n";
}

Result<FileDescriptor> take(const PrivateDirectory& directory) {
  auto lock = directory.lock(kProcessLock);
  if (lock || !is_held(lock.error())) return lock;
  std::string pid = directory.read(kProcessLock);
  while (!pid.empty() && pid.back() == '\n') pid.pop_back();
  return Error{ErrorClass::kRetriable, EWOULDBLOCK,
               "state: " + directory.path() + " is in use by process " + (pid.empty() ? "(unknown)" : pid) +
                   ": stop it, or give this process an instance.id of its own"};
}

Result<> compare_owner(const PrivateDirectory& directory, const Owner& owner) {
  const std::string found = directory.read(kOwner);
  if (found.empty() || found == note_of(owner)) return Done{};
  return Error{ErrorClass::kInvalid, 0,
               "state: " + directory.path() + " belongs to" + found.substr(1, found.size() - 2) + ", not to" +
                   note_of(owner).substr(1, note_of(owner).size() - 2) +
                   ": correct bootstrap.servers, or set another state.dir, or remove this folder to have the state "
                   "read again from the changelog"};
}

bool exists(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

// Of a folder that is still to be created: could it be?
Result<> look_at_parent(std::string path) {
  const bool absolute = path.starts_with('/');
  while (!path.empty() && !exists(path)) path.erase(path.find('/') == std::string::npos ? 0 : path.rfind('/'));
  if (path.empty()) path = absolute ? "/" : ".";
  if (::faccessat(AT_FDCWD, path.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
    return refused(path, "cannot be written", errno);
  struct statvfs disk {};
  if (::statvfs(path.c_str(), &disk) == 0 && disk.f_bavail * disk.f_frsize < kTrialBytes)
    return refused(path, "cannot be written", ENOSPC);
  return check_parents(path + "/new");
}

Result<> write_trial(const PrivateDirectory& directory) {
  auto written = directory.write(kTrial, std::string(kTrialBytes, '\0'));
  const auto removed = directory.remove(kTrial);
  const auto left_over = directory.remove("trial.new");
  if (!written) return written;
  return removed ? left_over : removed;
}

}  // namespace

bool is_held(const Error& error) {
  return error.what_to_do == ErrorClass::kRetriable && error.code == EWOULDBLOCK;
}

Result<std::unique_ptr<InstanceFolder>> InstanceFolder::open(const std::string& path, const Owner& owner) {
  auto directory = PrivateDirectory::open(path, PrivateDirectory::Missing::kCreate);
  if (!directory) return directory.error();
  auto lock = take(directory.value());
  if (!lock) return lock.error();
  if (auto mine = compare_owner(directory.value(), owner); !mine) return mine.error();
  if (auto tried = write_trial(directory.value()); !tried) return tried.error();
  const std::string pid = std::to_string(::getpid()) + "\n";
  const bool noted = ::ftruncate(lock.value().number(), 0) == 0 &&
                     ::pwrite(lock.value().number(), pid.data(), pid.size(), 0) == static_cast<ssize_t>(pid.size());
  if (!noted) return directory.value().failed("cannot write its lock", errno);
  if (auto written = directory.value().write(kOwner, note_of(owner)); !written) return written.error();
  if (auto synced = directory.value().sync(); !synced) return synced.error();
  return std::unique_ptr<InstanceFolder>(new InstanceFolder(std::move(directory).value(), std::move(lock).value()));
}

Result<> InstanceFolder::look(const std::string& path, const Owner& owner) {
  if (!exists(path)) return look_at_parent(path);
  auto directory = PrivateDirectory::open(path, PrivateDirectory::Missing::kRefuse);
  if (!directory) return directory.error();
  if (auto mine = compare_owner(directory.value(), owner); !mine) return mine;
  if (auto lock = take(directory.value()); !lock) return lock.error();
  return write_trial(directory.value());
}

}  // namespace reseq::store
