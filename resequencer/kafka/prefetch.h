// Prefetch: keeps librdkafka fetching while records are taken faster than it looks. Before 2.2.0 the thread of a broker
// that finds its queue full sleeps for up to a second, however soon the queue is empty; then it has a setting for that
// (fetch.queue.backoff.ms). What wakes it is a request: so one that costs nothing, where the logs end, is sent when a
// queue that was full has become half empty.
// Thread rule: the thread of the client.
#pragma once

#include <cstddef>

#include "kafka/handles.h"

namespace reseq::kafka {

class Prefetch {
 public:
  // Records that are fetched before they are asked for, unless `[kafka]` says something else (queued.min.messages).
  static constexpr std::size_t kMessages = 50'000;

  // After each record that was taken.
  void took_one(rd_kafka_t& consumer) {
    if (++taken_ % kLookAfter == 0) look(consumer);
  }

 private:
  static constexpr std::size_t kLookAfter = 1024;
  void look(rd_kafka_t& consumer);

  std::size_t taken_ = 0;
  bool was_full_ = false;
};

}  // namespace reseq::kafka
