// Channel: the two topics through which clients and instances talk, from either side: reads one of them from its end
// on, writes to the other. Nobody is a member of a group, nothing is committed: what is asked while nobody listens is
// not answered.
// Thread rule: one thread.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kafka/cluster.h"
#include "kafka/plain_producer.h"
#include "kafka/settings.h"
#include "model/header.h"

namespace reseq::admin {

class Channel {
 public:
  // Reads `read` from its end on: what is written after this has come back. `write` is only looked for. `clients`: its
  // topics are ignored. kInvalid: a topic does not exist. kRetriable, kTimeout: nobody answers.
  static Result<std::unique_ptr<Channel>> open(kafka::ClusterSettings clients, std::string read,
                                               const std::string& write, Milliseconds limit);

  // The next record within `limit`, or none. An error: open a new one.
  Result<std::optional<kafka::Record>> poll(Milliseconds limit);
  // Queues a record. What became of the ones before makes no difference: a topic that does not exist, or may not be
  // written, is the trouble of whoever named it. kInvalid: this one can never be sent.
  Result<> send(std::string_view topic, std::string_view key, std::string_view payload,
                std::span<const Header> headers);
  // Whether a topic is there, as the brokers say now.
  [[nodiscard]] bool exists(const std::string& topic) const;
  // Waits until what was queued since the last failure has arrived.
  Result<> flush(Milliseconds limit);

 private:
  Channel() = default;
  Result<> read_from_end(Milliseconds limit);
  Result<> open_producer();

  kafka::Connection connection_;
  std::vector<kafka::TopicPartition> partitions_;
  std::unique_ptr<kafka::Cluster> cluster_;
  std::unique_ptr<kafka::LogReader> reader_;
  std::unique_ptr<kafka::PlainProducer> producer_;
  std::chrono::steady_clock::time_point serve_at_;  // clients that only ask, so that they tell what they met
};

// The value of the last header of this name, or none.
[[nodiscard]] std::optional<std::string_view> header_of(const kafka::Record& record, std::string_view name);

}  // namespace reseq::admin
