// Prefetch: keeps librdkafka fetching while records are taken faster than it looks. Before 2.2.0 the thread of a broker
// that finds its queue full sleeps for up to a second, however soon the queue is empty; then it has a setting for that
// (fetch.queue.backoff.ms). What wakes it is a request: so one that costs nothing, where the logs end, is sent when the
// queue is half as long as it was. Whether it was full is not asked: records and bytes are limits, and both may be set.
// Thread rule: the thread of the client.
#pragma once

#include <chrono>
#include <cstddef>

#include "kafka/handles.h"

namespace reseq::kafka {

class Prefetch {
 public:
  // Records that are fetched before they are asked for, unless `[kafka]` says something else (queued.min.messages).
  static constexpr std::size_t kMessages = 32'768;

  // After each record that was taken.
  void took_one(rd_kafka_t& consumer) {
    nothing_ = 0;
    if (++taken_ % kLookAfter == 0) look(consumer);
  }

  // After each poll of some milliseconds in vain, by a reader that has not reached its end: the queue may have been
  // full of records of an assignment before, which nobody gets to see.
  void took_none(rd_kafka_t& consumer) {
    if (++nothing_ % kNothingUntilAsked == kNothingUntilAsked / 16) ask(consumer);
  }

 private:
  static constexpr std::size_t kLookAfter = 1024;
  static constexpr std::size_t kNothingUntilAsked = 64;  // soon at first, then rarely
  void look(rd_kafka_t& consumer);
  void ask(rd_kafka_t& consumer);

  std::size_t taken_ = 0;
  std::size_t nothing_ = 0;  // polls in vain, one after the other
  std::size_t peak_ = 0;     // of records that waited, since the last question
  std::chrono::steady_clock::time_point asked_at_;
};

}  // namespace reseq::kafka
