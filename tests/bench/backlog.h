// Backlog: an application of the resequencer in whose state documents wait, in three classes of priority.
// Thread rule: one thread; everything throws when the process does not do what it should.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kafka/admin.h"
#include "tests/bench/contestant.h"
#include "tests/bench/meter.h"
#include "tests/bench/progress.h"
#include "tests/bench/race.h"
#include "tests/bench/requests.h"

namespace reseq::bench {

class Backlog {
 public:
  // All of them wait when it returns, but the first of each partition, which was let through. `requests` outlives it.
  // held_bytes_max: what of them may be held as a body, as the key of the configuration.
  Backlog(const Site& site, const Requests& requests, std::uint64_t held_bytes_max);

  [[nodiscard]] const Application& application() const { return application_; }
  [[nodiscard]] const Processes& processes() const { return processes_; }
  [[nodiscard]] std::uint64_t waiting() const { return waiting_; }
  [[nodiscard]] Memory memory() const { return memory_of(processes_.front()->pid()); }

  void stop();  // in order, with a last checkpoint
  void kill();

  // REQUIRES: it was stopped or killed. Nobody else is let through.
  Start start() { return start(in_flight_max(1)); }
  // They are let through, as many as there are results for.
  Start start_draining() { return start(in_flight_max(1'000)); }

  // REQUIRES: as start(). All are let through without a result; from when all partitions run until the last one can be
  // read in `work`.
  [[nodiscard]] Measured dispatch();
  // REQUIRES: as start(). The same with a pipeline that answers at once, until all results are decided.
  [[nodiscard]] Measured drain();

 private:
  [[nodiscard]] std::string in_flight_max(std::uint64_t documents) const;
  Start start(const std::string& settings);
  // Records in `work`, with the marks of transactions.
  [[nodiscard]] std::uint64_t appended() const;

  const Requests& requests_;
  std::uint64_t held_bytes_max_;
  Application application_;
  Progress taken_;
  std::unique_ptr<kafka::Admin> admin_;
  Processes processes_;
  std::vector<kafka::PlainOffset> let_through_before_;  // ends of `work` when the others waited
  std::uint64_t waiting_ = 0;
};

}  // namespace reseq::bench
