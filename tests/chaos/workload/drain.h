// Drain: whether an application has come to rest: nothing waits, and nothing that was written can bring more.
//
// Asked in the direction in which records flow, so that one round of questions decides it: all requests are decided;
// what they sent to work is visible; all work is answered and the answers are acknowledged; all commands are decided;
// no transaction is open anywhere. It holds for what runs: a stopped process of the pipeline may still write when it
// goes on, so ask again when all of them have ended.
// REQUIRES: the producers have stopped.
// Thread rule: one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "kafka/admin.h"
#include "kafka/cluster.h"
#include "kafka/settings.h"

namespace reseq::chaos {

class Drain {
 public:
  // Topics have the names that they have by default.
  static Result<std::unique_ptr<Drain>> open(const kafka::Connection& connection, const std::string& application_id);

  // What is waited for; empty: nothing. An error: the brokers do not answer, ask again.
  Result<std::string> waits_for();
  // The same of requests alone.
  Result<std::string> requests_wait() { return lag(application_id_, "requests"); }

 private:
  Drain(std::string application_id, std::vector<std::string> topics)
      : application_id_(std::move(application_id)), topics_(std::move(topics)) {}
  Result<std::string> lag(const std::string& group, const std::string& role);
  Result<std::string> open_transactions(std::size_t topic);

  std::string application_id_;
  std::vector<std::string> topics_;
  std::unique_ptr<kafka::Admin> admin_;
  std::unique_ptr<kafka::Cluster> cluster_;
  std::unique_ptr<kafka::LogReader> reader_;  // for high watermarks
};

}  // namespace reseq::chaos
