#include "runtime/service.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <sys/random.h>
#include <sys/resource.h>
#include <sysexits.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/log.h"
#include "kafka/error_questions.h"
#include "kafka/librdkafka_cluster.h"
#include "runtime/application.h"
#include "runtime/bad_records.h"
#include "runtime/clients.h"
#include "runtime/clock.h"
#include "runtime/notify_socket.h"
#include "runtime/shelf.h"
#include "runtime/topic_rules.h"
#include "runtime/watchdog.h"
#include "runtime/worker.h"
#include "store/crash_mark.h"
#include "store/instance_folder.h"

namespace reseq::runtime {

namespace {

constexpr Milliseconds kAskLimit{10'000};
constexpr Milliseconds kStartLimit{60'000};
constexpr Milliseconds kStartRetry{1'000};
// Topics that `init` has just made are not known to every broker at once.
constexpr Milliseconds kTopicsLimit{10'000};
constexpr Milliseconds kFolderLimit{5'000};
constexpr Milliseconds kCloseLimit{5'000};
constexpr Milliseconds kStatsEvery{10'000};
constexpr Milliseconds kLookEvery{50};

std::atomic<bool> stop_requested = false;  // lock-free: a signal handler may write it
static_assert(std::atomic<bool>::is_always_lock_free);
void request_stop(int) {
  stop_requested = true;
}

HashKey draw_key() {
  HashKey key;
  const ssize_t drawn = ::getrandom(key.bytes.data(), key.bytes.size(), 0);
  RESEQ_ASSERT(drawn == static_cast<ssize_t>(key.bytes.size()), "the kernel gave no random bytes");
  return key;
}

// Each partition keeps a handful of files open; the default of 1024 is soon reached.
void raise_file_limit() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &files) != 0)
    spdlog::warn("start=file_limit the number of open files cannot be raised");
}

// Nothing here needs its rights; documents and messages of brokers are outside bytes.
void warn_of_root() {
  if (::geteuid() == 0)
    spdlog::warn("start=root this process has all rights of the machine: run it as a user of its own");
}

void pause(Milliseconds time) {
  std::this_thread::sleep_for(std::chrono::milliseconds(time.value()));
}

// The first error ends the start; the rest is logged.
Result<> judge(const Application& application, const TopicAnswers& answers) {
  for (const Finding& finding : judge_topics(application, answers)) {
    if (finding.severity == Severity::kError) return Error{ErrorClass::kInvalid, 0, finding.text};
    spdlog::warn("start=topics {}", log::outside(finding.text));
  }
  return Done{};
}

// Names, for a person; empty: all of them exist.
std::string missing_topics(const Application& application, const TopicAnswers& answers) {
  std::string missing;
  for (std::size_t i = 0; i < answers.size(); ++i)
    if (!answers[i] && kafka::is_unknown_topic(answers[i].error()))
      missing +=
          (missing.empty() ? "" : ", ") + application.topics.name(kafka::TopicIndex(static_cast<std::uint16_t>(i)));
  return missing;
}

// Brokers may start later than we do, and hear later of topics: asks until they answer, and for a while until they know
// all of them. What is wrong, rather than late, is told at once.
Result<> ask_brokers(Application& application, kafka::Cluster& cluster, const Clock& clock) {
  const std::int64_t until = clock.steady().value() + kStartLimit.value();
  std::optional<std::int64_t> topics_until;
  while (!stop_requested) {
    const auto asked = application.ask(cluster, kAskLimit);
    const std::int64_t now = clock.steady().value();
    if (asked) {
      const std::string missing = missing_topics(application, asked.value());
      if (!topics_until) topics_until = now + kTopicsLimit.value();
      if (missing.empty() || now >= *topics_until) return judge(application, asked.value());
      spdlog::warn("start=waiting error={}", log::outside("no broker knows these topics yet: " + missing));
    } else {
      const Error error = with_fix(asked.error(), application.settings);
      if (error.what_to_do == ErrorClass::kInvalid || now > until) return error;
      spdlog::warn("start=waiting error={}", log::outside(error.message));
    }
    pause(kStartRetry);
  }
  return Done{};
}

void log_alarm(std::int64_t worker, const BadRecordsAlarm& alarm) {
  const auto level = alarm.state == AlarmState::kCleared ? spdlog::level::info : spdlog::level::warn;
  spdlog::log(level, "alarm=bad_records state={} worker={} per_s={:.1f} share={:.4f} reason={}", name_of(alarm.state),
              worker, alarm.per_s, alarm.share, name_of(alarm.reason));
}

// One that was only just killed may still hold its folder.
Result<std::unique_ptr<store::InstanceFolder>> take_folder(const Application& application, const Clock& clock) {
  const std::int64_t until = clock.steady().value() + kFolderLimit.value();
  const store::Owner owner{application.settings.application_id, application.cluster_id};
  while (true) {
    auto taken = store::InstanceFolder::open(instance_path(application.settings), owner);
    if (taken || !store::is_held(taken.error()) || clock.steady().value() > until || stop_requested) return taken;
    pause(kLookEvery);
  }
}

void log_totals(std::int64_t worker, const Totals& totals, double bad_per_s) {
  std::string line;
  const auto append = [&line](std::string_view name, std::uint64_t count) {
    if (count == 0) return;
    line += ' ';
    line += name;
    line += '=';
    line += std::to_string(count);
  };
  append("timers", totals.timers);
  append("expired", totals.expired);
  append("checkpoints", totals.checkpoints);
  for (std::size_t i = 0; i < totals.outcomes.size(); ++i) append(kOutcomeNames[i], totals.outcomes[i]);
  for (std::size_t i = 1; i < totals.reasons.size(); ++i) append(kReasonNames[i], totals.reasons[i]);
  spdlog::info("stats worker={} inputs={} transactions={} aborted={} recycled={} ends_asked={} bad_per_s={:.1f}{}",
               worker, totals.inputs, totals.transactions, totals.aborted, totals.recycled, totals.ends_asked,
               bad_per_s, line);
}

// One worker, its clients and the thread that steps it (docs/decisions/0051-workers-and-threads.md).
class WorkerThread {
 public:
  WorkerThread(const Application& application, const Clock& clock, Shelf& shelf, std::int64_t number)
      : application_(application), clock_(clock), shelf_(shelf), number_(number) {}

  Result<> start() {
    auto opened = kafka::open_cluster(cluster_settings_of(application_, number_));
    if (!opened) return opened.error();
    cluster_ = std::move(opened).value();
    thread_ = std::thread([this] { run(); });
    return Done{};
  }
  void stop() { stop_ = true; }
  // How it ended. REQUIRES: started.
  Result<> join() {
    thread_.join();
    return ended_;
  }
  [[nodiscard]] bool ended() const { return has_ended_; }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }

 private:
  void run() {
    Worker worker(application_, *cluster_, clock_, shelf_, draw_key);
    BadRecords bad_records;
    std::int64_t stats_at = clock_.steady().value();
    std::uint64_t logged_inputs = 0;
    while (!stop_ && ended_) {
      ++steps_;
      ended_ = worker.step();
      const Totals& totals = worker.totals();
      if (const auto alarm = bad_records.look(clock_.steady(), totals.inputs, totals.bad)) log_alarm(number_, *alarm);
      if (clock_.steady().value() - stats_at < kStatsEvery.value()) continue;
      stats_at = clock_.steady().value();
      if (totals.inputs != logged_inputs) log_totals(number_, totals, bad_records.per_s());
      logged_inputs = totals.inputs;
    }
    ++steps_;
    worker.close(kCloseLimit);
    log_totals(number_, worker.totals(), bad_records.per_s());
    has_ended_ = true;
  }

  const Application& application_;
  const Clock& clock_;
  Shelf& shelf_;
  std::int64_t number_;
  std::unique_ptr<kafka::Cluster> cluster_;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> has_ended_ = false;
  std::atomic<std::uint64_t> steps_ = 0;  // begun
  Result<> ended_ = Done{};               // written by the thread, read after it was joined
  std::thread thread_;
};

// All workers, and an eye on each.
class Workers {
 public:
  explicit Workers(Milliseconds stuck_after)
      : looks_max_(static_cast<std::uint64_t>(stuck_after.value() / kLookEvery.value())) {}

  Result<> start(const Application& application, const Clock& clock, Shelf& shelf) {
    for (std::int64_t i = 0; i < application.settings.workers; ++i) {
      auto worker = std::make_unique<WorkerThread>(application, clock, shelf, i);
      if (auto started = worker->start(); !started) return started;
      workers_.push_back({std::move(worker), Watchdog(looks_max_)});
    }
    return Done{};
  }
  [[nodiscard]] bool any_ended() const {
    return std::any_of(workers_.begin(), workers_.end(), [](const auto& one) { return one.worker->ended(); });
  }
  // A while later. A thread that is stuck cannot be ended; the process can, at any moment.
  void look() {
    pause(kLookEvery);
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      if (workers_[i].worker->ended() || !workers_[i].watchdog.look(workers_[i].worker->steps())) continue;
      spdlog::critical("stop=stuck worker={} one step does not end: a call of librdkafka or the disk never came back",
                       i);
      spdlog::default_logger()->flush();
      std::_Exit(EX_SOFTWARE);
    }
  }
  // The first error. Ends when all have ended.
  Result<> stop() {
    for (const auto& one : workers_) one.worker->stop();
    Result<> ended = Done{};
    for (const auto& one : workers_) {
      while (!one.worker->ended()) look();
      if (auto result = one.worker->join(); !result && ended) ended = result;
    }
    return ended;
  }

 private:
  struct Watched {
    std::unique_ptr<WorkerThread> worker;
    Watchdog watchdog;
  };
  std::uint64_t looks_max_;
  std::vector<Watched> workers_;
};

// Until a signal comes or a worker ends with an error, which ends them all. Meanwhile this thread syncs the states.
Result<> run_workers(const Application& application, const Clock& clock, Shelf& shelf, Milliseconds stuck_after) {
  NotifySocket supervisor(NotifySocket::wanted());
  Workers workers(stuck_after);
  const auto started = workers.start(application, clock, shelf);
  if (started) supervisor.ready();
  std::int64_t synced_at = clock.steady().value();
  while (!stop_requested && started && !workers.any_ended()) {
    workers.look();
    supervisor.alive(clock.steady());
    if (clock.steady().value() - synced_at < application.settings.sync_interval_ms) continue;
    shelf.sync_all();
    synced_at = clock.steady().value();
  }
  supervisor.stopping();
  const auto ended = workers.stop();
  return started ? ended : started;
}

}  // namespace

Result<> run(config::Settings settings, const Internals& internals) {
  stop_requested = false;
  store::CrashMark::watch();
  std::signal(SIGTERM, request_stop);
  std::signal(SIGINT, request_stop);
  raise_file_limit();
  warn_of_root();
  const SystemClock clock;
  Application application(std::move(settings));
  application.guards = internals.guards;
  {
    auto probe = kafka::open_cluster(cluster_settings_of(application, std::nullopt));
    if (!probe) return probe.error();
    if (auto asked = ask_brokers(application, *probe.value(), clock); !asked) return asked;
  }
  if (stop_requested) return Done{};
  const config::Settings& s = application.settings;
  const auto folder = take_folder(application, clock);
  if (!folder) return folder.error();
  spdlog::info("start=ready application={} instance={} workers={} partitions={} targets={}",
               log::outside(s.application_id), log::outside(s.instance_id), s.workers, application.partitions,
               s.targets.size());
  Shelf shelf(instance_path(s), internals.boot_id.value_or(store::boot_id()), internals.disk);
  auto ended = run_workers(application, clock, shelf, internals.stuck_after);
  if (!ended && kafka::is_forbidden(ended.error())) ended = with_fix(ended.error(), s);
  const bool clean = shelf.close_clean();
  if (ended) spdlog::info("stop={}", clean ? "clean" : "unclean");
  return ended;
}

}  // namespace reseq::runtime
