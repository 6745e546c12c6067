// What follows from an answer of the server, status by status.
#include "consumers/opensearch/bulk_answer.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace reseq::opensearch {
namespace {

TEST(BulkAnswer, OfAWholeRequestFollowsFromItsStatus) {
  const std::vector<std::pair<long, Verdict>> cases = {
      {200, Verdict::kStored},   {413, Verdict::kSmaller},  {400, Verdict::kSmaller},  {401, Verdict::kUnusable},
      {403, Verdict::kUnusable}, {404, Verdict::kUnusable}, {302, Verdict::kUnusable}, {405, Verdict::kUnusable},
      {408, Verdict::kAgain},    {429, Verdict::kAgain},    {500, Verdict::kAgain},    {502, Verdict::kAgain},
      {503, Verdict::kAgain},    {504, Verdict::kAgain}};
  for (const auto& [status, verdict] : cases) EXPECT_EQ(verdict_of_status(status), verdict) << status;
}

TEST(BulkAnswer, OfAnItemFollowsFromStatusAndType) {
  struct Case {
    std::int64_t status;
    std::string_view type;
    Verdict verdict;
  };
  const std::vector<Case> cases = {
      {200, "", Verdict::kStored},
      {201, "", Verdict::kStored},
      {404, "", Verdict::kStored},
      {404, "index_not_found_exception", Verdict::kUnusable},
      {409, "version_conflict_engine_exception", Verdict::kNotNewer},
      {400, "mapper_parsing_exception", Verdict::kRefused},
      {400, "strict_dynamic_mapping_exception", Verdict::kRefused},
      {400, "illegal_argument_exception", Verdict::kRefused},
      {400, "index_closed_exception", Verdict::kAgain},
      {403, "cluster_block_exception", Verdict::kAgain},
      {403, "security_exception", Verdict::kUnusable},
      {401, "security_exception", Verdict::kUnusable},
      {429, "rejected_execution_exception", Verdict::kAgain},
      {429, "cluster_block_exception", Verdict::kAgain},
      {503, "unavailable_shards_exception", Verdict::kAgain},
      {500, "anything", Verdict::kAgain},
  };
  for (const Case& one : cases) EXPECT_EQ(verdict_of_item(one.status, one.type), one.verdict) << one.status << one.type;
}

// What would be said of any document is not about this one.
TEST(BulkAnswer, OfAnItemThatIsAboutTheIndexIsUnusable) {
  const auto verdict = [](const std::string& reason) {
    return verdict_of_item(400, "illegal_argument_exception", reason);
  };
  EXPECT_EQ(verdict("no write index is defined for alias [shop-v1-write]. The write index may be"), Verdict::kUnusable);
  EXPECT_EQ(verdict("pipeline with id [clean] does not exist"), Verdict::kUnusable);
  EXPECT_EQ(verdict("Number of documents in the index can't exceed [2147483519]"), Verdict::kUnusable);
  EXPECT_EQ(verdict("Limit of total fields [1000] has been exceeded"), Verdict::kRefused);
  EXPECT_EQ(verdict_of_item(400, "routing_missing_exception", "routing is required"), Verdict::kUnusable);
  EXPECT_EQ(verdict_of_item(400, "mapper_parsing_exception", "pipeline with id ["), Verdict::kRefused);
}

TEST(BulkAnswer, ReadsItemsInTheirOrderWithTheServersWords) {
  const std::string body =
      R"({"took":3,"errors":true,"items":[{"index":{"_id":"a","status":201}},)"
      R"({"index":{"status":409,"error":{"type":"version_conflict_engine_exception","reason":"[b]: conflict"}}},)"
      R"({"delete":{"status":404}},)"
      R"({"index":{"status":400,"error":{"type":"mapper_parsing_exception","reason":"failed to parse field [n]",)"
      R"("caused_by":{"type":"number_format_exception","reason":"For input string: \"x\""}}}}]})";
  AnswerReader reader;
  std::vector<ItemAnswer> items(4);
  ASSERT_TRUE(reader.read_items(body, items));
  EXPECT_EQ(items[0].verdict, Verdict::kStored);
  EXPECT_EQ(items[1].verdict, Verdict::kNotNewer);
  EXPECT_EQ(items[1].words, "");
  EXPECT_EQ(items[2].verdict, Verdict::kStored);
  EXPECT_EQ(items[3].verdict, Verdict::kRefused);
  EXPECT_EQ(items[3].words, "mapper_parsing_exception: failed to parse field [n]: For input string: \"x\"");
}

TEST(BulkAnswer, ThatIsCausedByALackOfMemoryIsNotAboutTheDocument) {
  const auto answer = [](const std::string& causes) {
    return R"({"items":[{"index":{"status":400,"error":{"type":"mapper_parsing_exception","reason":"failed to parse")" +
           causes + "}}}]}";
  };
  AnswerReader reader;
  std::vector<ItemAnswer> items(1);
  ASSERT_TRUE(reader.read_items(answer(R"(,"caused_by":{"type":"x","reason":"y","caused_by":)"
                                       R"({"type":"knn_circuit_breaker_exception","reason":"low on memory"}})"),
                                items));
  EXPECT_EQ(items[0].verdict, Verdict::kAgain);
  ASSERT_TRUE(
      reader.read_items(answer(R"(,"caused_by":{"type":"illegal_argument_exception","reason":"no vector"})"), items));
  EXPECT_EQ(items[0].verdict, Verdict::kRefused);
}

TEST(BulkAnswer, ThatIsNotOneSetsNothing) {
  AnswerReader reader;
  for (const std::string body :
       {"", "x", "null", "[]", "{}", R"({"items":7})", R"({"items":[]})", R"({"items":[{"index":{"status":200}}]})",
        R"({"items":[{"index":{"status":200}},{"index":{"status":200}},{"index":{"status":200}}]})",
        R"({"items":[{"index":{"status":200}},{"index":{"status":"200"}}]})",
        R"({"items":[{"index":{"status":200}},{}]})", R"({"items":[{"index":{"status":200}},null]})",
        R"({"items":[{"index":{"status":200}},{"index":[]}]})", "<html>bad gateway</html>"}) {
    std::vector<ItemAnswer> items(2);
    const Result<> read = reader.read_items(body, items);
    ASSERT_FALSE(read) << body;
    EXPECT_EQ(read.error().what_to_do, ErrorClass::kRetriable);
    for (const ItemAnswer& item : items) EXPECT_EQ(item.verdict, Verdict::kAgain) << body;
  }
}

TEST(BulkAnswer, WordsOfAWholeErrorAreReadAndCutBetweenCharacters) {
  AnswerReader reader;
  EXPECT_EQ(reader.read_error(R"({"error":{"type":"t","reason":"r"},"status":400})"), "t: r");
  EXPECT_EQ(reader.read_error(R"({"error":"no handler found","status":400})"), "no handler found");
  EXPECT_EQ(reader.read_error("<html>"), "");
  EXPECT_EQ(reader.read_error("{}"), "");
  std::string umlauts;
  for (int i = 0; i < 1'000; ++i) umlauts += "\xc3\xa4";
  const std::string words = reader.read_error(R"({"error":"x)" + umlauts + R"("})");
  EXPECT_EQ(words.size(), 999U);
  EXPECT_EQ(words.substr(997), "\xc3\xa4");
}

}  // namespace
}  // namespace reseq::opensearch
