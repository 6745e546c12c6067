#include "demo/run/demo.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>
#include <utility>

#include "demo/compare/git_tree.h"
#include "demo/run/completion.h"
#include "demo/run/connection.h"
#include "demo/run/fleet.h"
#include "demo/run/instance_config.h"
#include "demo/run/launches.h"
#include "demo/run/outcomes.h"
#include "demo/run/progress_files.h"
#include "demo/run/progress_line.h"
#include "demo/run/skipped_changes.h"

namespace reseq::demo {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTick{100};
constexpr std::chrono::milliseconds kSweepEvery{400};
constexpr std::chrono::seconds kReadyLimit{120};
// The pipeline gets less than is sent: what is superseded before does not reach it.
constexpr std::uint64_t kPaceShare = 2;
constexpr std::chrono::seconds kStallLimit{120};
constexpr const char* kPipeline = "pipeline";
// One commit in so many waits already when the resequencers start, as after a restart: in a backlog a document changes
// more than once, and only its last change has to be worked on.
constexpr std::uint64_t kBacklogShare = 32;

class Run {
 public:
  Run(const Settings& settings, const volatile std::sig_atomic_t& stop) : settings_(settings), fleet_(stop) {}

  Result<Numbers> run();

 private:
  Result<> make_topics();
  Result<> start_consumers();
  Result<> send_backlog();
  Result<> start_resequencers();
  Result<> send_the_rest();
  Result<> follow();
  Result<> judge();
  Result<> start_pipeline();
  Result<> judge_target(const std::string& target, Outcomes& outcomes);
  // Waits until `ready`, while every process is well.
  template <typename Ready>
  Result<> wait_until(Ready ready, const char* what);
  [[nodiscard]] Launch source(const std::string& name, const std::string& revision,
                              std::vector<std::string> options) const;
  [[nodiscard]] SourceProgress sent() const;
  [[nodiscard]] bool rest_known() const { return source_progress(settings_.in_work("source.progress")).has_value(); }

