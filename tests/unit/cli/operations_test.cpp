#include "cli/operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reseq::cli {
namespace {

using testing::HasSubstr;

constexpr UnixMs kNow{1'709'164'800'000};  // 2024-02-29T00:00:00Z
constexpr Milliseconds kMost{1000};

std::string refusal_of(const std::string& text) {
  const auto date = date_to_wait_for(text, kNow, kMost);
  return date ? std::string() : date.error().message;
}

TEST(DateToWaitFor, IsRfc3339OrMilliseconds) {
  EXPECT_EQ(date_to_wait_for("2024-02-29T00:00:00.500Z", kNow, kMost).value(), UnixMs(kNow.value() + 500));
  EXPECT_EQ(date_to_wait_for("1709164800500", kNow, kMost).value(), UnixMs(kNow.value() + 500));
  EXPECT_THAT(refusal_of("tomorrow"), HasSubstr("--until \"tomorrow\" is no date"));
}

TEST(DateToWaitFor, LiesAheadAndNotTooFar) {
  EXPECT_THAT(refusal_of("1709164800000"), HasSubstr("has passed: that postpones nothing"));
  EXPECT_EQ(refusal_of("1709164800001"), "");
  EXPECT_EQ(refusal_of("1709164801000"), "");
  EXPECT_THAT(refusal_of("1709164801001"), HasSubstr("further ahead than dispatch.process_at_max_ms = 1000"));
}

}  // namespace
}  // namespace reseq::cli
