// Run: one chaos run from the start of the brokers to the verdict: start, disturb, heal, drain, judge.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace reseq::chaos {

struct RunOptions {
  double minutes = 1;
  std::uint64_t seed = 1;
  std::vector<std::string> faults = {};  // names; empty = all that this setting allows
  // Not 0: instead of a schedule of faults every failpoint in turn, until each has killed so often.
  std::uint64_t kills_per_failpoint = 0;
  std::vector<std::string> points = {};  // of these only; empty = of all
  // Requests wait for their turn: dispatch.mode = "journal".
  bool journal = false;
  // Targets more that get every version: a strict one, and without a journal a total one.
  bool orders = false;
  // So many requests wait, and nobody works, before anything is disturbed. With a journal.
  std::uint64_t backlog = 0;
  int brokers = 1;
  std::uint64_t rate = 500;  // requests per second
  std::string folder = {};   // absolute, made if need be
  std::string program = "resequencer-faulty";
};

struct RunReport {
  double minutes = 0;  // of faults
  std::uint64_t faults = 0;
  std::uint64_t kills = 0;
  std::uint64_t rebalances = 0;
  std::uint64_t records = 0;
  std::uint64_t unchanged = 0;  // requests that went nowhere because their targets had what they ask for
  std::uint64_t failed = 0;     // reports of workers that their work has failed
  std::uint64_t held = 0;       // results for ordered targets that came before their turn
  std::uint64_t skipped = 0;    // requests that they were not to wait for any more
  std::uint64_t waited = 0;     // documents, when everything was ready to be disturbed
  std::vector<std::string> violations = {};
  // Proofs that Kafka may have torn a transaction: with them violations say nothing of the program.
  std::vector<std::string> torn_by_broker = {};
  std::string details = {};  // lines: tables of faults, failpoints, recoveries, footprint

  [[nodiscard]] bool is_void() const { return !violations.empty() && !torn_by_broker.empty(); }
};

// Throws std::runtime_error when the run cannot take place: no broker, no program, no folder, a fault that is unknown
// or impossible with so many brokers.
[[nodiscard]] RunReport run_chaos(const RunOptions& options);

// Lines that say why a run is void: the proofs, and its violations. Empty: it is not.
[[nodiscard]] std::string void_lines(const RunReport& report);

// The last line of a run.
[[nodiscard]] std::string last_line(const RunOptions& options, const RunReport& report);

}  // namespace reseq::chaos
