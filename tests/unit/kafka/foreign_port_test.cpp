#include "kafka/foreign_port.h"

#include <gtest/gtest.h>

#include "kafka/http_question.h"

namespace reseq::kafka {
namespace {

std::string trouble_of(const std::string& told) {
  const auto found = foreign_port(told);
  return found ? (found->sure ? "sure: " : "perhaps: ") + found->trouble : "none";
}

TEST(ForeignPort, IsNamedByTheFirstBytesOfItsAnswer) {
  EXPECT_EQ(trouble_of("Receive failed: Invalid response size 1213486160 (0..100000000): increase "
                       "receive.message.max.bytes"),
            "sure: it is no Kafka but an HTTP server, its answer begins with \"HTTP\": correct the port in "
            "bootstrap.servers");
  EXPECT_EQ(trouble_of("Invalid response size 1397966893 (0..9)"),
            "sure: it is no Kafka, its answer begins with \"SSH-\": correct the port in bootstrap.servers");
  EXPECT_EQ(trouble_of("Invalid response size 352518912 (0..9)"),
            "sure: it speaks TLS: set security.protocol in [kafka] to ssl or sasl_ssl");
}

TEST(ForeignPort, MayBeABrokerThatHangsWhenItIsSilent) {
  EXPECT_EQ(trouble_of("ApiVersionRequest failed: Local: Timed out: probably due to broker version < 0.10"),
            "perhaps: it takes connections and does not answer as Kafka does: a broker that hangs, or the port of "
            "another service");
}

TEST(ForeignPort, IsAskedWhereTheClientSaysThatTheBrokerIs) {
  EXPECT_EQ(address_in("127.0.0.1:9464/bootstrap: ApiVersionRequest failed: Local: Timed out"), "127.0.0.1:9464");
  EXPECT_EQ(address_in("sasl_plaintext://[::1]:9092/1: ApiVersionRequest failed"), "[::1]:9092");
  EXPECT_EQ(address_in("ApiVersionRequest failed: see http://example.org/x"), "");
  EXPECT_EQ(address_in(""), "");
  EXPECT_FALSE(answers_http(""));
  EXPECT_FALSE(answers_http("127.0.0.1:none"));
}

TEST(ForeignPort, IsNoneWhereAKafkaMayAnswer) {
  EXPECT_EQ(trouble_of("Invalid response size 200000000 (0..100000000): increase receive.message.max.bytes"), "none");
  EXPECT_EQ(trouble_of("Invalid response size -1 (0..100000000)"), "none");
  EXPECT_EQ(trouble_of("Connect to ipv4#127.0.0.1:1 failed: Connection refused"), "none");
  EXPECT_EQ(trouble_of("Invalid response size "), "none");
}

}  // namespace
}  // namespace reseq::kafka
