// Intake `tap`: the pipeline reads `requests` itself and the resequencer only listens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/shop/shop.h"

namespace reseq::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

const TextHeaders kSequence = {{"reseq-command", "sequence"}, {"reseq-target", "search"}};

TextHeaders result_of(const std::string& seq, const std::string& op = "") {
  TextHeaders headers = kSequence;
  headers.emplace_back("reseq-seq", seq);
  if (!op.empty()) headers.emplace_back("reseq-op", op);
  return headers;
}

TEST(Tap, StopsOldResultsAndForwardsNothing) {
  Shop shop(R"(
    intake = "tap"
    events = "all"
    [[target]]
    name = "search"
    [[target]]
    name = "catalogue"
  )");
  shop.start();

  // The pipeline has read both requests; its results come in the wrong order.
  shop.request("book", "1");
  shop.request("book", "2");
  shop.result("book", "2", "search");
  shop.result("book", "1", "search");
  shop.result("book", "1", "catalogue");
  shop.settle();
  EXPECT_THAT(shop.released("search"), ElementsAre("book 2"));
  EXPECT_THAT(shop.released("catalogue"), IsEmpty());
  EXPECT_THAT(shop.events(), ElementsAre("book 1 registered R1", "book 2 registered R2", "book 2 released S1",
                                         "book 1 dropped S4 superseded", "book 1 dropped S4 superseded"));

  // Nobody can hand out a revision or an epoch to requests that the pipeline reads itself.
  shop.request("book", "2", {{"reseq-reprocess", "true"}});
  shop.reset(1);
  shop.settle();
  const auto letters = shop.dead_letters();
  EXPECT_THAT(letters, ElementsAre("book 2 reprocess_needs_inline", "reset 1: reset_needs_epochs"));

  EXPECT_THAT(shop.work(), IsEmpty());
  EXPECT_EQ(shop.stop(), 0);
}

TEST(Tap, TakesANullPayloadForADeleteOnlyWhenTheRequestSaysSo) {
  Shop shop(R"(
    intake = "tap"
    events = "all"
    requests_carry_epochs = true
    [[target]]
    name = "search"
  )");
  shop.start();
  // A copy of a request that carries id and sequence only, as an upsert; its result has a payload.
  shop.send("requests", "copy", std::nullopt, {{"reseq-seq", "1"}});
  shop.result("copy", "1", "search");
  // The same with reseq-op: upsert, which inline refuses.
  shop.send("requests", "said", std::nullopt, {{"reseq-seq", "1"}, {"reseq-op", "upsert"}});
  shop.result("said", "1", "search");
  // A delete: from now on nothing older may be registered.
  shop.send("requests", "gone", std::nullopt, {{"reseq-seq", "2"}, {"reseq-op", "delete"}});
  shop.send("commands", "gone", std::nullopt, result_of("2"));
  shop.settle();
  EXPECT_THAT(shop.released("search"), ElementsAre("copy 1", "said 1", "gone 2 delete"));
  shop.request("gone", "1");
  shop.request("copy", "2");
  shop.send("commands", "copy", std::nullopt, result_of("2", "delete"));
  shop.settle();
  EXPECT_THAT(shop.released("search"), Contains("copy 2 delete"));
  EXPECT_THAT(shop.events(), Contains("gone 1 dropped R0 superseded"));
  EXPECT_THAT(shop.dead_letters(), IsEmpty());

  // Where every request carries its epoch a RESET has nothing to lose.
  shop.reset(3);
  shop.request("book", "3:1");
  shop.result("book", "3:1", "search");
  shop.settle();
  EXPECT_THAT(shop.events(), Contains("reset 3"));
  EXPECT_THAT(shop.released("search"), Contains("book 3:1"));
  EXPECT_THAT(shop.dead_letters(), IsEmpty());
}

}  // namespace
}  // namespace reseq::test
