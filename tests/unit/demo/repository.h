// A git repository in a folder of its own, for tests of the oracle.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "demo/process/child_process.h"

namespace reseq::demo {

class Repository {
 public:
  Repository() {
    std::string pattern = (std::filesystem::temp_directory_path() / "reseq-repo-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    git({"init", "-q", "-b", "main"});
  }
  Repository(const Repository&) = delete;
  Repository& operator=(const Repository&) = delete;
  ~Repository() { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path() const { return folder_.string(); }

  void write(const std::string& path, const std::string& content) {
    std::filesystem::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path, std::ios::binary) << content;
  }
  void commit() {
    git({"add", "-A"});
    git({"-c", "user.name=Test", "-c", "user.email=test@example.org", "commit", "-q", "--allow-empty", "-m", "change"});
  }
  std::string git(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"git", "-C", path()});
    const Result<std::string> output = output_of(arguments);
    EXPECT_TRUE(output.ok()) << (output.ok() ? "" : output.error().message);
    return output.ok() ? output.value() : "";
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace reseq::demo
