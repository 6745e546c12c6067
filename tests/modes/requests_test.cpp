// What a request asks for: reprocess, routes, optional targets, lists, deletes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/shop/shop.h"

namespace reseq::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kRoutedTargets = R"(
  events = "all"
  [[target]]
  name = "search"
  [[target]]
  name = "catalogue"
  [[target]]
  name = "lake"
  optional = true
  [[route]]
  id_prefix = "books/"
  id_glob = "*/draft-?"
  targets = ["lake"]
  [[route]]
  id_prefix = "books/"
  targets = ["catalogue"]
  [[route]]
  header = "tenant"
  header_value = "archive"
  targets = ["lake", "search"]
)";

TEST(Reprocess, IsANewRevisionForTheTargetsThatAreNotRemoved) {
  Shop shop(kRoutedTargets);
  shop.start();
  shop.request("book", "5", {{"reseq-targets", "search,catalogue,lake"}});
  shop.settle();
  shop.result("book", "5", "search");
  shop.send("commands", "book", std::nullopt,
            {{"reseq-command", "unregister"}, {"reseq-seq", "5"}, {"reseq-target", "lake"}});
  shop.settle();

  shop.request("book", "5", {{"reseq-reprocess", "true"}});
  shop.settle();
  EXPECT_THAT(shop.work(), ElementsAre("book 5 -> search,catalogue,lake", "book 5.1 -> search,catalogue"));
  EXPECT_EQ(shop.records("work").back().header("reseq-reprocess"), "") << "it is not handed on";

  // The pipeline copies the headers, so its results carry the revision; those of the first round come late.
  shop.result("book", "5", "catalogue");
  shop.answer(shop.records("work").back(), "search");
  shop.settle();
  EXPECT_THAT(shop.released("search"), ElementsAre("book 5", "book 5.1"));
  EXPECT_THAT(shop.released("catalogue"), IsEmpty());
  EXPECT_THAT(shop.events(), Contains("book 5 dropped S4 superseded"));

  shop.request("book", "5", {{"reseq-reprocess", "true"}});
  shop.settle();
  const Seen second = shop.records("work").back();
  EXPECT_THAT(shop.work().back(), "book 5.2 -> search,catalogue");
  shop.answer(second, "search");
  shop.answer(second, "catalogue");
  shop.result("book", "5.1", "catalogue");
  shop.result("book", "5.2", "lake");
  shop.settle();
  EXPECT_THAT(shop.released("search"), ElementsAre("book 5", "book 5.1", "book 5.2"));
  EXPECT_THAT(shop.released("catalogue"), ElementsAre("book 5.2"));
  EXPECT_THAT(shop.released("lake"), IsEmpty());
  EXPECT_THAT(shop.dead_letters(), ElementsAre("book 5.2 unregistered"));
  EXPECT_THAT(shop.events(), Contains("book 5.1 dropped S6 stale"));
}

