#include "kafka/settings.h"

#include <gtest/gtest.h>

#include "kafka/client_conf.h"
#include "kafka/librdkafka_cluster.h"

namespace reseq::kafka {
namespace {

ClusterSettings good() {
  return {.connection = {.bootstrap_servers = "127.0.0.1:1", .log = [](int, std::string_view, std::string_view) {}},
          .topics = {"requests"},
          .group_id = "orders",
          .group_instance_id = "1",
          .transactional_id = "orders.1"};
}

// Expects a refusal whose text names `word`.
void expect_refused(const ClusterSettings& settings, const std::string& word) {
  const auto checked = check(settings);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().what_to_do, ErrorClass::kInvalid);
  EXPECT_NE(checked.error().message.find(word), std::string::npos) << checked.error().message;
}

TEST(Settings, DefaultsFitTogether) {
  EXPECT_TRUE(check(good()));
  EXPECT_TRUE(open_cluster(good()));
}

TEST(Settings, PropertiesThatGuaranteesRestOnAreRefusedByName) {
  for (const char* name : {"isolation.level", "enable.idempotence", "auto.offset.reset", "enable.auto.commit",
                           "enable.auto.offset.store", "partition.assignment.strategy", "group.protocol"}) {
    ClusterSettings settings = good();
    settings.connection.librdkafka = {{name, "x"}};
    expect_refused(settings, name);
  }
}

TEST(Settings, EveryOwnedPropertyIsRefused) {
  for (const auto& owned : owned_properties()) {
    ClusterSettings settings = good();
    settings.connection.librdkafka = {{std::string(owned.name), "x"}};
    expect_refused(settings, std::string(owned.instead));
  }
}

TEST(Settings, OtherPropertiesPassThrough) {
  ClusterSettings settings = good();
  settings.connection.librdkafka = {{"sasl.mechanisms", "PLAIN"}, {"ssl.ca.location", "/etc/ssl/certs"}};
  EXPECT_TRUE(check(settings));
}

TEST(Settings, AnUnknownPropertyIsNamedWhenAClientIsMade) {
  ClusterSettings settings = good();
  settings.connection.librdkafka = {{"no.such.property", "x"}};
  const auto opened = open_cluster(settings);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().what_to_do, ErrorClass::kInvalid);
  EXPECT_NE(opened.error().message.find("no.such.property"), std::string::npos);
}

TEST(Settings, NamesAreNeeded) {
  ClusterSettings settings = good();
  settings.connection.bootstrap_servers.clear();
  expect_refused(settings, "bootstrap.servers");
  settings = good();
  settings.group_id.clear();
  expect_refused(settings, "group id");
  settings = good();
  settings.transactional_id.clear();
  expect_refused(settings, "transactional id");
}

TEST(Settings, ATransactionOutlivesARequest) {
  ClusterSettings settings = good();
  settings.connection.socket_timeout = Milliseconds(9'900);
  settings.transaction_timeout = Milliseconds(10'000);
  EXPECT_TRUE(check(settings));
  settings.connection.socket_timeout = Milliseconds(9'901);
  expect_refused(settings, "socket timeout");
}

TEST(Settings, APollIntervalOutlivesATransactionAndItsAbort) {
  ClusterSettings settings = good();
  settings.max_poll_interval = Milliseconds(20'001);
  EXPECT_TRUE(check(settings));
  settings.max_poll_interval = Milliseconds(20'000);
  expect_refused(settings, "max poll interval");
}

TEST(Settings, ASessionIsNoShorterThanBrokersAccept) {
  ClusterSettings settings = good();
  settings.session_timeout = Milliseconds(6'000);
  EXPECT_TRUE(check(settings));
  settings.session_timeout = Milliseconds(5'999);
  expect_refused(settings, "session timeout");
}

TEST(Settings, ABatchIsNoLargerThanTheLargestMessage) {
  ClusterSettings settings = good();
  settings.batch_bytes_max = settings.message_bytes_max;
  EXPECT_TRUE(check(settings));
  settings.batch_bytes_max = settings.message_bytes_max + 1;
  expect_refused(settings, "batch");
}

}  // namespace
}  // namespace reseq::kafka
