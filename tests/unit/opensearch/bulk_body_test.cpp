// A body of _bulk has the lines that were meant, whatever ids and payloads hold.
#include "consumers/opensearch/bulk_body.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "consumers/opensearch/document_id.h"

namespace reseq::opensearch {
namespace {

std::vector<std::string> lines_of(const BulkBody& body) {
  std::istringstream text{std::string(body.part(0, body.items()))};
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

TEST(BulkBody, WritesTheVersionOfEveryItem) {
  BulkBody body;
  EXPECT_FALSE(body.add_document("a", Version(7), R"({"n":1})"));
  body.add_tombstone("b", Version(8), UnixMs(1'700'000'000'123));
  body.add_hard_delete("c", Version(9));
  EXPECT_EQ(lines_of(body), (std::vector<std::string>{
                                R"({"index":{"_id":"a","version":7,"version_type":"external_gte"}})",
                                R"({"n":1})",
                                R"({"index":{"_id":"b","version":8,"version_type":"external_gte"}})",
                                R"({"reseq_deleted":true,"reseq_deleted_at":1700000000123})",
                                R"({"delete":{"_id":"c","version":9,"version_type":"external_gte"}})",
                            }));
}

TEST(BulkBody, WritesAMarkerWhereTheDocumentWasHiddenAndWithItsNote) {
  BulkBody body;
  body.add_marker("a", Version(7), {.error = "not a \"PDF\"\n", .attempts = 3});
  body.add_marker("\xff", Version(8), {.reason = "body_gone"});
  const std::vector<std::string> lines = lines_of(body);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0], R"({"index":{"_id":"a","version":7,"version_type":"external_gte"}})");
  EXPECT_EQ(lines[1],
            R"({"reseq_deleted":true,"reseq_failed":{"reason":"failed","error":"not a \"PDF\"\u000a","attempts":3}})");
  EXPECT_EQ(lines[3], R"({"reseq_id":"%ff","reseq_deleted":true,"reseq_failed":{"reason":"body_gone"}})");
}

TEST(BulkBody, WritesNoVersionWhereNoneIsChecked) {
  BulkBody body;
  EXPECT_FALSE(body.add_document("a", Version(), "{}"));
  EXPECT_EQ(lines_of(body), (std::vector<std::string>{R"({"index":{"_id":"a"}})", "{}"}));
}

TEST(BulkBody, HoldsTheLargestVersion) {
  BulkBody body;
  body.add_hard_delete("a", Version(kVersionLimit - 1));
  EXPECT_NE(body.part(0, 1).find(R"("version":9223372036854775807,)"), std::string_view::npos);
}

TEST(BulkBody, PutsTheIdInFrontOfADocumentThatCannotBeNamedByIt) {
  BulkBody body;
  EXPECT_FALSE(body.add_document("\xff", Version(1), R"( {"n":1} )"));
  EXPECT_FALSE(body.add_document("\xff", Version(2), "{\n}"));
  body.add_tombstone("\xff", Version(3), UnixMs(5));
  const std::vector<std::string> lines = lines_of(body);
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[0], R"({"index":{"_id":"reseq:e:%ff","version":1,"version_type":"external_gte"}})");
  EXPECT_EQ(nlohmann::json::parse(lines[1]), nlohmann::json::parse(R"({"reseq_id":"%ff","n":1})"));
  EXPECT_EQ(lines[3], R"({"reseq_id":"%ff"})");
  EXPECT_EQ(lines[5], R"({"reseq_id":"%ff","reseq_deleted":true,"reseq_deleted_at":5})");
}

TEST(BulkBody, TakesLineBreaksOutFromBetweenTokensAndLeavesTextAlone) {
  BulkBody body;
  EXPECT_FALSE(body.add_document("a", Version(1), "{\r\n  \"n\" :\t[1,\n2],\n \"text\": \" a \\n\\u0000 b \" \n}\n"));
  EXPECT_EQ(lines_of(body)[1], R"({"n":[1,2],"text":" a \n\u0000 b "})");
}

