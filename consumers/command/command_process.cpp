#include "consumers/command/command_process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace reseq::command {
namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10;
constexpr int kReadsInARow = 16;

Error failed(const std::string& what, int code) {
  return Error{.what_to_do = ErrorClass::kInvalid, .code = code, .message = what + ": " + std::strerror(code)};
}

// With default signal handlers, an empty mask, and a process group of its own.
int spawn(pid_t& pid, const std::vector<std::string>& argv, int input, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) sigaddset(&signals, signal);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));  // NOLINT: not written to
  words.push_back(nullptr);
  const int code = posix_spawnp(&pid, words[0], &actions, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return code;
}

}  // namespace

Result<std::unique_ptr<CommandProcess>> CommandProcess::start(const std::vector<std::string>& argv) {
  std::array<int, 2> to{-1, -1};
  std::array<int, 2> from{-1, -1};
  if (::pipe2(to.data(), O_CLOEXEC) != 0) return failed("cannot make a pipe", errno);
  if (::pipe2(from.data(), O_CLOEXEC) != 0) {
    const int code = errno;
    ::close(to[0]);
    ::close(to[1]);
    return failed("cannot make a pipe", code);
  }
  pid_t pid = -1;
  const int code = spawn(pid, argv, to[0], from[1]);
  ::close(to[0]);
  ::close(from[1]);
  if (code != 0) {
    ::close(to[1]);
    ::close(from[0]);
    return failed("cannot start " + argv[0], code);
  }
  for (const int end : {to[1], from[0]}) ::fcntl(end, F_SETFL, O_NONBLOCK);
  return std::unique_ptr<CommandProcess>(new CommandProcess(pid, to[1], from[0]));
}

CommandProcess::~CommandProcess() {
  close_end(input_);
  close_end(output_);
  if (ending()) return;
  kill(SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void CommandProcess::close_end(int& end) {
  if (end >= 0) ::close(end);
  end = -1;
}

void CommandProcess::finish_input() {
  finishing_ = true;
  write_some();
}

void CommandProcess::write_some() {
  while (input_ >= 0 && waiting_bytes() > 0) {
    const ssize_t n = ::write(input_, waiting_.data() + written_, waiting_bytes());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n < 0) {  // EPIPE
      input_refused_ = true;
      close_end(input_);
      return;
    }
    written_ += static_cast<std::size_t>(n);
  }
  if (written_ > waiting_.size() / 2) {
    waiting_.erase(0, written_);
    written_ = 0;
  }
  if (finishing_ && waiting_bytes() == 0) close_end(input_);
}

void CommandProcess::read_some() {
  std::string bytes(kReadBytes, '\0');
  // Bounded, so that a command that never stops writing does not keep us here.
  for (int reads = 0; output_ >= 0 && reads < kReadsInARow; ++reads) {
    const ssize_t n = ::read(output_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) return close_end(output_);
    lines_.add({bytes.data(), static_cast<std::size_t>(n)});
  }
}

std::optional<LineBuffer::Line> CommandProcess::next_line() {
  if (auto line = lines_.next()) return line;
  return output_ended() ? lines_.rest() : std::nullopt;
}

std::optional<std::string> CommandProcess::ending() {
  int status = 0;
  if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
  if (!status_) return std::nullopt;
  if (WIFSIGNALED(*status_)) return "was killed by signal " + std::to_string(WTERMSIG(*status_));
  const int code = WEXITSTATUS(*status_);
  return code == 0 ? std::string() : "ended with exit code " + std::to_string(code);
}

void CommandProcess::kill(int signal) {
  if (!status_) ::kill(-pid_, signal);  // the whole group: a shell and what it runs
}

}  // namespace reseq::command
