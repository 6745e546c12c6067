// HeartbeatSender: how the heartbeats of a stage reach `commands`. They have a producer of their own, because results
// may wait for a transaction, and a lease does not.
// Thread rule: one thread.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "consumers/stage/lease.h"
#include "kafka/plain_producer.h"

namespace reseq::stage {

class HeartbeatSender {
 public:
  enum class Round : unsigned char { kUnderWay, kAcknowledged, kFailed };

  virtual ~HeartbeatSender() = default;
  // Begins a round and does not wait. REQUIRES: none is under way.
  virtual void send(std::span<const HeartbeatRecord> heartbeats) = 0;
  // What became of the last one. It has ended once this is not kUnderWay.
  virtual Round round() = 0;
};

// The producer is opened at the first heartbeat, and anew after one could not be delivered.
class KafkaHeartbeats final : public HeartbeatSender {
 public:
  using Open = std::function<Result<std::unique_ptr<kafka::PlainProducer>>()>;
  KafkaHeartbeats(Open open, std::string topic) : open_(std::move(open)), topic_(std::move(topic)) {}
  void send(std::span<const HeartbeatRecord> heartbeats) override;
  Round round() override;

 private:
  Result<> queue(std::span<const HeartbeatRecord> heartbeats);

  Open open_;
  std::string topic_;
  std::unique_ptr<kafka::PlainProducer> producer_;
  std::uint64_t sent_ = 0;  // by this producer
  bool failed_ = false;
};

}  // namespace reseq::stage