  const Settings& settings_;
  Fleet fleet_;
  ProgressLine line_;
  Numbers numbers_;
  GitTree tree_;
  ChildProcess* source_ = nullptr;
  Clock::time_point started_;
};

template <typename Ready>
Result<> Run::wait_until(Ready ready, const char* what) {
  const Clock::time_point until = Clock::now() + kReadyLimit;
  while (!ready()) {
    if (Result<> fine = fleet_.check(); !fine) return fine;
    if (Clock::now() > until)
      return Error{.what_to_do = ErrorClass::kTimeout, .message = std::string("gave up waiting for ") + what};
    line_.show(0, 0, std::string("waiting for ") + what);
    std::this_thread::sleep_for(kTick);
  }
  return Done{};
}

Result<> Run::make_topics() {
  Result<std::string> config = write_instance_config(settings_, "init");
  if (!config) return config.error();
  return fleet_.run(launch(settings_, "init", "resequencer", {"init", "--config", config.value()}));
}

Result<> Run::start_consumers() {
  for (const char* target : {Settings::kSearch, Settings::kCatalogue})
    for (const bool checked : {true, false})
      if (Result<> sink = fleet_.start(sink_launch(settings_, target, checked)); !sink) return sink;
  return start_pipeline();
}

Result<> Run::start_pipeline() {
  const std::string progress = settings_.in_work("pipeline.progress");
  Result<> pipeline =
      fleet_.start(launch(settings_, kPipeline, "reseq-demo-pipeline",
                          {"--bootstrap-servers", settings_.bootstrap_servers, "--work", settings_.pipeline_topic(),
                           "--commands", settings_.topic("commands"), "--group", settings_.pipeline_group(),
                           "--targets", std::string(Settings::kSearch) + "," + Settings::kCatalogue, "--workers",
                           std::to_string(settings_.workers), "--seed", std::to_string(settings_.seed), "--pace",
                           std::to_string(settings_.requests_per_second / kPaceShare), "--progress-file", progress}));
  if (!pipeline) return pipeline;
  return wait_until(
      [&] {
        const auto seen = pipeline_progress(progress);
        return seen && seen->every_worker_has_partitions();
      },
      "every worker to get partitions");
}

// Both parts of the history share a state file: the second one goes on where the first one ended.
Launch Run::source(const std::string& name, const std::string& revision, std::vector<std::string> options) const {
  options.insert(options.end(), {"--state", settings_.in_work("source.state")});
  return source_launch(settings_, name, options, revision);
}

SourceProgress Run::sent() const {
  const auto first = source_progress(settings_.in_work("backlog.progress")).value_or(SourceProgress{});
  const auto rest = source_progress(settings_.in_work("source.progress")).value_or(SourceProgress{});
  return {first.sent + rest.sent, first.skipped + rest.skipped, first.total + rest.total};
}

Result<> Run::send_backlog() {
  const auto commits = count_commits(settings_.repository, numbers_.commit);
  if (!commits) return commits.error();
  const std::uint64_t behind = commits.value() - std::max<std::uint64_t>(1, commits.value() / kBacklogShare);
  started_ = Clock::now();
  return fleet_.run(source("backlog", numbers_.commit + "~" + std::to_string(behind), {}));
}

Result<> Run::send_the_rest() {
  Result<ChildProcess*> started = fleet_.start_job(source("source", numbers_.commit, pace_of_source(settings_)));
  if (!started) return started.error();
  source_ = started.value();
  return Done{};
}

Result<> Run::start_resequencers() {
  Result<std::vector<Launch>> resequencers = resequencer_launches(settings_);
  if (!resequencers) return resequencers.error();
  for (const Launch& one : resequencers.value())
    if (Result<> started = fleet_.start(one); !started) return started;
  Result<Completion> completion = Completion::open(settings_);
  if (!completion) return completion.error();
  return wait_until([&] { return completion.value().requests_decided(); }, "the resequencers to take over");
}

Result<> Run::follow() {
  Result<Completion> completion = Completion::open(settings_);
  if (!completion) return completion.error();
  Clock::time_point swept{}, moved = Clock::now();
  std::pair<std::uint64_t, std::uint64_t> before{};
  Flow flow;
  bool told = false;  // the pipeline, that no more comes
  while (true) {
    if (Result<> fine = fleet_.check(); !fine) return fine;
    const bool all_sent = source_->poll().has_value();
    if (Clock::now() - swept >= kSweepEvery) {
      swept = Clock::now();
      Result<Flow> seen = completion.value().sweep();
      if (!seen) return seen.error();
      flow = seen.value();
      if (all_sent && flow.complete) return Done{};
      // It takes a pause for a stall of the machine until then.
      if (all_sent && flow.requests_decided && !std::exchange(told, true)) fleet_.tell(kPipeline, SIGUSR1);
    }
    const SourceProgress sent = this->sent();
    if (const auto now = std::make_pair(sent.sent, flow.read); now != before) {
      before = now;
      moved = Clock::now();
    }
    if (Clock::now() - moved > kStallLimit)
      return Error{.what_to_do = ErrorClass::kTimeout,
                   .message = "nothing moves any more; waiting for " + flow.waiting_for};
    if (all_sent) {
      line_.show(sent.sent + flow.commands_decided, 2 * sent.sent, "waiting for " + flow.waiting_for);
    } else if (rest_known()) {
      line_.show(sent.sent + std::min(flow.commands_decided, sent.total), 2 * sent.total,
                 "sending " + std::to_string(sent.sent) + " of " + std::to_string(sent.total));
    }
    std::this_thread::sleep_for(kTick);
  }
}

Result<> Run::judge() {
  const SourceProgress sent = this->sent();
  numbers_.requests = sent.sent;
  numbers_.skipped = sent.skipped;
  for (const char* log : {"backlog.log", "source.log"})
    for (std::string& change : skipped_changes(settings_.in_work(log)))
      numbers_.skipped_changes.push_back(std::move(change));
  if (const auto seen = pipeline_progress(settings_.in_work("pipeline.progress")))
    numbers_.worker_records = seen->records;
  Result<Outcomes> outcomes = read_outcomes(settings_);
  if (!outcomes) return outcomes.error();
  numbers_.requests_stopped = outcomes.value().requests;
  const auto superseded = numbers_.requests_stopped.extract("superseded");
  numbers_.superseded_before_work = superseded.empty() ? 0 : superseded.mapped();

  for (const char* target : {Settings::kSearch, Settings::kCatalogue})
    if (Result<> judged = judge_target(target, outcomes.value()); !judged) return judged;
  numbers_.results_without_target = outcomes.value().results[""];
  return Done{};
}

Result<> Run::judge_target(const std::string& target, Outcomes& outcomes) {
  TargetNumbers& numbers = numbers_.targets.emplace_back();
  numbers.name = target;
  numbers.results_stopped = outcomes.results[target];
  if (const auto seen = sink_progress(settings_.in_work(target + ".progress"))) numbers.released = seen->records;
  for (const bool checked : {true, false}) {
    auto sink = view_of_sink(settings_, target, checked);
    if (!sink) return sink.error();
    Result<Comparison> compared = compare(*sink.value(), settings_.repository, tree_, settings_.work_folder);
    if (!compared) return compared.error();
    (checked ? numbers.with : numbers.without) = std::move(compared).value();
  }
  return Done{};
}

Result<Numbers> Run::run() {
  Result<Snapshot> snapshot = read_snapshot(settings_.repository, settings_.revision);
  if (!snapshot) return snapshot.error();
  numbers_.commit = std::move(snapshot.value().commit);
  tree_ = std::move(snapshot.value().tree);
  numbers_.seed = settings_.seed;
  numbers_.processes = settings_.processes;
  numbers_.intake = settings_.intake;
  numbers_.gitlinks = tree_.gitlinks;

  for (const auto step : {&Run::make_topics, &Run::start_consumers, &Run::send_backlog, &Run::start_resequencers,
                          &Run::send_the_rest, &Run::follow})
    if (Result<> done = (this->*step)(); !done) return done.error();
  numbers_.seconds = std::chrono::duration<double>(Clock::now() - started_).count();
  line_.end();

  for (const std::string& name : fleet_.stop_all())
    std::fprintf(stderr, "reseq-demo: %s did not stop when asked and was killed\n", name.c_str());
  if (Result<> judged = judge(); !judged) return judged.error();
  return numbers_;
}

}  // namespace

Result<Numbers> run_demo(const Settings& settings, const volatile std::sig_atomic_t& stop) {
  Result<Numbers> numbers = Run(settings, stop).run();
  if (settings.delete_topics) delete_topics(settings);
  return numbers;
}

}  // namespace reseq::demo
