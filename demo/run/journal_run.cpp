#include "demo/run/journal_run.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "demo/compare/git_tree.h"
#include "demo/run/accidents.h"
#include "demo/run/completion.h"
#include "demo/run/fleet.h"
#include "demo/run/instance_config.h"
#include "demo/run/launches.h"
#include "demo/run/outcomes.h"
#include "demo/run/progress_files.h"
#include "demo/run/progress_line.h"
#include "demo/run/watch.h"

namespace reseq::demo {
namespace {

constexpr std::uint64_t kProcesses = 4;  // of the pipeline
constexpr std::uint64_t kLiveCommits = 100;
// Live edits begin when this part of the backfill is sent.
constexpr std::uint64_t kBackfillShare = 3;
// Parts of the rate that was asked for. Live edits are still coming when the whole backfill is sent.
constexpr std::uint64_t kBackfillRateShare = 2;
constexpr std::uint64_t kLiveRateShare = 8;

// Which history is played, the same in both runs.
struct Load {
  std::string commit;
  GitTree tree;
  std::uint64_t commits = 0;
  std::uint64_t backfill = 0;  // the first of them
};

Result<Load> load_of(const Settings& settings) {
  Load load;
  Result<std::string> commit = resolve_commit(settings.repository, settings.revision);
  if (!commit) return commit.error();
  load.commit = std::move(commit).value();
  Result<GitTree> tree = read_tree(settings.repository, load.commit);
  if (!tree) return tree.error();
  load.tree = std::move(tree).value();
  const auto commits = count_commits(settings.repository, load.commit);
  if (!commits) return commits.error();
  load.commits = commits.value();
  if (load.commits < 2) return Error{.what_to_do = ErrorClass::kInvalid, .message = "the history has one commit"};
  load.backfill = load.commits - std::min(kLiveCommits, load.commits / 2);
  return load;
}

// One of the two runs.
class DispatchRun {
 public:
  DispatchRun(const Settings& settings, const Load& load, const volatile std::sig_atomic_t& stop)
      : settings_(settings), load_(load), fleet_(stop) {}

  Result<DispatchNumbers> run();

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kTick{100};
  static constexpr std::chrono::milliseconds kSweepEvery{500};
  static constexpr std::chrono::seconds kReadyLimit{120};
  static constexpr std::chrono::seconds kStallLimit{120};

  [[nodiscard]] bool journal() const { return settings_.dispatch == "journal"; }
  [[nodiscard]] std::size_t processes() const { return std::min(kProcesses, settings_.workers); }
  [[nodiscard]] Launch pipeline(std::size_t process) const;
  [[nodiscard]] std::string last_of_backfill() const {
    return load_.commit + "~" + std::to_string(load_.commits - load_.backfill);
  }
  [[nodiscard]] std::vector<std::string> turn(const char* priority, std::uint64_t rate) const;
  Result<> start_consumers();
  Result<> start_resequencers();
  Result<> start_watches();
  Result<> send();
  Result<> send_live_edits();
  Result<> follow();
  Result<> judge();
  Result<> tick(const std::string& phase);
  template <typename Ready>
  Result<> wait_until(Ready ready, const char* what);
  [[nodiscard]] SourceProgress sent(const char* name) const {
    return source_progress(settings_.in_work(std::string(name) + ".progress")).value_or(SourceProgress{});
  }
  // Documents that wait, or are under way. None: nobody answers.
  [[nodiscard]] Result<std::size_t> live_documents() const;

