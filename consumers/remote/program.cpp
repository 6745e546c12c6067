#include "consumers/remote/program.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>
#include <spdlog/spdlog.h>
#include <sysexits.h>
#include <thread>

#include "base/log.h"
#include "base/usage.h"
#include "consumers/progress/progress_file.h"
#include "consumers/remote/catching_up.h"
#include "consumers/remote/check.h"
#include "consumers/remote/dead_letters.h"
#include "consumers/remote/remote_sink.h"
#include "consumers/remote/start.h"
#include "consumers/remote/telling.h"
#include "consumers/stage/work_reader.h"
#include "kafka/admin.h"
#include "kafka/broker_question.h"
#include "kafka/broker_watch.h"
#include "kafka/error_questions.h"
#include "kafka/settings.h"

namespace reseq::remote {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFinishLimit{15'000};
constexpr milliseconds kProgressEvery{250};
constexpr milliseconds kAskAgain{500};

volatile std::sig_atomic_t stop_requested = 0;
void request_stop(int) {
  stop_requested = 1;
}
bool stop() {
  return stop_requested != 0;
}

// The largest record of the topic of dead letters, which has to exist.
Result<std::uint64_t> ask_letter_bytes(const kafka::Connection& connection, const std::string& topic) {
  auto admin = kafka::Admin::open(connection);
  if (!admin) return admin.error();
  while (true) {
    auto facts = admin.value()->topic_facts(topic, kafka::kBrokerAnswerLimit);
    if (facts) return facts.value().max_message_bytes;
    if (!stage::means_later(facts.error()) || stop()) {
      Error error = facts.error();
      error.message = "the topic of dead letters, " + topic + ": " + error.message +
                      (kafka::is_forbidden(error)
                           ? ". Allow DescribeConfigs on it, or say --dead-letters skip"
                           : ". Make it, name another one with --dead-letter-topic, or say --dead-letters skip");
      return error;
    }
    std::this_thread::sleep_for(kAskAgain);
  }
}

RemoteSinkOptions options_of(const Arguments& arguments, bool keeps_positions) {
  RemoteSinkOptions options;
  options.topic = arguments.topic;
  options.group = arguments.group;
  options.instance_id = arguments.instance_id;
  options.check = arguments.versions == "off" ? sink::Check::kOff : sink::Check::kVersions;
  options.target = arguments.target;
  options.load = {.records_max = arguments.batch_records,
                  .bytes_max = arguments.batch_bytes,
                  .time_max = milliseconds(arguments.batch_ms)};
  options.connections = arguments.connections;
  // Positions, and writes that no version puts in order, want one batch after the other.
  const bool in_order = keeps_positions || options.check == sink::Check::kOff;
  options.in_flight_max = in_order ? 1 : arguments.in_flight_batches;
  options.bytes_max = arguments.buffer_bytes;
  options.session_timeout = milliseconds(arguments.session_timeout_ms);
  options.skip_lost = arguments.skip_lost;
  return options;
}

nlohmann::ordered_json progress_of(const Tally& tally) {
  const Counts counts = tally.counts();
  nlohmann::ordered_json positions = nlohmann::json::object();
  for (const auto& [partition, next] : tally.places().done) positions[std::to_string(partition.value())] = next.value();
  return {{"records", counts.records},
          {"written", counts.written},
          {"not_newer", counts.not_newer},
          {"not_for_us", counts.not_for_us},
          {"rejected", counts.malformed + counts.refused},
          {"retried", counts.retried},
          {"positions", positions}};
}

Result<> follow(RemoteSink& sink, const Tally& tally, progress::ProgressFile& progress) {
  auto shown = std::chrono::steady_clock::now();
  CatchingUp catching_up;
  while (!stop()) {
    if (Result<> stepped = sink.step(); !stepped) return stepped;
    const auto now = std::chrono::steady_clock::now();
    if (now - shown < kProgressEvery) continue;
    shown = now;
    progress.write(progress_of(tally));
    const Places places = tally.places();
    const std::int64_t lag = std::accumulate(places.lag.begin(), places.lag.end(), std::int64_t{0},
                                             [](std::int64_t sum, const auto& one) { return sum + one.second; });
    if (is_trouble(tally.standing().kind))
      catching_up.wait(tally.counts().records, now);
    else if (const auto line = catching_up.look(lag, tally.counts().records, now))
      spdlog::info(*line);
  }
  Result<> finished = sink.finish(kFinishLimit);
  progress.write(progress_of(tally));
  return finished;
}

Result<> move(kafka::Connection connection, const Arguments& arguments, const OpenRemoteStore& open) {
  kafka::BrokerQuestion question(connection);
  kafka::BrokerWatch brokers([&] { return question.ask(kafka::BrokerWatch::kAskLimit); }, connection.log);
  connection.log = [&](int level, std::string_view facility, std::string_view text) {
    brokers.take(level, facility, text);
  };
  auto progress = progress::ProgressFile::open(arguments.progress_file);
  if (!progress) return progress.error();
  auto one = open();
  if (!one) return one.error();
  const bool keeps_positions = one.value()->keeps_positions();
  spdlog::info("server={} topic={} group={} delivery={}", log::outside(one.value()->place()), arguments.topic,
               arguments.group, keeps_positions ? "exactly_once" : "at_least_once");
  one.value().reset();
  Tally tally;
  std::unique_ptr<http::Server> http;
  if (!arguments.http_listen.empty()) {
    auto opened = open_http(arguments.http_listen, tally, brokers);
    if (!opened) return opened.error();
    http = std::move(opened).value();
  }
  std::uint64_t letter_bytes = 0;
  if (!arguments.dead_letter_topic.empty()) {
    auto bytes = ask_letter_bytes(connection, arguments.dead_letter_topic);
    if (!bytes) return stop() ? Result<>(Done{}) : Result<>(bytes.error());
    letter_bytes = bytes.value();
  }
  DeadLetters letters(connection, arguments.dead_letter_topic, letter_bytes);
  RemoteSink sink(options_of(arguments, keeps_positions), connection, open, letters, tally);
  if (Result<> started = sink.start(stop); !started) return started;
  return follow(sink, tally, progress.value());
}

int check_all(const kafka::Connection& connection, const Arguments& arguments, const OpenRemoteStore& open) {
  std::vector<Finding> findings = check_kafka(
      connection,
      {.topic = arguments.topic, .group = arguments.group, .dead_letter_topic = arguments.dead_letter_topic});
  auto store = open();
  if (store) {
    for (Finding& finding : store.value()->check()) findings.push_back(std::move(finding));
    if (auto admin = kafka::Admin::open(connection); admin && !store.value()->keeps_positions())
      if (Result<> kept = judge_missing(*store.value(), *admin.value(), arguments.group, arguments.topic);
          !kept && kept.error().what_to_do == ErrorClass::kInvalid)
        findings.push_back({false, "what the group has written is there", kept.error().message});
  }
  if (!store) findings.push_back({false, "the server can be used", store.error().message});
  return print_findings(findings) ? EX_OK : EX_CONFIG;
}

int fail(const std::string& program, const Error& error) {
  log::say_last(program, error.message);
  return exit_code_of(error);
}

}  // namespace

void declare(CLI::App& app, Arguments& arguments) {
  app.add_option("--bootstrap-servers", arguments.connection.bootstrap_servers, "host:port of brokers, comma separated")
      ->envname("RESEQ_BOOTSTRAP_SERVERS")
      ->required();
  app.add_option("--topic", arguments.topic, "<application.id>.output.<target>; with --versions off: .commands")
      ->required();
  app.add_option("--group", arguments.group, "consumer group; default: <topic>.<name of this program>");
  app.add_option("--instance-id", arguments.instance_id,
                 "name of this instance in the group, no two have the same: its partitions wait for it over a restart");
  app.add_flag("--check", arguments.only_check, "only tell what is missing: exit code 0, or 78");
  app.add_option("--versions", arguments.versions, "off: the last write wins, to show what the check is worth")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  app.add_option("--target", arguments.target, "with --versions off: write the results of this target only");
  app.add_option("--dead-letters", arguments.dead_letters,
                 "what becomes of records that cannot be stored; skip: logged")
      ->check(CLI::IsMember({"topic", "skip"}))
      ->capture_default_str();
  app.add_option("--dead-letter-topic", arguments.dead_letter_topic, "default: <topic>.dead-letter; it has to exist");
  app.add_option("--connections", arguments.connections, "to the server")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--batch-records", arguments.batch_records)->check(CLI::Range(1, 100'000))->capture_default_str();
  app.add_option("--batch-bytes", arguments.batch_bytes)->check(CLI::Range(1, 512 << 20))->capture_default_str();
  app.add_option("--batch-ms", arguments.batch_ms, "how long a batch waits for more")
      ->check(CLI::Range(0, 60'000))
      ->capture_default_str();
  app.add_option("--in-flight-batches", arguments.in_flight_batches, "of a partition; exactly_once has one")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--buffer-bytes", arguments.buffer_bytes, "read and not yet written; then reading waits")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40))
      ->capture_default_str();
  app.add_option("--session-timeout-ms", arguments.session_timeout_ms, "of the group")
      ->check(CLI::Range(6'000, 1'800'000))
      ->capture_default_str();
  app.add_option("--http-listen", arguments.http_listen, "host:port of /metrics, /livez and /readyz; default: none");
  app.add_option("--progress-file", arguments.progress_file, "JSON lines: records, written, rejected, positions");
  kafka::declare_properties(app, arguments.connection);
  app.add_flag("--skip-lost", arguments.skip_lost, "go on where the topic begins when it lost what was not read");
  app.add_option("--log-level", arguments.log_level)
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}))
      ->capture_default_str();
  app.add_option("--log-format", arguments.log_format, "lines for people, or a JSON object each")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
}

int run(const std::string& program, Arguments arguments, const MakeOpen& make_open) {
  std::signal(SIGTERM, request_stop);
  std::signal(SIGINT, request_stop);
  std::signal(SIGPIPE, SIG_IGN);
  log::open(arguments.log_level, log::format_of(arguments.log_format));
  if (arguments.group.empty()) arguments.group = arguments.topic + "." + program;
  if (arguments.dead_letters == "skip")
    arguments.dead_letter_topic.clear();
  else if (arguments.dead_letter_topic.empty())
    arguments.dead_letter_topic = arguments.topic + ".dead-letter";
  auto connection = kafka::connection_of(arguments.connection, program);
  if (!connection) return fail(program, connection.error());
  connection.value().log = kafka::log_to_log;
  const auto open = make_open(connection.value());
  if (!open) return fail(program, open.error());
  if (arguments.only_check) return check_all(connection.value(), arguments, open.value());
  const Result<> result = move(connection.value(), arguments, open.value());
  return result ? EX_OK : fail(program, result.error());
}

}  // namespace reseq::remote
