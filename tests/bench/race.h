// One run of one contestant: load, start, measure, stop, check.
// Thread rule: one thread.
#pragma once

#include <memory>

#include "tests/bench/contestant.h"
#include "tests/bench/meter.h"
#include "tests/bench/output_check.h"
#include "tests/bench/progress.h"
#include "tests/bench/report.h"
#include "tests/bench/requests.h"

namespace reseq::bench {

struct Course {
  Mode mode = Mode::kIntake;
  Completeness completeness = Completeness::kEveryRequest;  // of work
  Layout layout = {};
  double from = 0.1;              // part of the records that are not measured: processes start, caches fill
  bool since_takeover = false;    // all of them are measured, from when all partitions run; of the resequencer alone
  double queries_per_second = 0;  // asked on the admin topic meanwhile
};

// Per request in Mode::kIntake, per document in Mode::kLife.
struct Measured {
  double per_second = 0;
  double cpu_us = 0;      // of the contestant's processes
  double machine_us = 0;  // CPU time of everything: broker, pipeline and neighbours too
  Memory memory;          // of all of them, at the end
};

// Units of a report: of requests, or of documents in the full life.
inline const std::string kPerSecond = "per second";
inline const std::string kCpu = "CPU us each";
inline const std::string kMachine = "machine us each";
void add_cost(Report& report, const std::string& part, const std::string& contestant, const Measured& measured);

[[nodiscard]] Measured between(const Sample& begin, const Sample& end, double records);

// The pipeline that answers at once; so many records a second, 0: no limit.
[[nodiscard]] std::unique_ptr<test::Process> start_echo(const Application& application, int per_second = 0,
                                                        const Answering& answering = {});

// Throws when the contestant dies, does not go on, or wrote something wrong.
[[nodiscard]] Measured run(const Site& site, const Contestant& contestant, const Requests& requests,
                           const Course& course);

}  // namespace reseq::bench
