#include "runtime/process/worker_threads.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <sys/random.h>
#include <sysexits.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/log.h"
#include "base/thread_stack.h"
#include "kafka/librdkafka_cluster.h"
#include "runtime/application/clients.h"
#include "runtime/process/thread_disk.h"
#include "runtime/worker/bad_records.h"
#include "runtime/worker/older_requests_alarm.h"
#include "runtime/worker/overdue_log.h"
#include "runtime/worker/worker.h"

namespace reseq::runtime {

namespace {

constexpr Milliseconds kCloseLimit{5'000};
constexpr std::chrono::milliseconds kStackLimit{2'000};
constexpr unsigned kStackAlarmSeconds = 10;
constexpr Milliseconds kStatsEvery{10'000};
// For the questions that wait, between two transactions.
constexpr Milliseconds kAnswersMax{2};
constexpr Milliseconds kLookEvery{50};

HashKey draw_key() {
  HashKey key;
  const ssize_t drawn = ::getrandom(key.bytes.data(), key.bytes.size(), 0);
  RESEQ_ASSERT(drawn == static_cast<ssize_t>(key.bytes.size()), "the kernel gave no random bytes");
  return key;
}

void log_alarm(std::int64_t worker, const BadRecordsAlarm& alarm) {
  const auto level = alarm.state == AlarmState::kCleared ? spdlog::level::info : spdlog::level::warn;
  spdlog::log(level, "alarm=bad_records state={} worker={} per_s={:.1f} share={:.4f} reason={}", name_of(alarm.state),
              worker, alarm.per_s, alarm.share, name_of(alarm.reason));
}

void log_alarm(std::int64_t worker, const OlderRequestsAlarm::Told& alarm) {
  if (alarm.state == AlarmState::kCleared) {
    spdlog::info("alarm=older_requests state={} worker={} documents={}", name_of(alarm.state), worker, alarm.documents);
    return;
  }
  spdlog::warn(
      "alarm=older_requests state={} worker={} documents={} per_s={:.1f} share={:.4f} "
      "cause=\"probably a producer whose counter started again: nothing that it sends gets through\" "
      "to_do=\"docs/operating.md, A counter that started again\"",
      name_of(alarm.state), worker, alarm.documents, alarm.per_s, alarm.share);
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
  for (std::size_t i = 0; i < kOutcomeNames.size(); ++i)
    append(kOutcomeNames[i], totals.outcomes.of(static_cast<Outcome>(i)));
  for (std::size_t i = 1; i < kReasonNames.size(); ++i)
    append(kReasonNames[i], totals.outcomes.of(static_cast<Reason>(i)));
  spdlog::info("stats worker={} inputs={} transactions={} aborted={} recycled={} ends_asked={} bad_per_s={:.1f}{}",
               worker, totals.inputs, totals.transactions, totals.aborted, totals.recycled, totals.ends_asked,
               bad_per_s, line);
}

// Documents of all partitions of the worker.
std::size_t only_older(const Worker& worker, Milliseconds now) {
  std::size_t documents = 0;
  for (const auto& task : worker.tasks()) documents += task->older_requests().documents(now);
  return documents;
}

}  // namespace

// One worker, its clients and the thread that steps it (docs/decisions/0051-workers-and-threads.md).
class WorkerThread {
 public:
  WorkerThread(const Application& application, const Clock& clock, Shelf& shelf, Observers& observers,
               std::int64_t number)
      : application_(application), clock_(clock), shelf_(shelf), observers_(observers), number_(number) {}

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
  // REQUIRES: started, and not joined. As of stack_of().
  [[nodiscard]] std::vector<std::string> stack() { return stack_of(thread_.native_handle(), kStackLimit); }
  // Steps begun, and what a slow disk has done for it meanwhile.
  [[nodiscard]] std::uint64_t progress() const { return steps_ + disk_.bytes(); }

 private:
  void run() {
    if (!disk_.watch_this_thread())
      spdlog::warn(
          "start=watchdog /proc/thread-self/io cannot be read: a step that waits for a slow disk for a minute "
          "ends this process");
    Worker worker(application_, *cluster_, clock_, shelf_, draw_key);
    std::int64_t stats_at = clock_.steady().value();
    std::uint64_t logged_inputs = 0;
    while (!stop_ && ended_) {
      ++steps_;
      ended_ = worker.step();
      answer(worker);
      publish(worker);
      const Totals& totals = worker.totals();
      if (const auto alarm = bad_records_.look(clock_.steady(), totals.inputs, totals.outcomes.bad()))
        log_alarm(number_, *alarm);
      if (const auto documents = overdue_log_.look(clock_.steady(), totals.timers))
        spdlog::warn(
            "alarm=overdue worker={} documents={} since_start={} to_do=\"resequencer list --state overdue names them\"",
            number_, *documents, totals.timers);
      look_at_older_requests(worker);
      if (clock_.steady().value() - stats_at < kStatsEvery.value()) continue;
      stats_at = clock_.steady().value();
      if (totals.inputs != logged_inputs) log_totals(number_, totals, bad_records_.per_s());
      logged_inputs = totals.inputs;
    }
    ++steps_;
    worker.close(kCloseLimit);
    log_totals(number_, worker.totals(), bad_records_.per_s());
    has_ended_ = true;
  }

  void look_at_older_requests(const Worker& worker) {
    const Milliseconds now = clock_.steady();
    if (!older_requests_.is_due(now)) return;
    const Totals& totals = worker.totals();
    const std::uint64_t requests = totals.inputs_by_role[slot_of(Role::kRequests)];
    if (const auto alarm = older_requests_.look(now, only_older(worker, now), totals.older_requests, requests))
      log_alarm(number_, *alarm);
  }

  // Never on the time of a transaction, and only as many as fit into a moment, but one: many cannot hold up the work.
  void answer(const Worker& worker) {
    if (worker.transaction() != nullptr) return;
    Mailbox& mailbox = *observers_.mailboxes[static_cast<std::size_t>(number_)];
    const std::int64_t until = clock_.steady().value() + kAnswersMax.value();
    do {
      const auto question = mailbox.take(clock_.steady());
      if (!question) return;
      question->answer->put(answer_from(*question, worker, application_, clock_.now()));
    } while (clock_.steady().value() < until);
  }

  void publish(const Worker& worker) {
    // While a transaction is on its way it may be committed, and others may have read it, before we know.
    const std::uint64_t asked = worker.transaction() == nullptr ? observers_.board.asked() : answers_;
    const bool is_time = !published_at_ || clock_.steady().value() - published_at_->value() >= Board::kEvery.value();
    if (!is_time && asked == answers_) return;
    published_at_ = clock_.steady();
    answers_ = asked;
    WorkerReport report = worker.report();
    report.worker = number_;
    report.answers = answers_;
    report.bad_per_s = bad_records_.per_s();
    observers_.board.publish(std::move(report));
  }

  const Application& application_;
  const Clock& clock_;
  Shelf& shelf_;
  Observers& observers_;
  std::int64_t number_;
  BadRecords bad_records_;  // of the thread, as the next four
  OverdueLog overdue_log_;
  OlderRequestsAlarm older_requests_;
  std::optional<Milliseconds> published_at_;
  std::uint64_t answers_ = 0;  // newest question that was answered
  std::unique_ptr<kafka::Cluster> cluster_;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> has_ended_ = false;
  std::atomic<std::uint64_t> steps_ = 0;  // begun
  ThreadDisk disk_;
  Result<> ended_ = Done{};  // written by the thread, read after it was joined
  std::thread thread_;
};

namespace {

// What the worker waits for is told by its stack; if it holds a lock that this needs, the alarm ends the process.
[[noreturn]] void end_stuck(std::size_t number, WorkerThread& worker) {
  spdlog::critical("stop=stuck worker={} one step does not end: a call of librdkafka or the disk never came back",
                   number);
  spdlog::default_logger()->flush();
  ::alarm(kStackAlarmSeconds);
  for (const std::string& call : worker.stack()) spdlog::critical("stop=stuck worker={} call=\"{}\"", number, call);
  spdlog::default_logger()->flush();
  std::_Exit(EX_SOFTWARE);
}

}  // namespace

WorkerThreads::WorkerThreads(const Application& application, const Clock& clock, Shelf& shelf, Observers& observers,
                             Milliseconds stuck_after)
    : application_(application),
      clock_(clock),
      shelf_(shelf),
      observers_(observers),
      looks_max_(static_cast<std::uint64_t>(stuck_after.value() / kLookEvery.value())) {}

WorkerThreads::~WorkerThreads() = default;

Result<> WorkerThreads::start() {
  for (std::int64_t i = 0; i < application_.settings.workers; ++i) {
    auto worker = std::make_unique<WorkerThread>(application_, clock_, shelf_, observers_, i);
    if (auto started = worker->start(); !started) return started;
    workers_.push_back({std::move(worker), Watchdog(looks_max_)});
  }
  return Done{};
}

bool WorkerThreads::any_ended() const {
  return std::any_of(workers_.begin(), workers_.end(), [](const auto& one) { return one.worker->ended(); });
}

void WorkerThreads::look() {
  std::this_thread::sleep_for(std::chrono::milliseconds(kLookEvery.value()));
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (workers_[i].worker->ended()) continue;
    const bool stuck = workers_[i].watchdog.look(workers_[i].worker->progress());
    if (workers_[i].watchdog.moves()) observers_.board.moves(i, clock_.steady());
    if (!stuck) continue;
    end_stuck(i, *workers_[i].worker);
  }
}

Result<> WorkerThreads::stop() {
  for (const auto& one : workers_) one.worker->stop();
  Result<> ended = Done{};
  for (const auto& one : workers_) {
    while (!one.worker->ended()) look();
    if (auto result = one.worker->join(); !result && ended) ended = result;
  }
  return ended;
}

}  // namespace reseq::runtime
