// The index of a real OpenSearch: what is made, what is judged, and what happens when it changes meanwhile.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "tests/opensearch/scene.h"
#include "tests/opensearch/writes.h"
#include "tests/support/good.h"

namespace reseq::test {
namespace {

using nlohmann::json;
using opensearch::OpenSearchStore;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = remote::Answer::Kind;

class Index : public testing::Test {
 protected:
  Index() : settings_(settings_of(server_)), name_(settings_.index.name) {}

  // Why it cannot be used, as the start and as --check says it.
  [[nodiscard]] std::string refusal() const {
    const auto store = good(OpenSearchStore::open(settings_));
    std::string found;
    for (const remote::Finding& finding : store->check())
      if (!finding.good) found += finding.to_do;
    const Result<> prepared = store->prepare();
    EXPECT_EQ(prepared.ok(), found.empty()) << found;
    if (prepared) return "";
    EXPECT_EQ(prepared.error().what_to_do, ErrorClass::kInvalid);
    EXPECT_EQ(prepared.error().message, found);
    return found;
  }

  SearchServer& server_ = SearchServer::shared();
  opensearch::StoreSettings settings_;
  std::string name_;
};

TEST_F(Index, IsMadeOnceWithItsAliasesAndItsFields) {
  settings_.index.refresh_interval = "5s";
  settings_.index.body =
      R"({"settings":{"index":{"number_of_replicas":0}},"mappings":{"properties":{"n":{"type":"long"}}}})";
  (void)prepared(settings_);
  (void)prepared(settings_);
  const json made = server_.good("GET", "/" + name_ + "-v1")[name_ + "-v1"];
  EXPECT_EQ(made["aliases"].size(), 2U);
  EXPECT_EQ(made["aliases"][name_ + "-v1-write"], json::object());
  EXPECT_TRUE(made["aliases"][name_].contains("filter"));
  EXPECT_EQ(made["mappings"]["properties"]["reseq_deleted"]["type"], "boolean");
  EXPECT_EQ(made["mappings"]["properties"]["reseq_deleted_at"]["type"], "date");
  EXPECT_EQ(made["mappings"]["properties"]["reseq_id"]["type"], "keyword");
  EXPECT_EQ(made["mappings"]["properties"]["n"]["type"], "long");
  EXPECT_EQ(made["settings"]["index"]["refresh_interval"], "5s");
  EXPECT_EQ(made["settings"]["index"]["number_of_replicas"], "0");
}

TEST_F(Index, OfTheNextGenerationLeavesTheAliasToWhoDecides) {
  (void)prepared(settings_);
  settings_.index.generation = 2;
  const auto store = prepared(settings_);
  Writes writes;
  ASSERT_TRUE(writes.upsert("a", 1, "{}").to(*store));
  EXPECT_TRUE(server_.documents(name_).empty());
  EXPECT_EQ(server_.documents(name_ + "-v2").size(), 1U);
  bool told = false;
  for (const remote::Finding& finding : store->check())
    told = told || finding.what.find("move it when this one has caught up") != std::string::npos;
  EXPECT_TRUE(told);
}

TEST_F(Index, IsNotMadeWhereSomethingElseHasItsName) {
  (void)server_.good("PUT", "/" + name_);
  EXPECT_THAT(refusal(), HasSubstr("there is an index with the name " + name_));
}

TEST_F(Index, IsNoDataStream) {
  (void)server_.good("PUT", "/_index_template/" + name_,
                     json{{"index_patterns", {name_}}, {"data_stream", json::object()}, {"priority", 500}}.dump());
  (void)server_.good("PUT", "/_data_stream/" + name_);
  EXPECT_THAT(refusal(), HasSubstr("is a data stream"));
  (void)server_.good("DELETE", "/_data_stream/" + name_);
  (void)server_.good("DELETE", "/_index_template/" + name_);
}

TEST_F(Index, OfSomebodyElseIsNotTaken) {
  (void)server_.good("PUT", "/" + name_ + "-v1",
                     R"({"mappings":{"properties":{"reseq_deleted":{"type":"boolean"},"reseq_id":{"type":"keyword"},)"
                     R"("reseq_deleted_at":{"type":"date"}}}})");
  EXPECT_THAT(refusal(), HasSubstr("has no alias " + name_ + "-v1-write"));
}

TEST_F(Index, WithAnotherMappingIsNotTaken) {
  (void)server_.good("PUT", "/" + name_ + "-v1",
                     json{{"aliases", {{name_ + "-v1-write", json::object()}}},
                          {"mappings",
                           {{"properties",
                             {{"reseq_deleted", {{"type", "text"}}},
                              {"reseq_id", {{"type", "keyword"}}},
                              {"reseq_deleted_at", {{"type", "date"}}}}}}}}
                         .dump());
  EXPECT_THAT(refusal(), HasSubstr("the field reseq_deleted of " + name_ + "-v1 is mapped as text"));
}

TEST_F(Index, WhoseAliasShowsDeletedDocumentsIsNotTaken) {
  (void)prepared(settings_);
  EXPECT_EQ(refusal(), "");
  (void)server_.good(
      "POST", "/_aliases",
      json{{"actions",
            {{{"add", {{"index", name_ + "-v1"}, {"alias", name_}, {"filter", {{"match_all", json::object()}}}}}}}}}
          .dump());
  EXPECT_THAT(refusal(), HasSubstr("does not hide deleted documents"));
}

TEST_F(Index, ThatIsClosedIsNotTakenAndIsWaitedForLater) {
  const auto store = prepared(settings_);
  (void)server_.good("POST", "/" + name_ + "-v1/_close");
  EXPECT_THAT(refusal(), HasSubstr("is closed: open it"));
  Writes writes;
  (void)writes.upsert("a", 1, "{}").to(*store);
  EXPECT_THAT(writes.kinds(), ElementsAre(Kind::kAgain));
  (void)server_.good("POST", "/" + name_ + "-v1/_open?wait_for_active_shards=1");
  writes.all_to(*store);
  EXPECT_THAT(writes.kinds(), ElementsAre(Kind::kStored));
}

TEST_F(Index, ThatMayNotBeWrittenForAWhileIsWaitedFor) {
  const auto store = prepared(settings_);
  for (const char* block : {"index.blocks.write", "index.blocks.read_only_allow_delete"}) {
    (void)server_.good("PUT", "/" + name_ + "-v1/_settings", json{{block, true}}.dump());
    Writes writes;
    (void)writes.upsert(block, 1, "{}").to(*store);
    EXPECT_THAT(writes.kinds(), ElementsAre(Kind::kAgain)) << block;
    (void)server_.good("PUT", "/" + name_ + "-v1/_settings", json{{block, nullptr}}.dump());
    writes.all_to(*store);
    EXPECT_THAT(writes.kinds(), ElementsAre(Kind::kStored)) << block;
  }
}

TEST_F(Index, ThatWasDeletedIsMissedAndNotMadeAnew) {
  const auto store = prepared(settings_);
  (void)server_.good("DELETE", "/" + name_ + "-v1");
  Writes writes;
  const Result<> written = writes.upsert("a", 1, "{}").remove("b", 2).to(*store);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().what_to_do, ErrorClass::kInvalid);
  EXPECT_THAT(written.error().message, HasSubstr(name_ + "-v1-write"));
  EXPECT_THAT(written.error().message, HasSubstr("restore it, or begin anew"));
  EXPECT_THAT(writes.kinds(), Each(Kind::kAgain));
  EXPECT_EQ(server_.ask("GET", "/" + name_ + "-v1")["status"], 404);
}

// Of deletes the server does not ask for an alias: it would make an index with its name, and all would seem well.
TEST_F(Index, ThatWasDeletedIsMissedByDeletesAlone) {
  settings_.index.hard_deletes = true;
  const auto store = prepared(settings_);
  (void)server_.good("DELETE", "/" + name_ + "-v1");
  Writes writes;
  const Result<> written = writes.remove("b", 2).to(*store);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().what_to_do, ErrorClass::kInvalid);
  EXPECT_THAT(written.error().message, HasSubstr("restore it, or begin anew"));
  EXPECT_THAT(writes.kinds(), Each(Kind::kAgain));
  EXPECT_EQ(server_.ask("GET", "/" + name_ + "-v1-write")["status"], 404);
}

