#include "cli/shadow.h"

#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "admin/json_text.h"
#include "base/log.h"
#include "base/secrets.h"
#include "cli/option_values.h"
#include "config/print.h"
#include "config/rules.h"
#include "config/values.h"
#include "kafka/connection_arguments.h"
#include "observe/observer.h"

namespace reseq::cli {

enum class ReportView : std::uint8_t { kText, kJson };

namespace {

// Where no configuration file says something else.
constexpr const char* kStateDir = "resequencer-observed";
constexpr const char* kApplication = "pipeline";
constexpr const char* kTarget = "output";

void print(const observe::Json& report, ReportView view) {
  const std::string text = view == ReportView::kJson ? admin::indented(report) : observe::report_text(report);
  std::fputs(text.c_str(), stdout);
}

Result<> observe_and_print(config::Settings settings, bool anew, ReportView view) {
  const auto report = observe::observe(std::move(settings), anew);
  if (!report) return report.error();
  print(report.value(), view);
  return Done{};
}

}  // namespace

struct Shadow::Options {
  std::string config_file;
  ReportView view = ReportView::kText;
  bool anew = false;
  // By key of the configuration; empty = not given.
  std::map<std::string, std::string> given;
  std::vector<std::string> targets;
  kafka::ConnectionArguments connection{.property_option = "--kafka"};
};

Shadow::Shadow(CLI::App& app) : options_(std::make_unique<Options>()) {
  observe_ = app.add_subcommand("observe", "look at a live pipeline, write nothing to Kafka, report at the end");
  report_ = app.add_subcommand("report", "what an observer has found so far, or found before it ended");
  const std::map<std::string, ReportView> views = {{"text", ReportView::kText}, {"json", ReportView::kJson}};
  for (CLI::App* command : {observe_, report_}) {
    command->add_option("--config", options_->config_file, "configuration file (TOML); none is needed");
    command->add_option("-o,--output", options_->view, "text or json")
        ->transform(one_of(views))
        ->option_text("text|json");
    command->add_option("--state-dir", options_->given["state.dir"],
                        std::string("folder for what is counted; default ./") + kStateDir);
    command->add_option("--application-id", options_->given["application.id"],
                        std::string("name of what is observed, one folder below; default ") + kApplication);
  }
  declare_places();
}

Shadow::~Shadow() = default;

void Shadow::declare_places() {
  const auto option = [&](const char* name, const char* key, const char* meaning) {
    observe_->add_option(name, options_->given[key], meaning);
  };
  option("--bootstrap-servers", "bootstrap.servers", "host:port of Kafka brokers, separated by commas");
  option("--input-topic", "observe.input_topic", "what the pipeline reads");
  option("--output-topic", "observe.output_topic", "what the pipeline writes");
  option("--id", "observe.id", "where a record has its document id: key (default) or header:NAME");
  option("--sequence", "observe.sequence", "where a record has its sequence: header:NAME (or key)");
  option("--output-id", "observe.output_id", "the same of the output, when it is elsewhere");
  option("--output-sequence", "observe.output_sequence", "the same of the output, when it is elsewhere");
  option("--target", "observe.target", "where a record of the output has its target: header:NAME");
  option("--sequence-kind", "sequence_kind", "u64 (default), timestamp, lsn or text");
  option("--from", "observe.from", "beginning, end (default), or how long ago, as 30m, 2h, 7d");
  option("--for", "observe.for", "ends after that time, as 10m; 0s: after what is there now; default: at Ctrl-C");
  option("--wrong-file", "observe.wrong_file",
         "file for the documents that are wrong now, a line of JSON for each; from the first start on");
  option("--http-listen", "http.listen", "host:port of /metrics; default: none without --config");
  observe_->add_option("--targets", options_->targets, "names of the targets, with --target")->delimiter(',');
  kafka::declare_properties(*observe_, options_->connection);
  observe_->add_flag("--anew", options_->anew, "forget what was counted before");
}

Result<config::Settings> Shadow::settings() const {
  const Options& o = *options_;
  auto loaded = o.config_file.empty() ? config::from_environment() : config::load(o.config_file);
  if (!loaded) return loaded.error();
  config::Settings settings = std::move(loaded).value();
  if (o.config_file.empty()) {
    settings.state_dir = kStateDir;
    settings.application_id = kApplication;
    settings.http_listen.clear();
  }
  for (const config::Key<config::Settings>& key : config::keys()) {
    const auto given = o.given.find(key.name);
    if (given == o.given.end() || given->second.empty()) continue;
    if (auto set = config::set_text(settings, key, given->second); !set) return set.error();
  }
  // Behind those of the configuration: of one name the last counts.
  const auto properties = kafka::read_properties(o.connection);
  if (!properties) return properties.error();
  settings.kafka.insert(settings.kafka.end(), properties.value().begin(), properties.value().end());
  if (!o.targets.empty()) settings.targets.clear();
  for (const std::string& name : o.targets) settings.targets.emplace_back().name = name;
  if (settings.targets.empty()) settings.targets.emplace_back().name = kTarget;
  config::name_topics(settings);
  return settings;
}

std::optional<Result<>> Shadow::run() {
  if (!observe_->parsed() && !report_->parsed()) return std::nullopt;
  auto settings = this->settings();
  if (!settings) return Result<>(settings.error());
  if (report_->parsed()) {
    const auto report = observe::read_report(settings.value());
    if (!report) return Result<>(report.error());
    print(report.value(), options_->view);
    return Result<>(Done{});
  }
  const bool bare = options_->config_file.empty();
  if (bare && settings.value().observe_sequence.empty())
    return Result<>(Error{ErrorClass::kInvalid, 0,
                          "--sequence is missing: where does a record have the number that rises with every change of "
                          "its document? As header:version"});
  if (auto good = config::check(settings.value()); !good) return Result<>(good.error());
  for (const auto& [name, value] : settings.value().kafka)
    if (is_secret(name)) log::hide_secret(value);
  log::open(settings.value().log_level, log::format_of(settings.value().log_format));
  return observe_and_print(std::move(settings).value(), options_->anew, options_->view);
}

Result<> Shadow::observe(config::Settings settings) {
  return observe_and_print(std::move(settings), false, ReportView::kText);
}

}  // namespace reseq::cli
