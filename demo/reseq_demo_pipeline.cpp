// reseq-demo-pipeline: a pipeline that does everything that breaks order: N workers, each with its own consumer in one
// group, with seeded delays, retries, duplicates and results that overtake each other; and, if it is told to, with work
// that fails, or is lost.
#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <list>
#include <nlohmann/json.hpp>
#include <string>
#include <sysexits.h>
#include <thread>
#include <vector>

#include "base/usage.h"
#include "consumers/progress/progress_file.h"
#include "consumers/stage/kafka_stage.h"
#include "demo/pipeline/worker.h"
#include "kafka/connection_arguments.h"

namespace {

using namespace reseq;  // NOLINT(google-build-using-namespace): the words of this program

constexpr std::chrono::milliseconds kProgressEvery{250};

volatile std::sig_atomic_t stop_requested = 0;
void request_stop(int) {
  stop_requested = 1;
}

volatile std::sig_atomic_t all_sent_told = 0;
void tell_all_sent(int) {
  all_sent_told = 1;
}

struct Arguments {
  kafka::ConnectionArguments connection;
  std::string work_topic;
  std::string commands_topic;
  std::string group;
  std::vector<std::string> targets = {"search"};
  std::uint64_t workers = 8;
  std::uint64_t seed = 1;
  std::uint64_t pace = 0;
  std::string progress_file;
  std::string work_log;
  std::string engine_file;
  std::vector<std::string> losing;
  std::string commit = "work";
  std::uint64_t in_flight = 1'000;
  std::int64_t session_timeout_ms = 10'000;
};

void declare(CLI::App& app, Arguments& arguments) {
  app.add_option("--bootstrap-servers", arguments.connection.bootstrap_servers, "host:port of brokers, comma separated")
      ->envname("RESEQ_BOOTSTRAP_SERVERS")
      ->required();
  app.add_option("--work", arguments.work_topic, "topic to read")->required();
  app.add_option("--commands", arguments.commands_topic, "topic of the results")->required();
  app.add_option("--group", arguments.group, "consumer group of the workers")->required();
  app.add_option("--targets", arguments.targets, "each record has a result for each of them")->delimiter(',');
  app.add_option("--workers", arguments.workers, "consumers")->check(CLI::Range(1, 64))->capture_default_str();
  app.add_option("--seed", arguments.seed, "of delays, retries and duplicates")->capture_default_str();
  app.add_option("--pace", arguments.pace,
                 "records a second: while all workers together get fewer, delays are as many records long as at this "
                 "pace, until ten seconds pass without one, or one second after SIGUSR1; 0: they are as long as they "
                 "are")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  app.add_option("--progress-file", arguments.progress_file, "JSON lines: records and partitions of each worker");
  app.add_option("--work-log", arguments.work_log, "a line for each record that a worker begins with");
  app.add_option(
      "--search-engine", arguments.engine_file,
      "some work fails (reseq-command: fail); this file says `up`, `down` or `no-index` of the engine of the "
      "target search; without it nothing fails");
  app.add_option("--lose-for", arguments.losing,
                 "targets for which four results of a thousand never come; without it none is lost")
      ->delimiter(',');
  app.add_option("--commit", arguments.commit, "work: offsets are committed after the work; receipt: before it")
      ->check(CLI::IsMember({"work", "receipt"}))
      ->capture_default_str();
  app.add_option("--in-flight", arguments.in_flight, "records that a worker has at a time")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--session-timeout-ms", arguments.session_timeout_ms, "of the group")->capture_default_str();
  kafka::declare_properties(app, arguments.connection);
}

// One worker with its thread. Threads: the worker's own runs run(); the others read the counts and `finished`.
struct Running {
  demo::WorkerCounts counts;
  std::unique_ptr<demo::Worker> worker;
  std::atomic<bool> finished = false;
  Result<> result = Done{};  // read after join()
  std::thread thread;
};

stage::KafkaStageSettings stage_of(const Arguments& arguments, const kafka::Connection& connection) {
  stage::KafkaStageSettings settings{.connection = connection,
                                     .group = arguments.group,
                                     .work_topic = arguments.work_topic,
                                     .commands_topic = arguments.commands_topic,
                                     .limits = {},
                                     .session_timeout = Milliseconds(arguments.session_timeout_ms)};
  settings.limits.in_flight_max = arguments.in_flight;
  if (arguments.commit == "receipt") settings.limits.commit = stage::CommitWhen::kOnReceipt;
  return settings;
}

Result<> start(const Arguments& arguments, const std::atomic<bool>& stop, const std::atomic<bool>& all_sent,
               demo::WorkLog& log, std::list<Running>& workers) {
  auto connection = kafka::connection_of(arguments.connection, "demo-worker");
  if (!connection) return connection.error();
  const demo::Seed seed(arguments.seed);
  constexpr std::uint64_t kNanoseconds = 1'000'000'000;
  const std::uint64_t per_record = arguments.pace == 0 ? 0 : arguments.workers * kNanoseconds / arguments.pace;
  for (std::uint64_t i = 0; i < arguments.workers; ++i) {
    connection.value().client_id = "demo-worker-" + std::to_string(i);
    auto stage = stage::open_kafka_stage(stage_of(arguments, connection.value()));
    if (!stage) return stage.error();
    Running& running = workers.emplace_back();
    running.worker = std::make_unique<demo::Worker>(
        std::move(stage).value(), seed, demo::Faults(seed, arguments.engine_file, arguments.losing), arguments.targets,
        demo::PacedClock(std::chrono::nanoseconds(per_record)), running.counts, log);
  }
  for (Running& running : workers)
    running.thread = std::thread([&running, &stop, &all_sent] {
      running.result = running.worker->run(stop, all_sent);
      running.finished = true;
    });
  return Done{};
}

nlohmann::ordered_json progress_of(const std::list<Running>& workers) {
  nlohmann::ordered_json records = nlohmann::json::array(), partitions = nlohmann::json::array();
  std::uint64_t results = 0, retries = 0, duplicates = 0, failures = 0;
  for (const Running& running : workers) {
    records.push_back(running.counts.records.load());
    partitions.push_back(running.counts.partitions.load());
    results += running.counts.results;
    retries += running.counts.retries;
    duplicates += running.counts.duplicates;
    failures += running.counts.failures;
  }
  return {{"records", records}, {"partitions", partitions}, {"results", results},
          {"retries", retries}, {"duplicates", duplicates}, {"failures", failures}};
}

Result<> run(const Arguments& arguments) {
  auto progress = progress::ProgressFile::open(arguments.progress_file);
  if (!progress) return progress.error();
  auto log = demo::WorkLog::open(arguments.work_log);
  if (!log) return log.error();
  std::atomic<bool> stop = false;
  std::atomic<bool> all_sent = false;
  std::list<Running> workers;
  Result<> result = start(arguments, stop, all_sent, log.value(), workers);
  const auto somebody_finished = [&] {
    return std::any_of(workers.begin(), workers.end(), [](const Running& running) { return running.finished.load(); });
  };
  while (result && stop_requested == 0 && !somebody_finished()) {
    all_sent = all_sent_told != 0;
    progress.value().write(progress_of(workers));
    std::this_thread::sleep_for(kProgressEvery);
  }
  stop = true;
  for (Running& running : workers)
    if (running.thread.joinable()) running.thread.join();
  progress.value().write(progress_of(workers));
  for (const Running& running : workers)
    if (!running.result) return running.result;
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Reads work, takes its time, answers out of order", "reseq-demo-pipeline");
  declare(app, arguments);
  if (const auto code = parse(app, argc, argv)) return *code;
  std::signal(SIGTERM, request_stop);
  std::signal(SIGINT, request_stop);
  std::signal(SIGUSR1, tell_all_sent);
  const Result<> result = run(arguments);
  if (result) return EX_OK;
  std::fprintf(stderr, "reseq-demo-pipeline: %s\n", result.error().message.c_str());
  return exit_code_of(result.error());
}
