#include "tests/support/second_instance.h"

#include <csignal>
#include <fstream>
#include <iterator>
#include <utility>

namespace reseq::test {
namespace {

constexpr int kEndLimitMs = 60'000;
constexpr std::string_view kAtWork = "group=assigned partitions=";

}  // namespace

SecondInstance::SecondInstance(std::vector<std::string> command) : command_(std::move(command)) {
  command_.insert(command_.end(), {"--instance-id", "second"});
  start();
}

void SecondInstance::start() {
  times_before_ = times_at_work();
  process_ = std::make_unique<Process>(command_, folder_.path() + "/log");
}

void SecondInstance::kill_and_start() {
  process_->signal(SIGKILL);
  process_->wait(kEndLimitMs);
  start();
}

int SecondInstance::stop() {
  process_->signal(SIGTERM);
  return process_->wait(kEndLimitMs);
}

std::string SecondInstance::log() const {
  std::ifstream file(folder_.path() + "/log");
  return {std::istreambuf_iterator<char>(file), {}};
}

int SecondInstance::times_at_work() const {
  const std::string text = log();
  int times = 0;
  for (std::size_t at = text.find(kAtWork); at != std::string::npos; at = text.find(kAtWork, at + 1))
    if (text.compare(at + kAtWork.size(), 2, "0\n") != 0) ++times;
  return times;
}

}  // namespace reseq::test
