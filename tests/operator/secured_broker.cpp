#include "tests/operator/secured_broker.h"

#include <fstream>
#include <stdexcept>
#include <unistd.h>

#include "tests/support/source_path.h"

namespace reseq::test {

namespace {

const std::string kScript = source_path("script/kafka");
constexpr int kBrokerLimitMs = 120'000;

}  // namespace

SecuredBroker::SecuredBroker(const std::string& user, const std::string& password) {
  Process start(
      {kScript, "start", "--dir", dir(), "--while", std::to_string(::getpid()), "--sasl", user + ":" + password},
      folder_.path() + "/log");
  if (start.wait(kBrokerLimitMs) != 0) throw std::runtime_error("no broker with passwords: " + start.tail());
  std::ifstream(dir() + "/bootstrap") >> address_;
}

SecuredBroker::~SecuredBroker() {
  Process wipe({kScript, "wipe", "--dir", dir()}, folder_.path() + "/log");
  (void)wipe.wait(kBrokerLimitMs);
}

}  // namespace reseq::test
