// Which targets are the reason that a document is selected. Documents as an instance tells them.
#include "cli/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reseq::cli {
namespace {

using admin::State;
using testing::ElementsAre;
using testing::IsEmpty;

const admin::Json kDocument = admin::Json::parse(R"({
  "id": "book", "state": "overdue", "overdue": ["lake"], "starving": ["search"],
  "groups": [{"pending": ["search", "lake"], "served": ["catalogue"]}, {"pending": ["mail"], "served": []}]
})");

TEST(CausingTargets, AreThoseThatTheStateIsAbout) {
  EXPECT_THAT(causing_targets(kDocument, State::kLive), ElementsAre("search", "lake", "mail"));
  EXPECT_THAT(causing_targets(kDocument, State::kOverdue), ElementsAre("lake"));
  EXPECT_THAT(causing_targets(kDocument, State::kStarving), ElementsAre("search"));
  EXPECT_THAT(causing_targets(kDocument, State::kCompleted), IsEmpty());
}

TEST(CausingTargets, OfADocumentThatWaitsForNothingAreNone) {
  const auto served = admin::Json::parse(R"({"id": "book", "groups": [{"pending": [], "served": ["search"]}]})");
  for (const State state : {State::kLive, State::kOverdue, State::kStarving})
    EXPECT_FALSE(is_because_of("search", served, state));
}

}  // namespace
}  // namespace reseq::cli
