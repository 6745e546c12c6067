#include "demo/run/journal_run.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <utility>

#include "demo/compare/git_tree.h"
#include "demo/run/accidents.h"
#include "demo/run/launches.h"
#include "demo/run/outcomes.h"
#include "demo/run/pipeline_run.h"
#include "demo/run/watch.h"

namespace reseq::demo {
namespace {

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
  Result<Snapshot> snapshot = read_snapshot(settings.repository, settings.revision);
  if (!snapshot) return snapshot.error();
  Load load{.commit = std::move(snapshot.value().commit), .tree = std::move(snapshot.value().tree)};
  const auto commits = count_commits(settings.repository, load.commit);
  if (!commits) return commits.error();
  load.commits = commits.value();
  if (load.commits < 2) return Error{.what_to_do = ErrorClass::kInvalid, .message = "the history has one commit"};
  load.backfill = load.commits - std::min(kLiveCommits, load.commits / 2);
  return load;
}

// Each is over before the next one begins, and who died comes back when its session is over: a group that gets a member
// waits for all that it has. Who stands still does so for longer than a lease.
constexpr std::array kAccidents{
    PlannedAccident{std::chrono::seconds(12), Accident::kKill, 0},
    PlannedAccident{std::chrono::seconds(20), Accident::kStartAgain, 0},
    PlannedAccident{std::chrono::seconds(26), Accident::kStandStill, 1},
    PlannedAccident{std::chrono::seconds(36), Accident::kGoOn, 1},
    PlannedAccident{std::chrono::seconds(42), Accident::kKill, 2},
    PlannedAccident{std::chrono::seconds(50), Accident::kStartAgain, 2},
};

// One of the two runs.
class DispatchRun {
 public:
  DispatchRun(const Settings& settings, const Load& load, const volatile std::sig_atomic_t& stop)
      : settings_(settings), load_(load), run_(settings, settings.dispatch, kAccidents, stop) {}

  Result<DispatchNumbers> run();

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] bool journal() const { return settings_.dispatch == "journal"; }
  [[nodiscard]] std::string last_of_backfill() const {
    return load_.commit + "~" + std::to_string(load_.commits - load_.backfill);
  }
  [[nodiscard]] std::vector<std::string> turn(const char* priority, std::uint64_t rate) const;
  Result<> start_consumers() { return run_.start_consumers(); }
  Result<> start_resequencers() { return run_.start_resequencers(); }
  Result<> start_watches();
  Result<> send();
  Result<> send_live_edits();
  Result<> follow();
  Result<> judge();

  const Settings& settings_;
  const Load& load_;
  PipelineRun run_;
  DispatchNumbers numbers_;
  std::unique_ptr<Watch> requests_, work_;
  ChildProcess* backfill_ = nullptr;
  ChildProcess* live_ = nullptr;
  Clock::time_point started_;
};

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
  Result<ChildProcess*> source = run_.send(source_launch(
      settings_, "backfill", turn("200", settings_.requests_per_second / kBackfillRateShare), last_of_backfill()));
  if (!source) return source.error();
  backfill_ = source.value();
  run_.begin_accidents();
  Result<> middle = run_.wait_until(
      [&] {
        const SourceProgress progress = run_.sent("backfill");
        return backfill_->poll() || (progress.total > 0 && progress.sent * kBackfillShare >= progress.total);
      },
      "the middle of the backfill");
  return middle ? send_live_edits() : middle;
}

Result<> DispatchRun::send_live_edits() {
  Result<ChildProcess*> source =
      run_.send(source_launch(settings_, "live", turn("10", settings_.requests_per_second / kLiveRateShare),
                              load_.commit, {"--after", last_of_backfill()}));
  if (!source) return source.error();
  live_ = source.value();
  return Done{};
}

Result<> DispatchRun::follow() {
  return run_.follow([&] { return backfill_->poll() && live_->poll(); });
}

Result<> DispatchRun::judge() {
  for (const char* source : {"backfill", "live"}) numbers_.skipped += run_.sent(source).skipped;
  Result<Outcomes> outcomes = read_outcomes(settings_);
  if (!outcomes) return outcomes.error();
  numbers_.superseded_before_work = outcomes.value().requests["superseded"];
  numbers_.given_back = outcomes.value().leases_lost;
  auto requests = requests_->end(), work = work_->end();
  if (!requests) return requests.error();
  if (!work) return work.error();
  std::vector<WorkBegun> begun;
  for (std::size_t process = 0; process < run_.processes(); ++process)
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
  numbers_.killed = run_.accidents().killed();
  numbers_.stood_still = run_.accidents().stood_still();
  run_.stop_all();
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
