#include "runtime/service.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <sys/random.h>
#include <sys/resource.h>
#include <thread>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/log.h"
#include "kafka/admin.h"
#include "kafka/librdkafka_cluster.h"
#include "runtime/application.h"
#include "runtime/clock.h"
#include "runtime/shelf.h"
#include "runtime/worker.h"

namespace reseq::runtime {

namespace {

constexpr Milliseconds kAskLimit{10'000};
constexpr Milliseconds kStartLimit{60'000};
constexpr Milliseconds kStartRetry{1'000};
constexpr Milliseconds kCloseLimit{5'000};
constexpr Milliseconds kStatsEvery{10'000};
// What we add to a record on its way to work or dead-letter is below this (DESIGN 7).
constexpr std::int64_t kOwnHeaderBytes = 64 * 1024;

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

void log_of_librdkafka(int level, std::string_view facility, std::string_view text) {
  const auto severity = level <= 3 ? spdlog::level::err : level <= 4 ? spdlog::level::warn : spdlog::level::info;
  spdlog::log(severity, "librdkafka={} text={}", log::outside(facility), log::outside(text));
}

kafka::Connection connection_of(const config::Settings& settings) {
  kafka::Connection connection;
  connection.bootstrap_servers = settings.bootstrap_servers;
  connection.client_id = settings.application_id + "." + settings.instance_id;
  connection.librdkafka = settings.kafka;
  connection.log = log_of_librdkafka;
  connection.socket_timeout = Milliseconds(settings.socket_timeout_ms);
  return connection;
}

std::string worker_id(const config::Settings& settings, std::int64_t worker) {
  return settings.application_id + "." + settings.instance_id + "." + std::to_string(worker);
}

// Without a worker: enough to ask the brokers. With one: its own names, and the limits that the topics have.
kafka::ClusterSettings cluster_settings_of(const Application& application, std::optional<std::int64_t> worker) {
  const config::Settings& settings = application.settings;
  kafka::ClusterSettings cluster;
  cluster.connection = connection_of(settings);
  cluster.topics = application.topics.names();
  cluster.group_id = settings.application_id;
  cluster.group_instance_id = worker_id(settings, worker.value_or(0));
  cluster.transactional_id = cluster.group_instance_id;
  cluster.session_timeout = Milliseconds(settings.session_timeout_ms);
  cluster.transaction_timeout = Milliseconds(settings.transaction_timeout_ms);
  if (worker) {
    cluster.message_bytes_max = std::max(cluster.message_bytes_max, application.message_bytes_largest);
    cluster.batch_bytes_max = std::min(cluster.batch_bytes_max, application.message_bytes_least_written);
  }
  return cluster;
}

// Each partition keeps a handful of files open; the default of 1024 is soon reached.
void raise_file_limit() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &files) != 0)
    spdlog::warn("start=file_limit the number of open files cannot be raised");
}

void pause(Milliseconds time) {
  std::this_thread::sleep_for(std::chrono::milliseconds(time.value()));
}

// Brokers may start later than we do: asks until they answer. What is wrong, rather than late, is told at once.
Result<> ask_brokers(Application& application, kafka::Cluster& cluster, const Clock& clock) {
  const std::int64_t until = clock.steady().value() + kStartLimit.value();
  while (!stop_requested) {
    auto asked = application.ask(cluster, kAskLimit);
    if (asked || asked.error().what_to_do == ErrorClass::kInvalid || clock.steady().value() > until) return asked;
    spdlog::warn("start=waiting error={}", log::outside(asked.error().message));
    pause(kStartRetry);
  }
  return Done{};
}

void log_totals(std::int64_t worker, const Totals& totals) {
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
  spdlog::info("stats worker={} inputs={} transactions={} aborted={} recycled={} ends_asked={}{}", worker,
               totals.inputs, totals.transactions, totals.aborted, totals.recycled, totals.ends_asked, line);
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

 private:
  void run() {
    Worker worker(application_, *cluster_, clock_, shelf_, draw_key);
    std::int64_t stats_at = clock_.steady().value();
    std::uint64_t logged_inputs = 0;
    while (!stop_ && ended_) {
      ended_ = worker.step();
      if (clock_.steady().value() - stats_at < kStatsEvery.value()) continue;
      stats_at = clock_.steady().value();
      if (worker.totals().inputs != logged_inputs) log_totals(number_, worker.totals());
      logged_inputs = worker.totals().inputs;
    }
    worker.close(kCloseLimit);
    log_totals(number_, worker.totals());
    has_ended_ = true;
  }

  const Application& application_;
  const Clock& clock_;
  Shelf& shelf_;
  std::int64_t number_;
  std::unique_ptr<kafka::Cluster> cluster_;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> has_ended_ = false;
  Result<> ended_ = Done{};  // written by the thread, read after it was joined
  std::thread thread_;
};

// Until a signal comes or a worker ends with an error, which ends them all. Meanwhile this thread syncs the states.
Result<> run_workers(const Application& application, const Clock& clock, Shelf& shelf) {
  std::vector<std::unique_ptr<WorkerThread>> workers;
  Result<> ended = Done{};
  for (std::int64_t i = 0; i < application.settings.workers && ended; ++i) {
    auto worker = std::make_unique<WorkerThread>(application, clock, shelf, i);
    ended = worker->start();
    if (ended) workers.push_back(std::move(worker));
  }
  std::int64_t synced_at = clock.steady().value();
  const auto any_ended = [&] {
    return std::any_of(workers.begin(), workers.end(), [](const auto& worker) { return worker->ended(); });
  };
  while (!stop_requested && ended && !any_ended()) {
    pause(kLookEvery);
    if (clock.steady().value() - synced_at < application.settings.sync_interval_ms) continue;
    shelf.sync_all();
    synced_at = clock.steady().value();
  }
  for (const auto& worker : workers) worker->stop();
  for (const auto& worker : workers)
    if (auto one = worker->join(); !one && ended) ended = one;
  return ended;
}

}  // namespace

Result<> run(config::Settings settings) {
  stop_requested = false;
  std::signal(SIGTERM, request_stop);
  std::signal(SIGINT, request_stop);
  raise_file_limit();
  const SystemClock clock;
  Application application(std::move(settings));
  {
    auto probe = kafka::open_cluster(cluster_settings_of(application, std::nullopt));
    if (!probe) return probe.error();
    if (auto asked = ask_brokers(application, *probe.value(), clock); !asked) return asked;
  }
  if (stop_requested) return Done{};
  const config::Settings& s = application.settings;
  spdlog::info("start=ready application={} instance={} workers={} partitions={} targets={}",
               log::outside(s.application_id), log::outside(s.instance_id), s.workers, application.partitions,
               s.targets.size());
  Shelf shelf(s.state_dir + "/" + s.application_id + "/" + s.instance_id, store::boot_id(), store::DiskSettings());
  auto ended = run_workers(application, clock, shelf);
  shelf.close_clean();
  if (ended) spdlog::info("stop=clean");
  return ended;
}

Result<> init(config::Settings settings) {
  const Application application(std::move(settings));
  const config::Settings& s = application.settings;
  auto admin = kafka::Admin::open(connection_of(s));
  if (!admin) return admin.error();

  const Topics& topics = application.topics;
  const auto inputs = static_cast<std::int32_t>(s.init_partitions);
  const auto replication = static_cast<std::int32_t>(s.init_replication);
  const std::string input_bytes = std::to_string(s.init_max_message_bytes);
  const std::string output_bytes = std::to_string(s.init_max_message_bytes + kOwnHeaderBytes);
  std::vector<kafka::TopicSpec> specs;
  const auto add = [&](kafka::TopicIndex topic, std::int64_t partitions, kafka::Properties configs) {
    specs.push_back({topics.name(topic), static_cast<std::int32_t>(partitions), replication, std::move(configs)});
  };
  for (const Role role : kInputs) add(topics.of(role), inputs, {{"max.message.bytes", input_bytes}});
  add(topics.of(Role::kWork), s.init_work_partitions, {{"max.message.bytes", output_bytes}});
  add(topics.of(Role::kDeadLetter), inputs, {{"max.message.bytes", output_bytes}});
  add(topics.of(Role::kEvents), inputs, {});
  // Seven days: longer than an instance is likely to be away (RELIABILITY C22).
  add(topics.of(Role::kChangelog), inputs,
      {{"cleanup.policy", "compact"}, {"delete.retention.ms", "604800000"}, {"min.compaction.lag.ms", "60000"}});
  for (std::size_t i = 0; i < s.targets.size(); ++i)
    add(topics.output(i), s.init_output_partitions, {{"max.message.bytes", output_bytes}});
  if (!s.on_missing_topic.empty()) add(topics.missing(), inputs, {{"max.message.bytes", output_bytes}});
  if (auto created = admin.value()->create_topics(specs, kStartLimit); !created) return created;
  for (const kafka::TopicSpec& spec : specs) std::printf("%s partitions=%d\n", spec.name.c_str(), spec.partitions);
  return Done{};
}

}  // namespace reseq::runtime
