// Documents that change once, or sixteen times in a row, with results that come in order, or the sixteen from the last
// to the first; a log of one partition, without losses and with bursts of them; results that wait for one that
// was lost; and the same reversed results through the resequencers of Java.
#include "tests/bench/orders.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kafka/admin.h"
#include "tests/bench/output_check.h"
#include "tests/bench/race.h"
#include "tests/support/good.h"

namespace reseq::bench {

namespace {

constexpr std::uint64_t kVersions = 16;
constexpr std::uint64_t kLostBurst = 1'000;
constexpr std::uint64_t kOneInAHundred = 100;
constexpr std::uint64_t kGapTimeoutMs = 2'000;
constexpr std::uint64_t kNobodyGivesUpMs = 86'400'000;
constexpr std::size_t kHeldResultBytes = 1'024;
constexpr int kSkipLimitMs = 60'000;
const std::string kFourPartitions = "life, four partitions";
const std::string kInOrder = "strict, sixteen versions";
const std::string kReversed = "strict, sixteen reversed";
const std::string kOnePartition = "life, one partition";
const std::string kHeld = "held";
const std::string kResults = "reversed-results";
const std::string kNewest = "newest";
const std::string kStrict = "strict";
const std::string kStrictBesideNewest = "strict beside newest";
const std::string kTotalBesideNewest = "total beside newest";
const std::string kTotal = "total";  // results of sixteen partitions of `work` overtake each other
const std::string kTotalInOrder = "total, results in order";
const std::string kWithLosses = "total, one in a hundred lost";
const std::string kExtra = "time-outs a burst";
const std::vector<std::string> kLibraries = {"camel", "spring-integration"};

const std::string kOneOutput = "init.output_partitions = 1\n";
const std::string kOneOfWork = "init.work_partitions = 1\n";

std::string gap_timeout(std::uint64_t ms) {
  return "orders.gap_timeout_ms = " + std::to_string(ms) + "\n";
}

// Records of both outputs, with the marks of transactions.
class Outputs {
 public:
  explicit Outputs(const Application& application)
      : application_(application), admin_(test::good(kafka::Admin::open(application.site().connection()))) {}

  [[nodiscard]] std::uint64_t appended() const {
    return bench::appended(*admin_, application_.topic("output.search")) +
           bench::appended(*admin_, application_.topic("output.catalogue"));
  }

 private:
  const Application& application_;
  std::unique_ptr<kafka::Admin> admin_;
};

struct Run {
  std::string part;
  std::string order;
  Layout layout = {};
  Answering answering = {};
};

// All requests are there before the start. From when all partitions run until the last result is out.
Measured live(const Site& site, const Run& run, const Requests& requests) {
  Layout layout = run.layout;
  layout.order = run.order;
  const Application application(site, run.order, Mode::kLife, layout);
  requests.send(site.connection(), application.topic("requests"));
  Progress decided(application, "commands");
  const Outputs outputs(application);
  const auto echo = start_echo(application, 0, run.answering);
  const Processes processes = start(resequencer(site), application);
  await_takeover(application, processes);
  const Sample begin = sample(decided, processes);
  const std::uint64_t lost = run.answering.losing.count(requests.documents());
  const std::uint64_t answered = (requests.all().size() - lost) * kTargetCount;
  Sample end = await(answered, decided, processes);
  const std::uint64_t released = run.order == kNewest ? requests.documents() * kTargetCount : answered;
  await_last(
      released, [&] { return outputs.appended(); }, [&] { end = sample(decided, processes); }, processes);
  stop(processes);
  stop(*echo);
  if (run.order == kStrict) check_every_version(application, requests, {});
  if (run.order == kTotal) {
    EveryVersion all{.in_order = InOrder::kAll, .losing = run.answering.losing};
    if (layout.beside_newest) all.targets = {"catalogue"};
    check_every_version(application, requests, all);
  }
  return between(begin, end, static_cast<double>(requests.all().size()));
}

double measure(const Site& site, const Run& run, const std::string& name, const Requests& requests, Report& report) {
  const Measured measured = live(site, run, requests);
  add_cost(report, run.part, name, measured);
  return static_cast<double>(requests.all().size()) / measured.per_second;
}

void add(Report& report, const std::string& part, const std::string& contestant, const std::string& unit,
         double value) {
  report.series(part, contestant, unit).add(value);
  std::fprintf(stderr, "%s %s: %.3f %s\n", part.c_str(), contestant.c_str(), value, unit.c_str());
}

// Results stand in `commands`, and none of them is decided.
class Answered {
 public:
  Answered(const Site& site, const Requests& requests)
      : requests_(requests), application_(site, kResults, Mode::kLife, {.order = kStrict}) {
    requests.send(site.connection(), application_.topic("requests"));
    Progress taken(application_, "requests");
    Processes processes = start(resequencer(site), application_);
    (void)await(requests.all().size(), taken, processes);
    stop(processes);
    const auto admin = test::good(kafka::Admin::open(site.connection()));
    const auto count = [&] { return appended(*admin, application_.topic("commands")); };
    Processes answering;
    answering.push_back(start_echo(application_, 0, {.reversed = kVersions}));
    await_last(
        requests.all().size() * kTargetCount, count, [] {}, answering);
    stop(answering);
  }

