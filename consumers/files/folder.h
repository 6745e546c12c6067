// Folder: the files of documents below one directory.
//
//   DIR/documents/FOLD/FOLD/NAME   the payload of a document (file_name.h)
//   DIR/failed/FOLD/FOLD/NAME      the note of a marker (sink/marker.h), which stands for the document of that name
//   DIR/incoming                   the file that is being written
//
// Invariants: a document's file is whole at any moment, the old payload or the new one; one process at a time has the
// directory open.
// Thread rule: one thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace reseq::files {

class Folder {
 public:
  // Creates the directory when it does not exist. kInvalid: it cannot be written, or another process has it.
  static Result<Folder> open(const std::string& directory);
  ~Folder();
  Folder(Folder&& from) noexcept
      : directory_(std::move(from.directory_)), descriptor_(std::exchange(from.descriptor_, -1)) {}
  Folder& operator=(Folder&&) = delete;
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  // `path`: below the directory. Replaces what is there.
  Result<> put(const std::string& path, std::string_view payload);
  // That nothing is there is as good.
  Result<> remove(const std::string& path);

  // Everything so far survives a power cut when this comes back.
  Result<> sync();

 private:
  Folder(std::string directory, int descriptor) : directory_(std::move(directory)), descriptor_(descriptor) {}
  [[nodiscard]] std::string incoming() const { return directory_ + "/incoming"; }
  Result<> write_incoming(std::string_view payload);

  std::string directory_;
  int descriptor_;  // of the directory, with the lock
};

// Paths below the directory of a sink: of a document's file, and of the file of a marker in its place. `path`: of
// file_name().
[[nodiscard]] inline std::string path_of_document(std::string_view path) {
  return "documents/" + std::string(path);
}
[[nodiscard]] inline std::string path_of_marker(std::string_view path) {
  return "failed/" + std::string(path);
}

}  // namespace reseq::files
