#include "tests/support/broker.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <unistd.h>

#include "tests/support/pause.h"
#include "tests/support/source_path.h"

namespace reseq::test {

namespace {

const std::string kScript = source_path("script/kafka");
constexpr int kStartLimitMs = 300'000;  // the first start fetches Kafka
constexpr int kStopLimitMs = 30'000;

}  // namespace

Broker& Broker::shared() {
  static Broker broker;
  return broker;
}

Broker::Broker() {
  if (const char* given = std::getenv("RESEQ_BOOTSTRAP_SERVERS"); given != nullptr && *given != '\0') {
    address_ = given;
    return;
  }
  Process start({kScript, "start", "--dir", dir(), "--while", std::to_string(::getpid())}, log());
  if (start.wait(kStartLimitMs) != 0) throw std::runtime_error("no broker for the test: " + start.tail());
  std::ifstream(dir() + "/bootstrap") >> address_;
  std::ifstream(dir() + "/broker.pid") >> pid_;
}

Broker::~Broker() {
  if (pid_ == 0) return;
  Process wipe({kScript, "wipe", "--dir", dir()}, log());
  (void)wipe.wait(kStopLimitMs);
}

bool Broker::pause() {
  return pid_ != 0 && pause_process(pid_);
}

bool Broker::resume() {
  return pid_ != 0 && ::kill(pid_, SIGCONT) == 0;
}

std::string unique_name(const std::string& what) {
  static std::atomic<int> next = 0;
  static const auto kStarted = std::chrono::system_clock::now().time_since_epoch() / std::chrono::milliseconds(1);
  return what + "-" + std::to_string(::getpid()) + "-" + std::to_string(kStarted % 1'000'000) + "-" +
         std::to_string(++next);
}

}  // namespace reseq::test
