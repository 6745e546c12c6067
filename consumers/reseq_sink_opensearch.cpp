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
#include "consumers/remote/program.h"
#include "kafka/admin.h"

namespace {

using namespace reseq;  // NOLINT(google-build-using-namespace): the words of this program

constexpr Milliseconds kAskLimit{10'000};
constexpr std::chrono::milliseconds kAskAgain{500};
constexpr int kTries = 3;

// How long the topic keeps records, asked only where deletes are to be forgotten.
Result<std::optional<Milliseconds>> ask_retention(const kafka::Connection& connection, const std::string& topic) {
  auto admin = kafka::Admin::open(connection);
  if (!admin) return admin.error();
  Error why;
  for (int tries = 0; tries < kTries; ++tries) {
    auto facts = admin.value()->topic_facts(topic, kAskLimit);
    if (facts) return opensearch::retention_of(facts.value());
    why = facts.error();
    if (why.what_to_do == ErrorClass::kInvalid || why.what_to_do == ErrorClass::kFatal) break;
    std::this_thread::sleep_for(kAskAgain);
  }
  why.message =
      "how long " + topic + " keeps records, which --tombstone-retention has to be longer than: " + why.message;
  return why;
}

Result<remote::OpenRemoteStore> make_open(const kafka::Connection& connection, const remote::Arguments& arguments,
                                          const opensearch::Arguments& own) {
  auto settings =
      opensearch::settings_of(own, arguments.versions == "off" ? sink::Check::kOff : sink::Check::kVersions);
  if (!settings) return settings.error();
  if (settings.value().tombstone_retention) {
    auto retention = ask_retention(connection, arguments.topic);
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