TEST_F(Index, WhoseAliasIsGoneTellsSo) {
  (void)prepared(settings_);
  (void)server_.good("DELETE", "/" + name_ + "-v1/_alias/" + name_);
  const auto findings = good(OpenSearchStore::open(settings_))->check();
  EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [&](const remote::Finding& one) {
    return one.what.find("there is no alias " + name_ + ": nobody finds") != std::string::npos;
  }));
}

TEST_F(Index, WhoseAliasLeadsToTwoIndicesIsToldAndRefusesNoDocument) {
  const auto store = prepared(settings_);
  const std::string other = name_ + "-other";
  (void)server_.good("PUT", "/" + other, json{{"aliases", {{name_ + "-v1-write", json::object()}}}}.dump());
  Writes writes;
  const Result<> written = writes.upsert("a", 1, "{}").upsert("b", 2, "{}").to(*store);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().what_to_do, ErrorClass::kInvalid);
  EXPECT_THAT(written.error().message, HasSubstr("no write index is defined for alias"));
  EXPECT_THAT(writes.kinds(), Each(Kind::kAgain));
  (void)server_.good("DELETE", "/" + other);
  writes.all_to(*store);
  EXPECT_THAT(writes.kinds(), Each(Kind::kStored));
}

TEST_F(Index, WhosePipelineIsMissingIsToldAndRefusesNoDocument) {
  const auto store = prepared(settings_);
  (void)server_.good("PUT", "/" + name_ + "-v1/_settings", json{{"index.default_pipeline", "no-such"}}.dump());
  Writes writes;
  const Result<> written = writes.upsert("a", 1, "{}").to(*store);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().what_to_do, ErrorClass::kInvalid);
  EXPECT_THAT(written.error().message, HasSubstr("no-such"));
  EXPECT_THAT(writes.kinds(), Each(Kind::kAgain));
}

