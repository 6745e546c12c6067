// Documents that failed, in a real OpenSearch: what is not indexed, and why, is one search; whoever searches documents
// sees none of it; and an index of an older version gets the field.
#include <algorithm>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <string>

#include "tests/opensearch/output_topic.h"
#include "tests/opensearch/scene.h"
#include "tests/opensearch/writes.h"
#include "tests/support/good.h"
#include "tests/support/log_lines.h"
#include "tests/support/source_path.h"

namespace reseq::test {
namespace {

using nlohmann::json;
using opensearch::OpenSearchStore;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;
using Kind = remote::Answer::Kind;

using Errors = std::map<std::string, std::string>;

// As docs/failures.md asks, behind the name of the index.
const std::string kNotIndexed = "/_search?q=_exists_:reseq_failed&_source=reseq_failed";

// What is not indexed, and why, by `_id`; in an index of the first generation.
Errors failed_in(const SearchServer& server, const std::string& name, const std::string& question = kNotIndexed) {
  (void)server.good("POST", "/" + name + "-v1/_refresh");
  Errors errors;
  const json found = server.good("GET", "/" + name + "-v1" + question);
  for (const json& hit : found["hits"]["hits"])
    errors[hit["_id"]] = hit["_source"]["reseq_failed"].value("error", "nothing");
  return errors;
}

class Markers : public testing::Test {
 protected:
  Markers() : settings_(settings_of(server_)), name_(settings_.index.name) {}
  [[nodiscard]] std::map<std::string, json> seen() const { return server_.documents(name_); }
  [[nodiscard]] Errors failed(const std::string& question = kNotIndexed) const {
    return failed_in(server_, name_, question);
  }
  // An index as versions before markers made it.
  void make_older(const std::string& dynamic) const {
    (void)server_.good(
        "PUT", "/" + name_ + "-v1",
        json{{"aliases",
              {{name_ + "-v1-write", json::object()},
               {name_, {{"filter", {{"bool", {{"must_not", {{"term", {{"reseq_deleted", true}}}}}}}}}}}}},
             {"mappings",
              {{"dynamic", dynamic},
               {"properties",
                {{"n", {{"type", "integer"}}},
                 {"reseq_deleted", {{"type", "boolean"}}},
                 {"reseq_deleted_at", {{"type", "date"}, {"format", "epoch_millis"}}},
                 {"reseq_id", {{"type", "keyword"}, {"index", false}, {"doc_values", false}}}}}}}}
            .dump());
  }

