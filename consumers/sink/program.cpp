#include "consumers/sink/program.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sysexits.h>
#include <thread>

#include "base/log.h"
#include "base/usage.h"
#include "consumers/progress/progress_file.h"
#include "consumers/sink/sink.h"
#include "kafka/admin.h"
#include "kafka/group_consumer.h"

namespace reseq::sink {
namespace {

constexpr Milliseconds kPoll{100};
constexpr Milliseconds kBeginsLimit{30'000};
constexpr std::chrono::milliseconds kProgressEvery{250};

volatile std::sig_atomic_t stop_requested = 0;
void request_stop(int) {
  stop_requested = 1;
}

nlohmann::ordered_json progress_of(const Sink& sink) {
  const SinkCounts& counts = sink.counts();
  nlohmann::ordered_json positions = nlohmann::json::object();
  for (const auto& [partition, next] : sink.committed()) positions[std::to_string(partition.value())] = next.value();
  return {{"records", counts.records},       {"written", counts.written},   {"not_newer", counts.not_newer},
          {"not_for_us", counts.not_for_us}, {"rejected", counts.rejected}, {"positions", positions}};
}

// A topic that was just created may have no leader yet.
Result<std::vector<kafka::PlainOffset>> ask_begins(kafka::Admin& admin, const std::string& topic) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(kBeginsLimit.value());
  while (true) {
    auto begins = admin.begins(topic, kBeginsLimit);
    if (begins || begins.error().what_to_do != ErrorClass::kRetriable || stop_requested != 0 ||
        std::chrono::steady_clock::now() > until)
      return begins;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

Result<> follow(Sink& sink, progress::ProgressFile& progress) {
  auto shown = std::chrono::steady_clock::now();
  while (stop_requested == 0) {
    if (Result<> stepped = sink.step(kPoll); !stepped) return stepped;
    if (const auto now = std::chrono::steady_clock::now(); now - shown >= kProgressEvery) {
      shown = now;
      progress.write(progress_of(sink));
    }
  }
  Result<> committed = sink.commit();
  progress.write(progress_of(sink));
  return committed;
}

Result<> move(const std::string& program, const Arguments& arguments, const OpenStore& open) {
  const Check check = arguments.check == "off" ? Check::kOff : Check::kVersions;
  const auto connection = kafka::connection_of(arguments.connection, program);
  if (!connection) return connection.error();
  auto progress = progress::ProgressFile::open(arguments.progress_file);
  if (!progress) return progress.error();
  auto admin = kafka::Admin::open(connection.value());
  if (!admin) return admin.error();
  auto begins = ask_begins(*admin.value(), arguments.topic);
  if (!begins) return begins.error();
  auto store = open({.topic = arguments.topic, .check = check});
  if (!store) return store.error();
  auto reader = kafka::GroupConsumer::open(connection.value());
  if (!reader) return reader.error();
  Sink sink(*reader.value(), *store.value(), {.check = check, .target = arguments.target});
  if (Result<> started = sink.start(arguments.topic, begins.value()); !started) return started;
  if (Result<> followed = follow(sink, progress.value()); !followed) return followed;
  return store.value()->finish();
}

}  // namespace

void declare(CLI::App& app, Arguments& arguments) {
  app.add_option("--bootstrap-servers", arguments.connection.bootstrap_servers, "host:port of brokers, comma separated")
      ->envname("RESEQ_BOOTSTRAP_SERVERS")
      ->required();
  app.add_option("--topic", arguments.topic, "<application.id>.output.<target>; with --check off: .commands")
      ->required();
  app.add_option("--check", arguments.check, "on: write only newer versions; off: the last write wins")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  app.add_option("--target", arguments.target, "with --check off: read the results of this target only");
  app.add_option("--progress-file", arguments.progress_file, "JSON lines: records, written, rejected, positions");
  kafka::declare_properties(app, arguments.connection);
}

int run(const std::string& program, const Arguments& arguments, const OpenStore& open) {
  std::signal(SIGTERM, request_stop);
  std::signal(SIGINT, request_stop);
  const Result<> result = move(program, arguments, open);
  if (result) return EX_OK;
  std::fprintf(stderr, "%s: %s\n", program.c_str(), log::one_line(result.error().message).c_str());
  return exit_code_of(result.error());
}

}  // namespace reseq::sink