TEST_F(Index, IsTakenWithUnusableWordsOfTheUserOnlyWhenTheyAreRight) {
  const auto fails_with = [&](const std::string& body, const std::string& words) {
    settings_.index.body = body;
    const Result<> prepared = good(OpenSearchStore::open(settings_))->prepare();
    ASSERT_FALSE(prepared) << body;
    EXPECT_EQ(prepared.error().what_to_do, ErrorClass::kInvalid);
    EXPECT_THAT(prepared.error().message, HasSubstr(words));
  };
  fails_with("{", "--index-body is no JSON object");
  fails_with(R"({"aliases":{}})", "nothing else");
  fails_with(R"({"mappings":{"properties":7}})", "\"properties\"");
  fails_with(R"({"settings":{"number_of_shards":"many"}})", "answers 400");
  fails_with(R"({"mappings":{"properties":{"n":{"type":"no such type"}}}})", "no such type");
}

TEST_F(Index, ForgetsDeletesOnlyWhenNoOlderResultCanCome) {
  settings_.tombstone_retention = Milliseconds(3'600'000);
  EXPECT_THAT(refusal(), HasSubstr("keeps records for ever"));
  settings_.output_retention = Milliseconds(3'600'000);
  EXPECT_THAT(refusal(), HasSubstr("the output topic keeps records for 3600 s"));
  settings_.output_retention = Milliseconds(3'599'000);
  EXPECT_EQ(refusal(), "");
}

TEST_F(Index, NamesThatTheServerDoesNotTakeAreRefusedBeforehand) {
  for (const char* name : {"", "Shop", "-shop", "_shop", ".shop", "a b", "a/b", "a,b", "a*", "a#b", "\xc3\xa4"}) {
    settings_.index.name = name;
    const auto opened = OpenSearchStore::open(settings_);
    ASSERT_FALSE(opened) << name;
    EXPECT_EQ(opened.error().what_to_do, ErrorClass::kInvalid);
  }
}

TEST_F(Index, IsNotThereWhereNobodyListens) {
  settings_.http.urls = {"http://127.0.0.1:1"};
  const auto store = good(OpenSearchStore::open(settings_));
  const Result<> prepared = store->prepare();
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().what_to_do, ErrorClass::kRetriable);
  EXPECT_THAT(prepared.error().message, HasSubstr("http://127.0.0.1:1"));
  // With a second address the next try goes there.
  settings_.http.urls = {"http://127.0.0.1:1", server_.url()};
  const auto other = good(OpenSearchStore::open(settings_));
  EXPECT_FALSE(other->prepare());
  EXPECT_TRUE(other->prepare());
}

}  // namespace
}  // namespace reseq::test
