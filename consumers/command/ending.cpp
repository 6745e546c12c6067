#include "consumers/command/ending.h"

#include <csignal>
#include <cstring>
#include <sysexits.h>

namespace reseq::command {
namespace {

// "SIGSEGV"; of a signal without a name its number.
std::string name_of(int signal) {
  const char* abbreviation = sigabbrev_np(signal);
  return abbreviation == nullptr ? std::to_string(signal) : "SIG" + std::string(abbreviation);
}

}  // namespace

std::string in_words(const Ending& ending) {
  if (ending.signal != 0) return "was killed by signal " + std::to_string(ending.signal);
  return "ended with exit code " + std::to_string(ending.exit_code);
}

stage::WorkFailure failure_of(const Ending& ending, std::string_view last_line) {
  const bool passes = ending.signal == 0 && ending.exit_code == EX_TEMPFAIL;
  stage::WorkFailure failure{.kind = passes ? FailureKind::kTransient : FailureKind::kUnknown};
  if (!last_line.empty())
    failure.error = last_line;
  else if (ending.signal != 0)
    failure.error = "signal " + name_of(ending.signal);
  else
    failure.error = "exit status " + std::to_string(ending.exit_code) + (ending.good() ? " without an answer" : "");
  return failure;
}

}  // namespace reseq::command
