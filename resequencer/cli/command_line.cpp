#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <sysexits.h>
#include <utility>

#include "base/log.h"
#include "base/secrets.h"
#include "cli/ask.h"
#include "cli/check.h"
#include "cli/init.h"
#include "cli/operation_commands.h"
#include "cli/option_values.h"
#include "cli/page_operations.h"
#include "cli/privacy.h"
#include "cli/seek.h"
#include "cli/shadow.h"
#include "config/print.h"
#include "config/settings.h"
#include "runtime/process/service.h"

namespace reseq::cli {

namespace {

struct Options {
  std::string config_file;
  bool dry_run = false;
  bool skip_state = false;
  Format format = Format::kTable;
  SeekRequest seek;
  AskOptions ask;
  std::int64_t timeout_ms = admin::kTimeoutDefault.value();
  GivenId id;
  ListOptions list;
  WhyOptions why;
  std::int64_t older_than_ms = 0;
  bool watch = false;
  OperationArguments operations;
};

struct Subcommands {
  CLI::App* run = nullptr;
  CLI::App* check = nullptr;
  CLI::App* init = nullptr;
  CLI::App* seek = nullptr;
  CLI::App* print = nullptr;
  CLI::App* reference = nullptr;
  CLI::App* running = nullptr;
  CLI::App* describe = nullptr;
  CLI::App* why = nullptr;
  CLI::App* list = nullptr;
  CLI::App* stats = nullptr;
  CLI::App* topology = nullptr;
  OperationCommands operations;
};

int exit_code(const Error& error) {
  switch (error.what_to_do) {
    case ErrorClass::kInvalid:
    case ErrorClass::kFenced:  // two processes have one name
      return EX_CONFIG;
    case ErrorClass::kRetriable:
    case ErrorClass::kTimeout:
      return EX_UNAVAILABLE;
    default:
      return EX_SOFTWARE;
  }
}

int finish(const Result<>& result) {
  if (result) return EX_OK;
  // Empty: it was said already, among other things.
  if (!result.error().message.empty()) log::say_last("resequencer", result.error().message);
  return exit_code(result.error());
}

// Those that ask the instances that run.
void declare_asking(CLI::App& app, CLI::App& config, Options& options, Subcommands& all) {
  all.describe = app.add_subcommand("describe", "all that is known of a document");
  all.why = app.add_subcommand("why", "where a document stands, and what became of its inputs");
  all.why->footer("ROW is explained in docs/decision-tables.md, REASON in schemas/reasons.md.");
  all.list = app.add_subcommand("list", "documents, those that wait for results unless told otherwise");
  all.stats = app.add_subcommand("stats", "partitions: documents, rates, lag");
  all.topology = app.add_subcommand("topology", "instances and their partitions");
  all.running = config.add_subcommand("running", "what each running instance has in force; secrets are masked");
  const std::map<std::string, View> views = {{"table", View::kTable}, {"wide", View::kWide}, {"json", View::kJson}};
  for (CLI::App* command : {all.describe, all.why, all.list, all.stats, all.topology, all.running}) {
    command->add_option("-o,--output", options.ask.view, "table, wide or json")
        ->transform(one_of(views))
        ->option_text("table|wide|json");
    command->add_option("--timeout-ms", options.timeout_ms, "longest wait for answers")
        ->check(CLI::Range(std::int64_t{100}, admin::kTimeoutMax.value()));
  }
  for (CLI::App* command : {all.describe, all.why}) options.id.declare(*command);
  CLI::Option* last = all.why->add_option("--last", options.why.last, "so many events, the newest (20)")
                          ->check(whole_number(1, INT32_MAX));
  all.why->add_flag("--all", options.why.all, "all events, however long it takes to read them")->excludes(last);
  all.stats->add_flag("--watch", options.watch, "again every two seconds, until it is interrupted");
  const std::map<std::string, admin::State> states = {{"any", admin::State::kAny},
                                                      {"live", admin::State::kLive},
                                                      {"overdue", admin::State::kOverdue},
                                                      {"starving", admin::State::kStarving},
                                                      {"completed", admin::State::kCompleted},
                                                      {"waiting", admin::State::kWaiting},
                                                      {"processing", admin::State::kProcessing},
                                                      {"stuck", admin::State::kStuck},
                                                      {"retrying", admin::State::kRetrying},
                                                      {"failed", admin::State::kFailed},
                                                      {"held", admin::State::kHeld},
                                                      {"gap", admin::State::kGap}};
  all.list
      ->add_option(
          "--state", options.list.state,
          "live (default), overdue, starving, completed or any; of requests that wait for their turn: "
          "waiting, processing or stuck; of work that failed: retrying or failed; of strict and total targets: "
          "held (a result is there, and something before it is not) or gap (what that is)")
      ->transform(one_of(states))
      ->option_text("STATE");
  all.list->add_option("--target", options.list.target, "those that are in the state because of this target");
  const ErrorOptions error = ErrorOptions::declare(*all.list, options.list.error, "those that failed ");
  all.list->callback([&wanted = options.list, error] {
    if (wanted.target && (wanted.state == admin::State::kAny || wanted.state == admin::State::kCompleted))
      throw CLI::ValidationError("--target", "is not for --state any or completed");
    error.refuse_unless(admin::is_of_failures(wanted.state), "retrying or failed");
  });
  all.list->add_option("--prefix", options.list.id_prefix, "ids that begin with it");
  all.list->add_option("--max", options.list.documents_max, "documents at most")->check(CLI::PositiveNumber);
  all.list->add_option("--older-than", options.older_than_ms, "waits for at least so long, as 90s, 10m, 2h")
      ->transform(duration());
}

Subcommands declare(CLI::App& app, Options& options) {
  app.require_subcommand(1);
  app.set_version_flag("--version", "resequencer " RESEQ_VERSION);
  Subcommands all;
  all.run = app.add_subcommand("run", "run until SIGTERM or SIGINT");
  all.check = app.add_subcommand("check", "look at brokers, topics, disk and state, change nothing");
  all.init = app.add_subcommand("init", "create the topics that do not exist yet");
  all.seek = app.add_subcommand("seek", "let a stopped application go on from other input positions");
  CLI::App* config = app.add_subcommand("config", "the configuration");
  config->require_subcommand(1);
  all.print = config->add_subcommand("print", "every key with the value that is in force; secrets are masked");
  all.reference = config->add_subcommand("reference", "every key with its default and meaning, as Markdown");

  declare_asking(app, *config, options, all);
  all.operations = declare_operations(app, options.operations);
  for (CLI::App* command : all.operations.all())
    command->add_option("--config", options.config_file, "configuration file (TOML)")->required();
  for (CLI::App* command : {all.run, all.check, all.init, all.seek, all.print, all.describe, all.why, all.list,
                            all.stats, all.topology, all.running})
    command->add_option("--config", options.config_file, "configuration file (TOML)")->required();
  for (CLI::App* command : {all.init, all.seek})
    command->add_flag("--dry-run", options.dry_run, "say what would be done, do nothing");
  all.check->add_flag("--skip-state", options.skip_state,
                      "do not read the changelog, which takes a while if it is large");
  const std::map<std::string, Format> formats = {{"table", Format::kTable}, {"json", Format::kJson}};
  all.check->add_option("-o,--output", options.format, "table or json")
      ->transform(one_of(formats))
      ->option_text("table|json");
  const char* where = "standing (where the state stands), committed, begin, end, or an offset";
  all.seek->add_option("--partition", options.seek.partition, "of the inputs; default: all")
      ->check(whole_number(0, INT32_MAX));
  all.seek->add_option("--requests", options.seek.requests, where);
  all.seek->add_option("--commands", options.seek.commands, where);
  all.seek->add_option("--control", options.seek.control, where);
  return all;
}

// Nothing: it was none of those that ask.
std::optional<Result<>> ask(const Subcommands& all, Options options, const config::Settings& settings) {
  options.ask.timeout = Milliseconds(options.timeout_ms);
  options.list.older_than = Milliseconds(options.older_than_ms);
  const auto id = options.id.bytes();
  if (!id) return id.error();
  if (all.describe->parsed()) return describe(settings, id.value(), options.ask);
  if (all.why->parsed()) return why(settings, id.value(), options.why, options.ask);
  if (all.list->parsed()) return list(settings, options.list, options.ask);
  if (all.stats->parsed()) return stats(settings, options.watch, options.ask);
  if (all.topology->parsed()) return topology(settings, options.ask);
  if (all.running->parsed()) return running_config(settings, options.ask);
  return std::nullopt;
}

int run_subcommand(const Subcommands& all, const Options& options, const runtime::Internals& internals) {
  if (all.seek->parsed() && !options.seek.requests && !options.seek.control && !options.seek.commands) {
    std::fprintf(stderr,
                 "resequencer: seek needs --requests, --commands or --control (standing, committed, begin, end or an "
                 "offset)\n");
    return EX_USAGE;
  }
  if (all.reference->parsed()) {
    std::fputs(config::reference().c_str(), stdout);
    return EX_OK;
  }
  auto settings = config::load(options.config_file);
  if (!settings) return finish(settings.error());
  for (const auto& [name, value] : settings.value().kafka)
    if (is_secret(name)) log::hide_secret(value);
  if (all.print->parsed()) {
    std::fputs(config::print(settings.value()).c_str(), stdout);
    return EX_OK;
  }
  // What commands say is on stdout; librdkafka's warnings would only repeat what their last line says better.
  if (all.run->parsed())
    log::open(settings.value().log_level, log::format_of(settings.value().log_format));
  else
    log::open("critical");
  if (const auto asked = ask(all, options, settings.value())) return finish(*asked);
  if (const auto done = run_operation(all.operations, options.operations, settings.value())) return finish(*done);
  const Write write = options.dry_run ? Write::kDryRun : Write::kReally;
  if (all.run->parsed() && settings.value().mode == "observe")
    return finish(Shadow::observe(std::move(settings).value()));
  if (all.run->parsed()) {
    runtime::Internals with_page = internals;
    with_page.page_operations = page_operations();
    return finish(runtime::run(std::move(settings).value(), with_page));
  }
  if (all.init->parsed()) return finish(init(std::move(settings).value(), write));
  if (all.seek->parsed()) return finish(seek(std::move(settings).value(), options.seek, write));
  return finish(
      check(std::move(settings).value(), options.skip_state ? ReadState::kNo : ReadState::kYes, options.format));
}

}  // namespace

int run_command_line(int argc, char** argv, const runtime::Internals& internals) {
  CLI::App app("Keeps every document in order between Kafka topics while parallel workers scramble them.",
               "resequencer");
  keep_private();
  Options options;
  const Subcommands all = declare(app, options);
  Shadow shadow(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? EX_OK : EX_USAGE;
  }
  if (const auto done = shadow.run()) return finish(*done);
  return run_subcommand(all, options, internals);
}

}  // namespace reseq::cli
