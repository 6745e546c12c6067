#include "demo/process/child_process.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <fstream>
#include <unistd.h>
#include <utility>

namespace reseq::demo {
namespace {

constexpr Milliseconds kPatienceAtDestruction{5'000};

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
  if (log.number() < 0)
    return Error{.what_to_do = ErrorClass::kInvalid,
                 .code = errno,
                 .message = "cannot write " + launch.log_file + ": " + std::strerror(errno)};
  Result<Child> child = Child::start(launch.arguments, {.out = log.number(), .err = log.number()});
  if (!child) return child.error();
  return ChildProcess(launch, std::move(child).value());
}

ChildProcess::~ChildProcess() {
  ask_to_stop();
  wait_or_kill(kPatienceAtDestruction);
}

bool ChildProcess::wait_or_kill(Milliseconds limit) {
  return child_.wait_or_kill(std::chrono::milliseconds(limit.value()));
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

Result<std::string> output_of(const std::vector<std::string>& arguments, Complaints complaints) {
  Result<Pipe> pipe = open_pipe();
  if (!pipe) return pipe.error();
  const int err = complaints == Complaints::kOurs ? STDERR_FILENO : -1;
  Result<Child> child = Child::start(arguments, {.out = pipe.value().writing.number(), .err = err});
  pipe.value().writing.close();
  if (!child) return child.error();
  std::string output = drain(pipe.value().reading.number());
  const Ending& ending = child.value().wait();
  if (ending.good()) return output;
  std::string command;
  for (const std::string& argument : arguments) command += (command.empty() ? "" : " ") + argument;
  return Error{.what_to_do = ErrorClass::kInvalid, .message = "`" + command + "` ended with " + ending.text()};
}

}  // namespace reseq::demo
