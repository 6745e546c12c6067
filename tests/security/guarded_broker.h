// GuardedBroker: a real Kafka with ACLs (StandardAuthorizer) and a listener for each way in. Whoever is not named (the
// first four listeners) may do everything; `reseq` may do what it was granted.
//
//   plain     no TLS, nobody has to say who he is: for the test itself
//   tls       the broker's certificate is for 127.0.0.1, not for localhost
//   mtls      the same, and the client has to have a certificate of the same authority
//   expired   the broker's certificate has expired
//   login     TLS and a password: user `reseq` by PLAIN, `scram`, who may do all, by SCRAM-SHA-512 (made by its test)
//
// Thread rule: one thread.
#pragma once

#include <string>
#include <vector>

#include "kafka/rights.h"
#include "tests/security/certificates.h"
#include "tests/support/process.h"

namespace reseq::test {

class GuardedBroker {
 public:
  // Started at the first call, once per test program. Throws when there is none.
  static GuardedBroker& shared();
  ~GuardedBroker();
  GuardedBroker(const GuardedBroker&) = delete;
  GuardedBroker& operator=(const GuardedBroker&) = delete;

  [[nodiscard]] std::string address(const std::string& listener) const;
  // Lines of [kafka] for a client of that listener that does everything right.
  [[nodiscard]] std::string way_in(const std::string& listener) const;

  // ACLs of topics and groups for `reseq`: librdkafka 2.0.2 knows no others.
  void grant(const kafka::Right& right);
  void revoke(const kafka::Right& right);

  // What one of Kafka's own programs prints, by its class.
  std::string kafka_program(const std::string& name, const std::vector<std::string>& arguments);

  Certificates& certificates() { return certificates_; }

 private:
  GuardedBroker();
  void write_properties();
  [[nodiscard]] std::string dir() const { return folder_.path() + "/kafka"; }
  [[nodiscard]] std::string path(const std::string& file) const { return folder_.path() + "/" + file; }

  TempDir folder_;
  Certificates certificates_{folder_.path() + "/certificates"};
  int outputs_ = 0;
};

}  // namespace reseq::test
