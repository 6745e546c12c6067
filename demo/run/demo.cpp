#include "demo/run/demo.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>
#include <utility>

#include "demo/compare/git_tree.h"
#include "demo/compare/sink_view.h"
#include "demo/run/completion.h"
#include "demo/run/connection.h"
#include "demo/run/fleet.h"
#include "demo/run/instance_config.h"
#include "demo/run/outcomes.h"
#include "demo/run/progress_files.h"
#include "demo/run/progress_line.h"
#include "demo/run/skipped_changes.h"
#include "kafka/admin.h"

namespace reseq::demo {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTick{100};
constexpr std::chrono::milliseconds kSweepEvery{400};
constexpr std::chrono::seconds kReadyLimit{120};
// Requests sent and not decided: at most this part of a second's.
constexpr std::uint64_t kLagShare = 8;
// The pipeline gets less than is sent: what is superseded before does not reach it.
constexpr std::uint64_t kPaceShare = 2;
constexpr std::chrono::seconds kStallLimit{120};
constexpr Milliseconds kDeleteLimit{30'000};
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
  Result<> start_sink(const std::string& target, bool checked);
  [[nodiscard]] std::vector<std::string> search_sink_arguments(const std::string& name, bool checked) const;
  Result<> start_opensearch_sink(const std::string& name, bool checked);
  Result<> start_postgres_sink(const std::string& name, bool checked);
  [[nodiscard]] Result<std::unique_ptr<SinkView>> view(const std::string& target, bool checked) const;
  Result<> judge_target(const std::string& target, Outcomes& outcomes);
  // Waits until `ready`, while every process is well.
  template <typename Ready>
  Result<> wait_until(Ready ready, const char* what);
  [[nodiscard]] Launch launch(const std::string& name, const std::string& program,
                              std::vector<std::string> arguments) const;
  [[nodiscard]] Launch source_launch(const std::string& name, const std::string& revision,
                                     const std::vector<std::string>& pace) const;
  [[nodiscard]] SourceProgress source() const;
  [[nodiscard]] bool rest_known() const { return source_progress(settings_.in_work("source.progress")).has_value(); }

  const Settings& settings_;
  Fleet fleet_;
  ProgressLine line_;
  Numbers numbers_;
  GitTree tree_;
  ChildProcess* source_ = nullptr;
  Clock::time_point started_;
};

Launch Run::launch(const std::string& name, const std::string& program, std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), settings_.program(program));
  return {.name = name, .arguments = std::move(arguments), .log_file = settings_.in_work(name + ".log")};
}

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

// The same sink twice: behind the resequencer, and on the raw results with its check off.
Result<> Run::start_sink(const std::string& target, bool checked) {
  const bool search = target == Settings::kSearch;
  const std::string name = (checked ? "" : "unchecked-") + target;
  if (search && settings_.opensearch()) return start_opensearch_sink(name, checked);
  if (search && settings_.postgres()) return start_postgres_sink(name, checked);
  const std::string database = checked ? settings_.checked_database() : settings_.unchecked_database();
  const std::string directory = checked ? settings_.checked_directory() : settings_.unchecked_directory();
  return fleet_.start(
      launch(name, search ? "reseq-sink-sqlite" : "reseq-sink-files",
             {"--bootstrap-servers", settings_.bootstrap_servers, "--topic",
              checked ? settings_.output_topic(target) : settings_.topic("commands"),
              search ? "--database" : "--directory", search ? database : directory, "--check", checked ? "on" : "off",
              "--target", target, "--progress-file", settings_.in_work(name + ".progress")}));
}

std::vector<std::string> Run::search_sink_arguments(const std::string& name, bool checked) const {
  return {"--bootstrap-servers",
          settings_.bootstrap_servers,
          "--topic",
          checked ? settings_.output_topic(Settings::kSearch) : settings_.topic("commands"),
          "--versions",
          checked ? "on" : "off",
          "--target",
          Settings::kSearch,
          "--dead-letters",
          "skip",
          "--progress-file",
          settings_.in_work(name + ".progress")};
}

Result<> Run::start_opensearch_sink(const std::string& name, bool checked) {
  std::vector<std::string> arguments = search_sink_arguments(name, checked);
  arguments.insert(arguments.end(), {"--url", settings_.search_url, "--payload", "text", "--index",
                                     checked ? settings_.checked_index() : settings_.unchecked_index()});
  return fleet_.start(launch(name, "reseq-sink-opensearch", arguments));
}

// Paths and files are any bytes.
Result<> Run::start_postgres_sink(const std::string& name, bool checked) {
  std::vector<std::string> arguments = search_sink_arguments(name, checked);
  arguments.insert(arguments.end(), {"--server", settings_.search_url, "--id", "bytea", "--payload", "bytea", "--table",
                                     settings_.table(checked)});
  return fleet_.start(launch(name, "reseq-sink-postgres", arguments));
}

Result<> Run::make_topics() {
  Result<std::string> config = write_instance_config(settings_, "init");
  if (!config) return config.error();
  return fleet_.run(launch("init", "resequencer", {"init", "--config", config.value()}));
}

Result<> Run::start_consumers() {
  for (const char* target : {Settings::kSearch, Settings::kCatalogue})
    for (const bool checked : {true, false})
      if (Result<> sink = start_sink(target, checked); !sink) return sink;
  return start_pipeline();
}

