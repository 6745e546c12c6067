// reseq-sink-postgres: keeps a table of PostgreSQL up to date from `output.<target>`, each document exactly once.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <sysexits.h>
#include <utility>

#include "base/secrets.h"
#include "base/usage.h"
#include "consumers/postgres/postgres_store.h"
#include "consumers/remote/forgetting.h"
#include "consumers/remote/program.h"

namespace {

using namespace reseq;  // NOLINT(google-build-using-namespace): the words of this program

struct Options {
  postgres::StoreSettings settings;
  std::string password_file;
  std::string delivery = "exactly_once";
  std::string create = "on";
  std::string id = "text";
  std::string payload = "jsonb";
  std::vector<std::string> columns;
  bool print_schema = false;
};

void declare_own(CLI::App& app, Options& options) {
  app.add_option("--server", options.settings.server.server,
                 "as libpq reads it: postgresql://user@host:port/database, or host=... words; no password. "
                 "Default: PGHOST, PGPORT, PGDATABASE, PGUSER");
  app.add_option("--password-file", options.password_file, "its first line; or PGPASSWORD, PGPASSFILE");
  app.add_option("--table", options.settings.layout.table, "perhaps schema.table")->capture_default_str();
  app.add_option("--create", options.create, "on: tables and the view are made when they are missing")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  app.add_flag("--print-schema", options.print_schema, "only print the statements that make them");
  app.add_option("--delivery", options.delivery,
                 "exactly_once: the table keeps the positions; at_least_once: the consumer group does")
      ->check(CLI::IsMember({"exactly_once", "at_least_once"}))
      ->capture_default_str();
  app.add_option("--id", options.id, "type of the column id; text takes only ids that are UTF-8")
      ->check(CLI::IsMember({"text", "bytea"}))
      ->capture_default_str();
  app.add_option("--payload", options.payload, "type of the column payload; none: only --column")
      ->check(CLI::IsMember({"jsonb", "text", "bytea", "none"}))
      ->capture_default_str();
  app.add_option("--column", options.columns,
                 "NAME=POINTER, may be repeated: a column from a place in a JSON payload, as in title=/title");
  app.add_option("--forget-deletes-after-days", options.settings.forget_deletes_days,
                 "0: deletes are remembered for ever. Longer than anybody may replay the topic")
      ->check(CLI::Range(0, 36'500))
      ->capture_default_str();
}

Result<> read(Options& options, const remote::Arguments& arguments) {
  static const std::map<std::string, postgres::PayloadAs> payloads = {{"jsonb", postgres::PayloadAs::kJsonb},
                                                                      {"text", postgres::PayloadAs::kText},
                                                                      {"bytea", postgres::PayloadAs::kBytea},
                                                                      {"none", postgres::PayloadAs::kNone}};
  postgres::StoreSettings& settings = options.settings;
  if (Result<> good = postgres::check_server(settings.server.server); !good) return good;
  if (!options.password_file.empty()) {
    auto password = read_secret_file(options.password_file);
    if (!password) return password.error();
    settings.server.password = std::move(password).value();
  }
  settings.topic = arguments.topic;
  settings.makes_tables = options.create == "on";
  settings.layout.id = options.id == "text" ? postgres::IdAs::kText : postgres::IdAs::kBytea;
  settings.layout.payload = payloads.at(options.payload);
  settings.layout.positions = options.delivery == "exactly_once";
  settings.layout.versions = arguments.versions == "on";
  for (const std::string& text : options.columns) {
    auto column = postgres::parse_column(text);
    if (!column) return column.error();
    settings.layout.columns.push_back(std::move(column).value());
  }
  if (settings.layout.payload == postgres::PayloadAs::kBytea && !settings.layout.columns.empty())
    return Error{ErrorClass::kInvalid, 0, "--column needs payloads that are text: not with --payload bytea"};
  return Done{};
}

// Kafka is asked only where deletes are to be forgotten.
Result<> check_forgetting(const kafka::Connection& connection, const postgres::StoreSettings& settings) {
  constexpr std::int64_t kDayMs = 86'400'000;
  if (settings.forget_deletes_days == 0) return Done{};
  const auto retention = remote::ask_retention(connection, settings.topic, "--forget-deletes-after-days");
  if (!retention) return retention.error();
  return remote::judge_forgetting(Milliseconds(settings.forget_deletes_days * kDayMs), retention.value(),
                                  "Let --forget-deletes-after-days be more, or 0");
}

}  // namespace

int main(int argc, char** argv) {
  remote::Arguments arguments;
  Options options;
  CLI::App app("Writes the documents of a target into a table of PostgreSQL", "reseq-sink-postgres");
  remote::declare(app, arguments);
  declare_own(app, options);
  if (const auto code = parse(app, argc, argv)) return *code;
  const auto make_open = [&](const kafka::Connection& connection) -> Result<remote::OpenRemoteStore> {
    if (Result<> good = read(options, arguments); !good) return good.error();
    if (Result<> good = check_forgetting(connection, options.settings); !good) return good.error();
    return remote::OpenRemoteStore([settings = options.settings]() -> Result<std::unique_ptr<remote::RemoteStore>> {
      return std::unique_ptr<remote::RemoteStore>(std::make_unique<postgres::PostgresStore>(settings));
    });
  };
  if (options.print_schema) {
    if (const auto good = read(options, arguments); !good) {
      std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), good.error().message.c_str());
      return EX_CONFIG;
    }
    const postgres::Layout& layout = options.settings.layout;
    std::printf("%s%s", postgres::make_statements(layout).c_str(),
                postgres::maps_errors(layout) ? "" : postgres::add_errors_statement(layout).c_str());
    return EX_OK;
  }
  return remote::run(app.get_name(), arguments, make_open);
}
