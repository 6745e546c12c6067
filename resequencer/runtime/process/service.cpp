#include "runtime/process/service.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <mutex>
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
#include "kafka/error_questions.h"
#include "kafka/librdkafka_cluster.h"
#include "runtime/application/application.h"
#include "runtime/application/clients.h"
#include "runtime/application/clock.h"
#include "runtime/application/open_files.h"
#include "runtime/application/topic_rules.h"
#include "runtime/desk/admin_desk.h"
#include "runtime/desk/page_desk.h"
#include "runtime/process/notify_socket.h"
#include "runtime/process/worker_threads.h"
#include "runtime/takeover/shelf.h"
#include "store/crash_mark.h"
#include "store/instance_folder.h"

namespace reseq::runtime {

namespace {

constexpr Milliseconds kStartLimit{60'000};
constexpr Milliseconds kStartRetry{1'000};
// Topics that `init` has just made are not known to every broker at once.
constexpr Milliseconds kTopicsLimit{10'000};
constexpr Milliseconds kFolderLimit{5'000};
constexpr Milliseconds kFolderRetry{50};

std::atomic<bool> stop_requested = false;  // lock-free: a signal handler may write it
static_assert(std::atomic<bool>::is_always_lock_free);
void request_stop(int) {
  stop_requested = true;
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
  std::string told;  // the same again is no news
  const auto tell = [&told](const std::string& text) {
    if (std::exchange(told, text) != text) spdlog::warn("start=waiting error={}", log::outside(text));
  };
  while (!stop_requested) {
    const auto asked = application.ask(cluster, kafka::kBrokerAnswerLimit);
    const std::int64_t now = clock.steady().value();
    if (asked) {
      const std::string missing = missing_topics(application, asked.value());
      if (!topics_until) topics_until = now + kTopicsLimit.value();
      if (missing.empty() || now >= *topics_until) return judge(application, asked.value());
      tell("no broker knows these topics yet: " + missing);
    } else {
      const Error error = with_fix(asked.error(), application.settings);
      if (error.what_to_do == ErrorClass::kInvalid || now > until) return error;
      tell(error.message);
    }
    pause(kStartRetry);
  }
  return Done{};
}

// One that was only just killed may still hold its folder.
Result<std::unique_ptr<store::InstanceFolder>> take_folder(const Application& application, const Clock& clock) {
  const std::int64_t until = clock.steady().value() + kFolderLimit.value();
  const store::Owner owner{application.settings.application_id, application.cluster_id};
  while (true) {
    auto taken = store::InstanceFolder::open(instance_path(application.settings), owner);
    if (taken || !store::is_held(taken.error()) || clock.steady().value() > until || stop_requested) return taken;
    pause(kFolderRetry);
  }
}

// Syncs the states now and then, on a thread of its own: a slow disk takes minutes for it, and meanwhile somebody has
// to look at the workers and to tell the supervisor that the process lives.
class SyncThread {
 public:
  SyncThread(Shelf& shelf, Milliseconds every)
      : thread_([this, &shelf, every] {
          std::unique_lock lock(mutex_);
          while (!wake_.wait_for(lock, std::chrono::milliseconds(every.value()), [this] { return stop_; })) {
            lock.unlock();
            shelf.sync_all();
            lock.lock();
          }
        }) {}
  ~SyncThread() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  SyncThread(const SyncThread&) = delete;
  SyncThread& operator=(const SyncThread&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;  // last: it uses the others
};

// Until a signal comes or a worker ends with an error, which ends them all.
Result<> run_workers(const Application& application, const Clock& clock, Shelf& shelf, Observers& observers,
                     Milliseconds stuck_after) {
  NotifySocket supervisor(NotifySocket::wanted());
  WorkerThreads workers(application, clock, shelf, observers, stuck_after);
  const auto started = workers.start();
  AdminDesk desk(application, observers.board, observers.mailboxes, clock);
  if (started) desk.start();
  PageDesk page(application, observers.board, clock, observers.brokers, observers.pictures);
  if (started) page.start();
  if (started) supervisor.ready();
  const SyncThread syncs(shelf, Milliseconds(application.settings.sync_interval_ms));
  while (!stop_requested && started && !workers.any_ended()) {
    workers.look();
    observers.endpoint.look();
    supervisor.alive(clock.steady());
  }
  supervisor.stopping();
  desk.ask_to_stop();
  page.ask_to_stop();
  const auto ended = workers.stop();
  desk.stop();
  page.stop();
  return started ? ended : started;
}

}  // namespace

Result<> run(config::Settings settings, const Internals& internals) {
  stop_requested = false;
  store::CrashMark::watch();
  std::signal(SIGTERM, request_stop);
  std::signal(SIGINT, request_stop);
  const std::uint64_t files = raise_open_files();
  warn_of_root();
  const SystemClock clock;
  Application application(std::move(settings));
  application.guards = internals.guards;
  application.gate = internals.gate;
  Observers observers(application, clock, internals);
  application.client_log = [&observers](int level, std::string_view facility, std::string_view text) {
    observers.brokers.take(level, facility, text);
  };
  observers.endpoint.look();
  {
    auto probe = kafka::open_cluster(cluster_settings_of(application, std::nullopt));
    if (!probe) return probe.error();
    if (auto asked = ask_brokers(application, *probe.value(), clock); !asked) return asked;
  }
  (void)observers.question.ask(kafka::BrokerWatch::kAskLimit);  // where they are, while they answer
  if (stop_requested) return Done{};
  const config::Settings& s = application.settings;
  if (const auto few = too_few_open_files(files, application.partitions, s.workers))
    spdlog::warn("start=open_files {}", log::outside(*few));
  const auto folder = take_folder(application, clock);
  if (!folder) return folder.error();
  spdlog::info("start=ready application={} instance={} workers={} partitions={} targets={}",
               log::outside(s.application_id), log::outside(s.instance_id), s.workers, application.partitions,
               s.targets.size());
  Shelf shelf(instance_path(s), internals.boot_id.value_or(store::boot_id()), internals.disk);
  auto ended = run_workers(application, clock, shelf, observers, internals.stuck_after);
  if (!ended && kafka::is_forbidden(ended.error())) ended = with_fix(ended.error(), s);
  const bool clean = shelf.close_clean();
  if (ended) spdlog::info("stop={}", clean ? "clean" : "unclean");
  return ended;
}

}  // namespace reseq::runtime
