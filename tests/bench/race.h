// One run of one contestant: load, start, measure, stop, check.
// Thread rule: one thread.
#pragma once

#include "tests/bench/contestant.h"
#include "tests/bench/meter.h"
#include "tests/bench/output_check.h"
#include "tests/bench/requests.h"

namespace reseq::bench {

struct Course {
  Mode mode = Mode::kIntake;
  Completeness completeness = Completeness::kEveryRequest;  // of work
  Layout layout = {};
  double from = 0.1;              // part of the records that are not measured: processes start, caches fill
  double queries_per_second = 0;  // asked on the admin topic meanwhile
};

// Per request in Mode::kIntake, per document in Mode::kLife.
struct Measured {
  double per_second = 0;
  double cpu_us = 0;      // of the contestant's processes
  double machine_us = 0;  // CPU time of everything: broker, pipeline and neighbours too
  Memory memory;          // of all of them, at the end
};

// Throws when the contestant dies, does not go on, or wrote something wrong.
[[nodiscard]] Measured run(const Site& site, const Contestant& contestant, const Requests& requests,
                           const Course& course);

}  // namespace reseq::bench
