// The part `failures`: what it costs that work fails and is tried again, against the same without failures, and against
// topics of retries.
// Thread rule: one thread; each function throws when an output is wrong or a document is missing.
#pragma once

#include <cstdint>
#include <string>

#include "tests/bench/journal.h"
#include "tests/bench/metrics.h"

namespace reseq::bench {

// Lines of a configuration: the longest time until the first retry.
[[nodiscard]] std::string retrying(std::uint64_t backoff_ms);

// One round of each.
void measure_failing_lives(const Site& site, std::uint64_t documents, Report& report);
void measure_retry_burst(const Site& site, std::uint64_t retries, Report& report);
// Against topics of retries only if the site has them.
void measure_retry_topics(const Site& site, std::uint64_t documents, Report& report);

// When all rounds were run.
void add_burst_metrics(Report& report);

}  // namespace reseq::bench
