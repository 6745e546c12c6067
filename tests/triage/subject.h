// Subject: a worker of the resequencer with its own clients, state and mock broker, and what became of it.
// Thread rule: one thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "kafka/plain_producer.h"
#include "runtime/worker/worker.h"
#include "tests/support/process.h"
#include "tests/triage/mock_kafka.h"

namespace reseq::triage {

// A request that was not answered within this time is given up by librdkafka; half of the transaction time-out is when
// a worker gives a transaction up.
inline constexpr Milliseconds kSocketTimeout{2'000};
inline constexpr Milliseconds kTransactionTimeout{8'000};
// An answer that is this late is not waited for any more: librdkafka looks for requests that are overdue once a second.
inline constexpr Milliseconds kLate{kSocketTimeout.value() + 1'500};

// The bound of every cell: what takes longer counts as hung.
inline constexpr Milliseconds kPatience{60'000};

class Subject {
 public:
  explicit Subject(int brokers = 1);
  ~Subject();
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  [[nodiscard]] MockKafka& kafka() { return kafka_; }
  [[nodiscard]] kafka::Cluster& cluster() { return *cluster_; }
  [[nodiscard]] const runtime::Application& application() const { return *application_; }
  [[nodiscard]] const std::string& topic(Role role) const {
    return application_->topics.name(application_->topics.of(role));
  }

  [[nodiscard]] std::string group() const { return application_->settings.application_id; }
  [[nodiscard]] std::string transactional_id() const;

  // A new worker on the same state, as after a restart of the process.
  void start();
  // Closes the worker, as a process that stops.
  void stop();

  // One more request, acknowledged by the broker before this returns.
  void feed();
  // Steps the worker until the condition holds. False: it did not within the limit, or the worker has ended.
  bool run_until(const std::function<bool()>& holds, Milliseconds limit);
  // The open transaction does this next.
  [[nodiscard]] bool at(runtime::Step step) const;
  // All that was fed is in the committed state. Counted by position: on the mock, rows of an aborted transaction are
  // read back by a takeover as if they were committed.
  [[nodiscard]] bool caught_up() const;
  // Runs until then.
  bool catch_up();

  // Since start().
  [[nodiscard]] const runtime::Totals& totals() const { return worker_->totals(); }
  [[nodiscard]] std::uint64_t takeovers() const;
  // Why the partition is parked; empty when it is not.
  [[nodiscard]] std::string parked_because() const;
  [[nodiscard]] const std::optional<Error>& ended() const { return ended_; }

 private:
  MockKafka kafka_;
  test::TempDir folder_;
  std::unique_ptr<runtime::Application> application_;
  std::unique_ptr<kafka::PlainProducer> feeder_;
  // A worker that has just begun bears more fences than one that has settled: these have.
  class SettledClock final : public runtime::Clock {
   public:
    [[nodiscard]] UnixMs now() const override { return real_.now(); }
    [[nodiscard]] Milliseconds steady() const override { return Milliseconds(real_.steady().value() + ahead_ms_); }
    void settle() { ahead_ms_ += 60'000; }

   private:
    runtime::SystemClock real_;
    std::int64_t ahead_ms_ = 0;
  };
  SettledClock clock_;
  std::unique_ptr<runtime::Shelf> shelf_;
  std::unique_ptr<kafka::Cluster> cluster_;
  std::unique_ptr<runtime::Worker> worker_;
  std::optional<Error> ended_;
  std::int64_t fed_ = 0;
};

}  // namespace reseq::triage
