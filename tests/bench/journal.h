// The part `journal`: what requests cost that wait, against the same without a journal, and against a queue in a
// database.
// Thread rule: one thread; each function throws when an output is wrong or a document is missing.
#pragma once

#include <cstdint>
#include <string>

#include "tests/bench/metrics.h"
#include "tests/bench/race.h"
#include "tests/bench/report.h"

namespace reseq::bench {

// Lines of a configuration.
inline const std::string kJournal = "dispatch.mode = \"journal\"\n";
inline const std::string kNobodyWaits = kJournal + "dispatch.in_flight_max = 1000000000\n";

// One round of each.
void measure_backlogs(const Site& site, std::uint64_t documents, Report& report);
void measure_drain(const Site& site, const Requests& requests, Report& report);
void measure_urgent(const Site& site, std::uint64_t backlog, Report& report);
void measure_queues(const Site& site, const Requests& requests, Report& report);

}  // namespace reseq::bench
