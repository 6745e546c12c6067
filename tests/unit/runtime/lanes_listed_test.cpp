// What an instance lists of lanes, of a worker on a simulated Kafka: what is held, what it waits for, how much.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "telling_worker.h"

namespace reseq::runtime {
namespace {

using admin::State;
using Ids = std::vector<std::string>;
constexpr std::int64_t kTimeoutMs = 600'000;

class LanesListed : public TellingWorker {
 protected:
  LanesListed() : TellingWorker(with_both()) {}
  static config::Settings with_both() {
    config::Settings settings = of_one_target();
    settings.targets.push_back({.name = "history", .order = "strict"});
    settings.targets.push_back({.name = "audit", .order = "total"});
    settings.orders_gap_timeout_ms = kTimeoutMs;
    return settings;
  }
  void append(const std::string& topic, const std::string& id, const std::vector<simulation::StoredHeader>& headers) {
    broker.append({*broker.topic(topic), Partition(0)}, {id, "{}", headers, broker.now()});
  }
  void request(const std::string& id, int order, const std::string& targets) {
    append("app.requests", id, {{"reseq-seq", std::to_string(order)}, {"reseq-targets", targets}});
    steps(50);
  }
  void result(const std::string& id, int order, const std::string& target) {
    append("app.commands", id,
           {{"reseq-command", "sequence"}, {"reseq-seq", std::to_string(order)}, {"reseq-target", target}});
    steps(50);
  }
  Ids listed(State state, admin::ListQuery list = {}) {
    list.state = state;
    Ids ids;
    const StateAnswered answer = ask(list);
    EXPECT_TRUE(answer->ended || !answer->cursor.empty());
    for (const FoundDocument& one : answer->documents) ids.push_back(one.id);
    return ids;
  }
  admin::Json lane_of(const std::string& id, const std::string& target) {
    const admin::Json told = state_json(*ask(admin::DocumentQuery{id}), application, clock.now());
    for (const admin::Json& lane : told["documents"][0]["lanes"])
      if (lane["target"] == target) return lane;
    return {};
  }
};

TEST_F(LanesListed, NameWhatIsHeldAndWhatHoldsItBack) {
  request("alone", 1, "history");  // it holds nothing back
  request("book", 1, "history");
  request("book", 2, "history");
  request("film", 1, "audit");
  request("song", 1, "audit");
  EXPECT_EQ(listed(State::kHeld), Ids{});
  EXPECT_EQ(listed(State::kGap), Ids{}) << "what nothing waits for is no gap";
  result("book", 2, "history");
  result("song", 1, "audit");
  EXPECT_EQ(listed(State::kHeld), (Ids{"book", "song"}));
  EXPECT_EQ(listed(State::kGap), (Ids{"book", "film"}));
  const admin::Json book = lane_of("book", "history");
  EXPECT_EQ(book["waits_for"]["order"]["seq"], "1");
  EXPECT_EQ(book["held"]["order"]["seq"], "2");
  EXPECT_EQ(book["held"]["results"], 1);
  EXPECT_EQ(book["blocks"]["results"], 1);
  const admin::Json song = lane_of("song", "audit");
  EXPECT_EQ(song["waits_for"]["id"], "film");
  EXPECT_FALSE(song.contains("blocks")) << "it is held itself";
  EXPECT_EQ(lane_of("film", "audit")["blocks"]["results"], 1);
  EXPECT_FALSE(lane_of("alone", "history").contains("blocks"));
  result("film", 1, "audit");
  EXPECT_EQ(listed(State::kHeld), (Ids{"book"}));
  EXPECT_EQ(listed(State::kGap), (Ids{"book"})) << "what has left its lane is a gap for ever";
}

TEST_F(LanesListed, CountHowLongSomethingIsHeldAndHowLongAGapIsWaitedFor) {
  request("book", 1, "history");
  request("book", 2, "history");
  ticks(2'000);  // of ten milliseconds
  result("book", 2, "history");
  admin::ListQuery list;
  list.older_than = Milliseconds(15'000);
  EXPECT_EQ(listed(State::kHeld, list), Ids{}) << "its result came just now";
  EXPECT_EQ(listed(State::kGap, list), (Ids{"book"}));
  ticks(2'000);
  EXPECT_EQ(listed(State::kHeld, list), (Ids{"book"}));
}

TEST_F(LanesListed, AreBoundedByAPageAndGoOnBehindIt) {
  for (const char* id : {"a", "b", "c"}) {
    request(id, 1, "history");
    request(id, 2, "history");
    result(id, 2, "history");
  }
  admin::ListQuery list;
  list.partition = Partition(0);
  list.state = State::kHeld;
  list.documents_max = 2;
  const StateAnswered first = ask(list);
  ASSERT_EQ(first->documents.size(), 2U);
  EXPECT_FALSE(first->ended);
  list.cursor = first->cursor;
  const StateAnswered second = ask(list);
  ASSERT_EQ(second->documents.size(), 1U);
  EXPECT_EQ(second->documents.front().id, "c");
  admin::ListQuery prefixed;
  prefixed.id_prefix = "b";
  EXPECT_EQ(listed(State::kGap, prefixed), (Ids{"b"}));
}

// One document of a thousand results must not keep the worker.
TEST_F(LanesListed, CountSoManyResultsOfADocumentAndPagesEndBehindThem) {
  const int many = static_cast<int>(kHeldCountedMax) + 2;
  const int documents = static_cast<int>(kListRowsMax / kHeldCountedMax) + 1;
  for (int document = 0; document < documents; ++document) {
    const std::string id = "d" + std::to_string(document);
    for (int order = 1; order <= many; ++order)
      append("app.requests", id, {{"reseq-seq", std::to_string(order)}, {"reseq-targets", "history"}});
    steps(200);
    for (int order = 2; order <= many; ++order)
      append("app.commands", id,
             {{"reseq-command", "sequence"}, {"reseq-seq", std::to_string(order)}, {"reseq-target", "history"}});
    steps(200);
  }
  while (worker.report().partitions.front().held_records < static_cast<std::uint64_t>(documents * (many - 1)))
    steps(10);
  const admin::Json lane = lane_of("d0", "history");
  EXPECT_EQ(lane["held"]["results"], kHeldCountedMax);
  EXPECT_TRUE(lane["held"].value("more", false));
  EXPECT_TRUE(lane["blocks"].value("more", false));
  admin::ListQuery list;
  list.partition = Partition(0);
  list.state = State::kHeld;
  const StateAnswered page = ask(list);
  EXPECT_FALSE(page->ended) << "all lanes of the partition were looked at for one page";
  EXPECT_LT(page->documents.size(), static_cast<std::size_t>(documents));
  list.cursor = page->cursor;
  EXPECT_EQ(page->documents.size() + ask(list)->documents.size(), static_cast<std::size_t>(documents));
}

// A reply has to fit into its topic, also when every document names one with the longest id.
TEST_F(LanesListed, FillAPageWithTheIdsOfOthers) {
  request(std::string(kMaxIdBytes, 'z'), 1, "audit");
  const int documents = 40;
  for (int i = 10; i < 10 + documents; ++i) {
    request("d" + std::to_string(i), 1, "audit");
    result("d" + std::to_string(i), 1, "audit");
  }
  admin::ListQuery list;
  list.partition = Partition(0);
  list.state = State::kHeld;
  const StateAnswered page = ask(list);
  EXPECT_FALSE(page->ended) << "a page may be too large for a record";
  list.cursor = page->cursor;
  EXPECT_EQ(page->documents.size() + ask(list)->documents.size(), static_cast<std::size_t>(documents));
}

TEST_F(LanesListed, AreSummedUpByTarget) {
  const auto by_target = [&] {
    steps(400);
    return stats_reply(application, seen(), clock.now())["partitions"][0]["documents"]["lanes"]["by_target"];
  };
  request("alone", 1, "history");  // it is skipped before the others, and holds nothing back
  for (const char* id : {"book", "film"})
    for (const int order : {1, 2, 3}) request(id, order, "history,audit");
  EXPECT_EQ(by_target()["history"]["waits_for"]["id"], "alone");
  EXPECT_EQ(by_target()["history"]["gaps"], 0);
  for (const int order : {2, 3}) result("book", order, "history");
  result("film", 3, "audit");
  const admin::Json lanes = by_target();
  EXPECT_EQ(lanes["history"]["places"], 7);
  EXPECT_EQ(lanes["history"]["held"], 2);
  EXPECT_EQ(lanes["history"]["gaps"], 1) << "of film nothing is held back";
  EXPECT_GT(lanes["history"]["held_bytes"], 0);
  EXPECT_EQ(lanes["history"]["waits_for"]["id"], "book") << "what is told of holds nothing back";
  EXPECT_EQ(lanes["audit"]["places"], 6);
  EXPECT_EQ(lanes["audit"]["held"], 1);
  EXPECT_EQ(lanes["audit"]["gaps"], 1);
  EXPECT_EQ(lanes["audit"]["waits_for"]["order"]["seq"], "1");
  const admin::Json reply = stats_reply(application, seen(), clock.now());
  EXPECT_FALSE(reply["targets"][0].contains("order"));
  EXPECT_EQ(reply["targets"][1]["order"], "strict");
  EXPECT_EQ(reply["targets"][2]["order"], "total");
  EXPECT_EQ(reply["lanes"]["gaps"], 0);
  result("alone", 1, "history");
  for (const int order : {1, 2, 3})
    for (const char* id : {"book", "film"})
      for (const char* target : {"history", "audit"}) result(id, order, target);
  EXPECT_TRUE(by_target().is_null()) << "lanes that are empty are told of";
  EXPECT_GT(stats_reply(application, seen(), clock.now())["lanes"]["held_released"], 0);
}

// One piece of the walk over places is bounded; what is found in several of them is put together.
TEST_F(LanesListed, AreSummedUpPieceByPiece) {
  const int many = static_cast<int>(LaneSurvey::kPieceRows) + 10;
  for (int order = 1; order <= many; ++order)
    append("app.requests", "book", {{"reseq-seq", std::to_string(order)}, {"reseq-targets", "history"}});
  append("app.commands", "book",
         {{"reseq-command", "sequence"}, {"reseq-seq", std::to_string(many)}, {"reseq-target", "history"}});
  while (worker.report().partitions.front().held_records == 0) steps(10);
  LaneSurvey survey;
  const store::PartitionStore& store = worker.tasks().front()->store();
  survey.look(store, Milliseconds(0));
  EXPECT_EQ(survey.found(), nullptr) << "one piece looks at all places";
  survey.look(store, Milliseconds(0));
  ASSERT_NE(survey.found(), nullptr);
  const LaneSurvey::Lanes& lanes = survey.found()->at("history");
  EXPECT_EQ(lanes.places, static_cast<std::uint64_t>(many));
  EXPECT_EQ(lanes.held, 1U);
  EXPECT_EQ(lanes.gaps, 1U) << "the head stands in another piece than what it holds back";
  EXPECT_FALSE(survey.due(Milliseconds(0)));
}

}  // namespace
}  // namespace reseq::runtime
