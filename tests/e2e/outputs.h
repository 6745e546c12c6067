// Outputs: what a read_committed reader finds in an output topic, checked against what must be there.
// Thread rule: plain functions.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kafka/group_consumer.h"
#include "kafka/settings.h"
#include "tests/e2e/workload.h"

namespace reseq::test {

struct Released {
  std::string id;
  std::uint64_t sequence = 0;
  std::uint64_t version = 0;
  bool removal = false;
  std::string payload;
  std::int32_t partition = 0;
};

// Visits all visible records of the topic, in the order of each partition. Throws when its end is not reached.
void read_all(const kafka::Connection& connection, const std::string& topic,
              const std::function<void(const kafka::PlainRecord&)>& visit);

// Headers of each dead letter, by the id of its document.
using SinkLetters = std::map<std::string, std::map<std::string, std::string>>;

// What a sink for a server has put aside; its topic of dead letters is `topic`.dead-letter. Throws as read_all.
SinkLetters read_sink_letters(const kafka::Connection& connection, const std::string& topic);

// Follows an events topic and counts what it says of documents that became overdue.
class OverdueWatch {
 public:
  // Throws when the topic cannot be read.
  OverdueWatch(const kafka::Connection& connection, const std::string& topic);

  // Reads what is visible and was not read yet.
  void look();
  // Events of this document; of each document there is one per order at most.
  [[nodiscard]] int of(const std::string& id) const;
  // Of documents first .. end - 1 named by `name`: how many have an event.
  [[nodiscard]] std::size_t seen(std::string (*name)(std::size_t), std::size_t begin, std::size_t end) const;
  // Events that say the same of the same document and order as an earlier one.
  [[nodiscard]] const std::vector<std::string>& doubled() const { return doubled_; }
  [[nodiscard]] std::size_t total() const { return total_; }

 private:
  std::unique_ptr<kafka::GroupConsumer> consumer_;
  std::map<std::string, std::vector<std::string>, std::less<>> payloads_;  // by id
  std::vector<std::string> doubled_;
  std::size_t total_ = 0;
};

// All visible records of an output topic.
std::vector<Released> read_outputs(const kafka::Connection& connection, const std::string& topic);

// One line per violation, at most `most`:
//   an id whose last release is not the expected one, or that is missing, or that nobody asked for
//   a sequence of an id that was released twice, or below one released before
//   a version that does not rise within its partition
//   a payload that is not that of its request
std::vector<std::string> violations(const std::vector<Released>& outputs, const std::map<std::string, Expected>& end,
                                    std::size_t most = 10);

}  // namespace reseq::test
