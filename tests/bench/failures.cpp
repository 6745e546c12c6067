#include "tests/bench/failures.h"

#include <cstdio>
#include <utility>

#include "kafka/admin.h"
#include "tests/bench/output_check.h"
#include "tests/support/good.h"

namespace reseq::bench {

namespace {

constexpr std::uint64_t kShortBackoffMs = 100;
const std::string kFailingLife = "failing life";
const std::string kNothingFails = "none";
const std::string kOnePercent = "one-percent";
const std::string kEachOnce = "each-once";
const std::string kRetry = "retry";
const std::string kChangelog = "changelog each";  // records, with the marks of transactions

struct Life {
  Measured cost;
  double changelog = 0;  // records each
};

// All requests are there before the start. From when all partitions run until the last result is decided.
Life live(const Site& site, const std::string& name, const Requests& requests, const Failing& failing) {
  const Application application(site, name, Mode::kLife, {.settings = kNobodyWaits + retrying(kShortBackoffMs)});
  requests.send(site.connection(), application.topic("requests"));
  Progress decided(application, "commands");
  const auto echo = start_echo(application, 0, {.failing = failing});
  const Processes processes = start(resequencer(site), application);
  await_takeover(application, processes);
  const Sample begin = sample(decided, processes);
  const Sample end =
      await(requests.documents() * kTargetCount + failing.count(requests.documents()), decided, processes);
  stop(processes);
  stop(*echo);
  check_attempts(application, requests, failing);
  check_outputs(application, requests);
  const auto admin = test::good(kafka::Admin::open(site.connection()));
  const auto documents = static_cast<double>(requests.documents());
  return {between(begin, end, documents),
          static_cast<double>(appended(*admin, application.topic("changelog"))) / documents};
}

void add_failing_metrics(Report& report) {
  const auto ratio = [&](const std::string& name, const std::pair<std::string, std::string>& of,
                         const std::pair<std::string, std::string>& over, const std::string& unit, Goal goal,
                         double target) {
    report.add_ratio(name, report.find(of.first, of.second, unit), report.find(over.first, over.second, unit), goal,
                     target);
  };
  ratio("failures_retry_cpu_to_life", {kRetry, "neighbours"}, {kFailingLife, kNothingFails}, kCpu, Goal::kAtMost, 3);
  ratio("failures_one_percent_throughput_to_none", {kFailingLife, kOnePercent}, {kFailingLife, kNothingFails},
        kPerSecond, Goal::kAtLeast, 0.85);
  ratio("failures_one_percent_cpu_to_none", {kFailingLife, kOnePercent}, {kFailingLife, kNothingFails}, kCpu,
        Goal::kAtMost, 1 / 0.85);
  add_burst_metrics(report);
}

}  // namespace

std::string retrying(std::uint64_t backoff_ms) {
  return "failures.mode = \"retry\"\nfailures.backoff_ms = " + std::to_string(backoff_ms) + "\n";
}

void measure_failing_lives(const Site& site, std::uint64_t documents, Report& report) {
  const Requests requests({.documents = documents});
  const auto measure = [&](const std::string& name, const Failing& failing) {
    const Life life = live(site, name, requests, failing);
    add_cost(report, kFailingLife, name, life.cost);
    report.series(kFailingLife, name, kChangelog).add(life.changelog);
    return life;
  };
  const Life none = measure(kNothingFails, {});
  (void)measure(kOnePercent, {.every = 100});
  const Life each = measure(kEachOnce, {.every = 1});
  const auto add = [&](const std::string& unit, double value) {
    report.series(kRetry, "neighbours", unit).add(value);
    std::fprintf(stderr, "%s: %.2f %s\n", kRetry.c_str(), value, unit.c_str());
  };
  add(kCpu, each.cost.cpu_us - none.cost.cpu_us);
  add(kChangelog, each.changelog - none.changelog);
}

void measure_failures(const Site& site, const Sizes& sizes, Report& report) {
  for (int round = 0; round < sizes.rounds; ++round) {
    measure_failing_lives(site, sizes.failing, report);
    measure_retry_burst(site, sizes.burst, report);
    measure_retry_topics(site, sizes.retry_topics, report);
  }
  add_failing_metrics(report);
}

}  // namespace reseq::bench
