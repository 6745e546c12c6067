#include "demo/run/launches.h"

#include <cstdio>
#include <utility>

#include "demo/run/connection.h"
#include "demo/run/instance_config.h"
#include "kafka/admin.h"

namespace reseq::demo {
namespace {

constexpr Milliseconds kDeleteLimit{30'000};
// Requests sent and not decided: at most this part of a second's.
constexpr std::uint64_t kLagShare = 8;

std::string sink_name(const std::string& target, bool checked) {
  return (checked ? "" : "unchecked-") + target;
}

std::string input_of(const Settings& settings, const std::string& target, bool checked) {
  return checked ? settings.output_topic(target) : settings.topic("commands");
}

std::vector<std::string> server_sink_arguments(const Settings& settings, bool checked) {
  return {"--bootstrap-servers",
          settings.bootstrap_servers,
          "--topic",
          input_of(settings, Settings::kSearch, checked),
          "--versions",
          checked ? "on" : "off",
          "--target",
          Settings::kSearch,
          "--dead-letters",
          "skip",
          "--progress-file",
          settings.in_work(sink_name(Settings::kSearch, checked) + ".progress")};
}

Launch opensearch_sink(const Settings& settings, const std::string& name, bool checked) {
  std::vector<std::string> arguments = server_sink_arguments(settings, checked);
  arguments.insert(arguments.end(), {"--url", settings.search_url, "--payload", "text", "--index",
                                     checked ? settings.checked_index() : settings.unchecked_index()});
  return launch(settings, name, "reseq-sink-opensearch", std::move(arguments));
}

// Paths and files are any bytes.
Launch postgres_sink(const Settings& settings, const std::string& name, bool checked) {
  std::vector<std::string> arguments = server_sink_arguments(settings, checked);
  arguments.insert(arguments.end(), {"--server", settings.search_url, "--id", "bytea", "--payload", "bytea", "--table",
                                     settings.table(checked)});
  return launch(settings, name, "reseq-sink-postgres", std::move(arguments));
}

}  // namespace

Launch launch(const Settings& settings, const std::string& name, const std::string& program,
              std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), settings.program(program));
  return {.name = name, .arguments = std::move(arguments), .log_file = settings.in_work(name + ".log")};
}

Result<std::vector<Launch>> resequencer_launches(const Settings& settings) {
  std::vector<Launch> all;
  for (std::uint64_t i = 1; i <= settings.processes; ++i) {
    const std::string id = std::to_string(i);
    Result<std::string> config = write_instance_config(settings, id);
    if (!config) return config.error();
    all.push_back(launch(settings, "resequencer-" + id, "resequencer", {"run", "--config", config.value()}));
  }
  return all;
}

Launch sink_launch(const Settings& settings, const std::string& target, bool checked) {
  const bool search = target == Settings::kSearch;
  const std::string name = sink_name(target, checked);
  if (search && settings.opensearch()) return opensearch_sink(settings, name, checked);
  if (search && settings.postgres()) return postgres_sink(settings, name, checked);
  const std::string database = checked ? settings.checked_database() : settings.unchecked_database();
  const std::string directory = checked ? settings.checked_directory() : settings.unchecked_directory();
  return launch(settings, name, search ? "reseq-sink-sqlite" : "reseq-sink-files",
                {"--bootstrap-servers", settings.bootstrap_servers, "--topic", input_of(settings, target, checked),
                 search ? "--database" : "--directory", search ? database : directory, "--check",
                 checked ? "on" : "off", "--target", target, "--progress-file", settings.in_work(name + ".progress")});
}

Result<std::unique_ptr<SinkView>> view_of_sink(const Settings& settings, const std::string& target, bool checked) {
  if (target != Settings::kSearch)
    return view_directory(checked ? settings.checked_directory() : settings.unchecked_directory());
  if (settings.opensearch())
    return view_index(settings.search_url, checked ? settings.checked_index() : settings.unchecked_index());
  if (settings.postgres()) return view_table(settings.search_url, settings.table(checked));
  return view_database(checked ? settings.checked_database() : settings.unchecked_database());
}

std::vector<std::string> pace_of_source(const Settings& settings) {
  return {"--rate",         std::to_string(settings.requests_per_second),
          "--follow-group", settings.application_id,
          "--lag-max",      std::to_string(settings.requests_per_second / kLagShare)};
}

Launch source_launch(const Settings& settings, const std::string& name, const std::vector<std::string>& options,
                     const std::string& revision, const std::vector<std::string>& git_options) {
  std::vector<std::string> arguments = {
      "--bootstrap-servers", settings.bootstrap_servers,           "--topic", settings.topic("requests"),
      "--progress-file",     settings.in_work(name + ".progress"), "--quiet"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.insert(arguments.end(), {"git", "--repo", settings.repository, "--revision", revision});
  arguments.insert(arguments.end(), git_options.begin(), git_options.end());
  return launch(settings, name, "reseq-produce", std::move(arguments));
}

void delete_topics(const Settings& settings) {
  auto admin = kafka::Admin::open(connection_of(settings));
  if (!admin) return;
  std::vector<std::string> topics;
  for (const char* role : {"requests", "commands", "control", "work", "dead-letter", "events", "changelog"})
    topics.push_back(settings.topic(role));
  for (const std::string& target : settings.targets()) topics.push_back(settings.output_topic(target));
  if (Result<> deleted = admin.value()->delete_topics(topics, kDeleteLimit); !deleted)
    std::fprintf(stderr, "reseq-demo: topics of %s are left: %s\n", settings.application_id.c_str(),
                 deleted.error().message.c_str());
}

}  // namespace reseq::demo
