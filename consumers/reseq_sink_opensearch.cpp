// reseq-sink-opensearch: keeps an index of OpenSearch up to date from `output.<target>`.
#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/usage.h"
#include "consumers/opensearch/arguments.h"
#include "consumers/opensearch/opensearch_store.h"
#include "consumers/remote/forgetting.h"
#include "consumers/remote/program.h"
#include "kafka/admin.h"

namespace {

using namespace reseq;  // NOLINT(google-build-using-namespace): the words of this program

Result<remote::OpenRemoteStore> make_open(const kafka::Connection& connection, const remote::Arguments& arguments,
                                          const opensearch::Arguments& own) {
  auto settings =
      opensearch::settings_of(own, arguments.versions == "off" ? sink::Check::kOff : sink::Check::kVersions);
  if (!settings) return settings.error();
  if (settings.value().tombstone_retention) {
    auto retention = remote::ask_retention(connection, arguments.topic, "--tombstone-retention");
    if (!retention) return retention.error();
    settings.value().output_retention = retention.value();
  }
  return remote::OpenRemoteStore([settings = settings.value()]() -> Result<std::unique_ptr<remote::RemoteStore>> {
    auto store = opensearch::OpenSearchStore::open(settings);
    if (!store) return store.error();
    return std::unique_ptr<remote::RemoteStore>(std::move(store).value());
  });
}

}  // namespace

int main(int argc, char** argv) {
  remote::Arguments arguments;
  opensearch::Arguments own;
  CLI::App app("Writes the documents of a target into an index of OpenSearch", "reseq-sink-opensearch");
  remote::declare(app, arguments);
  opensearch::declare(app, own);
  if (const auto code = parse(app, argc, argv)) return *code;
  return remote::run(app.get_name(), arguments,
                     [&](const kafka::Connection& connection) { return make_open(connection, arguments, own); });
}