  [[nodiscard]] const Application& application() const { return application_; }

  // From when half of the results are done until the last one is out: Java compiles what it does in the first half.
  [[nodiscard]] Measured run(const Contestant& contestant, std::uint64_t released) {
    Progress decided(application_, "commands");
    const Outputs outputs(application_);
    const Processes processes = start(contestant, application_);
    const std::uint64_t all = requests_.all().size() * kTargetCount;
    const Sample begin = await(all < kResultsToMeasure ? 0 : all / 2, decided, processes);
    Sample end = await(all, decided, processes);
    await_last(
        released, [&] { return outputs.appended(); }, [&] { end = sample(decided, processes); }, processes);
    stop(processes);
    return between(begin, end, static_cast<double>(all - begin.done) / kTargetCount);
  }

 private:
  static constexpr std::uint64_t kResultsToMeasure = 100'000;
  const Requests& requests_;
  Application application_;
};

void skip(const Application& application, const std::string& id, const std::string& target) {
  test::Process operation(
      {test::program("resequencer"), "skip", id, "--target", target, "--config", application.configuration()},
      application.folder() + "/skip.log");
  if (operation.wait(kSkipLimitMs) != 0) throw std::runtime_error("not skipped: " + operation.tail());
}

Contestant in_memory(const Site& site, const std::string& library) {
  return {library, true, [&site, library](const Application& application, int) -> std::vector<std::string> {
            return {site.resequencers,
                    "--library",
                    library,
                    "--bootstrap-servers",
                    site.bootstrap_servers,
                    "--application",
                    application.id(),
                    "--partitions",
                    std::to_string(application.partitions()),
                    "--targets",
                    std::string(kTargets)};
          }};
}

void add_metrics(Report& report) {
  const auto ratio = [&](const std::string& name, const std::string& part, const std::string& of,
                         const std::string& over, const std::string& unit, Goal goal, double target) {
    report.add_ratio(name, report.find(part, of, unit), report.find(part, over, unit), goal, target);
  };
  const std::string& four = kFourPartitions;
  ratio("orders_strict_throughput_to_newest", four, kStrict, kNewest, kPerSecond, Goal::kAtLeast, 0.8);
  ratio("orders_strict_beside_newest_throughput", four, kStrictBesideNewest, kNewest, kPerSecond, Goal::kAtLeast, 0.8);
  ratio("orders_versions_throughput_to_newest", four, kInOrder, kNewest, kPerSecond, Goal::kAtLeast, 0.8);
  ratio("orders_reversed_throughput_to_newest", four, kReversed, kNewest, kPerSecond, Goal::kAtLeast, 0.5);
  ratio("orders_total_throughput_to_newest", kOnePartition, kTotal, kNewest, kPerSecond, Goal::kAtLeast, 0.5);
  ratio("orders_total_beside_newest_throughput", kOnePartition, kTotalBesideNewest, kNewest, kPerSecond, Goal::kAtLeast,
        0.5);
  ratio("orders_total_in_order_throughput_to_newest", kOnePartition, kTotalInOrder, kNewest, kPerSecond, Goal::kAtLeast,
        0.5);
  report.add({"orders_losses_in_time_outs_a_burst", report.find(kOnePartition, kWithLosses, kExtra)->median(),
              Goal::kAtMost, 2});
  report.add({"orders_held_restored_per_s", report.find(kHeld, "from the changelog", kPerSecond)->median(),
              Goal::kAtLeast, 60'000});
  for (const std::string& library : kLibraries) {
    ratio("orders_results_throughput_to_" + library, kResults, kStrict, library, kPerSecond, Goal::kAtLeast, 1);
    ratio("orders_results_cpu_to_" + library, kResults, kStrict, library, kCpu, Goal::kAtMost, 1);
  }
}

}  // namespace

// A newest target drops what is superseded before it goes to work: only documents that change once are the same work
// for both.
void measure_versions(const Site& site, std::uint64_t requests, Report& report) {
  const Requests versions({.documents = std::max<std::uint64_t>(requests / kVersions, 1), .versions = kVersions});
  const Requests once({.documents = versions.all().size()});
  (void)measure(site, {.part = kFourPartitions, .order = kNewest}, kNewest, once, report);
  (void)measure(site, {.part = kFourPartitions, .order = kStrict, .layout = {.beside_newest = true}},
                kStrictBesideNewest, once, report);
  (void)measure(site, {.part = kFourPartitions, .order = kStrict}, kStrict, once, report);
  (void)measure(site, {.part = kFourPartitions, .order = kStrict}, kInOrder, versions, report);
  const Answering reversed{.reversed = kVersions};
  (void)measure(site, {.part = kFourPartitions, .order = kStrict, .answering = reversed}, kReversed, versions, report);
}

void measure_losses(const Site& site, std::uint64_t requests, Report& report) {
  const Requests once({.documents = requests});
  const std::uint64_t burst = std::clamp<std::uint64_t>(requests / kOneInAHundred, 1, kLostBurst);
  const Losing losing{.every = burst * kOneInAHundred, .burst = burst};
  const Layout one{.partitions = 1, .settings = kOneOutput + gap_timeout(kGapTimeoutMs)};
  Layout in_order = one;
  in_order.settings += kOneOfWork;
  (void)measure(site, {kOnePartition, kNewest, one}, kNewest, once, report);
  (void)measure(site, {kOnePartition, kTotal, in_order}, kTotalInOrder, once, report);
  Layout beside_newest = one;
  beside_newest.beside_newest = true;
  (void)measure(site, {kOnePartition, kTotal, beside_newest}, kTotalBesideNewest, once, report);
  const double all_s = measure(site, {kOnePartition, kTotal, one}, kTotal, once, report);
  const double lost_s = measure(site, {kOnePartition, kTotal, one, {.losing = losing}}, kWithLosses, once, report);
  const auto bursts = static_cast<double>(losing.count(requests)) / static_cast<double>(burst);
  add(report, kOnePartition, kWithLosses, kExtra, std::max(0.0, lost_s - all_s) * 1e3 / kGapTimeoutMs / bursts);
}

void measure_held_restore(const Site& site, std::uint64_t results, Report& report) {
  const Requests requests({.documents = results + 1, .payload_bytes = kHeldResultBytes});
  const Losing first{.every = requests.documents(), .burst = 1};
  const Application application(
      site, kHeld, Mode::kLife,
      {.partitions = 1, .settings = kOneOutput + gap_timeout(kNobodyGivesUpMs), .order = kTotal});
  requests.send(site.connection(), application.topic("requests"));
  Progress decided(application, "commands");
  const auto echo = start_echo(application, 0, {.losing = first});
  Processes processes = start(resequencer(site), application);
  (void)await(results * kTargetCount, decided, processes);
  const Outputs outputs(application);
  if (outputs.appended() > 0) throw std::runtime_error("something has left before the one that was lost");
  add(report, kHeld, "after intake", "anonymous MB", memory_of(processes.front()->pid()).anonymous_mb);
  stop(processes);
  stop(*echo);
  add(report, kHeld, "with a copy", "s until ready", start_again(application, processes).ready_s);
  stop(processes);
  std::filesystem::remove_all(application.folder() + "/state");
  const Start restored = start_again(application, processes);
  add(report, kHeld, "from the changelog", "s until ready", restored.ready_s);
  add(report, kHeld, "from the changelog", kPerSecond,
      static_cast<double>(results * kTargetCount) / restored.restored_s);
  add(report, kHeld, "from the changelog", "anonymous MB", memory_of(processes.front()->pid()).anonymous_mb);
  const Sample begin = sample(decided, processes);
  for (const char* target : {"search", "catalogue"}) skip(application, id_of(0), target);
  Sample end = begin;
  const auto grew = [&] { end = sample(decided, processes); };
  await_last(
      results * kTargetCount, [&] { return outputs.appended(); }, grew, processes);
  stop(processes);
  check_every_version(application, requests, {.in_order = InOrder::kAll, .losing = first});
  add_cost(report, kHeld, "drain", between(begin, end, static_cast<double>(results * kTargetCount)));
}

void measure_resequencers(const Site& site, std::uint64_t requests, Report& report) {
  const Requests versions({.documents = std::max<std::uint64_t>(requests / kVersions, 1), .versions = kVersions});
  const std::uint64_t all = versions.all().size() * kTargetCount;
  {
    Answered answered(site, versions);
    add_cost(report, kResults, kStrict, answered.run(resequencer(site), all));
    check_every_version(answered.application(), versions, {});
  }
  if (site.resequencers.empty()) return;
  for (const std::string& library : kLibraries) {
    Answered answered(site, versions);
    add_cost(report, kResults, library, answered.run(in_memory(site, library), all));
    check_every_version(answered.application(), versions, {.numbered = false});
  }
}

void measure_orders(const Site& site, const Sizes& sizes, Report& report) {
  for (int round = 0; round < sizes.rounds; ++round) {
    measure_versions(site, sizes.versions, report);
    measure_losses(site, sizes.ordered, report);
    measure_held_restore(site, sizes.held, report);
    measure_resequencers(site, sizes.versions, report);
  }
  add_metrics(report);
}

}  // namespace reseq::bench
