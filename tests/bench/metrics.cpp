#include "tests/bench/metrics.h"

#include <algorithm>
#include <cstdio>

#include "tests/bench/race.h"

namespace reseq::bench {

namespace {

constexpr std::uint64_t kWarmUpDocuments = 300'000;
const std::string kResident = "resident MB";
const std::string kAnonymous = "anonymous MB";

void run_once(const Site& site, const Contestant& contestant, const Requests& requests, const Course& course,
              const std::string& part, Report& report) {
  const Measured measured = run(site, contestant, requests, course);
  add_cost(report, part, contestant.name, measured);
  report.series(part, contestant.name, kResident).add(measured.memory.resident_mb);
  report.series(part, contestant.name, kAnonymous).add(measured.memory.anonymous_mb);
  std::fprintf(stderr, "%s %s: %.0f MB (%.0f anonymous)\n", part.c_str(), contestant.name.c_str(),
               measured.memory.resident_mb, measured.memory.anonymous_mb);
}

}  // namespace

void warm_up(const Site& site, const Sizes& sizes) {
  (void)run(site, contestants(site).front(), Requests({.documents = std::min(sizes.intake, kWarmUpDocuments)}), {});
}

void measure_intake(const Site& site, const Sizes& sizes, Report& report) {
  const std::string part = "intake";
  const Requests requests({.documents = sizes.intake});
  for (int round = 0; round < sizes.rounds; ++round)
    for (const Contestant& contestant : contestants(site)) run_once(site, contestant, requests, {}, part, report);
  const auto of = [&](const std::string& contestant, const std::string& unit) {
    return report.find(part, contestant, unit);
  };
  report.add_ratio("intake_throughput_to_ceiling", of(kResequencer, kPerSecond), of(kCeiling, kPerSecond),
                   Goal::kAtLeast, 0.8);
  report.add_ratio("intake_throughput_to_streams", of(kResequencer, kPerSecond), of(kStreams, kPerSecond),
                   Goal::kAtLeast, 2.2);
  report.add_ratio("intake_cpu_to_ceiling", of(kResequencer, kCpu), of(kCeiling, kCpu), Goal::kAtMost, 1.4);
  report.add_ratio("intake_cpu_to_streams", of(kResequencer, kCpu), of(kStreams, kCpu), Goal::kAtMost, 1.0 / 3);
  report.add_ratio("intake_resident_to_streams", of(kResequencer, kResident), of(kStreams, kResident), Goal::kAtMost,
                   0.25);
  report.add({.name = "intake_anonymous_mb",
              .value = of(kResequencer, kAnonymous)->median(),
              .goal = Goal::kAtMost,
              .target = 150});
}

void measure_life(const Site& site, const Sizes& sizes, Report& report) {
  const std::string part = "full life";
  const Requests requests({.documents = sizes.life});
  for (int round = 0; round < sizes.rounds; ++round)
    for (const Contestant& contestant : contestants(site))
      if (contestant.releases) run_once(site, contestant, requests, {.mode = Mode::kLife}, part, report);
  report.add_ratio("life_throughput_to_streams", report.find(part, kResequencer, kPerSecond),
                   report.find(part, kStreams, kPerSecond), Goal::kAtLeast, 2.2);
  report.add_ratio("life_cpu_to_streams", report.find(part, kResequencer, kCpu), report.find(part, kStreams, kCpu),
                   Goal::kAtMost, 1.0 / 3);
}

void measure_skew(const Site& site, const Sizes& sizes, Report& report) {
  const Plan uniform{.documents = sizes.skewed_ids, .each_once = false, .updates = sizes.skewed};
  Plan skewed = uniform;
  skewed.choice = Choice::kZipf;
  const Requests even(uniform);
  const Requests zipf(skewed);
  const Course course{.completeness = Completeness::kLastOfEach};
  for (int round = 0; round < sizes.rounds; ++round) {
    run_once(site, resequencer(site), even, course, "uniform", report);
    run_once(site, resequencer(site), zipf, course, "Zipf 1.0", report);
  }
  report.add_ratio("skewed_throughput_to_uniform", report.find("Zipf 1.0", kResequencer, kPerSecond),
                   report.find("uniform", kResequencer, kPerSecond), Goal::kAtLeast, 1.0);
}

void measure_growth(const Site& site, const Sizes& sizes, Report& report) {
  if (sizes.many_live == 0) return;
  const auto measure = [&](std::uint64_t live, const std::string& part) {
    const Requests requests({.documents = live, .updates = sizes.growth_settling + sizes.growth_updates});
    const std::uint64_t before = live + sizes.growth_settling;
    const Course course{.completeness = Completeness::kLastOfEach,
                        .from = static_cast<double>(before) / static_cast<double>(before + sizes.growth_updates)};
    run_once(site, resequencer(site), requests, course, part, report);
  };
  const std::string few = std::to_string(sizes.few_live) + " live ids";
  const std::string many = std::to_string(sizes.many_live) + " live ids";
  for (int round = 0; round < sizes.rounds; ++round) {
    measure(sizes.few_live, few);
    measure(sizes.many_live, many);
  }
  report.add_ratio("growth_cpu", report.find(many, kResequencer, kCpu), report.find(few, kResequencer, kCpu),
                   Goal::kAtMost, 2.0);
}

// The one who asks shares the cores, too.
void measure_asking(const Site& site, const Sizes& sizes, Report& report) {
  constexpr double kQueriesPerSecond = 10;
  const std::string part = "asked";
  const Requests requests({.documents = sizes.intake});
  Contestant contestant = resequencer(site);
  // In turn first and second: the difference is smaller than what a machine loses in an hour.
  for (int run = 0; run < 2 * sizes.rounds; ++run) {
    const bool asks = run % 4 == 1 || run % 4 == 2;
    contestant.name = asks ? "ten-a-second" : "never";
    run_once(site, contestant, requests, {.queries_per_second = asks ? kQueriesPerSecond : 0}, part, report);
  }
  report.add_ratio("asked_throughput_to_not_asked", report.find(part, "ten-a-second", kPerSecond),
                   report.find(part, "never", kPerSecond), Goal::kAtLeast, 0.98);
}

// The processes share the cores of one machine with the broker: it shows what a second one costs, not how much faster
// two machines are.
void measure_processes(const Site& site, const Sizes& sizes, Report& report) {
  constexpr int kPartitions = 8;
  constexpr double kAllHaveJoined = 0.3;
  const Requests requests({.documents = sizes.intake});
  Contestant contestant = resequencer(site);
  for (int round = 0; round < sizes.rounds; ++round)
    for (const int processes : {1, 2}) {
      contestant.name = processes == 1 ? "one-process" : "two-processes";
      run_once(site, contestant, requests, {.layout = {kPartitions, processes}, .from = kAllHaveJoined}, "8 partitions",
               report);
    }
}

}  // namespace reseq::bench
