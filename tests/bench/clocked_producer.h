// Producers of plain librdkafka that know when what: for latencies, where nothing of the product may stand between.
// Thread rule: one thread calls; a thread of its own takes acknowledgements and writes their times.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <thread>

#include "kafka/handles.h"
#include "model/header.h"

namespace reseq::bench {

// Nanoseconds of the steady clock; 0 = not yet.
using Moment = std::atomic<std::int64_t>;
[[nodiscard]] inline std::int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

class ClockedProducer {
 public:
  // With a transactional id: every record is sent in a transaction, by begin() and commit().
  ClockedProducer(const std::string& bootstrap_servers, const std::string& transactional_id);

  struct Outgoing {
    std::string topic;
    std::string key;
    std::string payload;
    std::span<const Header> headers;
  };
  // `acknowledged` is set when the broker has appended the record; it outlives the producer. Throws on failure.
  void send(const Outgoing& record, Moment* acknowledged);
  void begin();
  void commit();
  // Throws when not everything is acknowledged soon.
  void flush();

 private:
  kafka::ProducerHandle client_;
  std::jthread poller_;  // ends before the client
};

}  // namespace reseq::bench
