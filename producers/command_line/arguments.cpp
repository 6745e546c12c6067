#include "producers/command_line/arguments.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <string_view>
#include <sysexits.h>

#include "codec/sequence_text.h"
#include "codec/timestamp_text.h"
#include "kafka/connection_arguments.h"

namespace reseq::command_line {
namespace {

// CLI11 sees text only; what it cannot check is converted here, and a failure is CLI11's own usage error.
struct Texts {
  std::string sequence_kind = "u64";
  std::string payload_bytes = "100-300";
  kafka::ConnectionArguments connection;
  std::string on_error = "stop";
  std::string progress_file;
  std::string state_file;
  std::string oracle;
  std::uint32_t epoch = 0;
  std::uint32_t priority = 0;
  std::uint64_t checkpoint_ms = 2000;
};

// What is wrong with it.
std::string is_date(const std::string& text) {
  if (codec::parse_date_ms(text)) return {};
  return "not milliseconds since 1970 and not RFC 3339 with a zone, until 2262: " + text.substr(0, 100);
}

void add_common(CLI::App& app, Arguments& arguments, Texts& texts) {
  app.add_option("--bootstrap-servers", arguments.bootstrap_servers, "host:port of brokers, comma separated")
      ->envname("RESEQ_BOOTSTRAP_SERVERS");
  app.add_option("--topic", arguments.topic, "topic of the requests");
  app.add_option("--partitioner", arguments.partitioner, "murmur2 or crc32, as the application is configured")
      ->check(CLI::IsMember({"murmur2", "crc32"}))
      ->capture_default_str();
  kafka::declare_properties(app, texts.connection);
  app.add_option("--rate", arguments.records_per_second, "records per second, 0 = as fast as possible")
      ->capture_default_str();
  app.add_option("--follow-group", arguments.follow_group,
                 "wait while this consumer group is more than --lag-max records behind");
  app.add_option("--lag-max", arguments.lag_max, "records of the topic that --follow-group may not have committed yet")
      ->capture_default_str();
  app.add_option("--progress-file", texts.progress_file,
                 "JSON lines about once per second: sent, skipped, total, done");
  app.add_option("--state", texts.state_file,
                 "file that keeps how far the stream is acknowledged, to go on from there");
  app.add_option("--checkpoint-interval-ms", texts.checkpoint_ms, "time between two writes of the state file")
      ->check(CLI::Range(10, 3600000))
      ->capture_default_str();
  app.add_option("--sequence-kind", texts.sequence_kind,
                 "u64, timestamp, lsn or text, as the application is configured")
      ->check(CLI::IsMember({"u64", "timestamp", "lsn", "text"}))
      ->capture_default_str();
  app.add_option("--targets", arguments.targets, "targets of every request, comma separated; none: routes decide")
      ->delimiter(',');
  app.add_option("--epoch", texts.epoch, "epoch of every request; none: the partition's default");
  const CLI::Validator date(is_date, "DATE");
  app.add_option(
         "--priority", texts.priority,
         "of every request, 0 to 255, the smallest goes first; none: the application's default; as the next two "
         "only where dispatch.mode = journal")
      ->check(CLI::Range(0, 255));
  app.add_option("--process-at", arguments.turn.process_at,
                 "no request goes to work before that: milliseconds since 1970 or RFC 3339; none: at once")
      ->check(date);
  app.add_option("--expires-at", arguments.turn.expires_at,
                 "nobody wants a request any more from then on, the same; deletes do not expire; none: never")
      ->check(date);
  app.add_flag("--dry-run", arguments.dry_run, "read and check everything, send nothing");
  app.add_flag("--quiet", arguments.quiet, "no progress bar");
}

CLI::App* add_git(CLI::App& app, GitArguments& git) {
  CLI::App* command = app.add_subcommand("git", "the first-parent history of a git repository");
  command->add_option("--repo", git.repository, "the repository: a work tree or bare")->capture_default_str();
  command->add_option("--revision", git.revision, "the last commit that is sent")->capture_default_str();
  command->add_option("--after", git.after, "a commit of that history: it and what lies before it is not sent");
  command->add_option("--max-blob-bytes", git.blob_bytes_max, "larger blobs are reported and not sent")
      ->capture_default_str();
  return command;
}

CLI::App* add_ndjson(CLI::App& app, NdjsonArguments& ndjson, Texts& texts) {
  CLI::App* command = app.add_subcommand(
      "ndjson", "lines of JSON: id, seq, op, payload, targets, epoch, priority, process_at, expires_at");
  command->add_option("file", ndjson.path, "the file, - = standard input")->capture_default_str();
  command->add_option("--on-error", texts.on_error, "what to do at a bad line: skip or stop")
      ->check(CLI::IsMember({"skip", "stop"}))
      ->capture_default_str();
  return command;
}

CLI::App* add_load(CLI::App& app, load::LoadOptions& load, Texts& texts) {
  CLI::App* command = app.add_subcommand("load", "a made-up stream, the same for the same options");
  const auto percent = CLI::Range(0, 100);
  command->add_option("--documents", load.documents, "how many documents")->capture_default_str();
  command->add_option("--updates", load.updates, "updates per document, on average, behind the first request")
      ->capture_default_str();
  command->add_option("--deletes", load.delete_percent, "percent of the updates that delete")
      ->check(percent)
      ->capture_default_str();
  command->add_option("--hot", load.hot_percent, "percent of the updates that go to one document in a hundred")
      ->check(percent)
      ->capture_default_str();
  command->add_option("--duplicates", load.duplicate_percent, "percent of the requests that are repeated later")
      ->check(percent)
      ->capture_default_str();
  command->add_option("--payload-bytes", texts.payload_bytes, "MIN-MAX")->capture_default_str();
  command->add_option("--seed", load.seed, "same seed, same stream")->capture_default_str();
  command->add_option("--id-prefix", load.id_prefix, "of every document id")->capture_default_str();
  command->add_option("--oracle", texts.oracle, "file for the final state of every document, as JSON lines");
  return command;
}

void read_properties(Arguments& arguments, const Texts& texts) {
  auto properties = kafka::read_properties(texts.connection);
  if (!properties) throw CLI::ValidationError(properties.error().message);
  for (auto& [name, value] : properties.value()) arguments.properties[name] = value;
  // A file of properties that other clients read names the brokers too.
  auto brokers = arguments.properties.extract("bootstrap.servers");
  if (!brokers.empty() && arguments.bootstrap_servers.empty()) arguments.bootstrap_servers = brokers.mapped();
}

void read_payload_bytes(load::LoadOptions& load, std::string_view text) {
  const char* end = text.data() + text.size();
  auto parsed = std::from_chars(text.data(), end, load.payload_bytes_min);
  load.payload_bytes_max = load.payload_bytes_min;
  if (parsed.ec == std::errc() && parsed.ptr != end && *parsed.ptr == '-')
    parsed = std::from_chars(parsed.ptr + 1, end, load.payload_bytes_max);
  if (parsed.ec != std::errc() || parsed.ptr != end) throw CLI::ValidationError("--payload-bytes", "not MIN-MAX");
}

std::optional<std::filesystem::path> path_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return text;
}

void check_destination(const Arguments& arguments) {
  if (arguments.dry_run) return;
  if (arguments.bootstrap_servers.empty()) throw CLI::RequiredError("--bootstrap-servers");
  if (arguments.topic.empty()) throw CLI::RequiredError("--topic");
}

}  // namespace

