// How far a contestant is, and what it has used until then.
// Thread rule: one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kafka/admin.h"
#include "tests/bench/contestant.h"
#include "tests/support/process.h"

namespace reseq::bench {

// Inputs that the contestant has committed: exact, and the same question to every contestant.
class Progress {
 public:
  // `input`: requests or commands.
  Progress(const Application& application, const std::string& input);

  // While a transaction is open and nothing is known: the last answer.
  [[nodiscard]] std::uint64_t done();

 private:
  std::unique_ptr<kafka::Admin> admin_;
  std::string group_;
  std::string topic_;
  std::uint64_t last_ = 0;
};

struct Sample {
  std::chrono::steady_clock::time_point at;
  double cpu_s = 0;          // of all its processes
  double machine_cpu_s = 0;  // of everything that runs here
  std::uint64_t done = 0;
};

// From here on SIGINT and SIGTERM make check_interrupted() throw, so that the processes of a run end with it. A second
// signal ends this process at once.
void catch_signals();
void check_interrupted();

// Those of one contestant.
using Processes = std::vector<std::unique_ptr<test::Process>>;
[[nodiscard]] Processes start(const Contestant& contestant, const Application& application);

[[nodiscard]] Sample sample(Progress& progress, const Processes& processes);

// The first sample at or behind `goal`. Throws when a process ends before, when they stand still, or at a signal.
[[nodiscard]] Sample await(std::uint64_t goal, Progress& progress, const Processes& processes);

// Records of a topic, as far as what is committed may be read, with the marks of transactions.
[[nodiscard]] std::uint64_t appended(kafka::Admin& admin, const std::string& topic);

// Until nothing more comes of what is counted, and it is `goal` at least; calls `grew` whenever it is more than before.
// Throws when nothing comes before, when one of the processes ends, or at a signal.
void await_last(std::uint64_t goal, const std::function<std::uint64_t()>& count, const std::function<void()>& grew,
                const Processes& processes);

// Partitions that the log of a resequencer says it has taken over, of those that it has now.
[[nodiscard]] std::size_t taken_over(const Application& application, int instance = 1);
// Until it is so. Throws when one of the processes ends before, nothing comes of it, or at a signal.
double seconds_until(const std::function<bool()>& is_so, const Processes& processes, const std::string& what);
// Of one resequencer that has them all.
void await_takeover(const Application& application, const Processes& processes);

struct Start {
  double ready_s = 0;     // from the start of the process until all partitions run
  double restored_s = 0;  // from the first word of a restore until then
};
// Of one resequencer that has a state to take over.
[[nodiscard]] Start start_again(const Application& application, Processes& processes);

// SIGTERM. Throws when the process does not end well.
void stop(test::Process& process);
void stop(const Processes& processes);

}  // namespace reseq::bench
