// reseq-produce: sends a git history, lines of JSON or a made-up load to the resequencer.
#include <csignal>

#include "producers/command_line/arguments.h"
#include "producers/command_line/produce.h"

namespace {

std::atomic<bool> stop{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may not wait");

// The first signal ends the run in order, a second one at once.
void on_signal(int number) {
  stop.store(true, std::memory_order_relaxed);
  std::signal(number, SIG_DFL);
}

void install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = on_signal;  // without SA_RESTART, so that a read of standard input comes back
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

int main(int count, char** words) {
  const auto arguments = reseq::command_line::parse_arguments(count, words);
  if (const int* exit_code = std::get_if<int>(&arguments)) return *exit_code;
  install_signal_handlers();
  return reseq::command_line::produce(std::get<reseq::command_line::Arguments>(arguments), stop);
}
