// What `check` says of targets that get every version.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/settings.h"

namespace reseq::config {
namespace {

using testing::HasSubstr;

std::string error_of(const std::string& special, const std::string& order) {
  const auto parsed = parse("application.id = \"shop\"\nbootstrap.servers = \"127.0.0.1:9092\"\n" + special +
                                "[[target]]\nname = \"audit\"\norder = \"" + order + "\"\n",
                            "shop.toml");
  return parsed.ok() ? "no error" : parsed.error().message;
}

TEST(Orders, AreNamed) {
  for (const char* order : {"newest", "monotonic", "strict", "total"}) EXPECT_EQ(error_of("", order), "no error");
  EXPECT_THAT(error_of("", "exact"), HasSubstr("must be one of newest|monotonic|strict|total"));
}

TEST(Orders, ThatCannotBeKeptAreRefused) {
  EXPECT_THAT(error_of("dispatch.mode = \"journal\"\n", "total"), HasSubstr("set dispatch.mode = \"immediate\""));
  EXPECT_EQ(error_of("failures.mode = \"retry\"\n", "total"), "no error");
  for (const char* order : {"strict", "monotonic"})
    EXPECT_EQ(error_of("dispatch.mode = \"journal\"\nfailures.mode = \"retry\"\n", order), "no error");
  EXPECT_THAT(error_of("intake = \"tap\"\n", "total"), HasSubstr("set intake = \"inline\""));
  EXPECT_EQ(error_of("intake = \"tap\"\n", "strict"), "no error");
}

TEST(Orders, WaitForWhatIsLostForABoundedTime) {
  EXPECT_THAT(error_of("orders.gap_timeout_ms = 999\n", "total"), HasSubstr("orders.gap_timeout_ms"));
  EXPECT_THAT(error_of("orders.gap_timeout_ms = 31622400001\n", "total"), HasSubstr("366 days"));
  EXPECT_EQ(error_of("orders.gap_timeout_ms = 31622400000\norders.on_gap = \"marker\"\n", "total"), "no error");
  EXPECT_THAT(error_of("orders.on_gap = \"stop\"\n", "total"), HasSubstr("orders.on_gap"));
}

TEST(Orders, KeepABoundedNumberOfVersionsInTheRowOfADocument) {
  for (const char* bad : {"0", "257", "-1"})
    EXPECT_THAT(error_of(std::string("orders.lane_in_flight_max = ") + bad + "\n", "strict"),
                HasSubstr("orders.lane_in_flight_max"));
  for (const char* good : {"1", "256"})
    EXPECT_EQ(error_of(std::string("orders.lane_in_flight_max = ") + good + "\n", "strict"), "no error");
}

}  // namespace
}  // namespace reseq::config
