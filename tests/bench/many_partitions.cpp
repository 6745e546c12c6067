// What many partitions in one process cost: the time until all of them run, first ever, after a kill with copies, and
// when those of a neighbour that died come to them; files, memory and idle CPU of each; and the latency of the same
// load over few and over many.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>

#include "tests/bench/meter.h"
#include "tests/bench/metrics.h"
#include "tests/bench/progress.h"

namespace reseq::bench {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kKillLimitMs = 10'000;

// Seconds from its start until all run.
double start_and_wait(const Contestant& contestant, const Application& application, Processes& processes) {
  std::filesystem::remove(application.log());
  const auto begin = Clock::now();
  processes = start(contestant, application);
  await_takeover(application, processes);
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::size_t open_files(pid_t pid) {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd"),
                    std::filesystem::directory_iterator()));
}

void measure_ready(const Site& site, const Contestant& contestant, int partitions, std::chrono::milliseconds pause,
                   Report& report) {
  const std::string name = std::to_string(partitions) + " partitions";
  const Application application(site, "ready", Mode::kIntake, {.partitions = partitions});
  Processes processes;
  const double born = start_and_wait(contestant, application, processes);
  std::this_thread::sleep_for(pause);  // first checkpoints
  const pid_t pid = processes.front()->pid();
  const double cpu = cpu_seconds(pid);
  std::this_thread::sleep_for(pause);
  const double idle = (cpu_seconds(pid) - cpu) / std::chrono::duration<double>(pause).count() * 100;
  const std::size_t files = open_files(pid);
  const Memory memory = memory_of(pid);
  processes.front()->signal(SIGKILL);
  (void)processes.front()->wait(kKillLimitMs);
  const double again = start_and_wait(contestant, application, processes);
  stop(processes);
  report.series("ready", name, "s at the first start").add(born);
  report.series("ready", name, "s after a kill").add(again);
  report.series("ready", name, "open files").add(static_cast<double>(files));
  report.series("ready", name, "anonymous MB").add(memory.anonymous_mb);
  report.series("ready", name, "idle CPU %").add(idle);
  std::fprintf(stderr, "ready %s: first %.2f s, after a kill %.2f s, %zu files, %.0f MB, idle %.1f %% CPU\n",
               name.c_str(), born, again, files, memory.anonymous_mb, idle);
}

// Seconds from the death of one of two processes until the other one runs all partitions.
void measure_neighbour(const Site& site, const Contestant& contestant, int partitions, Report& report) {
  const Application application(site, "neighbour", Mode::kIntake, {.partitions = partitions, .instances = 2});
  Processes processes = start(contestant, application);
  const auto of = [&](int instance) { return taken_over(application, instance); };
  const auto all = static_cast<std::size_t>(partitions);
  (void)seconds_until([&] { return of(2) > 0 && of(1) + of(2) == all; }, processes, "both have run their half");
  const std::size_t inherited = of(2);
  processes.back()->signal(SIGKILL);
  (void)processes.back()->wait(kKillLimitMs);
  processes.pop_back();
  const double seconds = seconds_until([&] { return of(1) == all; }, processes, "it runs what its neighbour had");
  stop(processes);
  report.series("neighbour", std::to_string(partitions) + " partitions", "s after its death").add(seconds);
  std::fprintf(stderr, "neighbour of %d partitions, %zu its own: %.2f s after its death\n", partitions, inherited,
               seconds);
}

}  // namespace

void measure_partitions(const Site& site, const Sizes& sizes, Report& report) {
  constexpr int kFewForHop = 16;
  const auto few = static_cast<int>(sizes.few_partitions);
  const auto many = static_cast<int>(sizes.many_partitions);
  for (int round = 0; round < sizes.rounds; ++round)
    for (const int partitions : {few, many})
      measure_ready(site, resequencer(site), partitions, std::chrono::milliseconds(sizes.idle_ms), report);
  for (int round = 0; round < sizes.rounds; ++round) measure_neighbour(site, resequencer(site), many, report);
  if (const auto most = static_cast<int>(sizes.most_partitions); most > 0)
    measure_ready(site, resequencer(site), most, std::chrono::milliseconds(sizes.idle_ms), report);
  for (const int partitions : {kFewForHop, many}) measure_hop_over(partitions, site, sizes, report);
  const auto ready = [&](int partitions, const std::string& unit) {
    return report.find("ready", std::to_string(partitions) + " partitions", unit);
  };
  const auto add_seconds = [&](const char* name, const std::string& unit, double target) {
    report.add({.name = name, .value = ready(many, unit)->median(), .goal = Goal::kAtMost, .target = target});
  };
  add_seconds("many_partitions_first_ready_s", "s at the first start", 15);
  add_seconds("many_partitions_ready_after_kill_s", "s after a kill", 5);
  // The session time-out, ten seconds here, and ten more.
  report.add({.name = "dead_neighbour_taken_over_s",
              .value = report.find("neighbour", std::to_string(many) + " partitions", "s after its death")->median(),
              .goal = Goal::kAtMost,
              .target = 20});
  report.add_ratio("ready_time_to_that_of_an_eighth", ready(many, "s at the first start"),
                   ready(few, "s at the first start"), Goal::kAtMost, 10);
  report.add_ratio("hop_p99_over_many_to_few_partitions", report.find(hop_over(many), kResequencer, "ms p99"),
                   report.find(hop_over(kFewForHop), kResequencer, "ms p99"), Goal::kAtMost, 2);
}

}  // namespace reseq::bench
