#include "demo/process/child_process.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <fstream>
#include <sys/wait.h>
#include <thread>
#include <utility>

#include "demo/process/file_descriptor.h"
#include "demo/process/spawn.h"

namespace reseq::demo {
namespace {

constexpr Milliseconds kPatienceAtDestruction{5'000};

Ending ending_of(int status) {
  if (WIFEXITED(status)) return {WEXITSTATUS(status) == 0, "exit code " + std::to_string(WEXITSTATUS(status))};
  const int signal = WTERMSIG(status);
  return {false, "signal " + std::to_string(signal) + " (" + strsignal(signal) + ")"};
}

// Everything until the writer closed its end.
std::string drain(int descriptor) {
  std::string all;
  char buffer[65536];
  while (true) {
    const ssize_t got = ::read(descriptor, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return all;
    all.append(buffer, static_cast<std::size_t>(got));
  }
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const Launch& launch) {
  const FileDescriptor log(::open(launch.log_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644));
  if (log.get() < 0)
    return Error{.what_to_do = ErrorClass::kInvalid,
                 .code = errno,
                 .message = "cannot write " + launch.log_file + ": " + std::strerror(errno)};
  Result<pid_t> pid = spawn(launch.arguments, {.out = log.get(), .err = log.get()});
  if (!pid) return pid.error();
  return ChildProcess(launch, pid.value());
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : launch_(std::move(other.launch_)), pid_(std::exchange(other.pid_, -1)), ending_(std::move(other.ending_)) {}

ChildProcess::~ChildProcess() {
  if (pid_ < 0) return;
  ask_to_stop();
  wait_or_kill(kPatienceAtDestruction);
}

void ChildProcess::reap(bool block) {
  if (ending_) return;
  int status = 0;
  pid_t got = 0;
  do {
    got = ::waitpid(pid_, &status, block ? 0 : WNOHANG);
  } while (got < 0 && errno == EINTR);
  if (got == pid_) ending_ = ending_of(status);
  if (got < 0) ending_ = Ending{false, "its end was not seen"};
}

const std::optional<Ending>& ChildProcess::poll() {
  reap(false);
  return ending_;
}

void ChildProcess::tell(int signal) {
  // A pid that was reaped may belong to somebody else by now.
  if (!poll()) ::kill(pid_, signal);
}

bool ChildProcess::wait_or_kill(Milliseconds limit) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(limit.value());
  while (!poll()) {
    if (std::chrono::steady_clock::now() >= until) {
      ::kill(pid_, SIGKILL);
      reap(true);
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

std::string ChildProcess::last_lines(std::size_t count) const {
  std::ifstream log(launch_.log_file);
  std::deque<std::string> lines;
  for (std::string line; std::getline(log, line);) {
    lines.push_back(std::move(line));
    if (lines.size() > count) lines.pop_front();
  }
  std::string text;
  for (const std::string& line : lines) text += "  " + line + "\n";
  return text;
}

Result<std::string> output_of(const std::vector<std::string>& arguments) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return Error{.what_to_do = ErrorClass::kRetriable, .code = errno, .message = "no pipe left"};
  const FileDescriptor read_end(ends[0]);
  FileDescriptor write_end(ends[1]);
  Result<pid_t> pid = spawn(arguments, {.out = write_end.get(), .err = STDERR_FILENO});
  write_end.close();
  if (!pid) return pid.error();
  std::string output = drain(read_end.get());
  int status = 0;
  while (::waitpid(pid.value(), &status, 0) < 0 && errno == EINTR) {
  }
  const Ending ending = ending_of(status);
  if (ending.good) return output;
  std::string command;
  for (const std::string& argument : arguments) command += (command.empty() ? "" : " ") + argument;
  return Error{.what_to_do = ErrorClass::kInvalid, .message = "`" + command + "` ended with " + ending.text};
}

}  // namespace reseq::demo
