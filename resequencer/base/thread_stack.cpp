#include "base/thread_stack.h"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <execinfo.h>
#include <memory>
#include <pthread.h>

namespace reseq {

namespace {

constexpr int kSignal = SIGUSR2;
constexpr int kOwnFrames = 2;  // the handler, and what the kernel has called it by
constexpr std::chrono::milliseconds kBeat{10};

std::array<void*, 64> frames;
std::atomic<int> frames_count = 0;  // 0: not answered

void on_signal(int) {
  frames_count = backtrace(frames.data(), static_cast<int>(frames.size()));
}

}  // namespace

std::vector<std::string> stack_of(std::thread::native_handle_type thread, std::chrono::milliseconds limit) {
  frames_count = 0;
  (void)backtrace(frames.data(), 1);  // the first call loads a library, which a signal handler may not do
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  if (::sigaction(kSignal, &action, nullptr) != 0 || ::pthread_kill(thread, kSignal) != 0) return {};
  for (const auto until = std::chrono::steady_clock::now() + limit; frames_count == 0;) {
    if (std::chrono::steady_clock::now() > until) return {};
    std::this_thread::sleep_for(kBeat);
  }
  const int count = frames_count;
  const std::unique_ptr<char*, decltype(&std::free)> names(backtrace_symbols(frames.data(), count), &std::free);
  std::vector<std::string> calls;
  for (int i = kOwnFrames; names && i < count; ++i) calls.emplace_back(names.get()[i]);
  return calls;
}

}  // namespace reseq
