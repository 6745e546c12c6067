#include "config/address.h"

#include <gtest/gtest.h>

namespace reseq::config {
namespace {

TEST(Address, IsHostAndPort) {
  const auto address = parse_address("127.0.0.1:9464");
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address.value().host, "127.0.0.1");
  EXPECT_EQ(address.value().port, 9464);
}

TEST(Address, TakesAnIpv6HostInBrackets) {
  const auto address = parse_address("[::1]:80");
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address.value().host, "::1");
  EXPECT_EQ(address.value().port, 80);
}

TEST(Address, RefusesWhatIsNone) {
  for (const char* text : {"", "localhost", ":80", "localhost:", "localhost:x", "localhost:80 ", "localhost:65536",
                           "localhost:-1", "::1:80", "[]:80"})
    EXPECT_FALSE(parse_address(text).ok()) << text;
}

}  // namespace
}  // namespace reseq::config
