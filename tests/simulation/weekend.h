// Weekend: a worker with a journal on a simulated Kafka and a simulated clock, producers, and a pipeline that is down
// and comes back. One partition. What was asked for and what was released is counted by document.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/worker/worker.h"
#include "tests/unit/runtime/simulated_application.h"

namespace reseq::runtime {

inline constexpr std::int64_t kHourMs = 3'600'000;

class Weekend : public SimulatedApplication {
 protected:
  struct Pipeline {
    bool works = false;
    std::int64_t takes_ms = 0;     // for one record; one at a time
    bool heeds_leases = true;      // a record whose lease is over is not worked on
    std::uint64_t loses_each = 0;  // of so many sequences one, at its first attempt, where it has a lease; 0: none
  };
  // What was sent to `work`.
  struct Dispatches {
    std::uint64_t all = 0;
    std::uint32_t highest_attempt = 0;
    std::uint64_t beyond_first = 0;
  };
  // What came out for one document.
  struct Outcome {
    std::uint64_t asked = 0;     // the newest order
    std::uint64_t released = 0;  // the last one
    std::uint64_t releases = 0;
  };

  explicit Weekend(const config::Settings& settings);

  static config::Settings of_journal(std::int64_t in_flight_max);

  // A process, with the copy of the one before on its disk. Whoever was there is killed. `as`: otherwise configured;
  // it outlives the process.
  void start(const Application* as = nullptr);
  void request(std::size_t document, const std::vector<simulation::StoredHeader>& wishes = {});
  // Of the first attempt at its newest order.
  void heartbeat(std::size_t document);
  // Time passes; workers, the pipeline and the process do what there is to do.
  void live(std::int64_t ms);
  // False: it takes longer than that.
  [[nodiscard]] bool drains(std::int64_t within_ms);

  [[nodiscard]] std::uint64_t count(Count which) const;
  [[nodiscard]] simulation::Log& log(const std::string& topic) {
    return broker.log({*broker.topic("app." + topic), Partition(0)});
  }
  [[nodiscard]] Dispatches dispatches();
  // Orders of a document rise, none is released twice. By id.
  [[nodiscard]] std::map<std::string, Outcome> outcomes();
  [[nodiscard]] std::size_t dead_letters();
  // How often the worker has been stepped: often, while it has something to do.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }

  // From one step to the next while there is nothing to do.
  std::int64_t idle_ms = 30'000;
  Pipeline pipeline;
  std::unique_ptr<Worker> worker;

 private:
  void step();
  void pass(std::int64_t ms);
  void work();
  [[nodiscard]] bool at_rest();

  std::vector<std::uint64_t> newest_;
  Offset next_work_{0};
  std::int64_t free_at_ = 0;  // of the pipeline
  int quiet_steps_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace reseq::runtime
