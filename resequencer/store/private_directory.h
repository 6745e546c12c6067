// PrivateDirectory: a directory that belongs to this user alone, on a file system that LMDB can live on, with small
// notes in it that are written whole or not at all.
// Thread rule: one thread at a time.
#pragma once

#include <string>
#include <utility>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace reseq::store {

class PrivateDirectory {
 public:
  enum class Missing : unsigned char { kCreate, kRefuse };

  // Creates the directory and its parents (0700), or refuses one that is not there (kInvalid). kRetriable: the disk
  // refuses. kInvalid: it may not be written, is a symbolic link, belongs to another user, can be written by others
  // or replaced by them (check_parents), or lies on a file system that LMDB cannot live on. Each message names the fix.
  static Result<PrivateDirectory> open(const std::string& path, Missing missing);

  // Whoever holds the lock file owns the directory; the kernel gives it back when the process ends. kRetriable:
  // somebody holds it (code EWOULDBLOCK), or the disk refuses, or there is no lock file and none is to be created.
  // kInvalid: it is a symbolic link.
  Result<FileDescriptor> lock(const char* name, Missing missing = Missing::kCreate) const;

  // Empty when there is none, or it cannot be read.
  [[nodiscard]] std::string read(const char* name) const;
  // Whole or not at all: a new file takes the place of the old one. Durable after sync().
  Result<> write(const char* name, const std::string& text) const;
  // One that does not exist is fine.
  Result<> remove(const char* name) const;
  // Takes the place of what has that name. Durable after sync().
  Result<> rename(const char* from, const char* to) const;
  Result<> sync() const;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] int descriptor() const { return directory_.number(); }
  // kRetriable, with the path, what was tried and errno's words.
  [[nodiscard]] Error failed(const std::string& what, int error) const;

 private:
  PrivateDirectory(std::string path, FileDescriptor directory)
      : path_(std::move(path)), directory_(std::move(directory)) {}

  std::string path_;
  FileDescriptor directory_;
};

// kInvalid: somebody else could put another directory in the place of `path`, because everybody may write one of its
// parents; in one with the sticky bit, as /tmp, they may not. REQUIRES: the parents exist.
[[nodiscard]] Result<> check_parents(const std::string& path);

// kInvalid or kRetriable, with the fix: `path` could not be used because of `error` (errno).
[[nodiscard]] Error refused(const std::string& path, const std::string& what, int error);

}  // namespace reseq::store
