#include "kafka/client_conf.h"

#include <array>
#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <string>

namespace reseq::kafka {
namespace {

constexpr std::uint64_t kMessageBytes = 20 * 1024 * 1024;
constexpr std::uint64_t kQueueBytes = 8 * 1024 * 1024;

std::string value_of(ClientConf& conf, const char* name) {
  std::array<char, 128> text{};
  std::size_t size = text.size();
  if (rd_kafka_conf_get(conf.get(), name, text.data(), &size) != RD_KAFKA_CONF_OK) return "unknown";
  return text.data();
}

class Reader : public testing::Test {
 protected:
  ClientContext context_;
  ClientConf conf_{{.bootstrap_servers = "127.0.0.1:1", .log = [](int, std::string_view, std::string_view) {}},
                   context_};
};

TEST_F(Reader, ChecksEveryBatchAndCommitsNothingByItself) {
  conf_.set_reader(Isolation::kReadCommitted, kMessageBytes, kQueueBytes);
  EXPECT_EQ(value_of(conf_, "check.crcs"), "true");
  EXPECT_EQ(value_of(conf_, "isolation.level"), "read_committed");
  EXPECT_EQ(value_of(conf_, "enable.auto.commit"), "false");
  EXPECT_EQ(value_of(conf_, "enable.auto.offset.store"), "false");
}

// With it small requests wait for the acknowledgement of those before them.
TEST_F(Reader, SendsSmallRequestsAtOnce) {
  EXPECT_EQ(value_of(conf_, "socket.nagle.disable"), "true");
}

TEST_F(Reader, HasABoundForEverythingThatABrokerCanSend) {
  conf_.set_reader(Isolation::kReadCommitted, kMessageBytes, kQueueBytes);
  EXPECT_EQ(value_of(conf_, "message.max.bytes"), std::to_string(kMessageBytes));
  EXPECT_EQ(value_of(conf_, "queued.max.messages.kbytes"), std::to_string(kQueueBytes / 1024));
  EXPECT_EQ(value_of(conf_, "fetch.max.bytes"), std::to_string(32 * 1024 * 1024));
  EXPECT_EQ(value_of(conf_, "receive.message.max.bytes"), std::to_string(3 * kMessageBytes + 64 * 1024));
}

// With it what waited by its place left at a third of the speed: each new place waited for the fetch before it.
TEST_F(Reader, OfAFewRecordsHereAndThereFetchesLittleAndDoesNotWaitBehindTheEndOfALog) {
  conf_.set_reader(Isolation::kReadCommitted, kMessageBytes, kQueueBytes).fetch_little();
  EXPECT_EQ(value_of(conf_, "fetch.message.max.bytes"), std::to_string(64 * 1024));
  EXPECT_EQ(value_of(conf_, "fetch.wait.max.ms"), "5");
}

// What a batch unpacks to is not known before it is fetched, and who is flooded may want them one by one.
TEST(ReaderOfAnOperator, FetchesAsLittleAtOnceAsConfigured) {
  for (const std::string name : {"fetch.message.max.bytes", "max.partition.fetch.bytes"}) {
    ClientContext context;
    ClientConf conf({.bootstrap_servers = "127.0.0.1:1",
                     .librdkafka = {{name, "1"}, {"queued.min.messages", "100"}},
                     .log = [](int, std::string_view, std::string_view) {}},
                    context);
    conf.set_reader(Isolation::kReadCommitted, kMessageBytes, kQueueBytes);
    EXPECT_EQ(value_of(conf, "fetch.message.max.bytes"), "1") << name;
    EXPECT_EQ(value_of(conf.fetch_little(), "fetch.message.max.bytes"), "1") << name;
    EXPECT_EQ(value_of(conf, "queued.min.messages"), "100") << name;
  }
}

}  // namespace
}  // namespace reseq::kafka
