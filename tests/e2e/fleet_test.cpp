// What the end-to-end tests read from logs is read right.
#include "tests/e2e/fleet.h"

#include <gtest/gtest.h>

namespace reseq::test {
namespace {

TEST(Field, IsTheValueOfItsNameInALogLine) {
  const std::string line = "2026-01-01T00:00:00 level=info partition=3 takeover=ready recovery=reuse records_read=12";
  EXPECT_EQ(field(line, "partition"), "3");
  EXPECT_EQ(field(line, "records_read"), "12");
  EXPECT_EQ(field(line, "takeover"), "ready");
}

TEST(Field, IsNoneWhenOnlyAnotherNameEndsLikeIt) {
  EXPECT_EQ(field("level=info changelog_position=7", "position"), std::nullopt);
  EXPECT_EQ(field("", "partition"), std::nullopt);
}

}  // namespace
}  // namespace reseq::test