TEST(Routes, DecideTheTargetsOfARequestWithoutAList) {
  Shop shop(kRoutedTargets);
  shop.start();
  shop.request("toys/1", "1");
  shop.request("books/1", "1");
  shop.request("books/draft-7", "1");
  shop.request("books/draft-77", "1");
  shop.request("books/2", "1", {{"tenant", "archive"}});
  shop.request("toys/2", "1", {{"tenant", "archive"}});
  shop.request("toys/3", "1", {{"tenant", "shop"}});
  shop.request("books/3", "1", {{"reseq-targets", "lake,search"}});
  shop.settle();
  EXPECT_THAT(shop.work(), ElementsAre("toys/1 1 -> search,catalogue",   // no route: all that are not optional
                                       "books/1 1 -> catalogue",         //
                                       "books/draft-7 1 -> lake",        // the first route of which all holds
                                       "books/draft-77 1 -> catalogue",  //
                                       "books/2 1 -> catalogue",         // the first one wins
                                       "toys/2 1 -> search,lake",        //
                                       "toys/3 1 -> search,catalogue",   //
                                       "books/3 1 -> lake,search"));     // a list overrides routes

  // A delete without a list goes where its route says and to all that the document ever had.
  shop.request("books/3", "2");
  shop.request("books/1", "2", {{"reseq-targets", "lake"}});
  shop.settle();
  shop.send("requests", "books/3", std::nullopt, {{"reseq-seq", "3"}});
  shop.send("requests", "books/1", std::nullopt, {{"reseq-seq", "3"}, {"reseq-targets", "catalogue"}});
  shop.send("requests", "books/never-seen", std::nullopt, {{"reseq-seq", "1"}});
  shop.settle();
  EXPECT_THAT(shop.work(), Contains("books/3 3 delete -> search,catalogue,lake"));
  EXPECT_THAT(shop.work(), Contains("books/1 3 delete -> catalogue"));
  EXPECT_THAT(shop.work(), Contains("books/never-seen 1 delete -> search,catalogue,lake"));

  // The delete for all is a barrier, the one with a list is not.
  shop.request("books/3", "2", {{"reseq-targets", "search"}});
  shop.request("books/1", "2", {{"reseq-targets", "search"}});
  shop.settle();
  EXPECT_THAT(shop.events(), Contains("books/3 2 dropped R0 superseded"));
  EXPECT_THAT(shop.work().back(), "books/1 2 -> search");
  EXPECT_THAT(shop.dead_letters(), IsEmpty());
}

constexpr const char* kSkipsUnchanged = R"(
  events = "all"
  skip_unchanged = true
  unchanged_headers = ["tenant"]
  [[target]]
  name = "search"
  [[target]]
  name = "catalogue"
)";

// Also behind kill -9: what a request asked for is part of the state.
TEST(Unchanged, GoesNowhereWhenItsTargetsHaveWhatItAsksFor) {
  Shop shop(kSkipsUnchanged);
  shop.start();
  const auto ask = [&](const std::string& seq, const std::string& payload, const std::string& tenant) {
    shop.send("requests", "book", payload, {{"reseq-seq", seq}, {"traceparent", seq}, {"tenant", tenant}});
    shop.settle();
  };
  const auto deliver = [&] {
    const Seen work = shop.records("work").back();
    shop.answer(work, "search");
    shop.answer(work, "catalogue");
    shop.settle();
  };
  ask("1", "a", "x");
  ask("2", "a", "x");
  EXPECT_THAT(shop.work(), ElementsAre("book 1 -> search,catalogue", "book 2 -> search,catalogue"))
      << "nobody has it yet";
  deliver();
  ask("3", "a", "x");
  shop.kill();
  shop.start();
  ask("4", "a", "x");
  EXPECT_EQ(shop.work().size(), 2U);
  EXPECT_THAT(shop.events(), Contains("book 3 unchanged R7"));
  EXPECT_THAT(shop.events(), Contains("book 4 unchanged R7"));

  ask("5", "a", "y");  // another tenant
  deliver();
  ask("6", "b", "y");  // another payload
  deliver();
  ask("7", "a", "y");  // what it was before that
  deliver();
  shop.send("requests", "book", "a", {{"reseq-seq", "7"}, {"tenant", "y"}, {"reseq-reprocess", "true"}});
  shop.settle();
  deliver();
  ask("8", "a", "y");
  EXPECT_THAT(shop.work(),
              ElementsAre("book 1 -> search,catalogue", "book 2 -> search,catalogue", "book 5 -> search,catalogue",
                          "book 6 -> search,catalogue", "book 7 -> search,catalogue", "book 7.1 -> search,catalogue"));
  EXPECT_THAT(shop.released("search"), ElementsAre("book 2", "book 5", "book 6", "book 7", "book 7.1"));
  EXPECT_THAT(shop.events().back(), "book 8 unchanged R7");
  ask("6", "c", "y");
  EXPECT_THAT(shop.events().back(), "book 6 dropped R4 superseded");
  EXPECT_THAT(shop.dead_letters(), IsEmpty());
}

}  // namespace
}  // namespace reseq::test
