// The parts of the benchmark: what runs against what, in alternating runs, and the targets.
// Thread rule: one thread; each part throws when an output is wrong.
#pragma once

#include <cstdint>
#include <string>

#include "tests/bench/contestant.h"
#include "tests/bench/report.h"

namespace reseq::bench {

struct Sizes {
  int rounds = 5;
  std::uint64_t intake = 1'000'000;       // documents
  std::uint64_t life = 1'000'000;         // documents
  std::uint64_t hop_warm_up = 20'000;     // documents, 1,000 a second, before the first round
  std::uint64_t hop_documents = 5'000;    // per round, 1,000 a second
  std::uint64_t bare_transactions = 100;  // per round
  std::uint64_t skewed = 1'000'000;       // requests
  std::uint64_t skewed_ids = 100'000;
  std::uint64_t few_live = 100'000;           // documents that exist when updates are measured
  std::uint64_t many_live = 10'000'000;       // 0: not measured
  std::uint64_t growth_settling = 2'000'000;  // updates before: pages that were written in key order are split by them
  std::uint64_t growth_updates = 3'000'000;
  std::uint64_t few_partitions = 64;
  std::uint64_t many_partitions = 512;
  std::uint64_t most_partitions = 2'000;  // 0: not measured
  std::uint64_t idle_ms = 10'000;         // between the takeover of many partitions and a look at what they cost
  std::uint64_t releases = 400'000;       // that a sink reads, per run
  std::uint64_t journal = 1'000'000;      // documents that wait
  std::uint64_t failing = 300'000;        // documents of a life in which work fails
  std::uint64_t burst = 100'000;          // retries that are due at once
  std::uint64_t retry_topics = 100'000;   // documents that change twice, beside topics of retries
  std::uint64_t versions = 320'000;       // requests, sixteen of each document
  std::uint64_t ordered = 200'000;        // requests of one partition
  std::uint64_t held = 500'000;           // documents, of each a result for two targets
  std::uint64_t known = 1'000'000;        // documents of a state that steps are measured with
};

// Not measured: a broker that was just started is slow until its own code is compiled.
void warm_up(const Site& site, const Sizes& sizes);

void measure_micro(const Site& site, const Sizes& sizes, Report& report);
void measure_intake(const Site& site, const Sizes& sizes, Report& report);
void measure_life(const Site& site, const Sizes& sizes, Report& report);
void measure_hop(const Site& site, const Sizes& sizes, Report& report);
// At 400 records a second.
void measure_hop_over(int partitions, const Site& site, const Sizes& sizes, Report& report);
[[nodiscard]] std::string hop_over(int partitions);  // how the report names it
void measure_partitions(const Site& site, const Sizes& sizes, Report& report);
void measure_skew(const Site& site, const Sizes& sizes, Report& report);
void measure_growth(const Site& site, const Sizes& sizes, Report& report);
void measure_asking(const Site& site, const Sizes& sizes, Report& report);
// Only of the servers that the site has.
void measure_sinks(const Site& site, const Sizes& sizes, Report& report);
// Against a queue in a database only if the site has it.
void measure_journal(const Site& site, const Sizes& sizes, Report& report);
// Against topics of retries only if the site has them.
void measure_failures(const Site& site, const Sizes& sizes, Report& report);
// Against resequencers in memory only if the site has them.
void measure_orders(const Site& site, const Sizes& sizes, Report& report);
void measure_processes(const Site& site, const Sizes& sizes, Report& report);

}  // namespace reseq::bench
