#include "tests/bench/contestant.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "kafka/admin.h"
#include "tests/bench/requests.h"
#include "tests/support/broker.h"
#include "tests/support/good.h"
#include "tests/support/process.h"

namespace reseq::bench {

namespace {

constexpr int kInitLimitMs = 60'000;
constexpr Milliseconds kDeleteLimit{30'000};
constexpr std::array kRoles = {"requests",      "commands",         "control",      "work",
                               "output.search", "output.catalogue", "dead-letter",  "events",
                               "changelog",     "admin.requests",   "admin.replies"};

std::vector<std::string> streams(const Application& application, const std::string& store) {
  return {application.site().streams,
          "--bootstrap-servers",
          application.site().bootstrap_servers,
          "--application",
          application.id(),
          "--mode",
          application.mode() == Mode::kLife ? "life" : "intake",
          "--store",
          store,
          "--state",
          application.folder() + "/streams",
          "--targets",
          std::string(kTargets)};
}

}  // namespace

kafka::Connection Site::connection() const {
  kafka::Connection connection;
  connection.bootstrap_servers = bootstrap_servers;
  connection.client_id = "bench";
  return connection;
}

Application::Application(const Site& site, const std::string& contestant, Mode mode, Layout layout)
    : site_(site), mode_(mode), layout_(std::move(layout)), id_(test::unique_name("bench-" + contestant)) {
  std::filesystem::create_directories(folder());
  configure(layout_.settings);
  // The same topics for every contestant.
  test::Process init({test::program("resequencer"), "init", "--config", configuration()}, folder() + "/init.log");
  if (init.wait(kInitLimitMs) != 0) throw std::runtime_error("init failed: " + init.tail());
}

Application::~Application() {
  std::vector<std::string> topics;
  for (const char* role : kRoles) topics.push_back(topic(role));
  // What stays only takes room, and is gone with the broker.
  if (auto admin = kafka::Admin::open(site_.connection())) (void)admin.value()->delete_topics(topics, kDeleteLimit);
  std::error_code ignored;
  std::filesystem::remove_all(folder(), ignored);
}

void Application::configure(const std::string& settings) {
  layout_.settings = settings;
  for (int instance = 1; instance <= layout_.instances; ++instance) write_configuration(instance);
}

// Everything that is not named here is a default. Several instances listen beside each other.
void Application::write_configuration(int instance) const {
  std::ofstream file(configuration(instance));
  file << "application.id = \"" << id_ << "\"\n"
       << "bootstrap.servers = \"" << site_.bootstrap_servers << "\"\n"
       << "instance.id = \"" << instance << "\"\n"
       << "state.dir = \"" << folder() << "/state\"\n"
       << "http.listen = \"127.0.0.1:0\"\n"
       << "init.partitions = " << layout_.partitions << "\n"
       << layout_.settings;
  const std::string order = layout_.order.empty() ? "" : "order = \"" + layout_.order + "\"\n";
  file << "[[target]]\nname = \"search\"\n" << (layout_.beside_newest ? "" : order);
  file << "[[target]]\nname = \"catalogue\"\n" << order;
}

std::vector<Contestant> contestants(const Site& site) {
  std::vector<Contestant> all = {
      {kCeiling, false,
       [](const Application& application, int) -> std::vector<std::string> {
         return {test::program("reseq-bench-ceiling"), "--bootstrap-servers", application.site().bootstrap_servers,
                 "--application", application.id()};
       }},
      {kResequencer, true, [](const Application& application, int instance) -> std::vector<std::string> {
         return {test::program("resequencer"), "run", "--config", application.configuration(instance)};
       }}};
  if (site.streams.empty()) return all;
  all.push_back({kStreams, true, [](const Application& application, int) { return streams(application, "rocksdb"); }});
  all.push_back(
      {kStreamsInMemory, true, [](const Application& application, int) { return streams(application, "memory"); }});
  return all;
}

Contestant resequencer(const Site& site) {
  for (Contestant& one : contestants(site))
    if (one.name == kResequencer) return one;
  return {};
}

}  // namespace reseq::bench