  const Settings& settings_;
  const Load& load_;
  Fleet fleet_;
  Accidents accidents_{fleet_, [this](std::size_t process) { return pipeline(process); }, processes()};
  ProgressLine line_;
  DispatchNumbers numbers_;
  std::unique_ptr<Watch> requests_, work_;
  ChildProcess* backfill_ = nullptr;
  ChildProcess* live_ = nullptr;
  Clock::time_point started_;
};

Launch DispatchRun::pipeline(std::size_t process) const {
  const std::string name = "pipeline-" + std::to_string(process);
  const std::uint64_t workers = settings_.workers / processes();
  return launch(settings_, name, "reseq-demo-pipeline",
                {"--bootstrap-servers",
                 settings_.bootstrap_servers,
                 "--work",
                 settings_.topic("work"),
                 "--commands",
                 settings_.topic("commands"),
                 "--group",
                 settings_.pipeline_group(),
                 "--targets",
                 std::string(Settings::kSearch) + "," + Settings::kCatalogue,
                 "--workers",
                 std::to_string(workers),
                 "--in-flight",
                 std::to_string(std::max<std::uint64_t>(1, Settings::kUnderWay / (workers * processes()))),
                 "--seed",
                 std::to_string(settings_.seed),
                 "--session-timeout-ms",
                 std::to_string(Settings::kLeaseMs),
                 "--commit",
                 journal() ? "receipt" : "work",
                 "--work-log",
                 settings_.in_work(name + ".work"),
                 "--progress-file",
                 settings_.in_work(name + ".progress")});
}

// What every wait does: looks after everybody.
Result<> DispatchRun::tick(const std::string& phase) {
  if (Result<> fine = fleet_.check(); !fine) return fine;
  if (backfill_ != nullptr) {
    const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - started_);
    if (Result<> happened = accidents_.happen(since); !happened) return happened;
  }
  line_.show(0, 0, settings_.dispatch + ": " + phase);
  std::this_thread::sleep_for(kTick);
  return Done{};
}

template <typename Ready>
Result<> DispatchRun::wait_until(Ready ready, const char* what) {
  const Clock::time_point until = Clock::now() + kReadyLimit;
  while (!ready()) {
    if (Clock::now() > until)
      return Error{.what_to_do = ErrorClass::kTimeout, .message = std::string("gave up waiting for ") + what};
    if (Result<> fine = tick(std::string("waiting for ") + what); !fine) return fine;
  }
  return Done{};
}

Result<> DispatchRun::start_consumers() {
  Result<std::string> config = write_instance_config(settings_, "init");
  if (!config) return config.error();
  Result<> made = fleet_.run(launch(settings_, "init", "resequencer", {"init", "--config", config.value()}));
  if (!made) return made;
  for (const char* target : {Settings::kSearch, Settings::kCatalogue})
    if (Result<> sink = fleet_.start(sink_launch(settings_, target, true)); !sink) return sink;
  for (std::size_t process = 0; process < processes(); ++process)
    if (Result<> started = fleet_.start(pipeline(process)); !started) return started;
  const auto ready = [&](std::size_t process) {
    const auto seen = pipeline_progress(pipeline(process).arguments.back());
    return seen && seen->every_worker_has_partitions();
  };
  return wait_until(
      [&] {
        for (std::size_t process = 0; process < processes(); ++process)
          if (!ready(process)) return false;
        return true;
      },
      "every worker to get partitions");
}

Result<> DispatchRun::start_resequencers() {
  Result<std::vector<Launch>> resequencers = resequencer_launches(settings_);
  if (!resequencers) return resequencers.error();
  for (const Launch& one : resequencers.value())
    if (Result<> started = fleet_.start(one); !started) return started;
  return wait_until([&] { return live_documents().ok(); }, "the resequencers to take over");
}

Result<std::size_t> DispatchRun::live_documents() const {
  Result<std::string> answer = output_of({settings_.program("resequencer"), "list", "--config",
                                          settings_.in_work("resequencer-init.toml"), "-o", "json", "--max", "1"},
                                         Complaints::kNobodys);
  if (!answer) return answer.error();
  const auto list = nlohmann::json::parse(answer.value(), nullptr, false);
  if (!list.is_object() || !list.contains("documents") || !list["documents"].is_array())
    return Error{.what_to_do = ErrorClass::kInvalid, .message = "resequencer list answered " + answer.value()};
  return list["documents"].size();
}

Result<> DispatchRun::start_watches() {
  for (auto& [watch, role] : {std::pair(&requests_, "requests"), std::pair(&work_, "work")}) {
    auto started = Watch::start(settings_, settings_.topic(role));
    if (!started) return started.error();
    *watch = std::move(started).value();
  }
  return Done{};
}

std::vector<std::string> DispatchRun::turn(const char* priority, std::uint64_t rate) const {
  std::vector<std::string> options = {"--rate", std::to_string(std::max<std::uint64_t>(1, rate))};
  // Without a journal nobody may ask for a turn.
  if (journal()) options.insert(options.end(), {"--priority", priority});
  return options;
}

Result<> DispatchRun::send() {
  started_ = Clock::now();
  Result<ChildProcess*> source = fleet_.start_job(source_launch(
      settings_, "backfill", turn("200", settings_.requests_per_second / kBackfillRateShare), last_of_backfill()));
  if (!source) return source.error();
  backfill_ = source.value();
  Result<> middle = wait_until(
      [&] {
        const SourceProgress progress = sent("backfill");
        return backfill_->poll() || (progress.total > 0 && progress.sent * kBackfillShare >= progress.total);
      },
      "the middle of the backfill");
  return middle ? send_live_edits() : middle;
}

Result<> DispatchRun::send_live_edits() {
  Result<ChildProcess*> source =
      fleet_.start_job(source_launch(settings_, "live", turn("10", settings_.requests_per_second / kLiveRateShare),
                                     load_.commit, {"--after", last_of_backfill()}));
  if (!source) return source.error();
  live_ = source.value();
  return Done{};
}

Result<> DispatchRun::follow() {
  Result<Completion> completion = Completion::open(settings_);
  if (!completion) return completion.error();
  Clock::time_point swept{}, moved = Clock::now();
  std::uint64_t read = 0;
  std::string phase = "sending";
  while (true) {
    if (Result<> fine = tick(phase); !fine) return fine;
    if (Clock::now() - swept < kSweepEvery) continue;
    swept = Clock::now();
    const bool all_sent = backfill_->poll() && live_->poll() && accidents_.over();
    Result<Flow> flow = completion.value().sweep();
    if (!flow) return flow.error();
    phase = std::to_string(flow.value().commands_decided) + " results; waiting for " +
            (flow.value().complete ? "leases" : flow.value().waiting_for);
    if (std::exchange(read, flow.value().read) != flow.value().read) moved = Clock::now();
    // Nothing is on its way, but leases may still bring something back.
    if (all_sent && flow.value().complete)
      if (const auto live = live_documents(); live && live.value() == 0) return Done{};
    if (Clock::now() - moved > kStallLimit)
      return Error{.what_to_do = ErrorClass::kTimeout, .message = "nothing moves any more; " + phase};
  }
}

Result<> DispatchRun::judge() {
  for (const char* source : {"backfill", "live"}) numbers_.skipped += sent(source).skipped;
  Result<Outcomes> outcomes = read_outcomes(settings_);
  if (!outcomes) return outcomes.error();
  numbers_.superseded_before_work = outcomes.value().requests["superseded"];
  numbers_.given_back = outcomes.value().leases_lost;
  auto requests = requests_->end(), work = work_->end();
  if (!requests) return requests.error();
  if (!work) return work.error();
  std::vector<WorkBegun> begun;
  for (std::size_t process = 0; process < processes(); ++process)
    for (const WorkBegun& one : read_work_log(settings_.in_work("pipeline-" + std::to_string(process) + ".work")))
      begun.push_back(one);
  numbers_.work = counts_of(begun);
  numbers_.backfill = waits_of({.up_to = load_.backfill}, requests.value(), work.value(), begun);
  numbers_.live = waits_of({.after = load_.backfill, .up_to = load_.commits}, requests.value(), work.value(), begun);
  for (const char* target : {Settings::kSearch, Settings::kCatalogue}) {
    auto sink = view_of_sink(settings_, target, true);
    if (!sink) return sink.error();
    Result<Comparison> compared = compare(*sink.value(), settings_.repository, load_.tree, settings_.work_folder);
    if (!compared) return compared.error();
    numbers_.targets.push_back({target, std::move(compared).value()});
  }
  return Done{};
}

Result<DispatchNumbers> DispatchRun::run() {
  numbers_.dispatch = settings_.dispatch;
  for (const auto step : {&DispatchRun::start_consumers, &DispatchRun::start_resequencers, &DispatchRun::start_watches,
                          &DispatchRun::send, &DispatchRun::follow})
    if (Result<> done = (this->*step)(); !done) return done.error();
  numbers_.seconds = std::chrono::duration<double>(Clock::now() - started_).count();
  numbers_.killed = accidents_.killed();
  numbers_.stood_still = accidents_.stood_still();
  line_.end();
  for (const std::string& name : fleet_.stop_all())
    std::fprintf(stderr, "reseq-demo: %s did not stop when asked and was killed\n", name.c_str());
  if (Result<> judged = judge(); !judged) return judged.error();
  return numbers_;
}

// Names and folders of its own.
Result<Settings> settings_of(const Settings& settings, const char* dispatch) {
  Settings own = settings;
  own.dispatch = dispatch;
  own.application_id += std::string("-") + dispatch;
  own.work_folder = settings.in_work(dispatch);
  if (!own.out_folder.empty()) own.out_folder += std::string("/") + dispatch;
  for (const std::string& folder : {own.work_folder, own.result_folder()}) {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed) return Error{.what_to_do = ErrorClass::kInvalid, .message = folder + ": " + failed.message()};
  }
  return own;
}

Result<DispatchNumbers> run_with(const Settings& settings, const char* dispatch, const Load& load,
                                 const volatile std::sig_atomic_t& stop) {
  const Result<Settings> own = settings_of(settings, dispatch);
  if (!own) return own.error();
  Result<DispatchNumbers> numbers = DispatchRun(own.value(), load, stop).run();
  if (own.value().delete_topics) delete_topics(own.value());
  return numbers;
}

}  // namespace

Result<JournalNumbers> run_journal_demo(const Settings& settings, const volatile std::sig_atomic_t& stop) {
  const Result<Load> load = load_of(settings);
  if (!load) return load.error();
  JournalNumbers numbers;
  numbers.commit = load.value().commit;
  for (DispatchNumbers* run : {&numbers.journal, &numbers.immediate}) {
    auto played = run_with(settings, run == &numbers.journal ? "journal" : "immediate", load.value(), stop);
    if (!played) return played.error();
    *run = std::move(played).value();
  }
  return numbers;
}

}  // namespace reseq::demo
