#include "demo/run/orders_run.h"

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "demo/compare/git_tree.h"
#include "demo/compare/history.h"
#include "demo/compare/version_order.h"
#include "demo/pipeline/faults.h"
#include "demo/run/launches.h"
#include "demo/run/order_evidence.h"
#include "demo/run/pipeline_run.h"
#include "demo/run/skipped_changes.h"

namespace reseq::demo {
namespace {

constexpr const char* kSource = "source";

class OrdersRun {
 public:
  OrdersRun(const Settings& settings, const volatile std::sig_atomic_t& stop)
      : settings_(settings), run_(settings, "orders", {}, stop) {}

  Result<OrderNumbers> run();

 private:
  using Clock = std::chrono::steady_clock;

  Result<> look_at_history();
  Result<> start_consumers() { return run_.start_consumers(); }
  Result<> start_resequencers() { return run_.start_resequencers(); }
  Result<> send();
  Result<> follow();
  Result<> judge();
  Result<> judge_search();
  void judge_target(const std::string& target, OrderEvidence& evidence);

  const Settings& settings_;
  PipelineRun run_;
  OrderNumbers numbers_;
  GitTree tree_;
  std::vector<DocumentVersion> versions_;  // of the history
  std::map<std::string, VersionNames> lost_;
  ChildProcess* source_ = nullptr;
  Clock::time_point started_;
};

// What will be lost is known before anything is sent.
Result<> OrdersRun::look_at_history() {
  Result<Snapshot> snapshot = read_snapshot(settings_.repository, settings_.revision);
  if (!snapshot) return snapshot.error();
  numbers_.commit = std::move(snapshot.value().commit);
  tree_ = std::move(snapshot.value().tree);
  const Result<std::vector<PathChange>> history = read_history(settings_.repository, numbers_.commit);
  if (!history) return history.error();
  auto versions = read_versions(settings_.repository, history.value(), settings_.work_folder);
  if (!versions) return versions.error();
  versions_ = std::move(versions).value();
  for (const std::string& target : settings_.ordered_targets())
    for (const DocumentVersion& version : versions_)
      if (loses(Seed(settings_.seed), target, version.name.document, std::to_string(version.name.sequence)))
        lost_[target].insert(version.name);
  return Done{};
}

Result<> OrdersRun::send() {
  started_ = Clock::now();
  Result<ChildProcess*> source =
      run_.send(source_launch(settings_, kSource, pace_of_source(settings_), numbers_.commit));
  if (!source) return source.error();
  source_ = source.value();
  return Done{};
}

Result<> OrdersRun::follow() {
  return run_.follow([&] { return source_->poll().has_value(); });
}

void OrdersRun::judge_target(const std::string& target, OrderEvidence& evidence) {
  const bool total = target == Settings::kAudit;
  std::vector<DocumentVersion> expected;
  for (const DocumentVersion& version : versions_)
    if (!lost_[target].contains(version.name)) expected.push_back(version);
  const OrderOf order = total ? OrderOf::kEverything : OrderOf::kDocuments;
  OrderNumbers::Target& numbers = numbers_.targets.emplace_back();
  numbers.name = target;
  numbers.order = total ? "total" : "strict";
  numbers.with = compare_order(expected, evidence.released(target), order);
  numbers.without = compare_order(expected, evidence.results(target), order);
  numbers.held = evidence.outcomes().held[target];
  numbers.results_stopped = evidence.outcomes().results[target];
  numbers.lost = lost_[target].size();
  numbers.skipped = evidence.skipped()[target];
}

Result<> OrdersRun::judge_search() {
  auto sink = view_of_sink(settings_, Settings::kSearch, true);
  if (!sink) return sink.error();
  Result<Comparison> compared = compare(*sink.value(), settings_.repository, tree_, settings_.work_folder);
  if (!compared) return compared.error();
  numbers_.search = std::move(compared).value();
  return Done{};
}

Result<> OrdersRun::judge() {
  numbers_.changes = versions_.size();
  numbers_.skipped = run_.sent(kSource).skipped;
  numbers_.skipped_changes = skipped_changes(settings_.in_work(std::string(kSource) + ".log"));
  Result<OrderEvidence> read = OrderEvidence::read(settings_);
  if (!read) return read.error();
  OrderEvidence& evidence = read.value();
  numbers_.requests = compare_order(versions_, evidence.requests(), OrderOf::kEverything);
  for (const std::string& target : settings_.ordered_targets()) judge_target(target, evidence);
  numbers_.problems = evidence.problems_of_gaps(lost_);
  if (const std::uint64_t falls = evidence.versions_that_do_not_rise(); falls > 0)
    numbers_.problems.push_back(std::to_string(falls) + " outputs have a version that does not rise");
  return judge_search();
}

Result<OrderNumbers> OrdersRun::run() {
  numbers_.seed = settings_.seed;
  numbers_.processes = settings_.processes;
  numbers_.gap_timeout_ms = Settings::kGapTimeoutMs;
  for (const auto step : {&OrdersRun::look_at_history, &OrdersRun::start_consumers, &OrdersRun::start_resequencers,
                          &OrdersRun::send, &OrdersRun::follow})
    if (Result<> done = (this->*step)(); !done) return done.error();
  numbers_.seconds = std::chrono::duration<double>(Clock::now() - started_).count();
  run_.stop_all();
  if (Result<> judged = judge(); !judged) return judged.error();
  return numbers_;
}

}  // namespace

Result<OrderNumbers> run_orders_demo(const Settings& settings, const volatile std::sig_atomic_t& stop) {
  Settings own = settings;
  own.orders = true;
  Result<OrderNumbers> numbers = OrdersRun(own, stop).run();
  if (own.delete_topics) delete_topics(own);
  return numbers;
}

}  // namespace reseq::demo
