// GuardedApplication: an application on the guarded broker, its commands and one document on its way through it.
// Thread rule: one thread.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "tests/operator/operator.h"
#include "tests/security/guarded_broker.h"

namespace reseq::test {

class GuardedApplication : public testing::Test {
 protected:
  GuardedApplication();

  // From now on it comes in by this listener; `kafka_lines` are further lines of [kafka].
  void come_in_by(const std::string& listener, const std::string& kafka_lines = "");
  // Its topics, made by somebody who may.
  void make_topics();

  // Both end with EX_CONFIG and a last line that has this text.
  void expect_refused(const std::string& fix);

  // `run` works: a request reaches work, and its result the output.
  void expect_a_document_passes();

  // By the listener of the test.
  void send(const std::string& role, const std::string& id, const std::vector<Header>& headers);
  // Waits for the next record of the topic; its key.
  std::string next_of(const std::string& role);

  GuardedBroker& broker = GuardedBroker::shared();
  Operator shop;
};

}  // namespace reseq::test
