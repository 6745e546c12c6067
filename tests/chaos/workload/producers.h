// Producers: write what the plan says, each its own stream, evenly and not faster than the pipeline can follow. They
// outlive any outage of the brokers: what was not acknowledged is written again, from the plan.
// Invariant: what stands below written() is in the log. A record may stand there twice, and an earlier one behind a
// later one, when a producer had to be opened again.
// Thread rule: one thread; each producer and the watch of the lag have a thread of their own.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "kafka/settings.h"
#include "tests/chaos/workload/lag_watch.h"
#include "tests/chaos/workload/plan.h"

namespace reseq::chaos {

struct ProducersSettings {
  kafka::Connection connection;
  std::string application_id;
  std::uint64_t requests_per_second = 500;  // all producers together
  std::uint64_t lag_max = 20'000;           // records that the application, or the pipeline, may be behind
};

class Producers {
 public:
  // Starts the threads. No broker is waited for.
  Producers(const Plan& plan, const ProducersSettings& settings);
  ~Producers();
  Producers(const Producers&) = delete;
  Producers& operator=(const Producers&) = delete;

  // Nothing new is written from now on; returns when everything is acknowledged. kTimeout: it is not, within the limit.
  Result<> stop(Milliseconds limit);

  // While it rests nothing new is written, as if there were nothing to say.
  void rest(bool rests) { rests_ = rests; }

  // From now on, all producers together.
  void set_pace(std::uint64_t requests_per_second) { per_second_ = std::max<std::uint64_t>(requests_per_second, 1); }

  // Requests acknowledged so far, by producer.
  [[nodiscard]] std::vector<std::uint64_t> written() const;
  [[nodiscard]] std::uint64_t total() const;
  // How often a producer failed for good and was opened again.
  [[nodiscard]] std::uint64_t reopened() const;

 private:
  class Stream;

  std::atomic<bool> stop_ = false;
  std::atomic<bool> give_up_ = false;
  std::atomic<bool> rests_ = false;
  std::atomic<std::uint64_t> per_second_ = 1;
  LagWatch lag_;
  std::vector<std::unique_ptr<Stream>> streams_;
};

}  // namespace reseq::chaos