Result<> Run::start_pipeline() {
  const std::string progress = settings_.in_work("pipeline.progress");
  Result<> pipeline =
      fleet_.start(launch(kPipeline, "reseq-demo-pipeline",
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
Launch Run::source_launch(const std::string& name, const std::string& revision,
                          const std::vector<std::string>& pace) const {
  std::vector<std::string> arguments = {"git",
                                        "--bootstrap-servers",
                                        settings_.bootstrap_servers,
                                        "--topic",
                                        settings_.topic("requests"),
                                        "--progress-file",
                                        settings_.in_work(name + ".progress"),
                                        "--state",
                                        settings_.in_work("source.state"),
                                        "--quiet",
                                        "--repo",
                                        settings_.repository,
                                        "--revision",
                                        revision};
  arguments.insert(arguments.end(), pace.begin(), pace.end());
  return launch(name, "reseq-produce", std::move(arguments));
}

SourceProgress Run::source() const {
  const auto first = source_progress(settings_.in_work("backlog.progress")).value_or(SourceProgress{});
  const auto rest = source_progress(settings_.in_work("source.progress")).value_or(SourceProgress{});
  return {first.sent + rest.sent, first.skipped + rest.skipped, first.total + rest.total};
}

Result<> Run::send_backlog() {
  const auto commits = count_commits(settings_.repository, numbers_.commit);
  if (!commits) return commits.error();
  const std::uint64_t behind = commits.value() - std::max<std::uint64_t>(1, commits.value() / kBacklogShare);
  started_ = Clock::now();
  return fleet_.run(source_launch("backlog", numbers_.commit + "~" + std::to_string(behind), {}));
}

Result<> Run::send_the_rest() {
  // A stall anywhere must not turn the rest into one more backlog, of which hardly anything would reach the pipeline.
  const std::vector<std::string> pace = {"--rate",         std::to_string(settings_.requests_per_second),
                                         "--follow-group", settings_.application_id,
                                         "--lag-max",      std::to_string(settings_.requests_per_second / kLagShare)};
  Result<ChildProcess*> source = fleet_.start_job(source_launch("source", numbers_.commit, pace));
  if (!source) return source.error();
  source_ = source.value();
  return Done{};
}

Result<> Run::start_resequencers() {
  for (std::uint64_t i = 1; i <= settings_.processes; ++i) {
    const std::string id = std::to_string(i);
    Result<std::string> config = write_instance_config(settings_, id);
    if (!config) return config.error();
    Result<> started = fleet_.start(launch("resequencer-" + id, "resequencer", {"run", "--config", config.value()}));
    if (!started) return started;
  }
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
    const SourceProgress sent = source();
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
  const SourceProgress sent = source();
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

Result<std::unique_ptr<SinkView>> Run::view(const std::string& target, bool checked) const {
  if (target != Settings::kSearch)
    return view_directory(checked ? settings_.checked_directory() : settings_.unchecked_directory());
  if (settings_.opensearch())
    return view_index(settings_.search_url, checked ? settings_.checked_index() : settings_.unchecked_index());
  if (settings_.postgres()) return view_table(settings_.search_url, settings_.table(checked));
  return view_database(checked ? settings_.checked_database() : settings_.unchecked_database());
}

Result<> Run::judge_target(const std::string& target, Outcomes& outcomes) {
  TargetNumbers& numbers = numbers_.targets.emplace_back();
  numbers.name = target;
  numbers.results_stopped = outcomes.results[target];
  if (const auto seen = sink_progress(settings_.in_work(target + ".progress"))) numbers.released = seen->records;
  for (const bool checked : {true, false}) {
    auto sink = view(target, checked);
    if (!sink) return sink.error();
    Result<Comparison> compared = compare(*sink.value(), settings_.repository, tree_, settings_.work_folder);
    if (!compared) return compared.error();
    (checked ? numbers.with : numbers.without) = std::move(compared).value();
  }
  return Done{};
}

Result<Numbers> Run::run() {
  Result<std::string> commit = resolve_commit(settings_.repository, settings_.revision);
  if (!commit) return commit.error();
  numbers_.commit = commit.value();
  numbers_.seed = settings_.seed;
  numbers_.processes = settings_.processes;
  numbers_.intake = settings_.intake;
  Result<GitTree> tree = read_tree(settings_.repository, numbers_.commit);
  if (!tree) return tree.error();
  tree_ = std::move(tree).value();
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

void delete_topics(const Settings& settings) {
  auto admin = kafka::Admin::open(connection_of(settings));
  if (!admin) return;
  std::vector<std::string> topics;
  for (const char* role : {"requests", "commands", "control", "work", "dead-letter", "events", "changelog"})
    topics.push_back(settings.topic(role));
  for (const char* target : {Settings::kSearch, Settings::kCatalogue}) topics.push_back(settings.output_topic(target));
  if (Result<> deleted = admin.value()->delete_topics(topics, kDeleteLimit); !deleted)
    std::fprintf(stderr, "reseq-demo: topics of %s are left: %s\n", settings.application_id.c_str(),
                 deleted.error().message.c_str());
}

}  // namespace

Result<Numbers> run_demo(const Settings& settings, const volatile std::sig_atomic_t& stop) {
  Result<Numbers> numbers = Run(settings, stop).run();
  if (settings.delete_topics) delete_topics(settings);
  return numbers;
}

}  // namespace reseq::demo
