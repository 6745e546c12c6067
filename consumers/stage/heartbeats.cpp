#include "consumers/stage/heartbeats.h"

#include <utility>

#include "consumers/stage/work_reader.h"

namespace reseq::stage {

void KafkaHeartbeats::send(std::span<const HeartbeatRecord> heartbeats) {
  failed_ = !queue(heartbeats).ok();
}

Result<> KafkaHeartbeats::queue(std::span<const HeartbeatRecord> heartbeats) {
  if (!producer_) {
    Result<std::unique_ptr<kafka::PlainProducer>> opened = open_();
    if (!opened) return opened.error();
    producer_ = std::move(opened).value();
    sent_ = 0;
  }
  for (const HeartbeatRecord& heartbeat : heartbeats) {
    if (Result<> sent = producer_->send(topic_, heartbeat.key, std::nullopt, views_of(heartbeat.headers)); !sent)
      return sent;
    ++sent_;
  }
  return Done{};
}

HeartbeatSender::Round KafkaHeartbeats::round() {
  if (producer_) producer_->poll(kAtOnce);
  if (failed_ || !producer_ || producer_->failed() > 0) {
    producer_.reset();
    failed_ = false;
    return Round::kFailed;
  }
  return producer_->delivered() < sent_ ? Round::kUnderWay : Round::kAcknowledged;
}

}  // namespace reseq::stage
