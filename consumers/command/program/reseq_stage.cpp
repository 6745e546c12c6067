// reseq-stage: makes a stage of a pipeline out of any command that reads and writes lines.
#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <string>
#include <sysexits.h>

#include "base/log.h"
#include "base/usage.h"
#include "consumers/command/command_stage.h"
#include "consumers/stage/kafka_stage.h"
#include "kafka/connection_arguments.h"

namespace {

using namespace reseq;  // NOLINT(google-build-using-namespace): the words of this program

std::atomic<bool> stop{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may not wait");

// The first signal ends the run in order, a second one at once.
void on_signal(int number) {
  stop.store(true, std::memory_order_relaxed);
  std::signal(number, SIG_DFL);
}

struct Arguments {
  kafka::ConnectionArguments connection;
  std::string application_id;
  std::string group;
  std::string work_topic;
  std::string commands_topic;
  std::string partitioner = "murmur2";
  std::string instance_id = "1";
  bool transactional = false;
  std::size_t in_flight_max = 1'000;
  std::string commit = "work";
  std::int64_t answer_within_s = 0;
  std::string on_error = "stop";
  std::string payload = "auto";
  command::CommandOptions command;
};

void declare_kafka(CLI::App& app, Arguments& arguments) {
  app.add_option("--bootstrap-servers", arguments.connection.bootstrap_servers, "host:port of brokers, comma separated")
      ->envname("RESEQ_BOOTSTRAP_SERVERS")
      ->required();
  app.add_option("--application-id", arguments.application_id, "application.id of the resequencer")->required();
  app.add_option("--group", arguments.group,
                 "consumer group; stages that do different work need different ones. Default: <application-id>.stage");
  app.add_option("--work-topic", arguments.work_topic, "default: <application-id>.work");
  app.add_option("--commands-topic", arguments.commands_topic, "default: <application-id>.commands");
  app.add_option("--partitioner", arguments.partitioner, "murmur2 or crc32, as the application is configured")
      ->check(CLI::IsMember({"murmur2", "crc32"}))
      ->capture_default_str();
  app.add_flag("--transactional", arguments.transactional, "each result exactly once, instead of at least once");
  app.add_option("--instance-id", arguments.instance_id,
                 "with --transactional: name of this process, unique in its group, the same after a restart")
      ->capture_default_str();
  app.add_option(
         "--commit", arguments.commit,
         "when the offset of a record is committed. work: when it is answered; receipt: before it is worked on, "
         "so that only its lease gives it back: needs dispatch.mode = \"journal\", and not --transactional")
      ->check(CLI::IsMember({"receipt", "work"}))
      ->capture_default_str();
  app.add_option("--in-flight", arguments.in_flight_max, "records that may wait for an answer")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  kafka::declare_properties(app, arguments.connection);
}

void declare(CLI::App& app, Arguments& arguments) {
  declare_kafka(app, arguments);
  app.add_option(
         "--targets", arguments.command.targets,
         "targets that the command answers for, comma separated; work for others is passed over. Default: those "
         "that each record of work names; needed when the records name none")
      ->delimiter(',');
  app.add_option("--workers", arguments.command.copies, "copies of the command that run side by side")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--answer-within-s", arguments.answer_within_s,
                 "a command that has not answered anything for so many seconds is ended, and others get what it was "
                 "given when the leases are over; 0: it may take for ever, its leases go on")
      ->check(CLI::Range(0, 86'400))
      ->capture_default_str();
  app.add_option("--payload", arguments.payload,
                 "auto: JSON objects and arrays as they are, other UTF-8 as text, the rest as payload_base64; text: no "
                 "JSON; base64: always payload_base64")
      ->check(CLI::IsMember({"auto", "text", "base64"}))
      ->capture_default_str();
  app.add_option(
         "--on-error", arguments.on_error,
         "what to do at an answer that cannot be used. stop: end; skip: report it and go on; fail: send the "
         "failure of its document, so that it is tried again: needs failures.mode = \"retry\". fail also goes "
         "on when a command ends or does not answer in time, and gives it one document at a time. That nothing was "
         "done, which a potent target needs to be tried again, only a line says (\"effect\": \"none\")")
      ->check(CLI::IsMember({"fail", "skip", "stop"}))
      ->capture_default_str();
  app.add_option("command", arguments.command.command, "behind --: the command and its arguments")->required();
  app.footer("One line of JSON per record goes to the command, and its lines are the results: docs/shell-pipelines.md");
}

std::string or_default(const std::string& given, const std::string& otherwise) {
  return given.empty() ? otherwise : given;
}

command::OnError on_error_of(const std::string& word) {
  if (word == "fail") return command::OnError::kFail;
  return word == "skip" ? command::OnError::kSkip : command::OnError::kStop;
}

void say(const std::string& line) {
  std::fprintf(stderr, "reseq-stage: %s\n", log::one_line(line).c_str());
}

int fail(int exit_code, const Error& error) {
  say(error.message);
  return exit_code;
}

int run(const Arguments& arguments) {
  const std::string& application = arguments.application_id;
  const auto connection = kafka::connection_of(arguments.connection, "reseq-stage");
  if (!connection) return fail(EX_CONFIG, connection.error());
  const auto commit = arguments.commit == "receipt" ? stage::CommitWhen::kOnReceipt : stage::CommitWhen::kAfterWork;
  auto stage =
      stage::open_kafka_stage({.connection = connection.value(),
                               .group = or_default(arguments.group, application + ".stage"),
                               .work_topic = or_default(arguments.work_topic, application + ".work"),
                               .commands_topic = or_default(arguments.commands_topic, application + ".commands"),
                               .partitioner = arguments.partitioner,
                               .limits = {.in_flight_max = arguments.in_flight_max,
                                          .commit_interval = std::chrono::milliseconds(100),
                                          .commit = commit},
                               .transactional_instance = arguments.transactional ? arguments.instance_id : ""});
  if (!stage) return fail(exit_code_of(stage.error()), stage.error());
  command::CommandStage commands(*stage.value(), arguments.command, say);
  const Result<> ran = commands.run(stop);
  const command::CommandCounts& counts = commands.counts();
  if (counts.unanswered > 0)
    say(std::to_string(counts.unanswered) + " records were not answered; they come again at the next start");
  if (counts.failed > 0) say(std::to_string(counts.failed) + " times a document has failed");
  if (counts.given_up > 0) say(std::to_string(counts.given_up) + " records were given up; their leases give them back");
  const int exit_code = counts.bad_lines > 0 ? EX_DATAERR : EX_SOFTWARE;
  if (!ran) return fail(exit_code, ran.error());
  return counts.bad_lines > 0 ? EX_DATAERR : EX_OK;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Makes a stage of a pipeline out of a command that reads and writes lines of JSON", "reseq-stage");
  declare(app, arguments);
  if (const auto code = parse(app, argc, argv)) return *code;
  arguments.command.payload_form = lines::payload_form_of(arguments.payload);
  arguments.command.on_error = on_error_of(arguments.on_error);
  arguments.command.answer_within = std::chrono::seconds(arguments.answer_within_s);
  std::signal(SIGTERM, on_signal);
  std::signal(SIGINT, on_signal);
  std::signal(SIGPIPE, SIG_IGN);  // a command that has ended is seen at the write
  return run(arguments);
}
