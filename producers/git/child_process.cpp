#include "producers/git/child_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace reseq::git {
namespace {

constexpr std::size_t kOutputBytesMax = std::size_t{1} << 20;
constexpr std::size_t kErrorBytesShown = 300;

Error failed(ErrorClass what_to_do, const std::string& what, int code) {
  return Error{.what_to_do = what_to_do, .code = code, .message = what + ": " + std::strerror(code)};
}

// What `git rev-parse --local-env-vars` lists: set by hooks and wrappers for one repository, wrong for ours.
constexpr std::array<std::string_view, 12> kLocalVariables = {
    "GIT_DIR",          "GIT_WORK_TREE",        "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",   "GIT_PREFIX",           "GIT_NAMESPACE",
    "GIT_CONFIG",       "GIT_GRAFT_FILE",       "GIT_IMPLICIT_WORK_TREE",
    "GIT_SHALLOW_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
};
// Messages in one language; nobody is asked for a password in the middle of a run; reading takes no locks.
constexpr std::array<std::string_view, 3> kOurVariables = {"LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0"};

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

std::vector<std::string> environment_of_child() {
  std::vector<std::string> variables(kOurVariables.begin(), kOurVariables.end());
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view name = name_of(*entry);
    const bool local = std::find(kLocalVariables.begin(), kLocalVariables.end(), name) != kLocalVariables.end();
    const bool ours = std::any_of(kOurVariables.begin(), kOurVariables.end(),
                                  [name](std::string_view variable) { return name_of(variable) == name; });
    if (!local && !ours) variables.emplace_back(*entry);
  }
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

struct StandardFiles {
  int input;
  int output;
  int errors;
};

Result<pid_t> spawn_with(const std::vector<std::string>& arguments, StandardFiles standard, bool own_group) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&files, standard.input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, standard.output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, standard.errors, STDERR_FILENO);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  sigset_t unblocked;
  sigemptyset(&unblocked);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setsigmask(&attributes, &unblocked);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int group_flag = own_group ? POSIX_SPAWN_SETPGROUP : 0;
  posix_spawnattr_setflags(&attributes,
                           static_cast<short>(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | group_flag));

  std::vector<std::string> words = arguments;
  std::vector<std::string> variables = environment_of_child();
  std::vector<char*> argument_pointers = pointers_to(words);
  std::vector<char*> variable_pointers = pointers_to(variables);
  pid_t process = -1;
  const int failure = ::posix_spawnp(&process, argument_pointers[0], &files, &attributes, argument_pointers.data(),
                                     variable_pointers.data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (failure != 0) return failed(ErrorClass::kInvalid, "cannot start " + arguments[0], failure);
  return process;
}

// "git -C /path -c x=y cat-file --batch" is "git cat-file" to a reader.
std::string name_in_messages(const std::vector<std::string>& arguments) {
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i] == "-C" || arguments[i] == "-c") {
      ++i;
    } else if (!arguments[i].starts_with('-')) {
      return arguments[0] + " " + arguments[i];
    }
  }
  return arguments[0];
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const std::vector<std::string>& arguments, Input input, Group group) {
  if (input == Input::kNothing) {
    const FileDescriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (nothing.number() < 0) return failed(ErrorClass::kFatal, "cannot open /dev/null", errno);
    return spawn(arguments, nothing.number(), FileDescriptor(), group);
  }
  // A socket instead of a pipe: writing to a child that is gone is an error then, not a signal.
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return failed(ErrorClass::kFatal, "cannot make a socket", errno);
  const FileDescriptor theirs(ends[0]);
  return spawn(arguments, theirs.number(), FileDescriptor(ends[1]), group);
}

Result<ChildProcess> ChildProcess::start_reading(const std::vector<std::string>& arguments, ChildProcess& source) {
  Result<ChildProcess> child = spawn(arguments, source.output_.number(), FileDescriptor(), Group::kOwn);
  source.output_.close();
  return child;
}

