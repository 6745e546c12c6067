// Subject: an application with a running resequencer that gets input by the record and accounts for all of it: every
// input has one event (events = all), and the topics hold one record for each outcome that says so.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kafka/group_consumer.h"
#include "kafka/plain_producer.h"
#include "kafka/settings.h"
#include "tests/bad_input/record.h"
#include "tests/e2e/resequencer_run.h"

namespace reseq::test {

// A topic that is made before `init`, with a configuration of its own.
struct TopicConfig {
  std::string role;
  std::int32_t partitions = 1;
  kafka::Properties configs;
};

// What became of an input, as its event says.
struct Verdict {
  std::string outcome;
  std::string reason;    // empty = none
  std::string expected;  // sequence of the newest order known; empty = none
};

class Subject {
 public:
  static constexpr int kPartitions = 2;  // of the inputs and of dead-letter; work and outputs have one

  // Makes the topics and starts the resequencer. `toml` holds what is special, tables last.
  Subject(const std::string& name, const std::string& toml, const std::vector<TopicConfig>& topics = {});

  [[nodiscard]] std::string topic(const std::string& role) const { return run_->topic(role); }

  // Sends to the topic of that role. Throws when Kafka does not take it.
  Place send(const std::string& role, const Record& record, int partition = 0);
  // Returns when everything sent is in the log. A request must be there before its result can exist.
  void flush();
  // What was sent there.
  [[nodiscard]] const ReadRecord& sent(const Place& place) const { return sent_.at(place); }

  // Sends a result for each target of each work record that was not answered yet: the contract of a pipeline.
  void answer_work();

  // Waits until every input sent has its event, and until work, outputs, dead-letter and the topic of on_missing hold
  // as many records as events say. Throws with the log when that does not come, at once when a partition is parked.
  void settle();

  [[nodiscard]] const Verdict& verdict(const Place& place) const { return verdicts_.at(place); }
  // Read so far, in the order of the topic's partitions.
  [[nodiscard]] const std::vector<ReadRecord>& read(const std::string& role) { return follower(role).records; }
  // The one dead letter of this input, read from the topic of `role`; throws when there is none or more than one.
  [[nodiscard]] const ReadRecord& letter(const Place& place, const std::string& role = "dead-letter");

  [[nodiscard]] std::string log() const;
  [[nodiscard]] bool running() { return process_->running(); }
  // Stops the process as an operator does, and says what is wrong, empty if nothing is: it did not end well or logged
  // an error, a transaction was aborted, a partition parked; or its counts of outcomes are not those of the inputs.
  std::string finish();

 private:
  struct Follower {
    std::unique_ptr<kafka::GroupConsumer> consumer;
    std::vector<ReadRecord> records;
  };
  [[nodiscard]] Follower& follower(const std::string& role);
  void read_more(const std::string& role);
  void read_events();
  void read_until(const std::string& role, std::size_t records);
  [[nodiscard]] std::size_t events_of(const std::string& outcome) const;

  std::unique_ptr<ResequencerRun> run_;
  std::unique_ptr<Process> process_;
  std::unique_ptr<kafka::PlainProducer> producer_;
  std::map<std::string, Follower> followers_;  // by role
  std::map<Place, ReadRecord> sent_;
  std::map<std::pair<std::string, int>, std::int64_t> next_;  // offset, by topic and partition
  std::map<Place, Verdict> verdicts_;
  std::map<std::string, std::size_t> released_;  // by target
  std::map<std::string, std::size_t> outcomes_;
  std::size_t events_read_ = 0;
  std::size_t answered_ = 0;
};

}  // namespace reseq::test
