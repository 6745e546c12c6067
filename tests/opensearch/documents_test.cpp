// Documents in a real OpenSearch: versions, deletes, ids and payloads of every kind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

#include "consumers/opensearch/document_id.h"
#include "tests/opensearch/scene.h"
#include "tests/opensearch/writes.h"
#include "tests/support/good.h"
#include "tests/support/log_lines.h"

namespace reseq::test {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = remote::Answer::Kind;

class Documents : public testing::Test {
 protected:
  Documents() : settings_(settings_of(server_)) {}
  // By alias, as somebody who searches sees them.
  [[nodiscard]] std::map<std::string, json> seen() const { return server_.documents(settings_.index.name); }
  // With tombstones.
  [[nodiscard]] std::map<std::string, json> stored() const { return server_.documents(settings_.index.name + "-v1"); }

  SearchServer& server_ = SearchServer::shared();
  opensearch::StoreSettings settings_;
};

TEST_F(Documents, AreReplacedByNewerVersionsOnly) {
  const auto store = prepared(settings_);
  Writes first;
  ASSERT_TRUE(first.upsert("a", 100, R"({"n":1})").to(*store));
  EXPECT_THAT(first.kinds(), ElementsAre(Kind::kStored));
  Writes second;
  ASSERT_TRUE(second.upsert("a", 99, R"({"n":2})").upsert("b", 1, "{}").to(*store));
  EXPECT_THAT(second.kinds(), ElementsAre(Kind::kNotNewer, Kind::kStored));
  EXPECT_EQ(second.answers()[0].words, "");
  Writes again;
  ASSERT_TRUE(again.upsert("a", 100, R"({"n":1})").to(*store));
  EXPECT_THAT(again.kinds(), ElementsAre(Kind::kStored));
  Writes newest;
  ASSERT_TRUE(newest.upsert("a", kVersionLimit - 1, R"({"n":3})").to(*store));
  EXPECT_EQ(seen()["a"], (json{{"n", 3}, {"_version", kVersionLimit - 1}}));
}

TEST_F(Documents, StayDeletedAndAreHiddenButNotForgotten) {
  const auto store = prepared(settings_);
  Writes writes;
  ASSERT_TRUE(writes.upsert("a", 1, R"({"n":1})").upsert("b", 2, "{}").to(*store));
  Writes deletes;
  ASSERT_TRUE(deletes.remove("a", 150, 1'700'000'000'000).remove("never-there", 151, 5).to(*store));
  EXPECT_THAT(deletes.kinds(), ElementsAre(Kind::kStored, Kind::kStored));
  Writes late;
  ASSERT_TRUE(late.upsert("a", 120, R"({"n":1})").upsert("never-there", 150, "{}").to(*store));
  EXPECT_THAT(late.kinds(), ElementsAre(Kind::kNotNewer, Kind::kNotNewer));
  EXPECT_THAT(seen(), ElementsAre(testing::Key("b")));
  EXPECT_EQ(stored()["a"], (json{{"reseq_deleted", true}, {"reseq_deleted_at", 1'700'000'000'000}, {"_version", 150}}));
  Writes back;
  ASSERT_TRUE(back.upsert("a", 151, R"({"n":4})").to(*store));
  EXPECT_EQ(seen()["a"], (json{{"n", 4}, {"_version", 151}}));
}

TEST_F(Documents, OfEveryIdAreFoundAgain) {
  const auto store = prepared(settings_);
  const std::vector<std::string> ids = {"products/4711",
                                        "_underscore",
                                        ".",
                                        "a,b c+d?e#f",
                                        "\"quoted\\\"",
                                        std::string("nul\0nul", 7),
                                        "line\nbreak\ttab\x1f",
                                        "\x7f",
                                        "ünïcödé 💾",
                                        "\xf4\x8f\xbf\xbf",
                                        "123",
                                        "0123",
                                        "null",
                                        std::string(512, 'x'),
                                        std::string(513, 'x'),
                                        std::string(4096, 'x'),
                                        std::string(256, '\xc3'),
                                        "\xff\xfe",
                                        "\xed\xa0\x80",
                                        "reseq:e:%ff",
                                        "reseq:h:0",
                                        std::string(4096, '\xff')};
  Writes writes;
  for (const std::string& id : ids) writes.upsert(id, 7, json{{"n", &id - ids.data()}}.dump());
  ASSERT_TRUE(writes.to(*store));
  for (std::size_t i = 0; i < ids.size(); ++i)
    EXPECT_EQ(writes.answers()[i].kind, Kind::kStored) << i << ": " << writes.answers()[i].words;
  const auto seen = this->seen();
  EXPECT_EQ(seen.size(), ids.size());
  for (const std::string& id : ids) {
    const bool plain = opensearch::is_plain_id(id);
    const auto found = seen.find(plain ? id : opensearch::substitute_id(id));
    ASSERT_NE(found, seen.end()) << opensearch::encoded(id).substr(0, 80);
    EXPECT_EQ(found->second["n"], &id - ids.data());
    EXPECT_EQ(found->second.value("reseq_id", ""), plain ? "" : opensearch::encoded(id));
  }
  Writes older;
  for (const std::string& id : ids) older.remove(id, 6, 1);
  ASSERT_TRUE(older.to(*store));
  EXPECT_THAT(older.kinds(), testing::Each(Kind::kNotNewer));
  Writes deletes;
  for (const std::string& id : ids) deletes.remove(id, 8, 1);
  ASSERT_TRUE(deletes.to(*store));
  EXPECT_THAT(deletes.kinds(), testing::Each(Kind::kStored));
  EXPECT_TRUE(this->seen().empty());
}

TEST_F(Documents, ThatTheServerRefusesLeaveTheirNeighboursAlone) {
  settings_.index.body =
      R"({"mappings":{"dynamic":"strict","properties":{"n":{"type":"integer"},"o":{"properties":{}}}}})";
  const auto store = prepared(settings_);
  Writes writes;
  writes.upsert("a", 1, R"({"n":1})")
      .upsert("text", 2, R"({"n":"no number"})")
      .upsert("b", 3, R"({"n":2})")
      .upsert("unknown", 4, R"({"m":1})")
      .upsert("twice", 5, R"({"n":1,"n":2})")
      .upsert("object", 6, R"({"o":7})")
      .upsert("own", 7, R"({"_id":"x","n":1})")
      .remove("c", 8)
      .upsert("d", 9, R"({"n":3})");
  ASSERT_TRUE(writes.to(*store));
  EXPECT_THAT(writes.kinds(), ElementsAre(Kind::kStored, Kind::kRefused, Kind::kStored, Kind::kRefused, Kind::kRefused,
                                          Kind::kRefused, Kind::kRefused, Kind::kStored, Kind::kStored));
  EXPECT_THAT(writes.answers()[1].words, HasSubstr("failed to parse field [n] of type [integer]"));
  EXPECT_THAT(writes.answers()[3].words, HasSubstr("dynamic introduction of [m]"));
  EXPECT_THAT(seen(), ElementsAre(testing::Key("a"), testing::Key("b"), testing::Key("d")));
}

TEST_F(Documents, OfHostilePayloadsChangeNothingElse) {
  const auto store = prepared(settings_);
  const std::string write_alias = settings_.index.name + "-v1-write";
  Writes writes;
  writes.upsert("victim", 1, R"({"n":1})")
      .upsert("lines", 2, "{\"n\":2}\n{\"delete\":{\"_id\":\"victim\",\"_index\":\"" + write_alias + "\"}}")
      .upsert("more", 3, "{\n\"n\":\n3}\n")
      .upsert("text", 4, "no JSON")
      .upsert("nul", 5, std::string("{\"n\":\"\0\"}", 9))
      .upsert("spelled", 6, R"({"text":"a\u0000\nb"})")
      .upsert("hidden", 7, R"({"reseq_deleted":true})")
      .upsert("large", 8, R"({"text":")" + std::string(std::size_t{1} << 20, 'x') + R"("})")
      .upsert("deep", 9, std::string(100, '[').insert(0, "{\"d\":") + std::string(100, ']') + "}");
  ASSERT_TRUE(writes.to(*store));
  EXPECT_THAT(writes.kinds(), ElementsAre(Kind::kStored, Kind::kRefused, Kind::kStored, Kind::kRefused, Kind::kRefused,
                                          Kind::kStored, Kind::kRefused, Kind::kStored, testing::_));
  EXPECT_THAT(writes.answers()[1].words, HasSubstr("no JSON"));
  const auto seen = this->seen();
  EXPECT_EQ(seen.at("victim")["n"], 1);
  EXPECT_EQ(seen.at("more")["n"], 3);
  EXPECT_EQ(seen.at("spelled")["text"], std::string("a\0\nb", 4));
  EXPECT_EQ(seen.at("large")["text"].get<std::string>().size(), std::size_t{1} << 20);
}

TEST_F(Documents, ThatWereDeletedLongAgoAreForgottenAndOthersAreNot) {
  settings_.tombstone_retention = Milliseconds(3'600'000);
  settings_.output_retention = Milliseconds(1'800'000);
  const auto store = prepared(settings_);
  constexpr int kOld = 1'500;  // more than a page
  Writes writes;
  for (int i = 0; i < kOld; ++i) writes.remove("old-" + std::to_string(i), 10, 1'700'000'000'000);
  writes.remove("came-back", 10, 1'700'000'000'000).remove("\xff", 10, 1'700'000'000'000).remove("young", 10);
  writes.upsert("alive", 10, R"({"deleted_at":1})");
  ASSERT_TRUE(writes.to(*store));
  // The search of the sweep has seen the tombstone when the document is there again.
  (void)server_.good("POST", "/" + settings_.index.name + "-v1/_refresh");
  Writes back;
  ASSERT_TRUE(back.upsert("came-back", 11, "{}").to(*store));
  ASSERT_TRUE(store->tend());
  EXPECT_THAT(stored(), ElementsAre(testing::Key("alive"), testing::Key("came-back"), testing::Key("young")));
  EXPECT_EQ(stored()["came-back"]["_version"], 11);
}

TEST_F(Documents, AreReallyDeletedWhereThatIsAskedFor) {
  settings_.index.hard_deletes = true;
  const LogLines log;
  const auto store = prepared(settings_);
  EXPECT_THAT(log.text(), HasSubstr("the server forgets the version of a delete after index.gc_deletes"));
  Writes writes;
  ASSERT_TRUE(writes.upsert("a", 1, "{}").upsert("b", 1, "{}").to(*store));
  Writes deletes;
  ASSERT_TRUE(deletes.remove("a", 150).remove("never-there", 151).remove("b", 0 + 1).to(*store));
  EXPECT_THAT(deletes.kinds(), ElementsAre(Kind::kStored, Kind::kStored, Kind::kStored));
  EXPECT_TRUE(stored().empty());
  // The server remembers them for a minute.
  Writes late;
  ASSERT_TRUE(late.upsert("a", 120, "{}").to(*store));
  EXPECT_THAT(late.kinds(), ElementsAre(Kind::kNotNewer));
  const std::vector<remote::Finding> findings = store->check();
  EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [](const remote::Finding& one) {
    return one.what.find("index.gc_deletes") != std::string::npos;
  }));
}

