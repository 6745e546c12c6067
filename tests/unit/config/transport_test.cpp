#include "config/transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace reseq::config {
namespace {

using testing::HasSubstr;
using Lines = std::vector<std::pair<std::string, std::string>>;

std::string refusal(const Lines& kafka, const std::string& servers = "kafka.example.org:9092", bool meant = false) {
  Settings settings;
  settings.bootstrap_servers = servers;
  settings.kafka = kafka;
  settings.insecure_transport = meant;
  const auto checked = check_transport(settings);
  return checked ? "" : checked.error().message;
}

TEST(TransportRules, RefuseCertificatesThatNobodyVerifies) {
  for (const char* off : {"false", "False", "f", "0"})
    EXPECT_THAT(refusal({{"enable.ssl.certificate.verification", off}}), HasSubstr("set ssl.ca.location")) << off;
  EXPECT_EQ(refusal({{"enable.ssl.certificate.verification", "true"}}), "");
  EXPECT_EQ(refusal({{"enable.ssl.certificate.verification", "false"}}, "127.0.0.1:9092", true), "");
}

TEST(TransportRules, RefuseAnyHostName) {
  EXPECT_THAT(refusal({{"ssl.endpoint.identification.algorithm", "none"}}), HasSubstr("leave it out"));
  EXPECT_THAT(refusal({{"ssl.endpoint.identification.algorithm", "NONE"}}), HasSubstr("leave it out"));
  EXPECT_EQ(refusal({{"ssl.endpoint.identification.algorithm", "https"}}), "");
  EXPECT_EQ(refusal({{"ssl.endpoint.identification.algorithm", "none"}}, "kafka:1", true), "");
}

TEST(TransportRules, RefuseSecretsInTheClear) {
  const Lines plain = {{"security.protocol", "SASL_PLAINTEXT"}, {"sasl.mechanism", "PLAIN"}};
  EXPECT_THAT(refusal(plain), HasSubstr("PLAIN sends the password readable over the network"));
  EXPECT_THAT(refusal({{"security.protocol", "sasl_plaintext"}, {"sasl.mechanisms", "OAUTHBEARER"}}),
              HasSubstr("OAUTHBEARER sends the token"));
  EXPECT_EQ(refusal({{"security.protocol", "sasl_ssl"}, {"sasl.mechanism", "PLAIN"}}), "");
  EXPECT_EQ(refusal({{"security.protocol", "sasl_plaintext"}, {"sasl.mechanism", "SCRAM-SHA-256"}}), "");
  EXPECT_EQ(refusal(plain, "kafka:9092", true), "");
}

TEST(TransportRules, AllowSecretsInTheClearOnThisHost) {
  const Lines plain = {{"security.protocol", "sasl_plaintext"}, {"sasl.mechanism", "PLAIN"}};
  for (const char* near :
       {"127.0.0.1:9092", "localhost:9092, 127.3.2.1:9", "[::1]:9092", "SASL_PLAINTEXT://localhost:9"})
    EXPECT_EQ(refusal(plain, near), "") << near;
  for (const char* far : {"127.0.0.1:9092,kafka:9092", "10.0.0.1:9092", "[2001:db8::1]:9092", "localhost.example.org:1",
                          "127.example.org:9092", "127.0.0.1.example.org:9092"})
    EXPECT_NE(refusal(plain, far), "") << far;
}

TEST(TransportRules, TakeTheLastOfTwoValues) {
  EXPECT_NE(
      refusal(
          {{"security.protocol", "sasl_plaintext"}, {"sasl.mechanism", "SCRAM-SHA-256"}, {"sasl.mechanisms", "PLAIN"}}),
      "");
  EXPECT_EQ(
      refusal({{"enable.ssl.certificate.verification", "false"}, {"enable.ssl.certificate.verification", "true"}}), "");
}

}  // namespace
}  // namespace reseq::config
