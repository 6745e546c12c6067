// What `skip` names when an operator does not: what the lane waits for, and only if that is of the document.
#include "cli/waited_for.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reseq::cli {
namespace {

using admin::Json;
using testing::HasSubstr;

Json document(const std::string& head) {
  return Json::parse(R"({"id": "book", "lanes": [{"target": "history", "places": 0},
                        {"target": "audit", "places": 2)" +
                     head + "}]}");
}

std::string refusal(const std::string& head, const std::string& target = "audit") {
  const auto found = waited_for_in(document(head), "book", target);
  return found ? "" : found.error().message;
}

TEST(WaitedFor, IsTheHeadOfTheLane) {
  const auto found = waited_for_in(document(R"(, "waits_for": {"target": "audit", "id": "book", "order": {"epoch": 2,
      "seq": "7", "revision": "0"}, "since": "a", "skipped_at": "b"})"),
                                   "book", "audit");
  ASSERT_TRUE(found);
  EXPECT_EQ(found.value()["order"]["seq"], "7");
}

TEST(WaitedFor, IsNothingOfADocumentThatStandsBehindAnother) {
  EXPECT_THAT(refusal(R"(, "waits_for": {"target": "audit", "id": "film", "order": {"epoch": 0, "seq": "1",
      "revision": "0"}, "since": "a", "skipped_at": "b"})"),
              HasSubstr("audit waits for film 1, which went to work at a and is skipped at b, and for nothing of book "
                        "before that"));
}

TEST(WaitedFor, IsNothingWhoseResultIsHere) {
  EXPECT_THAT(refusal(R"(, "waits_for": {"target": "audit", "id": "book", "order": {"epoch": 0, "seq": "1",
      "revision": "0"}, "since": "a", "has_result": true})"),
              HasSubstr("its result is here"));
}

TEST(WaitedFor, IsAlsoWhatHasNoClockOfAGap) {
  EXPECT_EQ(refusal(R"(, "waits_for": {"target": "audit", "id": "book", "order": {"epoch": 0, "seq": "1",
      "revision": "0"}})"),
            "");
}

TEST(WaitedFor, IsNothingWhereNoPlaceIs) {
  EXPECT_THAT(refusal("", "history"), HasSubstr("history waits for nothing of book"));
  EXPECT_THAT(refusal("", "search"), HasSubstr("search waits for nothing of book"));
  EXPECT_THAT(refusal(""), HasSubstr("nobody says what audit waits for"));
}

}  // namespace
}  // namespace reseq::cli