std::variant<Arguments, int> parse_arguments(int count, const char* const* words) {
  Arguments arguments;
  Texts texts;
  GitArguments git;
  NdjsonArguments ndjson;
  LoadArguments load;
  CLI::App app("Sends requests, tagged with document id and sequence, to the resequencer", "reseq-produce");
  app.require_subcommand(1);
  app.fallthrough();
  add_common(app, arguments, texts);
  const CLI::App* git_command = add_git(app, git);
  const CLI::App* ndjson_command = add_ndjson(app, ndjson, texts);
  add_load(app, load.options, texts);
  try {
    app.parse(count, words);
    read_properties(arguments, texts);
    read_payload_bytes(load.options, texts.payload_bytes);
    check_destination(arguments);
  } catch (const CLI::Success& wanted) {
    return app.exit(wanted);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "reseq-produce: %s (--help shows the options)\n", error.what());
    return EX_USAGE;
  }
  arguments.sequence_kind = codec::parse_sequence_kind(texts.sequence_kind).value_or(SequenceKind::kU64);
  arguments.checkpoint_interval = std::chrono::milliseconds(texts.checkpoint_ms);
  arguments.progress_file = path_of(texts.progress_file);
  arguments.state_file = path_of(texts.state_file);
  if (app.get_option("--epoch")->count() > 0) arguments.epoch = Epoch(texts.epoch);
  if (app.get_option("--priority")->count() > 0) arguments.turn.priority = static_cast<std::uint8_t>(texts.priority);
  ndjson.on_error = texts.on_error == "skip" ? sending::OnUnusable::kSkip : sending::OnUnusable::kStop;
  load.oracle = path_of(texts.oracle);
  load.options.sequence_kind = arguments.sequence_kind;
  load.options.targets = arguments.targets;
  load.options.epoch = arguments.epoch;
  if (git_command->parsed()) {
    arguments.source = git;
  } else if (ndjson_command->parsed()) {
    arguments.source = ndjson;
  } else {
    arguments.source = load;
  }
  return arguments;
}

}  // namespace reseq::command_line
