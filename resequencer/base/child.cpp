#include "base/child.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace reseq {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{5};

void redirect(posix_spawn_file_actions_t& actions, int from, int to, int null_flags) {
  if (from == to) return;  // as it is: one that is closed, or that somebody's file has by now, is closed for the child
  if (from < 0)
    posix_spawn_file_actions_addopen(&actions, to, "/dev/null", null_flags, 0);
  else
    posix_spawn_file_actions_adddup2(&actions, from, to);
}

// posix_spawn wants them writable and does not write to them. `strings` must outlive the pointers.
std::vector<char*> pointers_to(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& string : strings) pointers.push_back(const_cast<char*>(string.c_str()));  // NOLINT
  pointers.push_back(nullptr);
  return pointers;
}

// 0, or the error number.
int spawn(pid_t& pid, const std::vector<std::string>& arguments, const ChildOptions& options) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  redirect(actions, options.in, STDIN_FILENO, O_RDONLY);
  redirect(actions, options.out, STDOUT_FILENO, O_WRONLY);
  redirect(actions, options.err, STDERR_FILENO, O_WRONLY);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  for (const int signal : options.default_signals) sigaddset(&signals, signal);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int group = options.own_group ? POSIX_SPAWN_SETPGROUP : 0;
  posix_spawnattr_setflags(&attributes, static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group));
  const std::vector<char*> words = pointers_to(arguments);
  const std::vector<char*> variables = options.environment ? pointers_to(*options.environment) : std::vector<char*>();
  const int code = posix_spawnp(&pid, words[0], &actions, &attributes, words.data(),
                                options.environment ? variables.data() : environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return code;
}

}  // namespace

std::string Ending::text() const {
  if (signal != 0) return "signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
  return exit_code < 0 ? "an exit code that nobody saw" : "exit code " + std::to_string(exit_code);
}

Result<Child> Child::start(const std::vector<std::string>& arguments, const ChildOptions& options) {
  pid_t pid = -1;
  if (const int code = spawn(pid, arguments, options); code != 0)
    return Error{.what_to_do = ErrorClass::kInvalid,
                 .code = code,
                 .message = "cannot start " + arguments[0] + ": " + std::strerror(code)};
  return Child(pid);
}

Child::Child(Child&& other) noexcept
    : pid_(other.pid_), ending_(std::exchange(other.ending_, Ending{.exit_code = -1})) {}

Child::~Child() {
  signal(SIGKILL);
  wait();
}

const std::optional<Ending>& Child::poll() {
  reap(WNOHANG);
  return ending_;
}

void Child::signal(int number) {
  if (!ending_) ::kill(pid_, number);
}

void Child::signal_group(int number) {
  if (!ending_) ::kill(-pid_, number);
}

const Ending& Child::wait() {
  reap(0);
  return *ending_;
}

bool Child::wait_or_kill(std::chrono::milliseconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (running()) {
    if (std::chrono::steady_clock::now() >= until) {
      signal(SIGKILL);
      wait();
      return false;
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return true;
}

void Child::reap(int options) {
  if (ending_) return;
  int status = 0;
  pid_t got = 0;
  do {
    got = ::waitpid(pid_, &status, options);
  } while (got < 0 && errno == EINTR);
  if (got < 0) ending_ = Ending{.exit_code = -1};
  if (got != pid_) return;
  ending_ = WIFSIGNALED(status) ? Ending{.signal = WTERMSIG(status)} : Ending{.exit_code = WEXITSTATUS(status)};
}

Result<Pipe> open_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return Error{.code = errno, .message = std::string("cannot make a pipe: ") + std::strerror(errno)};
  return Pipe{.reading = FileDescriptor(ends[0]), .writing = FileDescriptor(ends[1])};
}

}  // namespace reseq
