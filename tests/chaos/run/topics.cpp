#include "tests/chaos/run/topics.h"

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "kafka/admin.h"
#include "tests/support/good.h"
#include "tests/support/process.h"

namespace reseq::chaos {

namespace {

constexpr int kInitLimitMs = 120'000;
constexpr std::chrono::seconds kKnownLimit{180};
constexpr Milliseconds kQuestion{5'000};  // one that hangs must not take the time of all others
constexpr std::chrono::milliseconds kAskEvery{10};

// Of several brokers one may be late to hear of new topics, and a process that asks it would not start. A client that
// has just been opened asks the broker it was given. Nothing: it knows all of them; else what it said.
std::optional<std::string> missing_at(std::uint16_t port) {
  const auto admin = kafka::Admin::open(connection_to("127.0.0.1:" + std::to_string(port)));
  if (!admin) return admin.error().message;
  for (const char* role : {"requests", "control", "commands", "changelog", "work", "events", "dead-letter"}) {
    const auto known = admin.value()->partition_count(std::string("chaos.") + role, kQuestion);
    if (!known) return known.error().message;
  }
  return std::nullopt;
}

}  // namespace

kafka::Connection connection_to(const std::string& bootstrap_servers) {
  return {.bootstrap_servers = bootstrap_servers, .log = [](int, std::string_view, std::string_view) {}};
}

// The judge decides the whole past again, so the changelog must keep it.
void create_topics(const Site& site, const Cluster& cluster) {
  const SiteSettings& settings = site.settings();
  const auto admin = test::good(kafka::Admin::open(connection_to(settings.bootstrap_servers)));
  const bool replicated = settings.brokers > 1;
  kafka::TopicSpec changelog{.name = settings.application_id + ".changelog",
                             .partitions = settings.partitions,
                             .replication = settings.brokers,
                             .configs = {{"cleanup.policy", "compact"},
                                         {"delete.retention.ms", "604800000"},
                                         {"min.compaction.lag.ms", "31536000000"},
                                         {"min.insync.replicas", replicated ? "2" : "1"},
                                         {"unclean.leader.election.enable", "false"}}};
  test::good(admin->create_topics({&changelog, 1}, kAdminLimit));
  test::Process init({test::program("resequencer"), "init", "--config", site.config_file("r1")}, site.log_file("init"));
  if (init.wait(kInitLimitMs) != 0) throw std::runtime_error("init failed: " + init.tail());
  const auto until = std::chrono::steady_clock::now() + kKnownLimit;
  for (int broker = 1; broker <= settings.brokers; ++broker)
    while (const auto missing = missing_at(cluster.direct_port(broker))) {
      if (std::chrono::steady_clock::now() > until)
        throw std::runtime_error("broker " + std::to_string(broker) + " does not get to know the topics: " + *missing);
      std::this_thread::sleep_for(kAskEvery);
    }
}

}  // namespace reseq::chaos
