// The contract of a pipeline: results carry every header of their work record.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "consumers/stage/result.h"

namespace reseq::stage {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs pairs(const std::vector<OwnedHeader>& headers) {
  Pairs pairs;
  for (const OwnedHeader& header : headers) pairs.emplace_back(header.name, header.value.value_or("(null)"));
  return pairs;
}

const std::vector<OwnedHeader> kWork = {{"reseq-seq", "7"},      {"reseq-epoch", "0"},
                                        {"reseq-op", "upsert"},  {"reseq-targets", "search"},
                                        {"reseq-x", "invented"}, {"traceparent", "00-abc"}};

TEST(ResultHeaders, CopiesEveryHeaderKnownOrNotAndAddsCommandAndTarget) {
  const Pairs expected = {
      {"reseq-seq", "7"},      {"reseq-epoch", "0"},      {"reseq-op", "upsert"},        {"reseq-targets", "search"},
      {"reseq-x", "invented"}, {"traceparent", "00-abc"}, {"reseq-command", "sequence"}, {"reseq-target", "search"}};
  EXPECT_EQ(pairs(result_headers(kWork, {.answer = Answer::kSequence, .target = "search"})), expected);
}

TEST(ResultHeaders, KeepsDoubledHeadersAndNullValues) {
  const std::vector<OwnedHeader> work = {{"reseq-x", "1"}, {"reseq-x", std::nullopt}, {"", "empty name"}};
  const Pairs expected = {{"reseq-x", "1"}, {"reseq-x", "(null)"}, {"", "empty name"}, {"reseq-command", "sequence"}};
  EXPECT_EQ(pairs(result_headers(work, {})), expected);
}

TEST(ResultHeaders, ReplacesTheOpWhenTheResultIsADelete) {
  const auto headers = result_headers(kWork, {.target = "search", .op = Op::kDelete});
  EXPECT_EQ(last_header(headers, "reseq-op"), "delete");
  EXPECT_EQ(std::count_if(headers.begin(), headers.end(), [](const auto& h) { return h.name == "reseq-op"; }), 1);
}

TEST(ResultHeaders, RegisterReplacesTheTargetsOfTheWorkRecord) {
  const auto headers = result_headers(kWork, {.answer = Answer::kRegister, .target = "search,catalogue"});
  EXPECT_EQ(last_header(headers, "reseq-targets"), "search,catalogue");
  EXPECT_EQ(last_header(headers, "reseq-command"), "register");
  EXPECT_EQ(last_header(headers, "reseq-target"), std::nullopt);
}

TEST(ResultHeaders, UnregisterNamesItsTargetsApartFromTheCopiedList) {
  const auto headers = result_headers(kWork, {.answer = Answer::kUnregister, .target = "search"});
  EXPECT_EQ(last_header(headers, "reseq-targets"), "search");
  EXPECT_EQ(last_header(headers, "reseq-target"), "search");
  EXPECT_EQ(last_header(headers, "reseq-command"), "unregister");
}

TEST(ResultHeaders, OfAFailureSayWhatItIsForAllUnlessItNamesATarget) {
  const Pairs expected = {{"reseq-seq", "7"},           {"reseq-epoch", "0"},
                          {"reseq-op", "upsert"},       {"reseq-targets", "search"},
                          {"reseq-x", "invented"},      {"traceparent", "00-abc"},
                          {"reseq-command", "fail"},    {"reseq-target", "*"},
                          {"reseq-failure", "unknown"}, {"reseq-failure-scope", "document"}};
  EXPECT_EQ(pairs(result_headers(kWork, {.answer = Answer::kFail})), expected);
  const auto headers = result_headers(
      kWork, {.answer = Answer::kFail,
              .target = "search",
              .failure = {.kind = FailureKind::kTransient, .scope = FailureScope::kUniversal, .error = "down"}});
  EXPECT_EQ(last_header(headers, "reseq-target"), "search");
  EXPECT_EQ(last_header(headers, "reseq-failure"), "transient");
  EXPECT_EQ(last_header(headers, "reseq-failure-scope"), "universal");
  EXPECT_EQ(last_header(headers, "reseq-error"), "down");
  const auto permanent = result_headers(kWork, {.answer = Answer::kFail, .failure = {.kind = FailureKind::kPermanent}});
  EXPECT_EQ(last_header(permanent, "reseq-failure"), "permanent");
}

TEST(ResultHeaders, SayThatNothingWasDoneOnlyOfAFailureThatSaysSo) {
  const auto said = [](Answer answer, bool without_effect) {
    return last_header(result_headers(kWork, {.answer = answer, .failure = {.without_effect = without_effect}}),
                       "reseq-effect");
  };
  EXPECT_EQ(said(Answer::kFail, true), "none");
  EXPECT_EQ(said(Answer::kFail, false), std::nullopt);
  for (const Answer other : {Answer::kSequence, Answer::kRegister, Answer::kUnregister})
    EXPECT_EQ(said(other, true), std::nullopt) << static_cast<int>(other);
}

TEST(ResultHeaders, CutAnErrorBehind1024BytesButNotInACharacter) {
  const auto said = [](const std::string& error) {
    return last_header(result_headers({}, {.answer = Answer::kFail, .failure = {.error = error}}), "reseq-error");
  };
  const auto times = [](int count, const std::string& text) {
    std::string all;
    for (int i = 0; i < count; ++i) all += text;
    return all;
  };
  EXPECT_EQ(said(times(1'024, "x")), times(1'024, "x"));
  EXPECT_EQ(said(times(1'025, "x")), times(1'024, "x"));
  EXPECT_EQ(said("x" + times(600, "\u00e9")), "x" + times(511, "\u00e9"));
  EXPECT_EQ(said("xx" + times(300, "\U0001f600")), "xx" + times(255, "\U0001f600"));
  EXPECT_EQ(said(times(2'000, "\x80")).value().value().size(), 1'021U) << "what is no UTF-8 is cut, too";
}

TEST(AskedFor, LeavesOutWhatIsForTargetsThatTheWorkDoesNotList) {
  const auto targets = [](std::vector<StageResult> answers) {
    std::vector<std::string> names;
    for (const StageResult& answer : asked_for(kWork, std::move(answers))) names.push_back(answer.target);
    return names;
  };
  EXPECT_THAT(targets({{.target = "search"}, {.target = "catalogue"}}), testing::ElementsAre("search"));
  EXPECT_THAT(targets({{.answer = Answer::kFail, .target = "catalogue"},
                       {.answer = Answer::kUnregister, .target = "catalogue"},
                       {.answer = Answer::kFail, .target = "search"}}),
              testing::ElementsAre("search"));
  EXPECT_THAT(targets({{.answer = Answer::kFail, .target = "*"}, {.answer = Answer::kFail}, {.target = ""}}),
              testing::ElementsAre("*", "", ""));
  EXPECT_THAT(targets({{.target = "feed"}, {.answer = Answer::kRegister, .target = "shelf,feed"}}),
              testing::ElementsAre("feed", "shelf,feed"))
      << "what an answer registers is asked for";
}

TEST(AskedFor, IsEverythingWhereTheWorkListsNoTargets) {
  const std::vector<OwnedHeader> null = {{"reseq-targets", std::nullopt}};
  EXPECT_EQ(asked_for({}, {{.target = "search"}}).size(), 1U);
  EXPECT_EQ(asked_for(null, {{.target = "search"}}).size(), 1U);
  EXPECT_EQ(targets_of(null).size(), 0U);
  EXPECT_THAT(targets_of(kWork), testing::ElementsAre("search"));
}

TEST(ResultHeaders, CarriesTheHighestVersionRead) {
  const auto headers = result_headers(kWork, {.target = "search", .observed = Version(41)});
  EXPECT_EQ(last_header(headers, "reseq-observed-version"), "41");
}

TEST(ResultHeaders, OfADoubledHeaderTheLastCounts) {
  const std::vector<OwnedHeader> doubled = {{"a", "1"}, {"a", std::nullopt}};
  EXPECT_EQ(last_header(doubled, "a"), std::optional<std::optional<std::string>>(std::optional<std::string>()));
  EXPECT_FALSE(last_header(doubled, "b").has_value());
}

}  // namespace
}  // namespace reseq::stage
