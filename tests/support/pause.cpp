#include "tests/support/pause.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>

namespace reseq::test {

namespace {

// Stopped, or gone.
bool stopped(const std::filesystem::path& thread) {
  std::string stat;
  std::getline(std::ifstream(thread / "stat"), stat);
  const std::size_t name_end = stat.rfind(')');  // a thread may have any name
  if (name_end == std::string::npos) return true;
  const std::string_view state = std::string_view(stat).substr(name_end, 3);
  return state == ") T" || state == ") Z";
}

bool all_stopped(const std::filesystem::path& threads) {
  std::error_code gone;
  const auto entries = std::filesystem::directory_iterator(threads, gone);
  return std::all_of(begin(entries), end(entries), [](const auto& entry) { return stopped(entry.path()); });
}

}  // namespace

// A stop signal reaches the threads of a busy process one after the other, and until then they go on answering.
bool pause_process(pid_t pid) {
  if (pid <= 0 || ::kill(pid, SIGSTOP) != 0) return false;
  const std::filesystem::path threads = "/proc/" + std::to_string(pid) + "/task";
  while (!all_stopped(threads)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return true;
}

}  // namespace reseq::test
