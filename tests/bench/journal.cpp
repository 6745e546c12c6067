#include "tests/bench/journal.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>

#include "tests/bench/backlog.h"
#include "tests/e2e/outputs.h"

namespace reseq::bench {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kEverythingIsABody = std::uint64_t{1} << 40U;
constexpr std::uint64_t kHeldBytesDefault = std::uint64_t{256} << 20U;
constexpr std::uint64_t kDocumentsOfDefault = 1'000'000;  // with so many the default leaves room for a part of them
constexpr std::size_t kWaitingBytes = 1'024;
const std::string kLife = "journal life";
const std::string kWaiting = "1 KB waiting";
const std::string kImmediate = "immediate";
const std::string kDefaults = "journal";
const std::string kBodies = "bodies";
const std::string kReferences = "references";
const std::string kFetching = "plain fetching";

void measure_one(const Site& site, const std::string& name, const std::string& settings, const Requests& requests,
                 Mode mode, const std::string& part, Report& report) {
  Contestant contestant = resequencer(site);
  contestant.name = name;
  const Course course{.mode = mode, .layout = {.settings = settings}, .since_takeover = true};
  add_cost(report, part, name, run(site, contestant, requests, course));
}

// All that a consumer gets of a topic: bytes of keys and payloads, and seconds until it has the last one.
std::pair<double, double> fetch_all(const Site& site, const std::string& topic) {
  double bytes = 0;
  const auto begin = Clock::now();
  auto last = begin;
  test::read_all(site.connection(), topic, [&](const kafka::PlainRecord& record) {
    last = Clock::now();
    bytes += static_cast<double>(record.key.value_or("").size() + record.payload.value_or("").size());
  });
  return {bytes, std::chrono::duration<double>(last - begin).count()};
}

// With copies after an orderly end and after a kill, then without.
void measure_restarts(const Site& site, Backlog& backlog, Report& report) {
  const auto add = [&](const std::string& contestant, const std::string& unit, double value) {
    report.series(kWaiting, contestant, unit).add(value);
    std::fprintf(stderr, "%s %s: %.3f %s\n", kWaiting.c_str(), contestant.c_str(), value, unit.c_str());
  };
  backlog.stop();
  add("with a copy", "s until ready", backlog.start().ready_s);
  add("with a copy", "anonymous MB", backlog.memory().anonymous_mb);
  backlog.kill();
  add("after a kill", "s until ready", backlog.start().ready_s);
  backlog.stop();
  const Application& application = backlog.application();
  std::filesystem::remove_all(application.folder() + "/state");
  const Start restored = backlog.start();
  const auto [bytes, fetch_s] = fetch_all(site, application.topic("changelog"));
  add("from the changelog", "s until ready", restored.ready_s);
  add("from the changelog", kPerSecond, static_cast<double>(backlog.waiting()) / restored.restored_s);
  add("from the changelog", "MB a second", bytes / 1e6 / restored.restored_s);
  add("from the changelog", "anonymous MB", backlog.memory().anonymous_mb);
  add(kFetching, "MB a second", bytes / 1e6 / fetch_s);
  backlog.stop();
}

void add_metrics(Report& report) {
  const auto ratio = [&](const std::string& name, const std::pair<std::string, std::string>& of,
                         const std::pair<std::string, std::string>& over, const std::string& unit, Goal goal,
                         double target) {
    report.add_ratio(name, report.find(of.first, of.second, unit), report.find(over.first, over.second, unit), goal,
                     target);
  };
  const auto value = [&](const char* name, const char* contestant, const std::string& unit, Goal goal, double target) {
    report.add({name, report.find(kWaiting, contestant, unit)->median(), goal, target});
  };
  ratio("journal_life_cpu_to_immediate", {kLife, kDefaults}, {kLife, kImmediate}, kCpu, Goal::kAtMost, 1.5);
  ratio("journal_room_life_cpu_to_immediate", {kLife, "room-for-all"}, {kLife, kImmediate}, kCpu, Goal::kAtMost, 1.5);
  ratio("journal_drain_to_life", {kLife, "drain"}, {kLife, kImmediate}, kPerSecond, Goal::kAtLeast, 0.6);
  ratio("journal_dispatch_to_intake", {"1 KB dispatch", kBodies}, {"1 KB dispatch", kImmediate}, kPerSecond,
        Goal::kAtLeast, 0.5);
  ratio("journal_reference_dispatch_to_intake", {"1 KB dispatch", kReferences}, {"1 KB dispatch", kImmediate},
        kPerSecond, Goal::kAtLeast, 0.5);
  ratio("journal_urgent_p99_to_immediate", {"urgent", "journal"}, {"urgent", kImmediate}, "ms p99", Goal::kAtMost, 1.5);
  ratio("journal_urgent_p99_to_idle", {"urgent", "journal"}, {"urgent", "idle"}, "ms p99", Goal::kAtMost, 4);
  value("journal_ready_with_copy_s", "with a copy", "s until ready", Goal::kAtMost, 2);
  value("journal_restored_per_s", "from the changelog", kPerSecond, Goal::kAtLeast, 60'000);
  ratio("journal_restore_to_fetching", {kWaiting, "from the changelog"}, {kWaiting, kFetching}, "MB a second",
        Goal::kAtLeast, 0.4);
  value("journal_waiting_anonymous_mb", "after intake", "anonymous MB", Goal::kAtMost, 300);
  for (const auto& [postgres, name] : {std::pair{"postgres", "postgres"}, {"postgres, results", "postgres_results"}}) {
    const std::string to = std::string("_to_") + name;
    ratio("journal_queue_throughput" + to, {"queue", kDefaults}, {"queue", postgres}, kPerSecond, Goal::kAtLeast, 1);
    ratio("journal_queue_cpu" + to, {"queue", kDefaults}, {"queue", postgres}, kCpu, Goal::kAtMost, 1);
  }
}

}  // namespace

void measure_backlogs(const Site& site, std::uint64_t documents, Report& report) {
  const std::string part = "1 KB dispatch";
  const Requests requests({.documents = documents, .payload_bytes = kWaitingBytes});
  measure_one(site, kImmediate, "", requests, Mode::kIntake, part, report);
  {
    Backlog backlog(site, requests, kEverythingIsABody);
    report.series(kWaiting, "after intake", "documents").add(static_cast<double>(backlog.waiting()));
    report.series(kWaiting, "after intake", "anonymous MB").add(backlog.memory().anonymous_mb);
    measure_restarts(site, backlog, report);
    add_cost(report, part, kBodies, backlog.dispatch());
  }
  // Fewer documents have less room, so that as large a part of them waits by its place.
  Backlog backlog(site, requests, kHeldBytesDefault * documents / kDocumentsOfDefault);
  report.series(part, kReferences, "anonymous MB").add(backlog.memory().anonymous_mb);
  backlog.stop();
  add_cost(report, part, kReferences, backlog.dispatch());
}

void measure_drain(const Site& site, const Requests& requests, Report& report) {
  Backlog backlog(site, requests, kEverythingIsABody);
  backlog.stop();
  add_cost(report, kLife, "drain", backlog.drain());
}

void measure_journal(const Site& site, const Sizes& sizes, Report& report) {
  const Requests requests({.documents = sizes.journal});
  for (int round = 0; round < sizes.rounds; ++round) {
    measure_one(site, kImmediate, "", requests, Mode::kLife, kLife, report);
    measure_one(site, kDefaults, kJournal, requests, Mode::kLife, kLife, report);
    measure_one(site, "room-for-all", kNobodyWaits, requests, Mode::kLife, kLife, report);
    measure_drain(site, requests, report);
    measure_backlogs(site, sizes.journal, report);
    measure_urgent(site, sizes.journal, report);
    measure_queues(site, requests, report);
  }
  add_metrics(report);
}

}  // namespace reseq::bench
