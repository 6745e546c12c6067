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
