// OwnBroker: a Kafka for one test, which may be stopped and started again at the same address.
// Thread rule: one thread.
#pragma once

#include <string>
#include <vector>

#include "tests/support/process.h"

namespace reseq::test {

class OwnBroker {
 public:
  // Throws when it cannot be started.
  OwnBroker();
  ~OwnBroker();
  OwnBroker(const OwnBroker&) = delete;
  OwnBroker& operator=(const OwnBroker&) = delete;

  [[nodiscard]] const std::string& bootstrap_servers() const { return address_; }
  // It answers nobody any more when this returns.
  void stop();
  // With all that it had; throws as the constructor.
  void start_again();

 private:
  void run(const std::string& what, const std::vector<std::string>& more = {});

  TempDir folder_;
  std::string address_;
};

}  // namespace reseq::test
