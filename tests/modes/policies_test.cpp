// Policies: what becomes of commands that fit nothing, and which outcomes are told on the events topic.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sysexits.h>

#include "tests/shop/shop.h"
#include "tests/support/broker.h"

namespace reseq::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kSearchAndLake = R"(
  [[target]]
  name = "search"
  [[target]]
  name = "lake"
  optional = true
)";

const TextHeaders kResult = {{"reseq-command", "sequence"}, {"reseq-target", "search"}};

// One document that goes well, a duplicate, an order that nobody announced, a target that was not asked for, and a
// result without a sequence.
void play(Shop& shop) {
  shop.request("book", "5");
  shop.settle();
  shop.result("book", "5", "search");
  shop.result("book", "5", "search");
  shop.result("book", "6", "search");
  shop.result("book", "5", "lake");
  shop.send("commands", "book", "no sequence", kResult);
  shop.settle();
  EXPECT_THAT(shop.released("search"), ElementsAre("book 5"));
  EXPECT_THAT(shop.released("lake"), IsEmpty());
}

TEST(Policies, DeadLetterWhatFitsNothingUnlessToldOtherwise) {
  Shop shop(kSearchAndLake);
  shop.start();
  play(shop);
  EXPECT_THAT(shop.dead_letters(),
              ElementsAre("book 6 unregistered", "book 5 unregistered_target", "book  missing_sequence"));
  // events = drops is the default: what went well is not told.
  EXPECT_THAT(shop.events(),
              ElementsAre("book 5 dropped S2 duplicate", "book 6 dead_lettered S5 unregistered",
                          "book 5 dead_lettered S3 unregistered_target", "book  dead_lettered missing_sequence"));
}

TEST(Policies, DropOrRedirectWhenToldSo) {
  const std::string lost = unique_name("lost");
  Shop shop(
      "on_unregistered = \"drop\"\non_unregistered_target = \"drop\"\non_missing = \"topic\"\nevents = \"all\"\n"
      "on_missing_topic = \"" +
      lost + "\"\n" + kSearchAndLake);
  shop.start();
  play(shop);
  EXPECT_THAT(shop.dead_letters(), IsEmpty());
  const auto& redirected = shop.records_of_topic(lost);
  ASSERT_EQ(redirected.size(), 1U);
  EXPECT_EQ(redirected.front().key, "book");
  EXPECT_EQ(redirected.front().payload, "no sequence");
  EXPECT_EQ(redirected.front().header("reseq-reason"), "missing_sequence");
  EXPECT_EQ(redirected.front().header("reseq-source-offset"), "4");
  EXPECT_THAT(shop.events(), ElementsAre("book 5 forwarded R1", "book 5 released S1", "book 5 dropped S2 duplicate",
                                         "book 6 dropped S5 unregistered", "book 5 dropped S3 unregistered_target",
                                         "book  redirected missing_sequence"));
}

TEST(Policies, StopAtAResultWithoutASequenceAndGoOnWhenThePolicyIsChanged) {
  Shop shop("on_missing = \"stop\"\nevents = \"none\"\n" + std::string(kSearchAndLake), 2);
  shop.start();
  for (const char* id : {"before-1", "before-2", "after-1", "after-2"}) shop.request(id, "1");
  shop.settle();
  shop.result("before-1", "1", "search");
  shop.result("before-2", "1", "search");
  for (const char* id : {"after-1", "after-2"}) {
    shop.send("commands", id, "no sequence", kResult);
    shop.result(id, "1", "search");
  }
  shop.flush();
  EXPECT_EQ(shop.wait_for_end(), EX_CONFIG);
  EXPECT_THAT(shop.log(), HasSubstr("is a result without id or sequence and on_missing = \"stop\": correct the"));
  EXPECT_THAT(shop.released("search"), testing::Not(testing::Contains(HasSubstr("after"))));

  // Nothing has changed: it stops again, at once.
  shop.start();
  EXPECT_EQ(shop.wait_for_end(), EX_CONFIG);

  shop.start(1, {"RESEQ_ON_MISSING=dead-letter"});
  shop.settle();
  EXPECT_THAT(shop.released("search"),
              testing::UnorderedElementsAre("before-1 1", "before-2 1", "after-1 1", "after-2 1"));
  EXPECT_THAT(shop.dead_letters(),
              testing::UnorderedElementsAre("after-1  missing_sequence", "after-2  missing_sequence"));
  EXPECT_THAT(shop.events(), IsEmpty());
}

TEST(Deletes, ThatAreExplicitAreNoneWhenAWorkerLosesThePayload) {
  Shop shop("deletes = \"explicit\"\nevents = \"all\"\n" + std::string(kSearchAndLake));
  shop.start();
  shop.request("book", "5");
  shop.request("gone", "1", {{"reseq-op", "delete"}});
  shop.send("requests", "lost", std::nullopt, {{"reseq-seq", "1"}});
  shop.settle();
  TextHeaders result = kResult;
  result.emplace_back("reseq-seq", "5");
  shop.send("commands", "book", std::nullopt, result);
  shop.settle();
  EXPECT_THAT(shop.released("search"), IsEmpty()) << "a worker's None is no delete";
  EXPECT_THAT(shop.dead_letters(),
              testing::UnorderedElementsAre("lost 1 op_payload_conflict", "book 5 op_payload_conflict"));
  shop.result("book", "5", "search");
  result = kResult;
  result.emplace_back("reseq-seq", "1");
  result.emplace_back("reseq-op", "delete");
  shop.send("commands", "gone", std::nullopt, result);
  shop.settle();
  EXPECT_THAT(shop.released("search"), testing::UnorderedElementsAre("book 5", "gone 1 delete"));
  EXPECT_EQ(shop.stop(), 0);
}

}  // namespace
}  // namespace reseq::test
