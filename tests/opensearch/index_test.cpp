// The index of a real OpenSearch: what is made, what is judged, and what happens when it changes meanwhile.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "tests/opensearch/scene.h"
#include "tests/opensearch/writes.h"
#include "tests/support/good.h"
#include "tests/support/log_lines.h"

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

// As docs/opensearch.md says: a template of the user counts, what --index-body says counts more, and the fields of the
// sink are its own.
TEST_F(Index, IsMadeAsATemplateOfTheUserSays) {
  const json mappings = {
      {"dynamic", "strict"},
      {"properties",
       {{"price", {{"type", "float"}}}, {"title", {{"type", "keyword"}}}, {"reseq_id", {{"type", "text"}}}}}};
  const json settings = {{"index.max_result_window", 777}, {"index.refresh_interval", "7s"}};
  (void)server_.good("PUT", "/_index_template/" + name_,
                     json{{"index_patterns", {name_ + "-v*"}},
                          {"priority", 500},
                          {"template", {{"settings", settings}, {"mappings", mappings}}}}
                         .dump());
  settings_.index.body = R"({"mappings":{"properties":{"title":{"type":"text"}}}})";
  settings_.index.refresh_interval = "5s";
  const auto store = prepared(settings_);
  const json made = server_.good("GET", "/" + name_ + "-v1")[name_ + "-v1"];
  EXPECT_EQ(made["settings"]["index"]["max_result_window"], "777");
  EXPECT_EQ(made["settings"]["index"]["refresh_interval"], "5s");
  EXPECT_EQ(made["mappings"]["dynamic"], "strict");
  EXPECT_EQ(made["mappings"]["properties"]["price"]["type"], "float");
  EXPECT_EQ(made["mappings"]["properties"]["title"]["type"], "text");
  EXPECT_EQ(made["mappings"]["properties"]["reseq_id"]["type"], "keyword");
  EXPECT_EQ(made["aliases"].size(), 2U);
  EXPECT_EQ(refusal(), "");
  Writes writes;
  ASSERT_TRUE(
      writes.upsert("a", 1, R"({"price":1.5})").upsert("\xff", 2, "{}").upsert("b", 3, R"({"new":1})").to(*store));
  EXPECT_THAT(writes.kinds(), ElementsAre(Kind::kStored, Kind::kStored, Kind::kRefused));
  (void)server_.good("DELETE", "/_index_template/" + name_);
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

// What --check says of writing.
remote::Finding writing(OpenSearchStore& store) {
  const std::vector<remote::Finding> findings = store.check();
  const auto found = std::find_if(findings.begin(), findings.end(), [](const remote::Finding& one) {
    return one.what.find("documents may be written") == 0;
  });
  return found == findings.end() ? remote::Finding{.what = "nothing", .to_do = ""} : *found;
}

TEST_F(Index, ThatMayNotBeWrittenIsToldByTheCheckAndLetsItStart) {
  const auto store = prepared(settings_);
  EXPECT_TRUE(writing(*store).good) << writing(*store).to_do;
  const auto set = [&](const std::string& path, const json& settings) {
    (void)server_.good("PUT", path, settings.dump());
  };
  for (const char* block : {"index.blocks.write", "index.blocks.read_only", "index.blocks.read_only_allow_delete"}) {
    set("/" + name_ + "-v1/_settings", {{block, true}});
    EXPECT_FALSE(writing(*store).good) << block;
    EXPECT_THAT(writing(*store).to_do, testing::AllOf(HasSubstr("blocked by"), HasSubstr(name_ + "-v1"))) << block;
    EXPECT_TRUE(good(OpenSearchStore::open(settings_))->prepare()) << block;
    set("/" + name_ + "-v1/_settings", {{block, nullptr}});
    EXPECT_TRUE(writing(*store).good) << block;
  }
  for (const char* block : {"cluster.blocks.read_only", "cluster.blocks.read_only_allow_delete"}) {
    set("/_cluster/settings", {{"persistent", {{block, true}}}});
    EXPECT_FALSE(writing(*store).good) << block;
    EXPECT_THAT(writing(*store).to_do, HasSubstr("blocked by")) << block;
    set("/_cluster/settings", {{"persistent", {{block, nullptr}}}});
    EXPECT_TRUE(writing(*store).good) << block;
  }
}

// It asks by writes: none of them may leave a trace, also where a document has the id that they name.
TEST_F(Index, IsNotChangedByTheCheck) {
  settings_.tombstone_retention = Milliseconds(3'600'000);
  settings_.output_retention = Milliseconds(1'800'000);
  const auto store = prepared(settings_);
  const auto all = [&] {
    json found = server_.good("GET", "/" + name_ + "-v1");
    found["documents"] = server_.documents(name_ + "-v1");  // refreshes what the numbers count
    const json stats = server_.good("GET", "/" + name_ + "-v1/_stats/docs,translog?level=shards")["indices"];
    for (const auto& [index, of_index] : stats.items())
      for (const auto& [shard, copies] : of_index["shards"].items())
        found[index + "." + shard] = {copies[0]["seq_no"], copies[0]["docs"], copies[0]["translog"]["operations"]};
    return found;
  };
  const json empty = all();
  EXPECT_EQ(writing(*store).what, "documents may be written and deleted by " + name_ + "-v1-write");
  EXPECT_TRUE(writing(*store).good) << writing(*store).to_do;
  EXPECT_EQ(all(), empty);
  Writes writes;
  ASSERT_TRUE(writes.upsert("reseq-check", 1, R"({"n":1})").to(*store));
  const json with_document = all();
  EXPECT_NE(with_document, empty);
  EXPECT_TRUE(writing(*store).good) << writing(*store).to_do;
  EXPECT_EQ(all(), with_document);
  Writes deletes;
  ASSERT_TRUE(deletes.remove("reseq-check", 2, 1).to(*store));
  const json with_tombstone = all();
  EXPECT_TRUE(writing(*store).good) << writing(*store).to_do;
  EXPECT_EQ(all(), with_tombstone);
}

TEST_F(Index, ThatWasDeletedIsMissedAndNotMadeAnew) {
  const auto store = prepared(settings_);
  EXPECT_TRUE(store->ask());
  (void)server_.good("DELETE", "/" + name_ + "-v1");
  EXPECT_FALSE(store->ask());
  Writes writes;
  const Result<> written = writes.upsert("a", 1, "{}").remove("b", 2).to(*store);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().what_to_do, ErrorClass::kInvalid);
  EXPECT_THAT(written.error().message, HasSubstr(name_ + "-v1-write"));
  EXPECT_THAT(written.error().message, HasSubstr("restore it, or begin anew"));
  EXPECT_THAT(writes.kinds(), Each(Kind::kAgain));
  EXPECT_EQ(server_.ask("GET", "/" + name_ + "-v1")["status"], 404);
}

// Where nothing is visible before a refresh; and where only a delete is remembered.
TEST_F(Index, IsEmptyUntilSomethingIsWrittenAndWhenItIsEmptied) {
  settings_.index.refresh_interval = "-1";
  const auto store = prepared(settings_);
  EXPECT_TRUE(good(store->is_empty()));
  (void)good(Writes().remove("b", 2).to(*store));
  EXPECT_FALSE(good(store->is_empty()));
  (void)server_.good("DELETE", "/" + name_ + "-v1/_doc/b");
  EXPECT_TRUE(good(store->is_empty()));
  (void)server_.good("POST", "/" + name_ + "-v1/_close");
  EXPECT_FALSE(good(store->is_empty())) << "nobody can tell";
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

TEST_F(Index, ThatForgetsWhatItAcknowledgedIsTold) {
  (void)prepared(settings_);
  (void)server_.good("PUT", "/" + name_ + "-v1/_settings", json{{"index.translog.durability", "async"}}.dump());
  const LogLines log;
  ASSERT_TRUE(good(OpenSearchStore::open(settings_))->prepare());
  EXPECT_THAT(log.text(), HasSubstr("index.translog.durability is async"));
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