TEST_F(Documents, FollowTheLastWriteWhereVersionsAreNotChecked) {
  settings_.check = sink::Check::kOff;
  const auto store = prepared(settings_);
  Writes writes;
  ASSERT_TRUE(writes.upsert("a", 0, R"({"n":2})").upsert("b", 0, "{}").to(*store));
  Writes more;
  ASSERT_TRUE(more.upsert("a", 0, R"({"n":1})").remove("b", 0).to(*store));
  EXPECT_THAT(more.kinds(), ElementsAre(Kind::kStored, Kind::kStored));
  EXPECT_EQ(stored()["a"]["n"], 1);
  EXPECT_EQ(stored().size(), 1U);
}

TEST_F(Documents, MayHavePayloadsThatAreNoJson) {
  settings_.payload = opensearch::PayloadForm::kText;
  const auto store = prepared(settings_);
  Writes writes;
  writes.upsert("text", 1, "line\n\t\"two\"").upsert("bytes", 1, std::string("\0\xff", 2)).upsert("none", 1, "");
  ASSERT_TRUE(writes.to(*store));
  EXPECT_THAT(writes.kinds(), testing::Each(Kind::kStored));
  EXPECT_EQ(seen()["text"]["text"], "line\n\t\"two\"");
  EXPECT_EQ(seen()["bytes"]["base64"], "AP8=");
  EXPECT_EQ(seen()["none"]["text"], "");
}

TEST_F(Documents, AreSeenByWhoGetsThemByIdEvenWhenDeleted) {
  const auto store = prepared(settings_);
  Writes writes;
  ASSERT_TRUE(writes.remove("a", 1).to(*store));
  const json got = server_.good("GET", "/" + settings_.index.name + "/_doc/a");
  EXPECT_EQ(got["_source"]["reseq_deleted"], true) << "as docs/opensearch.md warns";
}

TEST_F(Documents, AreTheSameOverCompressedRequests) {
  settings_.http.gzip = true;
  const auto store = prepared(settings_);
  Writes writes;
  for (int i = 0; i < 100; ++i)
    writes.upsert("a" + std::to_string(i), 7, json{{"text", std::string(1'000, 'x')}, {"n", i}}.dump());
  ASSERT_TRUE(writes.to(*store));
  EXPECT_THAT(writes.kinds(), testing::Each(Kind::kStored));
  EXPECT_EQ(seen().size(), 100U);
}

}  // namespace
}  // namespace reseq::test
