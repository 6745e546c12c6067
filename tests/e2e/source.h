// Source: sends a workload to an application, as a producer of requests does; and documents that no pipeline answers.
// Thread rule: one thread; `hurry` may be set by another.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "kafka/plain_producer.h"
#include "tests/e2e/resequencer_run.h"
#include "tests/e2e/workload.h"

namespace reseq::test {

// Requests of ids that begin with this get no result: their documents become overdue.
inline constexpr std::string_view kSilentPrefix = "silent/";
[[nodiscard]] std::string silent_id(std::size_t number);

class Source {
 public:
  // Throws when there is no producer to be had, or a record cannot be sent. REQUIRES: `run` outlives the source.
  explicit Source(const ResequencerRun& run);

  // Requests begin .. end - 1 evenly over `spread`, so that something is always going on; at once when `hurry` is set.
  // Returns when all are acknowledged.
  void send(const Workload& workload, std::size_t begin, std::size_t end, std::chrono::milliseconds spread,
            const std::atomic<bool>& hurry);
  // One request for each of silent_id(begin) .. silent_id(end - 1).
  void send_silent(std::size_t begin, std::size_t end);

 private:
  void flush();

  std::string topic_;
  std::unique_ptr<kafka::PlainProducer> producer_;
};

}  // namespace reseq::test
