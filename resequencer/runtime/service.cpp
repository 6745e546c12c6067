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
#include "runtime/admin_desk.h"
#include "runtime/application.h"
#include "runtime/clients.h"
#include "runtime/clock.h"
#include "runtime/notify_socket.h"
#include "runtime/page_desk.h"
#include "runtime/shelf.h"
#include "runtime/topic_rules.h"
#include "runtime/worker_threads.h"
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
constexpr Milliseconds kLookEvery{50};

std::atomic<bool> stop_requested = false;  // lock-free: a signal handler may write it
static_assert(std::atomic<bool>::is_always_lock_free);
void request_stop(int) {
  stop_requested = true;
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

// Until a signal comes or a worker ends with an error, which ends them all. Meanwhile this thread syncs the states.
Result<> run_workers(const Application& application, const Clock& clock, Shelf& shelf, Observers& observers,
                     Milliseconds stuck_after) {
  NotifySocket supervisor(NotifySocket::wanted());
  WorkerThreads workers(application, clock, shelf, observers, stuck_after);
  const auto started = workers.start();
  AdminDesk desk(application, observers.board, observers.mailboxes, clock);
  if (started) desk.start();
  PageDesk page(application, observers.board, clock, observers.pictures);
  if (started) page.start();
  if (started) supervisor.ready();
  std::int64_t synced_at = clock.steady().value();
  while (!stop_requested && started && !workers.any_ended()) {
    workers.look();
    observers.endpoint.look();
    supervisor.alive(clock.steady());
    if (clock.steady().value() - synced_at < application.settings.sync_interval_ms) continue;
    shelf.sync_all();
    synced_at = clock.steady().value();
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
  raise_file_limit();
  warn_of_root();
  const SystemClock clock;
  Application application(std::move(settings));
  application.guards = internals.guards;
  Observers observers(application, clock, internals.stuck_after);
  observers.endpoint.look();
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
  auto ended = run_workers(application, clock, shelf, observers, internals.stuck_after);
  if (!ended && kafka::is_forbidden(ended.error())) ended = with_fix(ended.error(), s);
  const bool clean = shelf.close_clean();
  if (ended) spdlog::info("stop={}", clean ? "clean" : "unclean");
  return ended;
}

}  // namespace reseq::runtime
