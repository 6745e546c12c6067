// The whole life of a process with several workers, inside of this one, so that sanitizers see its threads.
#include "runtime/process/service.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <thread>

#include "cli/init.h"
#include "config/settings.h"
#include "kafka/group_consumer.h"
#include "kafka/plain_producer.h"
#include "tests/component/rig.h"
#include "tests/support/broker.h"
#include "tests/support/process.h"

namespace reseq::runtime {
namespace {

using test::good;

constexpr int kDocuments = 200;
constexpr std::int64_t kPartitions = 4;

class Service : public testing::Test {
 protected:
  Service() {
    settings_.application_id = test::unique_name("service");
    settings_.bootstrap_servers = test::Broker::shared().bootstrap_servers();
    settings_.state_dir = folder_.path() + "/state";
    settings_.workers = 2;
    settings_.init_partitions = kPartitions;
    settings_.checkpoint_rows_max = 10;
    settings_.sync_interval_ms = 100;
    settings_.session_timeout_ms = 6'000;
    settings_.http_listen = "127.0.0.1:0";
    settings_.targets = {{.name = "search"}};
    connection_.bootstrap_servers = settings_.bootstrap_servers;
    connection_.client_id = "test";
  }

  [[nodiscard]] std::string topic(const std::string& role) const { return settings_.application_id + "." + role; }

  // One request and its result for every document.
  void send(int sequence) {
    const auto producer = good(kafka::PlainProducer::open(connection_));
    const std::string number = std::to_string(sequence);
    const std::vector<Header> request = {{"reseq-seq", number}};
    const std::vector<Header> result = {
        {"reseq-command", "sequence"}, {"reseq-seq", number}, {"reseq-target", "search"}};
    for (int i = 0; i < kDocuments; ++i)
      good(producer->send(topic("requests"), "doc-" + std::to_string(i), number, request));
    for (int i = 0; i < kDocuments; ++i)
      good(producer->send(topic("commands"), "doc-" + std::to_string(i), number, result));
    good(producer->flush(kafka::kLong));
  }

  // Releases of `sequence`, per document.
  std::map<std::string, int> released(int sequence, std::size_t documents) {
    auto consumer = good(kafka::GroupConsumer::join(
        connection_, {.group_id = test::unique_name("reader"), .topics = {topic("output.search")}}));
    std::map<std::string, int> seen;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (seen.size() < documents && std::chrono::steady_clock::now() < until) {
      const auto record = good(consumer->poll(kafka::kShort));
      if (record && record->payload == std::to_string(sequence)) ++seen[std::string(record->key.value_or(""))];
    }
    return seen;
  }

  // Runs the service while `during` runs, then stops it as an operator does.
  template <typename During>
  void run_while(const During& during) {
    Result<> ended = Done{};
    std::thread service([&] { ended = run(settings_); });
    during();
    std::raise(SIGTERM);
    service.join();
    EXPECT_TRUE(ended.ok()) << ended.error().message;
  }

  // The folder of a partition whose state was closed clean.
  [[nodiscard]] std::size_t clean_states() const {
    std::size_t clean = 0;
    const std::string root = settings_.state_dir + "/" + settings_.application_id + "/" + settings_.instance_id;
    for (std::int64_t p = 0; p < kPartitions; ++p)
      clean += std::filesystem::exists(root + "/" + std::to_string(p) + "/clean") ? 1U : 0U;
    return clean;
  }

  test::TempDir folder_;
  config::Settings settings_;
  kafka::Connection connection_;
};

TEST_F(Service, OfTwoWorkersReleasesEveryResultOnceAndLeavesItsStatesClean) {
  good(cli::init(settings_, cli::Write::kReally));
  run_while([&] {
    send(1);
    const auto seen = released(1, kDocuments);
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(kDocuments));
    for (const auto& [id, times] : seen) EXPECT_EQ(times, 1) << id;
    EXPECT_EQ(clean_states(), 0U) << "marked clean while it writes";
  });
  EXPECT_EQ(clean_states(), static_cast<std::size_t>(kPartitions));

  settings_.workers = 1;  // all partitions move to the first worker
  run_while([&] {
    send(2);
    EXPECT_EQ(released(2, kDocuments).size(), static_cast<std::size_t>(kDocuments));
    EXPECT_EQ(released(1, kDocuments).size(), static_cast<std::size_t>(kDocuments));
  });
  EXPECT_EQ(clean_states(), static_cast<std::size_t>(kPartitions));
}

}  // namespace
}  // namespace reseq::runtime
