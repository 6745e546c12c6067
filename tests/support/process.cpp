#include "tests/support/process.h"

#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace reseq::test {
namespace {

// What we ignore it ignores, too: a run under nohup outlives its terminal with all its programs.
Child start(const std::vector<std::string>& argv, const std::string& log_file) {
  const FileDescriptor log(::open(log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (log.number() < 0) throw std::runtime_error("cannot write " + log_file);
  auto child = Child::start(argv, {.out = log.number(), .err = log.number(), .default_signals = {}});
  if (!child) throw std::runtime_error(child.error().message);
  return std::move(child).value();
}

}  // namespace

Process::Process(const std::vector<std::string>& argv, std::string log_file)
    : log_file_(std::move(log_file)), child_(start(argv, log_file_)) {}

int Process::wait(int limit_ms) {
  if (!child_.wait_or_kill(std::chrono::milliseconds(limit_ms))) return -1;
  const Ending& ending = child_.wait();
  return ending.signal != 0 ? 128 + ending.signal : ending.exit_code;
}

std::string Process::tail(std::size_t bytes) const {
  std::ifstream file(log_file_, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return text.size() > bytes ? text.substr(text.size() - bytes) : text;
}

TempDir::TempDir() {
  std::string place = (std::filesystem::temp_directory_path() / "reseq-test-XXXXXX").string();
  if (::mkdtemp(place.data()) == nullptr) throw std::runtime_error("cannot make a temporary directory");
  path_ = place;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string program(const std::string& name) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / name).string();
}

}  // namespace reseq::test
