#include "tests/support/own_broker.h"

#include <fstream>
#include <stdexcept>
#include <unistd.h>
#include <vector>

#include "tests/support/source_path.h"

namespace reseq::test {

namespace {

constexpr int kOwnBrokerLimitMs = 120'000;

}  // namespace

OwnBroker::OwnBroker() {
  run("start", {"--while", std::to_string(::getpid())});
  std::ifstream(folder_.path() + "/kafka/bootstrap") >> address_;
}

OwnBroker::~OwnBroker() {
  try {
    run("wipe");
  } catch (const std::exception&) {
    // It ends with this process.
  }
}

void OwnBroker::stop() {
  run("stop");
}

void OwnBroker::start_again() {
  run("start", {"--while", std::to_string(::getpid()), "--port", address_.substr(address_.find(':') + 1)});
}

void OwnBroker::run(const std::string& what, const std::vector<std::string>& more) {
  std::vector<std::string> argv = {source_path("script/kafka"), what, "--dir", folder_.path() + "/kafka"};
  argv.insert(argv.end(), more.begin(), more.end());
  Process process(argv, folder_.path() + "/log");
  if (process.wait(kOwnBrokerLimitMs) != 0) throw std::runtime_error("a broker of its own: " + process.tail());
}

}  // namespace reseq::test
