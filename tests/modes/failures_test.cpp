// Work that failed, on real brokers: what retention takes meanwhile, and what nobody said a word of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "tests/e2e/patience.h"
#include "tests/recovery/kafka_tools.h"
#include "tests/shop/shop.h"

namespace reseq::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The next record of `requests` may be of anybody.
TEST(Failures, OfARequestThatRetentionHasTakenAreNoRetryOfSomethingElse) {
  Shop shop(R"(
    [failures]
    mode = "retry"
    backoff_ms = 6000
    [[target]]
    name = "search"
    [[target]]
    name = "catalogue"
  )");
  shop.start();
  shop.request("book", "1");
  shop.settle();
  KafkaTools(shop.application().connection().bootstrap_servers)
      .delete_records({{shop.application().topic("requests"), 0}});
  shop.request("film", "1");
  shop.settle();
  const auto fail = [&](const std::string& target, const std::string& error) {
    shop.send("commands", "book", std::nullopt,
              {{"reseq-command", "fail"}, {"reseq-target", target}, {"reseq-seq", "1"}, {"reseq-error", error}});
  };
  fail("search", "locked");
  shop.settle();
  fail("catalogue", "full");
  ASSERT_TRUE(wait_until(kPatience, [&] { return !shop.dead_letters().empty(); })) << shop.log();
  EXPECT_THAT(shop.dead_letters(), ElementsAre("book  body_gone")) << "nothing is left of its headers";
  const Seen letter = shop.records("dead-letter").front();
  EXPECT_EQ(letter.header("reseq-targets"), "search,catalogue");
  EXPECT_EQ(letter.header("reseq-attempts"), "1");
  EXPECT_EQ(letter.header("reseq-error"), "full") << "what was said last";
  EXPECT_THAT(shop.log(), HasSubstr("alarm=body_gone records=1"));
  EXPECT_THAT(shop.work(), ElementsAre("book 1 -> search,catalogue", "film 1 -> search,catalogue"));

  // Whoever still has a result of it comes too late, and a newer request is as any other.
  shop.result("book", "1", "search");
  shop.request("book", "2");
  shop.settle();
  EXPECT_THAT(shop.released("search"), IsEmpty());
  EXPECT_THAT(shop.work(), Contains("book 2 -> search,catalogue"));
}

// Its worker dies each time, while others answer.
TEST(Failures, OfWorkersThatSayNothingAreAskedForAgainByReprocess) {
  Shop shop(R"(
    [dispatch]
    mode = "journal"
    lease_ms = 15000
    timeouts_max = 0
    [[target]]
    name = "search"
  )");
  shop.start();
  shop.request("deadly", "1");
  shop.settle();
  std::uint64_t order = 0;
  ASSERT_TRUE(wait_until(kPatience, [&] {
    shop.request("book", std::to_string(++order));
    shop.settle();
    shop.answer(shop.records("work").back(), "search");
    shop.settle();
    return !shop.dead_letters().empty();
  })) << shop.log();
  EXPECT_THAT(shop.dead_letters(), ElementsAre("deadly 1 timed_out"));
  EXPECT_EQ(shop.records("dead-letter").front().header("reseq-targets"), "search");
  shop.request("deadly", "1", {{"reseq-reprocess", "true"}});
  EXPECT_TRUE(wait_until(kPatience, [&] { return shop.work().back() == "deadly 1.1 -> search"; })) << shop.log();
}

}  // namespace
}  // namespace reseq::test
