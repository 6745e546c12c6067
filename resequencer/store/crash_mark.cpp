#include "store/crash_mark.h"

#include <array>
#include <cstddef>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>

namespace reseq::store {

namespace {

constexpr std::array<int, 3> kSignals = {SIGSEGV, SIGBUS, SIGFPE};
constexpr std::string_view kText = "the process died while it used this copy\n";

std::array<struct sigaction, kSignals.size()> actions_before;

}  // namespace

constinit thread_local const CrashMarks* CrashMark::current = nullptr;

void CrashMark::watch() {
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction before {};
    ::sigaction(kSignals[i], &action, &before);
    if (before.sa_sigaction != on_signal) actions_before[i] = before;
  }
}

void CrashMark::on_signal(int signal, siginfo_t* info, void*) {
  if (current != nullptr) {
    const int file = ::open(current->poisoned.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0) {
      (void)!::write(file, kText.data(), kText.size());
      ::close(file);
    } else {
      for (const std::string& name : current->trust) ::unlink(name.c_str());
    }
  }
  // The instruction is tried again when this returns, and then meets the handler that was there before.
  for (std::size_t i = 0; i < kSignals.size(); ++i)
    if (kSignals[i] == signal) ::sigaction(signal, &actions_before[i], nullptr);
  if (info->si_code <= 0) (void)::raise(signal);  // sent by a process, not by an instruction
}

}  // namespace reseq::store
