// The part `micro`: the steps of a record's way, each alone, without a broker (tests/bench/micro).
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/bench/metrics.h"
#include "tests/bench/micro/step.h"
#include "tests/support/process.h"

namespace reseq::bench {

namespace {

constexpr int kRunsPerRound = 4;
constexpr int kCountLimitMs = 600'000;
constexpr std::uint64_t kBatch = 5'000;
const std::string kPart = "micro";
const std::string kNanoseconds = "ns each";

double instructions(const Site& site, const std::string& step) {
  const std::string json_file = site.folder + "/instructions.json";
  test::Process count(
      {site.instructions, "--program", test::program("reseq-bench-micro"), "--step", step, "--json", json_file},
      site.folder + "/instructions.log");
  (void)count.wait(kCountLimitMs);  // what has grown is the matter of another test
  const auto counts = nlohmann::json::parse(std::ifstream(json_file), nullptr, false);
  if (!counts.contains(step)) throw std::runtime_error("instructions were not counted: " + count.tail());
  return counts.at(step).get<double>();
}

}  // namespace

void measure_micro(const Site& site, const Sizes& sizes, Report& report) {
  for (const NamedStep& named : all_steps()) {
    const auto step = named.make({.known = sizes.known, .batch = std::min(kBatch, sizes.known)});
    Series& series = report.series(kPart, std::string(named.name), kNanoseconds);
    for (int run = 0; run < sizes.rounds * kRunsPerRound; ++run) series.add(cpu_ns_each(*step));
    std::fprintf(stderr, "%s %s: %.0f ns\n", kPart.c_str(), std::string(named.name).c_str(), series.median());
  }
  const auto of = [&](const std::string& step) { return report.find(kPart, step, kNanoseconds); };
  report.add({.name = "engine_commands_per_s",
              .value = 1e9 / of("engine")->median(),
              .goal = Goal::kAtLeast,
              .target = 1.5e6});
  report.add_ratio("checkpoint_to_plain_lmdb", of("checkpoint"), of("plain_lmdb"), Goal::kAtMost, 1.5);
  if (site.instructions.empty()) return;
  report.add(
      {.name = "engine_instructions", .value = instructions(site, "engine"), .goal = Goal::kAtMost, .target = 2'000});
}

}  // namespace reseq::bench
