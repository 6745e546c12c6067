#include "tests/bench/race.h"

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>

#include "tests/bench/asking.h"

namespace reseq::bench {

namespace {

// Fewer than that are done before one looks twice; their figures hold the start of the process and tell nothing.
constexpr std::uint64_t kInputsToMeasure = 50'000;

}  // namespace

void add_cost(Report& report, const std::string& part, const std::string& contestant, const Measured& measured) {
  report.series(part, contestant, kPerSecond).add(measured.per_second);
  report.series(part, contestant, kCpu).add(measured.cpu_us);
  report.series(part, contestant, kMachine).add(measured.machine_us);
  std::fprintf(stderr, "%s %s: %.0f/s, %.2f us, %.2f us of the machine\n", part.c_str(), contestant.c_str(),
               measured.per_second, measured.cpu_us, measured.machine_us);
}

Measured between(const Sample& begin, const Sample& end, double records) {
  if (records <= 0) throw std::runtime_error("it was done before it was measured: give it more records");
  const double seconds = std::chrono::duration<double>(end.at - begin.at).count();
  const double us_each = 1e6 / records;
  return {
      records / seconds, (end.cpu_s - begin.cpu_s) * us_each, (end.machine_cpu_s - begin.machine_cpu_s) * us_each, {}};
}

std::unique_ptr<test::Process> start_echo(const Application& application, int per_second, const Answering& answering) {
  const std::vector<std::string> argv = {test::program("reseq-bench-echo"),
                                         "--bootstrap-servers",
                                         application.site().bootstrap_servers,
                                         "--application",
                                         application.id(),
                                         "--per-second",
                                         std::to_string(per_second),
                                         "--fail-every",
                                         std::to_string(answering.failing.every),
                                         "--fail-below",
                                         std::to_string(answering.failing.below),
                                         "--lose-every",
                                         std::to_string(answering.losing.every),
                                         "--lose-burst",
                                         std::to_string(answering.losing.burst),
                                         "--reverse",
                                         std::to_string(answering.reversed)};
  return std::make_unique<test::Process>(argv, application.folder() + "/echo.log");
}

Measured run(const Site& site, const Contestant& contestant, const Requests& requests, const Course& course) try {
  const Application application(site, contestant.name, course.mode, course.layout);
  requests.send(site.connection(), application.topic("requests"));
  const bool life = course.mode == Mode::kLife;
  const std::uint64_t inputs_each = life ? kTargetCount : 1;  // of what progress is told in, per request
  const std::uint64_t total = requests.all().size() * inputs_each;

  Progress progress(application, life ? "commands" : "requests");
  const auto echo = life ? start_echo(application) : nullptr;
  const Processes processes = start(contestant, application);
  const bool enough = total >= kInputsToMeasure;
  const double from = enough ? course.from : 0;
  std::optional<Asking> asking;  // whose clients are open when it begins
  if (course.queries_per_second > 0) asking.emplace(application, course.queries_per_second);
  const bool since_takeover = course.since_takeover && enough;
  if (since_takeover) await_takeover(application, processes);
  const auto first = static_cast<std::uint64_t>(static_cast<double>(total) * from);
  const Sample begin = since_takeover ? sample(progress, processes) : await(first, progress, processes);
  const Sample end = await(total, progress, processes);
  if (asking) asking->stop();
  Memory memory;
  for (const auto& process : processes) memory += memory_of(process->pid());
  stop(processes);
  if (echo) stop(*echo);

  check_work(application, requests, course.completeness);
  if (life) check_outputs(application, requests);
  Measured measured =
      between(begin, end, static_cast<double>(end.done - begin.done) / static_cast<double>(inputs_each));
  measured.memory = memory;
  return measured;
} catch (const std::exception& error) {
  throw std::runtime_error(contestant.name + ": " + error.what());
}

}  // namespace reseq::bench
