// InstanceFolder: the folder of one process below state.dir, which holds the folders of its partitions. It is taken
// before the process speaks to the group, so that a second process with the same name, a folder of another application
// or a disk that cannot be written is told at the start, in one line.
//
//   lock    flock; holds the pid of the process that has it
//   owner   the application and the cluster that the copies belong to
//
// Invariant: one holder over all processes. Thread rule: one thread.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "store/private_directory.h"

namespace reseq::store {

struct Owner {
  std::string application_id;
  std::string cluster_id;
};

class InstanceFolder {
 public:
  // Takes the folder, creating it, and tries that the disk takes data. kRetriable: another process has it (is_held()),
  // or the disk is full. kInvalid: it belongs to another application or cluster, or cannot be used. Each names the fix.
  static Result<std::unique_ptr<InstanceFolder>> open(const std::string& path, const Owner& owner);

  // The same questions without leaving anything behind: no folder is created, the lock is given back.
  static Result<> look(const std::string& path, const Owner& owner);

 private:
  InstanceFolder(PrivateDirectory directory, FileDescriptor lock)
      : directory_(std::move(directory)), lock_(std::move(lock)) {}

  PrivateDirectory directory_;
  FileDescriptor lock_;
};

// Another process has the folder.
[[nodiscard]] bool is_held(const Error& error);

}  // namespace reseq::store
