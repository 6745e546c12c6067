#include "producers/git/child_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
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
  Result<Pipe> output = open_pipe();
  if (!output.ok()) return output.error();
  FileDescriptor errors(::memfd_create("standard-error", MFD_CLOEXEC));
  if (errors.number() < 0) return failed(ErrorClass::kFatal, "cannot make a file in memory", errno);
  Result<Child> child = Child::start(arguments, {.in = standard_input,
                                                 .out = output.value().writing.number(),
                                                 .err = errors.number(),
                                                 .own_group = group == Group::kOwn,
                                                 .environment = environment_of_child(),
                                                 .default_signals = {SIGPIPE}});
  if (!child.ok()) return child.error();
  return ChildProcess(std::move(child).value(), name_in_messages(arguments), std::move(our_end),
                      std::move(output.value().reading), std::move(errors));
}

ChildProcess::ChildProcess(Child child, std::string name, FileDescriptor input, FileDescriptor output,
                           FileDescriptor errors)
    : child_(std::move(child)),
      name_(std::move(name)),
      input_(std::move(input)),
      output_(std::move(output)),
      errors_(std::move(errors)) {}

ChildProcess::~ChildProcess() {
  child_.signal(SIGTERM);
  child_.wait();
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
  const Ending& ending = child_.wait();
  if (ending.good()) return Done{};
  if (ending.exit_code < 0) return failed(ErrorClass::kFatal, "cannot wait for " + name_, ECHILD);
  const std::string words = last_error_line();
  const std::string how = ending.signal != 0 ? "was ended by signal " + std::to_string(ending.signal)
                                             : "failed with status " + std::to_string(ending.exit_code);
  return Error{.what_to_do = ErrorClass::kInvalid,
               .code = ending.exit_code,
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
