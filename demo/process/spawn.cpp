#include "demo/process/spawn.h"

#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

namespace reseq::demo {
namespace {

void redirect(posix_spawn_file_actions_t& actions, int from, int to, int null_flags) {
  if (from < 0)
    posix_spawn_file_actions_addopen(&actions, to, "/dev/null", null_flags, 0);
  else
    posix_spawn_file_actions_adddup2(&actions, from, to);
}

}  // namespace

Result<pid_t> spawn(const std::vector<std::string>& arguments, const Descriptors& descriptors) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  redirect(actions, descriptors.in, STDIN_FILENO, O_RDONLY);
  redirect(actions, descriptors.out, STDOUT_FILENO, O_WRONLY);
  redirect(actions, descriptors.err, STDERR_FILENO, O_WRONLY);

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) sigaddset(&signals, signal);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  pid_t pid = -1;
  const int code = posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (code != 0)
    return Error{.what_to_do = ErrorClass::kInvalid,
                 .code = code,
                 .message = "cannot start " + arguments[0] + ": " + std::strerror(code)};
  return pid;
}

}  // namespace reseq::demo
