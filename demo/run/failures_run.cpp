#include "demo/run/failures_run.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "codec/base64.h"
#include "demo/compare/git_tree.h"
#include "demo/pipeline/faults.h"
#include "demo/pipeline/work_log.h"
#include "demo/run/launches.h"
#include "demo/run/pipeline_run.h"

namespace reseq::demo {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Who is killed comes back when its session is over, and who stands still does so for longer than a lease.
constexpr std::array kFailuresPlan{
    PlannedAccident{seconds(1), Accident::kKill, 0},        PlannedAccident{seconds(8), Accident::kStartAgain, 0},
    PlannedAccident{seconds(15), Accident::kStandStill, 1}, PlannedAccident{seconds(15), Accident::kKill, 2},
    PlannedAccident{seconds(23), Accident::kGoOn, 1},       PlannedAccident{seconds(23), Accident::kStartAgain, 2},
};

// The search engine. At kResume an operator says that the index is there again. Between the two outages nothing else
// happens, so that nobody who tries the engine has bad luck with its worker.
constexpr milliseconds kDown{2'000}, kBack{8'000}, kIndexGone{12'000}, kIndexMade{18'000}, kResume{20'000};

// Accidents begin when this part of the history is sent. The rest takes as long as they do, if the machine can send so
// many a second.
constexpr std::uint64_t kBeforeAccidents = 8;
constexpr std::uint64_t kLoadSeconds = 24;
constexpr std::uint64_t kFastest = 200;

// Behind so many commits with files that are no JSON, the last ones, it is waited for their failure.
constexpr std::ptrdiff_t kStopsMax = 5;

// Documents that a list may have.
constexpr const char* kEverything = "1000000";

class FailuresRun {
 public:
  FailuresRun(const Settings& settings, const volatile std::sig_atomic_t& stop)
      : settings_(settings), run_(settings, "failures", kFailuresPlan, stop) {}

  Result<FailureNumbers> run();

 private:
  using Clock = std::chrono::steady_clock;

  Result<> look_at_history();
  Result<> start();
  Result<> send();
  Result<> send_part(std::uint64_t after, std::uint64_t up_to);
  Result<> wait_for_failures(std::uint64_t commit);
  Result<> look_after_engine(milliseconds since);
  Result<> set_engine(SearchEngine engine);
  Result<> resume();
  Result<> follow();
  Result<> ask_for_failed();
  Result<> judge();
  Result<> judge_targets(const std::set<TargetDocument>& failing);
  void count_tries(const FailureEvidence& evidence);
  void count_letters(const FailureEvidence& evidence);
  [[nodiscard]] Result<std::vector<FailedDocument>> failed(const std::string& prefix) const;
  [[nodiscard]] std::string revision(std::uint64_t commit) const {
    return numbers_.commit + "~" + std::to_string(commits_ - commit);
  }
  [[nodiscard]] std::uint64_t sent() const;
  void begin_when_due();

  const Settings& settings_;
  PipelineRun run_;
  FailureNumbers numbers_;
  GitTree tree_;
  std::optional<KnownFaults> faults_;
  std::uint64_t commits_ = 0;
  std::vector<std::string> parts_;  // names of their sources
  ChildProcess* source_ = nullptr;  // of the last part
  bool begun_ = false;
  bool resumed_ = false;
  SearchEngine engine_ = SearchEngine::kUp;
  std::int64_t down_at_ = 0, index_gone_at_ = 0, end_ms_ = 0;
  Clock::time_point started_;
};

std::int64_t now_ms() {
  return micros_now() / 1'000;
}

Result<> FailuresRun::look_at_history() {
  Result<Snapshot> snapshot = read_snapshot(settings_.repository, settings_.revision);
  if (!snapshot) return snapshot.error();
  numbers_.commit = std::move(snapshot.value().commit);
  tree_ = std::move(snapshot.value().tree);
  numbers_.retries_max = Settings::kRetriesMax;
  const auto commits = count_commits(settings_.repository, numbers_.commit);
  if (!commits) return commits.error();
  commits_ = commits.value();
  Result<KnownFaults> faults = KnownFaults::read(settings_, numbers_.commit);
  if (!faults) return faults.error();
  faults_ = std::move(faults).value();
  return Done{};
}

Result<> FailuresRun::start() {
  if (Result<> up = set_engine(SearchEngine::kUp); !up) return up;
  if (Result<> started = run_.start_consumers(); !started) return started;
  return run_.start_resequencers();
}

// Renamed, so that no worker reads half of it.
Result<> FailuresRun::set_engine(SearchEngine engine) {
  const std::string fresh = settings_.engine_file() + ".new";
  std::ofstream file(fresh, std::ios::trunc);
  file << name_of(engine) << "\n";
  file.close();
  if (!file || std::rename(fresh.c_str(), settings_.engine_file().c_str()) != 0)
    return Error{.what_to_do = ErrorClass::kInvalid, .message = "cannot write " + settings_.engine_file()};
  engine_ = engine;
  return Done{};
}

Result<> FailuresRun::look_after_engine(milliseconds since) {
  SearchEngine engine = SearchEngine::kUp;
  if (since >= kDown && since < kBack) engine = SearchEngine::kDown;
  if (since >= kIndexGone && since < kIndexMade) engine = SearchEngine::kNoIndex;
  if (engine == SearchEngine::kDown && down_at_ == 0) down_at_ = now_ms();
  if (engine == SearchEngine::kNoIndex && index_gone_at_ == 0) index_gone_at_ = now_ms();
  if (engine != engine_)
    if (Result<> set = set_engine(engine); !set) return set;
  if (since >= kResume && !resumed_) return resume();
  return Done{};
}

// What an operator does.
Result<> FailuresRun::resume() {
  resumed_ = true;
  const Result<std::string> answer = run_.ask({"resume", "--target", Settings::kSearch});
  if (!answer) return answer.error();
  return Done{};
}

std::uint64_t FailuresRun::sent() const {
  std::uint64_t sent = 0;
  for (const std::string& part : parts_) sent += run_.sent(part).sent;
  return sent;
}

void FailuresRun::begin_when_due() {
  if (begun_ || sent() < faults_->changes() / kBeforeAccidents) return;
  begun_ = true;
  run_.begin_accidents([this](milliseconds since) { return look_after_engine(since); });
}

Result<> FailuresRun::send_part(std::uint64_t after, std::uint64_t up_to) {
  const std::uint64_t rate = std::clamp<std::uint64_t>(faults_->changes() / kLoadSeconds, 1, kFastest);
  std::vector<std::string> options;
  if (after > 0) options = {"--after", revision(after)};
  parts_.push_back("source-" + std::to_string(up_to));
  Result<ChildProcess*> source =
      run_.send(source_launch(settings_, parts_.back(), {"--rate", std::to_string(rate)}, revision(up_to), options));
  if (!source) return source.error();
  source_ = source.value();
  return run_.wait_until(
      [&] {
        begin_when_due();
        return source_->poll().has_value();
      },
      "the history to be sent");
}

// A version that nobody can read is often repaired by the next commit, which would take its place while it waits.
Result<> FailuresRun::wait_for_failures(std::uint64_t commit) {
  for (const std::string& path : faults_->broken_files(commit)) {
    Result<> failed_for_all = run_.wait_until(
        [&] {
          const auto list = failed(path);
          return list && std::count_if(list.value().begin(), list.value().end(), [&](const FailedDocument& one) {
                           return one.document.id == path && one.sequence == commit;
                         }) == 2;
        },
        "the failure of " + path);
    if (!failed_for_all) return failed_for_all;
  }
  return Done{};
}

Result<> FailuresRun::send() {
  started_ = Clock::now();
  std::vector<std::uint64_t> ends = faults_->commits_with_broken_files();
  if (std::ssize(ends) > kStopsMax) ends.erase(ends.begin(), ends.end() - kStopsMax);
  std::uint64_t after = 0;
  for (const std::uint64_t end : ends) {
    if (Result<> part = send_part(std::exchange(after, end), end); !part) return part;
    if (Result<> failed = wait_for_failures(end); !failed) return failed;
  }
  if (after == commits_) return Done{};
  return send_part(after, commits_);
}

Result<> FailuresRun::follow() {
  // A history that is short was sent before anything could happen to it.
  if (!begun_) run_.begin_accidents([this](milliseconds since) { return look_after_engine(since); });
  Result<> followed = run_.follow([&] { return source_->poll().has_value() && resumed_; });
  end_ms_ = now_ms();
  return followed;
}

Result<std::vector<FailedDocument>> FailuresRun::failed(const std::string& prefix) const {
  Result<std::string> answer =
      run_.ask({"list", "--state", "failed", "--prefix", prefix, "--max", kEverything, "-o", "json"});
  if (!answer) return answer.error();
  const auto list = nlohmann::json::parse(answer.value(), nullptr, false);
  if (!list.is_object() || !list.contains("documents") || !list["documents"].is_array())
    return Error{.what_to_do = ErrorClass::kInvalid, .message = "resequencer list answered " + answer.value()};
  std::vector<FailedDocument> all;
  for (const auto& document : list["documents"]) {
    const std::string id = document.contains("id_base64")
                               ? codec::parse_base64(document["id_base64"].get<std::string>()).value_or("")
                               : document.value("id", "");
    for (const auto& failure : document.value("failures", nlohmann::json::array())) {
      if (failure.value("state", "") != "failed") continue;
      for (const auto& target : failure.value("targets", nlohmann::json::array()))
        all.push_back({.document = {target.get<std::string>(), id},
                       .sequence = std::stoull(failure.at("order").value("seq", "0")),
                       .attempt = failure.value("attempt", std::uint64_t{0}),
                       .error = failure.value("error", "")});
    }
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.document < b.document; });
  return all;
}

Result<> FailuresRun::ask_for_failed() {
  auto all = failed("");
  if (!all) return all.error();
  numbers_.failed = std::move(all).value();
  return Done{};
}

void FailuresRun::count_tries(const FailureEvidence& evidence) {
  for (const auto& [order, life] : evidence.lives()) {
    if (life.tries > 0) ++numbers_.tries[life.tries];
    numbers_.most_retries = std::max(numbers_.most_retries, life.tried_again);
  }
}

void FailuresRun::count_letters(const FailureEvidence& evidence) {
  for (const DeadLetter& letter : evidence.dead_letters()) {
    ++numbers_.dead_letters;
    const bool still = std::any_of(numbers_.failed.begin(), numbers_.failed.end(), [&](const FailedDocument& one) {
      return one.document.id == letter.id && one.sequence == letter.sequence;
    });
    if (!still) ++numbers_.cleared;
  }
}

Result<> FailuresRun::judge_targets(const std::set<TargetDocument>& failing) {
  for (const char* target : {Settings::kSearch, Settings::kCatalogue}) {
    auto sink = view_of_sink(settings_, target, true);
    if (!sink) return sink.error();
    Result<Comparison> compared = compare(*sink.value(), settings_.repository, tree_, settings_.work_folder);
    if (!compared) return compared.error();
    auto& numbers = numbers_.targets.emplace_back();
    numbers.name = target;
    numbers.with = std::move(compared).value();
    for (const FailedDocument& one : numbers_.failed)
      if (one.document.target == target) ++numbers.failed;
    for (const std::string& path : numbers.with.differing_paths)
      if (failing.contains({target, path})) ++numbers.older_version;
  }
  return Done{};
}

Result<> FailuresRun::judge() {
  for (const std::string& part : parts_) numbers_.skipped += run_.sent(part).skipped;
  const Result<FailureEvidence> read = FailureEvidence::read(settings_);
  if (!read) return read.error();
  const FailureEvidence& evidence = read.value();
  numbers_.requests = evidence.requests();
  if (const auto found = evidence.outcomes().requests.find("superseded"); found != evidence.outcomes().requests.end())
    numbers_.superseded_before_work = found->second;
  numbers_.leases_lost = evidence.outcomes().leases_lost;
  numbers_.classes = evidence.classes();
  if (down_at_ > 0) numbers_.down = evidence.outage(down_at_, index_gone_at_);
  if (index_gone_at_ > 0) numbers_.no_index = evidence.outage(index_gone_at_, end_ms_);
  count_tries(evidence);
  count_letters(evidence);
  const std::set<TargetDocument> failing = faults_->failing(tree_);
  if (Result<> judged = judge_targets(failing); !judged) return judged;
  numbers_.problems = problems_of(evidence, *faults_, numbers_.retries_max);
  for (std::string& problem : problems_of(numbers_, failing, evidence)) numbers_.problems.push_back(std::move(problem));
  return Done{};
}

Result<FailureNumbers> FailuresRun::run() {
  for (const auto step : {&FailuresRun::look_at_history, &FailuresRun::start, &FailuresRun::send, &FailuresRun::follow,
                          &FailuresRun::ask_for_failed})
    if (Result<> done = (this->*step)(); !done) return done.error();
  numbers_.seconds = std::chrono::duration<double>(Clock::now() - started_).count();
  numbers_.killed = run_.accidents().killed();
  numbers_.stood_still = run_.accidents().stood_still();
  run_.stop_all();
  if (Result<> judged = judge(); !judged) return judged.error();
  return numbers_;
}

}  // namespace

Result<FailureNumbers> run_failures_demo(const Settings& settings, const volatile std::sig_atomic_t& stop) {
  Settings own = settings;
  own.dispatch = "journal";
  own.failures = true;
  Result<FailureNumbers> numbers = FailuresRun(own, stop).run();
  if (own.delete_topics) delete_topics(own);
  return numbers;
}

}  // namespace reseq::demo
