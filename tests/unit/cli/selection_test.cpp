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

TEST(CausingTargets, OfAnErrorAreThoseThatFailedOfIt) {
  const auto document = admin::Json::parse(R"({"id": "book", "failures": [
    {"state": "failed", "targets": ["search"], "error": "no PDF"},
    {"state": "failed", "targets": ["lake"], "error_base64": "/wA="},
    {"state": "retrying", "targets": ["catalogue"], "error": "no PDF"},
    {"state": "failed", "targets": ["mail"]}]})");
  EXPECT_THAT(causing_targets(document, State::kFailed), ElementsAre("search", "lake", "mail"));
  EXPECT_THAT(causing_targets(document, State::kFailed, {"PDF"}), ElementsAre("search"));
  EXPECT_THAT(causing_targets(document, State::kFailed, {"pdf"}), IsEmpty()) << "the case counts";
  EXPECT_THAT(causing_targets(document, State::kFailed, {"\xff"}), ElementsAre("lake"));
  EXPECT_THAT(causing_targets(document, State::kRetrying, {"PDF"}), ElementsAre("catalogue"));
  EXPECT_THAT(causing_targets(document, State::kFailed, {{}, "no PDF"}), ElementsAre("search"));
  EXPECT_THAT(causing_targets(document, State::kFailed, {{}, "PDF"}), IsEmpty()) << "that is another error";
  EXPECT_THAT(causing_targets(document, State::kFailed, {{}, ""}), ElementsAre("mail")) << "nothing was said";
  EXPECT_TRUE(is_because_of("search", document, State::kFailed, {"no PDF"}));
  EXPECT_FALSE(is_because_of("mail", document, State::kFailed, {"no PDF"})) << "it failed of something else";
}

TEST(CausingTargets, OfLanesAreThoseThatHoldOrAreHeldUp) {
  const auto document = admin::Json::parse(R"({"id": "book", "groups": [], "lanes": [
    {"target": "history", "places": 3, "blocks": {"results": 1}, "held": {"results": 1}},
    {"target": "audit", "places": 2, "held": {"results": 2}},
    {"target": "ledger", "places": 1},
    {"target": "old", "places": 0}]})");
  EXPECT_THAT(causing_targets(document, State::kHeld), ElementsAre("history", "audit"));
  EXPECT_THAT(causing_targets(document, State::kGap), ElementsAre("history"));
  EXPECT_THAT(causing_targets(document, State::kLive), ElementsAre("history", "audit", "ledger"));
  EXPECT_FALSE(is_because_of("ledger", document, State::kHeld)) << "nothing is held for it";
}

}  // namespace
}  // namespace reseq::cli
