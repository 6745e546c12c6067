#include "runtime/service.h"

#include <csignal>
#include <memory>
#include <string>
#include <sys/random.h>
#include <thread>
#include <utility>

#include "base/assert.h"
#include "base/log.h"
#include "kafka/admin.h"
#include "kafka/librdkafka_cluster.h"
#include "runtime/application.h"
#include "runtime/clock.h"
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

volatile std::sig_atomic_t stop_requested = 0;
void request_stop(int) {
  stop_requested = 1;
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

// `facts` false: enough to ask the brokers. True: with the limits that their topics have.
kafka::ClusterSettings cluster_settings_of(const Application& application, bool facts) {
  const config::Settings& settings = application.settings;
  kafka::ClusterSettings cluster;
  cluster.connection = connection_of(settings);
  cluster.topics = application.topics.names();
  cluster.group_id = settings.application_id;
  // One worker in a process; its number keeps room for more.
  const std::string worker = settings.application_id + "." + settings.instance_id + ".0";
  cluster.group_instance_id = worker;
  cluster.transactional_id = worker;
  cluster.session_timeout = Milliseconds(settings.session_timeout_ms);
  cluster.transaction_timeout = Milliseconds(settings.transaction_timeout_ms);
  if (facts) {
    cluster.message_bytes_max = std::max(cluster.message_bytes_max, application.message_bytes_largest);
    cluster.batch_bytes_max = std::min(cluster.batch_bytes_max, application.message_bytes_least_written);
  }
  return cluster;
}

void pause(Milliseconds time) {
  std::this_thread::sleep_for(std::chrono::milliseconds(time.value()));
}

// Brokers may start later than we do: asks until they answer. What is wrong, rather than late, is told at once.
Result<> ask_brokers(Application& application, kafka::Cluster& cluster, const Clock& clock) {
  const std::int64_t until = clock.steady().value() + kStartLimit.value();
  while (stop_requested == 0) {
    auto asked = application.ask(cluster, kAskLimit);
    if (asked || asked.error().what_to_do == ErrorClass::kInvalid || clock.steady().value() > until) return asked;
    spdlog::warn("start=waiting error={}", log::outside(asked.error().message));
    pause(kStartRetry);
  }
  return Done{};
}

void log_totals(const Totals& totals) {
  std::string line;
  const auto append = [&line](std::string_view name, std::uint64_t count) {
    if (count == 0) return;
    line += ' ';
    line += name;
    line += '=';
    line += std::to_string(count);
  };
  for (std::size_t i = 0; i < totals.outcomes.size(); ++i) append(kOutcomeNames[i], totals.outcomes[i]);
  for (std::size_t i = 1; i < totals.reasons.size(); ++i) append(kReasonNames[i], totals.reasons[i]);
  spdlog::info("stats inputs={} transactions={} aborted={} recycled={} ends_asked={}{}", totals.inputs,
               totals.transactions, totals.aborted, totals.recycled, totals.ends_asked, line);
}

}  // namespace

Result<> run(config::Settings settings) {
  std::signal(SIGTERM, request_stop);
  std::signal(SIGINT, request_stop);
  const SystemClock clock;
  Application application(std::move(settings));
  {
    auto probe = kafka::open_cluster(cluster_settings_of(application, false));
    if (!probe) return probe.error();
    if (auto asked = ask_brokers(application, *probe.value(), clock); !asked) return asked;
  }
  auto cluster = kafka::open_cluster(cluster_settings_of(application, true));
  if (!cluster) return cluster.error();
  if (stop_requested != 0) return Done{};
  spdlog::info("start=ready application={} instance={} partitions={} targets={}",
               log::outside(application.settings.application_id), log::outside(application.settings.instance_id),
               application.partitions, application.settings.targets.size());

  Worker worker(application, *cluster.value(), clock, draw_key);
  std::int64_t stats_at = clock.steady().value();
  std::uint64_t logged_inputs = 0;
  Result<> stepped = Done{};
  while (stop_requested == 0 && stepped) {
    stepped = worker.step();
    if (clock.steady().value() - stats_at < kStatsEvery.value()) continue;
    stats_at = clock.steady().value();
    if (worker.totals().inputs != logged_inputs) log_totals(worker.totals());
    logged_inputs = worker.totals().inputs;
  }
  worker.close(kCloseLimit);
  log_totals(worker.totals());
  if (stepped) spdlog::info("stop=clean");
  return stepped;
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
