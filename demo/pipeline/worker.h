// Worker: one scrambling worker. For each target a record waits as long as its Treatment says; some fail first and are
// done again, some results are sent twice. What is due is done in the order of the due times, so later records overtake
// earlier ones. A record is finished when it is for all targets that it lists. What Faults says cannot be done is
// answered with that, and what is lost by them is not answered at all.
// Thread rule: run() on one thread; counts may be read by others.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "base/result.h"
#include "consumers/stage/stage.h"
#include "demo/pipeline/faults.h"
#include "demo/pipeline/paced_clock.h"
#include "demo/pipeline/treatment.h"
#include "demo/pipeline/work_log.h"

namespace reseq::demo {

struct WorkerCounts {
  std::atomic<std::uint64_t> records = 0;     // read from the pipeline's topic
  std::atomic<std::uint64_t> partitions = 0;  // of the pipeline's topic, owned now
  std::atomic<std::uint64_t> results = 0;     // sent, duplicates included
  std::atomic<std::uint64_t> retries = 0;
  std::atomic<std::uint64_t> duplicates = 0;
  std::atomic<std::uint64_t> failures = 0;  // said
};

class Worker {
 public:
  // REQUIRES: counts and log outlive the worker. Delays are by `clock`.
  Worker(std::unique_ptr<stage::Stage> stage, Seed seed, Faults faults, std::vector<std::string> targets,
         PacedClock clock, WorkerCounts& counts, WorkLog& log);

  // Until `stop`. What is in flight then is done again by whoever comes next. `all_sent`: all records are on their way.
  Result<> run(const std::atomic<bool>& stop, const std::atomic<bool>& all_sent);

 private:
  enum class Step : unsigned char { kFirstAttempt, kResult, kDuplicate };
  // A record and the number of targets that are not finished.
  struct Record {
    stage::Work work;
    std::size_t open_targets;
  };
  struct Waiting {
    PacedClock::Duration due;
    std::uint64_t number;  // equal times keep their order
    Step step;
    std::shared_ptr<Record> record;
    std::size_t target;  // index in targets_
    friend bool operator>(const Waiting& a, const Waiting& b) {
      return a.due != b.due ? a.due > b.due : a.number > b.number;
    }
  };
  Result<> do_what_is_due();
  Result<> do_step(const Waiting& waiting);
  Result<> send(const stage::Work& work, const std::string& target);
  Result<> say(const stage::Work& work, const std::string& target, stage::WorkFailure failure);
  [[nodiscard]] std::optional<stage::WorkFailure> fault(const stage::Work& work, const std::string& target) const;
  // Of targets_, by index: those that the record lists, or all when it lists none, but for those whose result is lost.
  [[nodiscard]] std::vector<std::size_t> answered(const stage::Work& work) const;
  Result<> take(stage::Work work);
  void schedule(Milliseconds delay, Step step, std::shared_ptr<Record> record, std::size_t target);
  [[nodiscard]] Treatment treatment(const stage::Work& work, std::size_t target) const;
  [[nodiscard]] Milliseconds until_next() const;

  std::unique_ptr<stage::Stage> stage_;
  Seed seed_;
  Faults faults_;
  std::vector<std::string> targets_;
  PacedClock clock_;
  WorkerCounts& counts_;
  WorkLog& log_;
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_;
  std::uint64_t scheduled_ = 0;
};

}  // namespace reseq::demo