Result<ChildProcess> ChildProcess::spawn(const std::vector<std::string>& arguments, int standard_input,
                                         FileDescriptor our_end, Group group) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failed(ErrorClass::kFatal, "cannot make a pipe", errno);
  FileDescriptor reading(ends[0]);
  const FileDescriptor writing(ends[1]);
  FileDescriptor errors(::memfd_create("standard-error", MFD_CLOEXEC));
  if (errors.number() < 0) return failed(ErrorClass::kFatal, "cannot make a file in memory", errno);
  const StandardFiles standard{.input = standard_input, .output = writing.number(), .errors = errors.number()};
  Result<pid_t> process = spawn_with(arguments, standard, group == Group::kOwn);
  if (!process.ok()) return process.error();
  return ChildProcess(process.value(), name_in_messages(arguments), std::move(our_end), std::move(reading),
                      std::move(errors));
}

ChildProcess::ChildProcess(pid_t process, std::string name, FileDescriptor input, FileDescriptor output,
                           FileDescriptor errors)
    : process_(process),
      name_(std::move(name)),
      input_(std::move(input)),
      output_(std::move(output)),
      errors_(std::move(errors)) {}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      name_(std::move(other.name_)),
      input_(std::move(other.input_)),
      output_(std::move(other.output_)),
      errors_(std::move(other.errors_)) {}

ChildProcess::~ChildProcess() {
  if (process_ < 0) return;
  ::kill(process_, SIGTERM);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Result<std::size_t> ChildProcess::read(std::span<char> into) {
  for (;;) {
    const ssize_t n = ::read(output_.number(), into.data(), into.size());
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno != EINTR) return failed(ErrorClass::kFatal, "cannot read from " + name_, errno);
  }
}

Result<> ChildProcess::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(input_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int code = errno;
      const std::string words = last_error_line();
      return failed(ErrorClass::kFatal, "cannot write to " + name_ + (words.empty() ? "" : " (" + words + ")"), code);
    }
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return Done{};
}

Result<> ChildProcess::finish() {
  input_.close();
  output_.close();
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0) {
    if (errno == EINTR) continue;
    process_ = -1;
    return failed(ErrorClass::kFatal, "cannot wait for " + name_, errno);
  }
  process_ = -1;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return Done{};
  const std::string words = last_error_line();
  const std::string how = WIFSIGNALED(status) ? "was ended by signal " + std::to_string(WTERMSIG(status))
                                              : "failed with status " + std::to_string(WEXITSTATUS(status));
  return Error{.what_to_do = ErrorClass::kInvalid,
               .code = status,
               .message = name_ + " " + how + (words.empty() ? "" : ": " + words)};
}

std::string ChildProcess::last_error_line() const {
  std::string text(kErrorBytesShown * 4, '\0');
  const off_t end = ::lseek(errors_.number(), 0, SEEK_END);
  const off_t from = std::max<off_t>(0, end - static_cast<off_t>(text.size()));
  const ssize_t n = ::pread(errors_.number(), text.data(), text.size(), from);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  const std::size_t line = text.rfind('\n');
  if (line != std::string::npos) text.erase(0, line + 1);
  // Foreign text: nothing of it may steer a terminal.
  for (char& c : text)
    if (c < ' ' || c == '\x7f') c = '?';
  return text.substr(0, kErrorBytesShown);
}

Result<std::string> output_of(const std::vector<std::string>& arguments) {
  Result<ChildProcess> child =
      ChildProcess::start(arguments, ChildProcess::Input::kNothing, ChildProcess::Group::kOurs);
  if (!child.ok()) return child.error();
  std::string text;
  std::array<char, 4096> part{};
  for (;;) {
    Result<std::size_t> n = child.value().read(part);
    if (!n.ok()) return n.error();
    if (n.value() == 0) break;
    text.append(part.data(), n.value());
    if (text.size() > kOutputBytesMax)
      return Error{.what_to_do = ErrorClass::kInvalid, .code = 0, .message = arguments[0] + " prints too much"};
  }
  Result<> finished = child.value().finish();
  if (!finished.ok()) return finished.error();
  return text;
}

}  // namespace reseq::git
