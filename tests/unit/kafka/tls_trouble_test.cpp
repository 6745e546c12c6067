#include "kafka/tls_trouble.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reseq::kafka {
namespace {

using testing::HasSubstr;
using testing::Optional;

TEST(TlsTrouble, TellsWhatIsWrongWithTheCertificateOfTheBroker) {
  EXPECT_THAT(tls_trouble("", 20), Optional(HasSubstr("set ssl.ca.location")));
  EXPECT_THAT(tls_trouble("", 18), Optional(HasSubstr("set ssl.ca.location")));
  EXPECT_THAT(tls_trouble("", 10), Optional(HasSubstr("has expired")));
  EXPECT_THAT(tls_trouble("", 9), Optional(HasSubstr("not valid yet")));
  EXPECT_THAT(tls_trouble("", 62), Optional(HasSubstr("another name")));
  EXPECT_THAT(tls_trouble("", 64), Optional(HasSubstr("another name")));
  EXPECT_THAT(tls_trouble("", 66), Optional(HasSubstr("X509 error 66")));
}

TEST(TlsTrouble, TellsThatTheBrokerRefusesOurs) {
  EXPECT_THAT(tls_trouble("sslv3 alert bad certificate: SSL alert number 42", 0),
              Optional(HasSubstr("set ssl.certificate.location")));
  EXPECT_THAT(tls_trouble("tlsv13 alert certificate required", 0), Optional(HasSubstr("ssl.certificate.location")));
}

TEST(TlsTrouble, IsNoneWhenNoCertificateIsToBlame) {
  EXPECT_EQ(tls_trouble("Connect to ipv4#127.0.0.1:1 failed: Connection refused", 0), std::nullopt);
  EXPECT_EQ(tls_trouble("SSL handshake failed: unexpected eof while reading", 0), std::nullopt);
}

}  // namespace
}  // namespace reseq::kafka
