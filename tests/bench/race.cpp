#include "tests/bench/race.h"

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>

#include "tests/bench/asking.h"
#include "tests/bench/progress.h"

namespace reseq::bench {

namespace {

constexpr std::uint64_t kTargetCount = 2;
// Fewer than that are done before one looks twice; their figures hold the start of the process and tell nothing.
constexpr std::uint64_t kInputsToMeasure = 50'000;

std::unique_ptr<test::Process> start_echo(const Application& application) {
  if (application.mode() != Mode::kLife) return nullptr;
  const std::vector<std::string> argv = {test::program("reseq-bench-echo"), "--bootstrap-servers",
                                         application.site().bootstrap_servers, "--application", application.id()};
  return std::make_unique<test::Process>(argv, application.folder() + "/echo.log");
}

}  // namespace

Measured run(const Site& site, const Contestant& contestant, const Requests& requests, const Course& course) try {
  const Application application(site, contestant.name, course.mode, course.layout);
  requests.send(site.connection(), application.topic("requests"));
  const bool life = course.mode == Mode::kLife;
  const std::uint64_t inputs_each = life ? kTargetCount : 1;  // of what progress is told in, per request
  const std::uint64_t total = requests.all().size() * inputs_each;

  Progress progress(application, life ? "commands" : "requests");
  const auto echo = start_echo(application);
  const Processes processes = start(contestant, application);
  const double from = total < kInputsToMeasure ? 0 : course.from;
  std::optional<Asking> asking;  // whose clients are open when it begins
  if (course.queries_per_second > 0) asking.emplace(application, course.queries_per_second);
  const Sample begin = await(static_cast<std::uint64_t>(static_cast<double>(total) * from), progress, processes);
  const Sample end = await(total, progress, processes);
  if (asking) asking->stop();
  Memory memory;
  for (const auto& process : processes) memory += memory_of(process->pid());
  stop(processes);
  if (echo) stop(*echo);

  check_work(application, requests, course.completeness);
  if (life) check_outputs(application, requests);
  if (end.done == begin.done) throw std::runtime_error("it was done before it was measured: give it more records");
  const double records = static_cast<double>(end.done - begin.done) / static_cast<double>(inputs_each);
  const double seconds = std::chrono::duration<double>(end.at - begin.at).count();
  const double us_each = 1e6 / records;
  return {records / seconds, (end.cpu_s - begin.cpu_s) * us_each, (end.machine_cpu_s - begin.machine_cpu_s) * us_each,
          memory};
} catch (const std::exception& error) {
  throw std::runtime_error(contestant.name + ": " + error.what());
}

}  // namespace reseq::bench
