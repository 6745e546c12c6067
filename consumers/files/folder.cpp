#include "consumers/files/folder.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>

namespace reseq::files {
namespace {

namespace fs = std::filesystem;

constexpr ::mode_t kMode = 0666;  // less what the umask takes

// A disk that is full or gone may come back, but not within this call: the sink stops and is started again from what it
// has committed.
Error error_of(const std::string& doing, int code, ErrorClass what_to_do = ErrorClass::kFatal) {
  return {.what_to_do = what_to_do, .code = code, .message = doing + ": " + std::strerror(code)};
}

Result<> write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ::ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return error_of("write", errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return Done{};
}

}  // namespace

Result<Folder> Folder::open(const std::string& directory) {
  std::error_code failed;
  fs::create_directories(fs::path(directory) / "documents", failed);
  if (failed) return error_of("cannot make " + directory, failed.value(), ErrorClass::kInvalid);
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return error_of("cannot open " + directory, errno, ErrorClass::kInvalid);
  Folder folder(directory, descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0)
    return Error{.what_to_do = ErrorClass::kInvalid,
                 .code = errno,
                 .message = errno == EWOULDBLOCK ? "another process writes to " + directory
                                                 : "cannot lock " + directory + ": " + std::strerror(errno)};
  return folder;
}

Folder::~Folder() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<> Folder::write_incoming(std::string_view payload) {
  const int file = ::open(incoming().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode);
  if (file < 0) return error_of("cannot write " + incoming(), errno);
  Result<> written = write_all(file, payload);
  if (::close(file) != 0 && written) return error_of("cannot write " + incoming(), errno);
  return written;
}

Result<> Folder::put(const std::string& path, std::string_view payload) {
  if (Result<> written = write_incoming(payload); !written) return written;
  const fs::path to = fs::path(directory_) / path;
  if (std::rename(incoming().c_str(), to.c_str()) == 0) return Done{};
  if (errno != ENOENT) return error_of("cannot write " + to.string(), errno);
  // Its folders are made when the first document needs them.
  std::error_code failed;
  fs::create_directories(to.parent_path(), failed);
  if (failed) return error_of("cannot make " + to.parent_path().string(), failed.value());
  if (std::rename(incoming().c_str(), to.c_str()) == 0) return Done{};
  return error_of("cannot write " + to.string(), errno);
}

Result<> Folder::remove(const std::string& path) {
  const std::string file = directory_ + "/" + path;
  if (::unlink(file.c_str()) == 0 || errno == ENOENT) return Done{};
  return error_of("cannot remove " + file, errno);
}

Result<> Folder::sync() {
  if (::syncfs(descriptor_) == 0) return Done{};
  return error_of("cannot sync " + directory_, errno);
}

}  // namespace reseq::files
