// Aftermath: an application that has come to rest and was judged, to which a final act does something that no program
// mends by itself: its processes, what they say of each partition afterwards, and what must not have changed.
// Thread rule: one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kafka/admin.h"
#include "kafka/settings.h"
#include "tests/chaos/nemesis/chronicle.h"
#include "tests/chaos/nemesis/crew.h"
#include "tests/chaos/nemesis/site.h"
#include "tests/recovery/kafka_tools.h"

namespace reseq::chaos {

class Aftermath {
 public:
  // Throws when the brokers do not answer. REQUIRES: no process runs; what it refers to outlives it.
  Aftermath(Chronicle& chronicle, Crew& crew, const Site& site, const kafka::Connection& connection);

  [[nodiscard]] std::string topic(const std::string& role) const;
  [[nodiscard]] const std::string& application() const { return site_.settings().application_id; }
  [[nodiscard]] std::set<int> partitions() const;
  [[nodiscard]] const test::KafkaTools& tools() const { return tools_; }
  [[nodiscard]] kafka::Admin& admin() { return *admin_; }

  // Records of one partition of a topic, as a producer would write them.
  void send(const std::string& role, int partition, int records);
  void delete_changelog();
  // `resequencer SUBCOMMAND ...`: a violation when it does not succeed.
  void command(std::vector<std::string> subcommand);
  // docs/recovery.md, "Begin anew", behind its first step.
  void begin_anew();

  // From now on: what the topics hold of these partitions, and the copies of them.
  void remember(const std::set<int>& partitions);
  // A violation for each of those that is another one now.
  void expect_untouched();

  void start();
  // Every process ends by SIGTERM.
  void stop();
  // A violation for each partition of which no process says one of these words since start().
  void expect_each_says(const std::set<int>& partitions, const std::vector<std::string>& words);
  // Every process refuses to start, with exit code 78 and these words. They are stopped then.
  void expect_refused(const std::string& words);

 private:
  [[nodiscard]] std::map<std::string, std::string> look() const;
  bool wait(const std::function<bool()>& condition);
  [[nodiscard]] std::string said(const Member& member) const;
  [[nodiscard]] bool says(int partition, const std::vector<std::string>& words) const;

  Chronicle& chronicle_;
  Crew& crew_;
  const Site& site_;
  kafka::Connection connection_;
  test::KafkaTools tools_;
  std::unique_ptr<kafka::Admin> admin_;
  std::set<int> remembered_;
  std::map<std::string, std::string> before_;        // what a place held: offsets, or the bytes of a copy
  std::map<const Member*, std::uint64_t> began_at_;  // in the log
  std::map<const Member*, std::uint64_t> ends_before_;
};

}  // namespace reseq::chaos
