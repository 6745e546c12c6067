// Watcher: when a read_committed reader of a topic sees the record of each document, for latencies.
// Thread rule: a thread of its own reads; any thread asks.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "tests/bench/clocked_producer.h"
#include "tests/bench/contestant.h"
#include "tests/bench/report.h"

namespace reseq::bench {

using Moments = std::vector<Moment>;  // by document

// Follows a topic from its beginning and notes when it sees the first record of each document, whose id ends with its
// number.
class Watcher {
 public:
  Watcher(const Site& site, std::string topic, std::size_t documents);

  [[nodiscard]] std::int64_t seen(std::size_t document) const { return seen_[document]; }
  // Documents that it has seen.
  [[nodiscard]] std::size_t count() const { return count_; }
  // Records that were of a document which it had seen: of a topic of work, further attempts.
  [[nodiscard]] std::size_t repeated() const { return repeated_; }
  // Throws when it takes too long.
  void await(std::size_t document) const;

 private:
  void watch(const Site& site, const std::stop_token& stopped);

  std::string topic_;
  Moments seen_;
  std::atomic<std::size_t> count_ = 0;
  std::atomic<std::size_t> repeated_ = 0;
  std::jthread thread_;
};

// p50 and p99 of a round.
void add_latencies(Report& report, const std::string& part, const std::string& contestant,
                   const std::vector<double>& ms);

}  // namespace reseq::bench