  SearchServer& server_ = SearchServer::shared();
  opensearch::StoreSettings settings_;
  std::string name_;
};

TEST_F(Markers, TellWhatIsNotIndexedAndWhyAndAreNoDocuments) {
  const auto store = prepared(settings_);
  Writes documents;
  ASSERT_TRUE(documents.upsert("a", 1, R"({"n":1})").upsert("b", 2, R"({"error":"of its own"})").to(*store));
  Writes markers;
  markers.fail("a", 3, "not a PDF").fail("never-there", 4, "connection refused").fail("\xff", 5, "locked");
  ASSERT_TRUE(markers.to(*store));
  EXPECT_THAT(markers.kinds(), ElementsAre(Kind::kStored, Kind::kStored, Kind::kStored));
  EXPECT_THAT(failed(), ElementsAre(Pair("a", "not a PDF"), Pair("never-there", "connection refused"),
                                    Pair("reseq:e:%ff", "locked")));
  EXPECT_THAT(seen(), ElementsAre(Key("b"))) << "who searches documents has documents";
  EXPECT_THAT(failed("/_search?q=reseq_failed.error:connection"), ElementsAre(Key("never-there"))) << "by a word";
  EXPECT_THAT(failed("/_search?q=reseq_failed.attempts:3%20AND%20reseq_failed.failed_at:2026-11-29"),
              ElementsAre(Key("a"), Key("never-there"), Key("reseq:e:%ff")));
  const json counts = server_.good("GET", "/" + name_ + "-v1/_search",
                                   R"({"size":0,"aggs":{"why":{"terms":{"field":"reseq_failed.error.keyword"}}}})");
  EXPECT_EQ(counts["aggregations"]["why"]["buckets"].size(), 3U);
}

TEST_F(Markers, AreReplacedByWhatIsNewerOnly) {
  const auto store = prepared(settings_);
  const auto write = [&](Writes writes) {
    good(writes.to(*store));
    return writes.kinds().at(0);
  };
  EXPECT_EQ(write(Writes().fail("a", 5, "first")), Kind::kStored);
  EXPECT_EQ(write(Writes().upsert("a", 4, R"({"n":4})")), Kind::kNotNewer);
  EXPECT_EQ(write(Writes().remove("a", 4)), Kind::kNotNewer);
  EXPECT_EQ(write(Writes().fail("a", 5, "first")), Kind::kStored) << "the same again";
  EXPECT_THAT(failed(), ElementsAre(Pair("a", "first")));
  EXPECT_EQ(write(Writes().fail("a", 6, "second")), Kind::kStored);
  EXPECT_THAT(failed(), ElementsAre(Pair("a", "second")));
  EXPECT_EQ(write(Writes().upsert("a", 7, R"({"n":7})")), Kind::kStored);
  EXPECT_THAT(failed(), IsEmpty());
  EXPECT_EQ(seen()["a"], (json{{"n", 7}, {"_version", 7}}));
  EXPECT_EQ(write(Writes().fail("a", 8, "third")), Kind::kStored);
  EXPECT_EQ(write(Writes().remove("a", 9, 5)), Kind::kStored);
  EXPECT_THAT(failed(), IsEmpty());
  EXPECT_EQ(write(Writes().fail("a", 8, "late")), Kind::kNotNewer);
  EXPECT_EQ(server_.documents(name_ + "-v1")["a"],
            (json{{"reseq_deleted", true}, {"reseq_deleted_at", 5}, {"_version", 9}}));
}

// A hard delete takes a marker away as it takes a document away.
TEST_F(Markers, AreStoredAlsoWhereDeletesAreHardOrPayloadsAreText) {
  settings_.index.hard_deletes = true;
  settings_.payload = opensearch::PayloadForm::kText;
  const auto store = prepared(settings_);
  good(Writes().fail("a", 5, "not a PDF").fail("b", 6, "locked").to(*store));
  EXPECT_THAT(failed(), ElementsAre(Pair("a", "not a PDF"), Pair("b", "locked")));
  good(Writes().remove("a", 7).to(*store));
  EXPECT_THAT(failed(), ElementsAre(Pair("b", "locked")));
}

TEST_F(Markers, AreNotForgottenWithOldDeletes) {
  settings_.tombstone_retention = Milliseconds(3'600'000);
  settings_.output_retention = Milliseconds(1'800'000);
  const auto store = prepared(settings_);
  good(Writes().remove("deleted", 10, 1'700'000'000'000).fail("failed", 11, "not a PDF").to(*store));
  (void)server_.good("POST", "/" + name_ + "-v1/_refresh");
  good(store->tend());
  EXPECT_THAT(server_.documents(name_ + "-v1"), ElementsAre(Key("failed")));
}

TEST_F(Markers, GetTheirFieldInAnIndexOfAnOlderVersion) {
  for (const char* dynamic : {"true", "false", "strict"}) {
    make_older(dynamic);
    const auto to_know = [&] {
      std::string told;
      for (const remote::Finding& finding : good(OpenSearchStore::open(settings_))->check())
        told += finding.good ? finding.what + "\n" : "bad: " + finding.to_do;
      return told;
    };
    EXPECT_THAT(to_know(), HasSubstr("to know: " + name_ + "-v1 has no field reseq_failed yet")) << dynamic;
    const LogLines log;
    const auto store = prepared(settings_);
    EXPECT_THAT(log.text(), Not(HasSubstr("reseq_failed"))) << dynamic;
    EXPECT_THAT(to_know(), Not(HasSubstr("reseq_failed"))) << dynamic;
    Writes writes;
    ASSERT_TRUE(writes.upsert("a", 1, R"({"n":1})").fail("b", 2, "not a PDF").to(*store));
    EXPECT_THAT(writes.kinds(), ElementsAre(Kind::kStored, Kind::kStored)) << dynamic;
    EXPECT_THAT(failed(), ElementsAre(Pair("b", "not a PDF"))) << dynamic;
    EXPECT_THAT(seen(), ElementsAre(Key("a"))) << "by the alias that was there";
    (void)server_.good("DELETE", "/" + name_ + "-v1");
  }
}

TEST_F(Markers, KeepASinkFromNothingWhereTheirFieldCannotBeMapped) {
  make_older("true");
  (void)server_.good("PUT", "/" + name_ + "-v1/_settings", R"({"index.blocks.metadata":true})");
  const LogLines log;
  const bool is_prepared = good(OpenSearchStore::open(settings_))->prepare().ok();
  (void)server_.good("PUT", "/" + name_ + "-v1/_settings", R"({"index.blocks.metadata":null})");
  EXPECT_FALSE(is_prepared) << "not even the index can be looked at";
  (void)server_.good("PUT", "/" + name_ + "-v1/_settings", R"({"index.mapping.total_fields.limit":4})");
  ASSERT_TRUE(good(OpenSearchStore::open(settings_))->prepare());
  EXPECT_THAT(log.text(),
              HasSubstr("the field reseq_failed cannot be mapped, so that what failed is perhaps not found"));
}

TEST_F(Markers, AreRefusedAnIndexWhoseFieldIsAnother) {
  make_older("true");
  (void)server_.good("PUT", "/" + name_ + "-v1/_mapping",
                     R"({"properties":{"reseq_failed":{"properties":{"error":{"type":"integer"}}}}})");
  const Result<> prepared = good(OpenSearchStore::open(settings_))->prepare();
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().what_to_do, ErrorClass::kInvalid);
  EXPECT_THAT(prepared.error().message,
              HasSubstr("the field reseq_failed.error of " + name_ + "-v1 is mapped as integer and has to be text"));
}

// The program, with records as they stand in the topic.
TEST(Program, StoresMarkersOfATopicAndForgetsThemWithWhatIsNewer) {
  SearchServer& server = SearchServer::shared();
  OutputTopic topic("failed", server);
  topic.write("a", 1, R"({"n":1})");
  topic.fail("a", 2, "not a PDF");
  topic.fail("b", 3, "locked");
  topic.fail("c", 4, "locked");
  topic.fail("d", 5, std::nullopt);
  topic.write("b", 6, R"({"n":6})");
  topic.write("c", 7, std::nullopt);
  topic.write("a", 1, R"({"n":1})");
  topic.fail("b", 3, "locked");
  topic.flush();
  const std::unique_ptr<Process> sink = topic.start("sink", {"--batch-records", "1"});
  EXPECT_EQ(topic.wait_until_read(topic.group()), "") << topic.log_of("sink");
  EXPECT_EQ(OutputTopic::end(*sink), 0) << topic.log_of("sink");
  EXPECT_THAT(failed_in(server, topic.index()), ElementsAre(Pair("a", "not a PDF"), Pair("d", "nothing")));
  EXPECT_THAT(topic.differences(), IsEmpty());
  EXPECT_EQ(topic.dead_letters(), 0U);
}

TEST(Program, IsAskedForWhatIsNotIndexedAsTheDocumentationSays) {
  std::ifstream file(source_path("docs/failures.md"));
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(text, HasSubstr("shop-v1" + kNotIndexed));
}

}  // namespace
}  // namespace reseq::test