TEST(BulkBody, RefusesWhatIsNoObjectAndWritesNothing) {
  const std::vector<std::string> no_documents = {
      "",
      " ",
      "null",
      "7",
      "\"text\"",
      "[{}]",
      "{",
      "{} {}",
      "{}\n{\"delete\":{\"_id\":\"x\"}}",
      "{\"a\":1}\n{\"index\":{\"_id\":\"x\"}}\n{\"b\":2}",
      "{\"a\":\"x\ny\"}",
      "{\"a\":tru}",
      "{\"a\":1,}",
      "{'a':1}",
      "{\"a\":01}",
      "{\"a\":\"\xff\"}",
      std::string("{\"a\":\"\0\"}", 9),
      std::string("{}\0", 3),
      "{\"a\":" + std::string(5'000, '[') + std::string(5'000, ']') + "}",
  };
  BulkBody body;
  for (const std::string& payload : no_documents) {
    EXPECT_TRUE(body.add_document("a", Version(1), payload)) << payload;
    EXPECT_TRUE(body.add_document("\xff", Version(1), payload)) << payload;
  }
  EXPECT_EQ(body.items(), 0U);
  EXPECT_EQ(body.bytes(), 0U);
}

TEST(BulkBody, RefusesFieldsThatSayWhatOnlyTheSinkKnows) {
  BulkBody body;
  EXPECT_TRUE(body.add_document("a", Version(1), R"({"reseq_deleted":true})"));
  EXPECT_TRUE(body.add_document("a", Version(1), R"({"n":1,"\u0072eseq_deleted":true})"));
  EXPECT_TRUE(body.add_document("a", Version(1), R"({"reseq_deleted_at.x":1})"));
  EXPECT_TRUE(body.add_document("a", Version(1), R"({"n":1e999,"reseq_id":"x"})"));
  EXPECT_TRUE(body.add_document("a", Version(1), R"({"n":123456789012345678901234567890,"reseq_id":"x"})"));
  EXPECT_FALSE(body.add_document("a", Version(1), R"({"mine":{"reseq_deleted":true}})")) << "of an inner object";
}

TEST(BulkBody, MakesAFieldOfAPayloadOfAnyBytes) {
  BulkBody body;
  body.add_text("a", Version(1), "line\n\"two\" \xc3\xa4");
  body.add_text("\xff", Version(2), std::string("\0\xff", 2));
  const std::vector<std::string> lines = lines_of(body);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[1], R"({"text":"line\u000a\"two\" )"
                      "\xc3\xa4"
                      R"("})");
  EXPECT_EQ(lines[3], R"({"reseq_id":"%ff","base64":"AP8="})");
}

TEST(BulkBody, LeavesLargeNumbersToTheServer) {
  BulkBody body;
  ASSERT_FALSE(body.add_document("a", Version(1), "{\"n\":\n123456789012345678901234567890}"));
  EXPECT_EQ(lines_of(body)[1], R"({"n":123456789012345678901234567890})");
  EXPECT_TRUE(body.add_document("a", Version(1), "123456789012345678901234567890"));
  EXPECT_TRUE(body.add_document("a", Version(1), "[123456789012345678901234567890]"));
}

TEST(BulkBody, GivesPartsOfItselfAndKeepsItsMemory) {
  BulkBody body;
  for (int i = 0; i < 3; ++i)
    EXPECT_FALSE(body.add_document(std::to_string(i), Version(1), R"({"n":")" + std::string(1'000, 'x') + R"("})"));
  EXPECT_EQ(std::string(body.part(0, 1)) + std::string(body.part(1, 3)), body.part(0, 3));
  EXPECT_EQ(body.part(0, 3).size(), body.bytes());
  EXPECT_TRUE(body.part(1, 2).starts_with(R"({"index":{"_id":"1",)"));
  EXPECT_TRUE(body.part(2, 2).empty());
  const char* memory = body.part(0, 1).data();
  body.clear();
  EXPECT_FALSE(body.add_document("0", Version(1), "{}"));
  EXPECT_EQ(body.part(0, 1).data(), memory);
}

// Ids and payloads of random bytes out of those that have a meaning in JSON.
TEST(BulkBody, IsTwoLinesOfJsonForEachDocumentWhateverItHolds) {
  std::mt19937 random(25);
  const std::string_view pieces[] = {"{",         "}",      "[",        "]",    "\"",
                                     "\\",        "\n",     "\r",       ":",    ",",
                                     "1",         "a",      "\xc3\xa4", "\xff", std::string_view("\0", 1),
                                     "{\"a\":1}", "\"b\":", "\\u000a",  " "};
  BulkBody body;
  std::size_t taken = 0;
  for (int i = 0; i < 50'000; ++i) {
    std::string id = "x";
    std::string payload = random() % 2 == 0 ? "{" : "";
    for (std::size_t n = random() % 4; n > 0; --n) id += pieces[random() % std::size(pieces)];
    for (std::size_t n = random() % 8; n > 0; --n) payload += pieces[random() % std::size(pieces)];
    if (random() % 2 == 0) payload += '}';
    body.clear();
    if (body.add_document(id, Version(1), payload)) continue;
    ++taken;
    const std::vector<std::string> lines = lines_of(body);
    ASSERT_EQ(lines.size(), 2U) << payload;
    const nlohmann::json action = nlohmann::json::parse(lines[0]);
    ASSERT_EQ(action["index"]["_id"], is_plain_id(id) ? id : substitute_id(id));
    nlohmann::json document = nlohmann::json::parse(lines[1]);
    document.erase("reseq_id");
    ASSERT_EQ(document, nlohmann::json::parse(payload));
  }
  EXPECT_GT(taken, 500U);
}

}  // namespace
}  // namespace reseq::opensearch
