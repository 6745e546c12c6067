// A record that the brokers refuse, among 32 partitions under load: the others of its worker go on, and it is parked.
#include <chrono>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <librdkafka/rdkafka.h>
#include <memory>
#include <random>
#include <thread>

#include "kafka/admin.h"
#include "kafka/plain_producer.h"
#include "tests/e2e/patience.h"
#include "tests/e2e/resequencer_run.h"
#include "tests/support/broker.h"
#include "tests/support/count_of.h"
#include "tests/support/good.h"

namespace reseq::test {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr std::int32_t kNeighboursAndIt = 32;
constexpr std::int32_t kPoisoned = 0;
constexpr std::size_t kRefusedBytes = 20'000;
constexpr const char* kTakenBytes = "5000";
constexpr milliseconds kOneToEach{80};  // 400 records a second
constexpr milliseconds kSettled{10'000};
constexpr milliseconds kWatched{5'000};
constexpr double kKeptUp = 0.5;  // all of it on an idle machine; a quarter where neighbours are held up
constexpr Milliseconds kPoisonAskLimit{30'000};

// Sets max.message.bytes of a topic that is in use; all else goes back to its default.
void lower_limit(const std::string& servers, const std::string& topic) {
  std::unique_ptr<rd_kafka_conf_t, decltype(&rd_kafka_conf_destroy)> conf(rd_kafka_conf_new(), rd_kafka_conf_destroy);
  rd_kafka_conf_set(conf.get(), "bootstrap.servers", servers.c_str(), nullptr, 0);
  const std::unique_ptr<rd_kafka_t, decltype(&rd_kafka_destroy)> client(
      rd_kafka_new(RD_KAFKA_PRODUCER, conf.release(), nullptr, 0), rd_kafka_destroy);
  ASSERT_TRUE(client);
  const std::unique_ptr<rd_kafka_queue_t, decltype(&rd_kafka_queue_destroy)> queue(rd_kafka_queue_new(client.get()),
                                                                                   rd_kafka_queue_destroy);
  rd_kafka_ConfigResource_t* resource = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str());
  rd_kafka_ConfigResource_set_config(resource, "max.message.bytes", kTakenBytes);
  rd_kafka_AlterConfigs(client.get(), &resource, 1, nullptr, queue.get());
  const std::unique_ptr<rd_kafka_event_t, decltype(&rd_kafka_event_destroy)> event(
      rd_kafka_queue_poll(queue.get(), 20'000), rd_kafka_event_destroy);
  ASSERT_TRUE(event);
  EXPECT_EQ(rd_kafka_event_error(event.get()), RD_KAFKA_RESP_ERR_NO_ERROR) << rd_kafka_event_error_string(event.get());
  rd_kafka_ConfigResource_destroy(resource);
}

std::string random_text(std::size_t size) {
  std::mt19937 random(1);
  std::string text(size, ' ');
  for (char& letter : text) letter = static_cast<char>('!' + random() % 90);
  return text;
}

class Poison : public testing::TestWithParam<int> {
 protected:
  // Sends to every partition but the poisoned one, for so long.
  void load(milliseconds duration) {
    for (const auto until = SteadyClock::now() + duration; SteadyClock::now() < until;) {
      const auto next = SteadyClock::now() + kOneToEach;
      for (std::int32_t p = 0; p < kNeighboursAndIt; ++p)
        if (p != kPoisoned) send(p, "document", "{}");
      ++sent_;
      std::this_thread::sleep_until(next);
    }
  }
  void send(std::int32_t partition, const std::string& key, const std::string& payload) {
    const std::string sequence = std::to_string(++sequence_);
    const Header header{"reseq-seq", sequence};
    good(producer_->send(run_.topic("requests"), key, payload, std::span(&header, 1), std::nullopt,
                         Partition(partition)));
  }
  [[nodiscard]] std::int64_t decided() {
    std::int64_t all = 0;
    const auto offsets = good(admin_->committed(run_.application_id(), run_.topic("requests"), kPoisonAskLimit));
    for (std::size_t p = 0; p < offsets.size(); ++p)
      if (p != kPoisoned) all += std::max<std::int64_t>(offsets[p].offset.value(), 0);
    return all;
  }

  ResequencerRun run_{Broker::shared().bootstrap_servers(),
                      unique_name("poison"),
                      {"search"},
                      "partitioner = \"unchecked\"\nworkers = " + std::to_string(GetParam()) +
                          "\ninit.partitions = " + std::to_string(kNeighboursAndIt) + "\n"};
  std::unique_ptr<kafka::PlainProducer> producer_ = good(kafka::PlainProducer::open(run_.connection()));
  std::unique_ptr<kafka::Admin> admin_ = good(kafka::Admin::open(run_.connection()));
  std::int64_t sent_ = 0;  // to each
  std::uint64_t sequence_ = 0;
};

TEST_P(Poison, OfOnePartitionHoldsUpNoOther) {
  const auto process = run_.start(1);
  const auto logged = [&](const char* words) {
    std::ifstream log(run_.log_file(1));
    return lines_with({std::istreambuf_iterator<char>(log), {}}, words);
  };
  ASSERT_TRUE(wait_until(milliseconds(60'000), [&] { return logged("takeover=born") == kNeighboursAndIt; }));
  load(milliseconds(1'000));
  lower_limit(run_.connection().bootstrap_servers, run_.topic("work"));
  send(kPoisoned, "poison", random_text(kRefusedBytes));
  load(kSettled);
  const std::int64_t sent_before = sent_, decided_before = decided();
  load(kWatched);
  const double share = static_cast<double>(decided() - decided_before) /
                       static_cast<double>((sent_ - sent_before) * (kNeighboursAndIt - 1));
  RecordProperty("share", std::to_string(share));
  std::printf("workers=%d decided/sent from 10 s after the poison: %.3f\n", GetParam(), share);
  EXPECT_GE(share, kKeptUp);
  EXPECT_TRUE(wait_until(milliseconds(60'000), [&] { return logged("parked reason=") == 1; }));
  good(producer_->flush(kPoisonAskLimit));
  EXPECT_TRUE(wait_until(milliseconds(30'000), [&] { return decided() >= sent_ * (kNeighboursAndIt - 1); }));
}

INSTANTIATE_TEST_SUITE_P(Workers, Poison, testing::Values(1, 3));

}  // namespace
}  // namespace reseq::test
