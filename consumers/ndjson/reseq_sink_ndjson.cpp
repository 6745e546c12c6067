// reseq-sink-ndjson: prints `output.<target>`, or any other topic, as lines of JSON (docs/shell-pipelines.md).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <sysexits.h>
#include <unistd.h>
#include <vector>

#include "base/log.h"
#include "base/usage.h"
#include "consumers/ndjson/printer.h"
#include "kafka/admin.h"
#include "kafka/connection_arguments.h"
#include "kafka/group_consumer.h"

namespace {

using namespace reseq;  // NOLINT(google-build-using-namespace): the words of this program
using Clock = std::chrono::steady_clock;

constexpr Milliseconds kPoll{100};
constexpr Milliseconds kAskLimit{30'000};
constexpr std::chrono::milliseconds kCommitEvery{200};

volatile std::sig_atomic_t stop_requested = 0;
// The first signal ends the run in order, a second one at once.
void request_stop(int number) {
  stop_requested = 1;
  std::signal(number, SIG_DFL);
}

struct Arguments {
  kafka::ConnectionArguments connection;
  std::string topic;
  std::string group;
  bool until_end = false;
  std::string payload = "auto";
};

void declare(CLI::App& app, Arguments& arguments) {
  app.add_option("--bootstrap-servers", arguments.connection.bootstrap_servers, "host:port of brokers, comma separated")
      ->envname("RESEQ_BOOTSTRAP_SERVERS")
      ->required();
  app.add_option("--topic", arguments.topic, "<application.id>.output.<target>")->required();
  app.add_flag("--until-end", arguments.until_end,
               "stop at the end that the topic has now, instead of waiting for more");
  app.add_option("--group", arguments.group,
                 "consumer group that keeps what was printed, to go on from there. Default: print from the beginning");
  app.add_option("--payload", arguments.payload,
                 "auto: JSON objects and arrays as they are, other UTF-8 as text, the rest as payload_base64; text: no "
                 "JSON; base64: always payload_base64")
      ->check(CLI::IsMember({"auto", "text", "base64"}))
      ->capture_default_str();
  kafka::declare_properties(app, arguments.connection);
}

// What a rebalance may want to know; outlives the consumer.
struct Membership {
  sink_ndjson::Printer* printer = nullptr;
  kafka::GroupConsumer* consumer = nullptr;
  bool assigned = false;
};

// What was printed of them is written and committed while they are still ours.
void on_rebalance(Membership& membership, const kafka::Rebalance& change) {
  membership.assigned = change.kind == kafka::Rebalance::Kind::kAssigned;
  if (membership.assigned) return;
  if (change.kind == kafka::Rebalance::Kind::kRevoked && membership.consumer != nullptr &&
      membership.printer->flush()) {
    // What cannot be committed any more is printed again by its next owner.
    (void)membership.consumer->commit(membership.printer->take_written());
  }
  membership.printer->forget_positions();
}

Result<std::unique_ptr<kafka::GroupConsumer>> open_reader(const kafka::Connection& connection,
                                                          const Arguments& arguments, Membership& membership) {
  if (!arguments.group.empty()) {
    kafka::GroupConsumerSettings group;
    group.group_id = arguments.group;
    group.topics = {arguments.topic};
    return kafka::GroupConsumer::join(
        connection, group, [&membership](const kafka::Rebalance& change) { on_rebalance(membership, change); });
  }
  auto reader = kafka::GroupConsumer::open(connection);
  if (!reader) return reader;
  if (Result<> assigned = reader.value()->assign_all(arguments.topic, {}, kAskLimit); !assigned)
    return assigned.error();
  membership.assigned = true;
  return reader;
}

// Every partition that is read has come to its end. An empty one has no position: it is at its end from the start.
bool reached(const std::vector<kafka::PlainOffset>& positions, const std::vector<kafka::PlainOffset>& ends) {
  return std::all_of(positions.begin(), positions.end(), [&](const kafka::PlainOffset& position) {
    const auto end = std::find_if(ends.begin(), ends.end(),
                                  [&](const kafka::PlainOffset& one) { return one.partition == position.partition; });
    return end == ends.end() || end->offset == Offset(0) || position.offset >= end->offset;
  });
}

Result<> print_all(const Arguments& arguments, kafka::GroupConsumer& reader, sink_ndjson::Printer& printer,
                   const Membership& membership, const std::vector<kafka::PlainOffset>& ends) {
  Clock::time_point committed_at = Clock::now();
  while (stop_requested == 0) {
    auto polled = reader.poll(kPoll);
    if (!polled) return polled.error();
    if (polled.value()) {
      if (Result<> printed = printer.print(*polled.value()); !printed) return printed;
    } else {
      // Whoever reads the lines sees them as soon as there is a pause.
      if (Result<> flushed = printer.flush(); !flushed) return flushed;
      if (printer.reader_is_gone()) return Done{};
      if (arguments.until_end && membership.assigned && reached(reader.positions(), ends)) break;
    }
    if (arguments.group.empty() || Clock::now() - committed_at < kCommitEvery) continue;
    committed_at = Clock::now();
    // What is not committed is not lost: it may be printed again.
    (void)reader.commit(printer.take_written());
  }
  if (Result<> flushed = printer.flush(); !flushed) return flushed;
  return arguments.group.empty() ? Result<>(Done{}) : reader.commit(printer.take_written());
}

Result<> run(const Arguments& arguments) {
  std::vector<kafka::PlainOffset> ends;
  const auto connection = kafka::connection_of(arguments.connection, "reseq-sink-ndjson");
  if (!connection) return connection.error();
  auto admin = kafka::Admin::open(connection.value());
  if (!admin) return admin.error();
  auto asked = admin.value()->stable_ends(arguments.topic, kAskLimit);
  if (!asked) return asked.error();
  sink_ndjson::Printer printer(STDOUT_FILENO, lines::payload_form_of(arguments.payload));
  Membership membership{.printer = &printer};
  auto reader = open_reader(connection.value(), arguments, membership);
  if (!reader) return reader.error();
  membership.consumer = reader.value().get();
  Result<> printed = print_all(arguments, *reader.value(), printer, membership, asked.value());
  membership.consumer = nullptr;  // nothing is committed while it closes
  // Whoever read the lines has seen enough, as `head` does.
  return !printed && printer.reader_is_gone() ? Result<>(Done{}) : printed;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Prints the records of a topic as lines of JSON", "reseq-sink-ndjson");
  declare(app, arguments);
  if (const auto code = parse(app, argc, argv)) return *code;
  std::signal(SIGTERM, request_stop);
  std::signal(SIGINT, request_stop);
  std::signal(SIGPIPE, SIG_IGN);  // seen at the write
  const Result<> result = run(arguments);
  if (result) return EX_OK;
  std::fprintf(stderr, "reseq-sink-ndjson: %s\n", log::one_line(result.error().message).c_str());
  return exit_code_of(result.error());
}
