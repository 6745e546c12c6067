#include "store/state_folder.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/failpoint.h"

namespace reseq::store {
namespace {

constexpr const char* kCopyLock = "lock";
constexpr const char* kCopyFile = "data.mdb";
constexpr const char* kReadersFile = "lock.mdb";
constexpr const char* kFreshFile = "data.mdb.new";
constexpr const char* kFreshReadersFile = "data.mdb.new-lock";
constexpr const char* kBoot = "boot";
constexpr const char* kClean = "clean";
constexpr const char* kPoisoned = "poisoned";

}  // namespace

std::string_view name_of(StateFolder::Copy copy) {
  static constexpr std::array<std::string_view, 5> kNames = {"none", "clean", "same_boot", "other_boot", "poisoned"};
  return kNames[static_cast<std::size_t>(copy)];
}

std::string boot_id() {
  const FileDescriptor file(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  std::array<char, 64> text{};
  const ssize_t size = file.number() >= 0 ? ::read(file.number(), text.data(), text.size()) : 0;
  std::string id(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

StateFolder::StateFolder(PrivateDirectory directory, FileDescriptor lock, std::string boot_id)
    : boot_id_(std::move(boot_id)),
      directory_(std::move(directory)),
      lock_(std::move(lock)),
      crash_marks_{path() + "/" + kPoisoned, {path() + "/" + kClean, path() + "/" + kBoot}} {}

Result<std::unique_ptr<StateFolder>> StateFolder::open(const std::string& path, const std::string& boot_id) {
  return open(path, boot_id, Leftovers::kRemove);
}

Result<std::unique_ptr<StateFolder>> StateFolder::look(const std::string& path, const std::string& boot_id) {
  return open(path, boot_id, Leftovers::kKeep);
}

Result<std::unique_ptr<StateFolder>> StateFolder::open(const std::string& path, const std::string& boot_id,
                                                       Leftovers leftovers) {
  using Missing = PrivateDirectory::Missing;
  const Missing missing = leftovers == Leftovers::kRemove ? Missing::kCreate : Missing::kRefuse;
  auto directory = PrivateDirectory::open(path, missing);
  if (!directory) return directory.error();
  auto lock = directory.value().lock(kCopyLock, missing);
  if (!lock) return lock.error();
  auto folder =
      std::unique_ptr<StateFolder>(new StateFolder(std::move(directory).value(), std::move(lock).value(), boot_id));
  if (auto looked = folder->inspect(leftovers); !looked) return looked.error();
  return folder;
}

Result<> StateFolder::inspect(Leftovers leftovers) {
  if (leftovers == Leftovers::kRemove)
    if (auto removed = remove_fresh(); !removed) return removed;
  struct stat status {};
  for (const char* name : {kReadersFile, kCopyFile}) {
    status = {};
    if (::fstatat(directory_.descriptor(), name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno != ENOENT) return directory_.failed(std::string("cannot look at ") + name, errno);
      continue;
    }
    // A second name of the file could be opened as another environment.
    if (!S_ISREG(status.st_mode) || status.st_nlink > 1 || status.st_uid != ::geteuid())
      return Error{ErrorClass::kInvalid, 0,
                   "state: " + path() + "/" + name + " is a link or belongs to another user: remove it"};
  }
  // None, or an empty one that LMDB would take for new.
  if (status.st_size == 0) return leftovers == Leftovers::kRemove ? wipe() : Result<>(Done{});
  struct stat poisoned {};
  if (::fstatat(directory_.descriptor(), kPoisoned, &poisoned, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT) {
    found_ = Copy::kPoisoned;
    poisoned_ = true;
  } else if (directory_.read(kClean) == clean_note()) {
    found_ = Copy::kClean;
  } else {
    found_ = !boot_id_.empty() && directory_.read(kBoot) == boot_note() ? Copy::kSameBoot : Copy::kOtherBoot;
  }
  return Done{};
}

Result<> StateFolder::begin_writing() {
  if (writing_) return Done{};
  // The note first: without it a copy that lost its clean mark would count as written under another boot.
  if (auto written = directory_.write(kBoot, boot_note()); !written) return written;
  failpoint(Failpoint::kCheckpointNoted);
  if (auto removed = directory_.remove(kClean); !removed) return removed;
  failpoint(Failpoint::kCheckpointUnmarked);
  if (auto synced = directory_.sync(); !synced) return synced;
  writing_ = true;
  return Done{};
}

Result<> StateFolder::mark_clean() {
  if (poisoned_) return Error{ErrorClass::kFatal, 0, "state: " + path() + " is poisoned and cannot be clean"};
  if (auto written = directory_.write(kClean, clean_note()); !written) return written;
  failpoint(Failpoint::kStopMarked);
  if (auto synced = directory_.sync(); !synced) return synced;
  writing_ = false;
  return Done{};
}

Result<> StateFolder::poison() {
  poisoned_ = true;
  // Two ways to say it, because the disk may be full or failing: without its boot note no unclean copy is trusted.
  auto marked = directory_.write(kPoisoned, "rebuild\n");
  const auto no_clean = directory_.remove(kClean);
  const auto no_boot = directory_.remove(kBoot);
  const auto synced = directory_.sync();
  if (marked || (no_clean && no_boot && synced)) return Done{};
  return marked;
}

Result<> StateFolder::wipe() {
  // The copy before its marks, so that a wipe cut short never leaves a copy that looks better than it is.
  failpoint(Failpoint::kWipeBegin);
  if (auto removed = directory_.remove(kCopyFile); !removed) return removed;
  if (auto synced = directory_.sync(); !synced) return synced;
  failpoint(Failpoint::kWipeCopyRemoved);
  for (const char* name : {kReadersFile, kClean, kBoot, kPoisoned})
    if (auto removed = directory_.remove(name); !removed) return removed;
  failpoint(Failpoint::kWipeMarksRemoved);
  if (auto synced = directory_.sync(); !synced) return synced;
  found_ = Copy::kNone;
  writing_ = false;
  poisoned_ = false;
  return Done{};
}

std::string StateFolder::fresh_path() const {
  return path() + "/" + kFreshFile;
}

Result<> StateFolder::remove_fresh() {
  if (auto removed = directory_.remove(kFreshFile); !removed) return removed;
  return directory_.remove(kFreshReadersFile);
}

Result<> StateFolder::take_fresh() {
  if (auto renamed = directory_.rename(kFreshFile, kCopyFile); !renamed) return renamed;
  failpoint(Failpoint::kCompactionRenamed);
  (void)directory_.remove(kFreshReadersFile);  // the next open does what this could not
  auto synced = directory_.sync();
  failpoint(Failpoint::kCompactionReplaced);
  if (synced) return Done{};
  (void)poison();
  return Error{ErrorClass::kFatal, synced.error().code, synced.error().message};
}

std::string StateFolder::boot_note() const {
  struct stat status {};
  if (::fstat(directory_.descriptor(), &status) != 0) return {};
  return "1 " + boot_id_ + " " + std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino) + "\n";
}

std::string StateFolder::clean_note() const {
  struct stat status {};
  if (::fstatat(directory_.descriptor(), kCopyFile, &status, AT_SYMLINK_NOFOLLOW) != 0) return "1 none\n";
  return "1 " + std::to_string(status.st_size) + "\n";
}

}  // namespace reseq::store
