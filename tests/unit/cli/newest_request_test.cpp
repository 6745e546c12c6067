// Why a request is not sent once more, as an operator is told.
#include "cli/newest_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reseq::cli {
namespace {

using admin::Json;
using testing::HasSubstr;

constexpr const char* kOrder = R"({"epoch": 0, "seq": "5", "revision": "0"})";

// Of a document whose newest request is 5, with these groups.
std::string why_nothing(const std::string& groups, const std::vector<config::Target>& targets) {
  const Json document =
      Json::parse(R"({"groups": )" + groups + R"(, "request": {"offset": 3, "order": )" + kOrder + "}}");
  const Newest newest = newest_in(0, Json::object(), document, SequenceKind::kU64);
  const Again again = again_of(newest, SequenceKind::kU64, targets);
  EXPECT_TRUE(again.targets.empty());
  return nothing_again_text("book", newest, again, SequenceKind::kU64);
}

std::string group(const std::string& targets) {
  return R"([{"order": )" + std::string(kOrder) + ", " + targets + "}]";
}

TEST(NothingAgain, BecauseItWasRemovedEverywhere) {
  EXPECT_THAT(why_nothing(group(R"("removed": ["search"])"), {{.name = "search"}}),
              HasSubstr("book is removed from all targets of its newest request 5: only a newer one"));
}

TEST(NothingAgain, BecauseOnlyTargetsThatGetEveryVersionWereAsked) {
  const std::vector<config::Target> targets = {{.name = "audit", .order = "strict"}};
  EXPECT_THAT(why_nothing("[]", targets), HasSubstr("the newest request 5 of book was for strict or total targets"));
  EXPECT_THAT(why_nothing(R"([{"order": {"epoch": 0, "seq": "4", "revision": "0"}, "served": ["search"]}])", targets),
              HasSubstr("was for strict or total targets alone"));
}

TEST(NothingAgain, BecauseItWasDoneForAPotentTarget) {
  EXPECT_THAT(why_nothing(group(R"("served": ["mail"])"), {{.name = "mail", .effect = "potent"}}),
              HasSubstr("asks for was done, and a potent target does it once"));
}

}  // namespace
}  // namespace reseq::cli
