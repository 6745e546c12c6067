// SecuredBroker: a Kafka of its own that lets only one user in, by password.
// Thread rule: one thread.
#pragma once

#include <string>

#include "tests/support/process.h"

namespace reseq::test {

class SecuredBroker {
 public:
  // Throws when it cannot be started.
  SecuredBroker(const std::string& user, const std::string& password);
  ~SecuredBroker();
  SecuredBroker(const SecuredBroker&) = delete;
  SecuredBroker& operator=(const SecuredBroker&) = delete;

  [[nodiscard]] const std::string& bootstrap_servers() const { return address_; }

 private:
  [[nodiscard]] std::string dir() const { return folder_.path() + "/kafka"; }

  TempDir folder_;
  std::string address_;
};

}  // namespace reseq::test
