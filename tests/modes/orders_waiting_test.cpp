// Strict targets whose versions wait in a journal, fail and are tried again, on real brokers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "tests/e2e/patience.h"
#include "tests/shop/shop.h"

namespace reseq::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kTwoTargets = R"(
  [[target]]
  name = "search"
  [[target]]
  name = "history"
  order = "strict"
)";

std::string with(const std::string& tables) {
  return tables + kTwoTargets;
}

// As a worker says it of what it got.
void fail(Shop& shop, const Seen& work, const std::string& error) {
  TextHeaders headers = {{"reseq-command", "fail"},
                         {"reseq-target", "history"},
                         {"reseq-seq", work.header("reseq-seq")},
                         {"reseq-failure", "transient"},
                         {"reseq-error", error}};
  const std::string attempt = work.header("reseq-attempt");
  if (!attempt.empty()) headers.emplace_back("reseq-attempt", attempt);
  shop.send("commands", work.key, std::nullopt, headers);
}

// One may be under way at a time, so what comes meanwhile waits.
TEST(OrderedTargetsThatWait, GetEveryVersionWhereOthersGetTheNewest) {
  Shop shop(with("[dispatch]\nmode = \"journal\"\nin_flight_max = 1\n"));
  shop.start();
  shop.request("film", "1");
  shop.settle();
  for (const char* order : {"1", "2", "3"}) shop.request("book", order);
  shop.settle();
  EXPECT_THAT(shop.work(), ElementsAre("film 1 -> search,history"));
  shop.kill();
  shop.start();
  for (const char* target : {"search", "history"}) shop.answer(shop.records("work").front(), target);
  ASSERT_TRUE(wait_until(kPatience, [&] { return shop.work().size() == 4; })) << shop.log();
  EXPECT_THAT(shop.work(), ElementsAre("film 1 -> search,history", "book 1 -> history", "book 2 -> history",
                                       "book 3 -> search,history"));
  for (const std::size_t at : {3U, 1U, 2U}) {
    const Seen work = shop.records("work")[at];
    if (at == 3) shop.answer(work, "search");
    shop.answer(work, "history");
  }
  shop.settle();
  EXPECT_THAT(shop.released("search"), ElementsAre("film 1", "book 3"));
  EXPECT_THAT(shop.released("history"), ElementsAre("film 1", "book 1", "book 2", "book 3"));
  EXPECT_THAT(shop.dead_letters(), IsEmpty());
  EXPECT_EQ(shop.stop(), 0);
}

TEST(OrderedTargetsThatWait, HaveABoundedNumberOfVersionsOfADocumentUnderWay) {
  Shop shop(with("[dispatch]\nmode = \"journal\"\n[orders]\nlane_in_flight_max = 2\n"));
  shop.start();
  for (const char* order : {"1", "2", "3", "4", "5"}) shop.request("book", order, {{"reseq-targets", "history"}});
  shop.request("film", "1", {{"reseq-targets", "history"}});
  shop.settle();
  EXPECT_THAT(shop.work(), ElementsAre("book 1 -> history", "book 2 -> history", "film 1 -> history"));
  shop.kill();
  shop.start();
  shop.answer(shop.records("work")[1], "history");  // what is held is under way no more
  ASSERT_TRUE(wait_until(kPatience, [&] { return shop.work().size() == 4; })) << shop.log();
  for (std::size_t answered : {0U, 3U}) shop.answer(shop.records("work")[answered], "history");
  ASSERT_TRUE(wait_until(kPatience, [&] { return shop.work().size() == 6; })) << shop.log();
  shop.answer(shop.records("work")[2], "history");
  shop.settle();
  for (std::size_t answered : {5U, 4U}) shop.answer(shop.records("work")[answered], "history");
  shop.settle();
  EXPECT_THAT(shop.released("history"), ElementsAre("book 1", "book 2", "book 3", "film 1", "book 4", "book 5"));
  EXPECT_THAT(shop.dead_letters(), IsEmpty());
  EXPECT_EQ(shop.stop(), 0);
}

TEST(OrderedTargetsThatWait, TryAgainWhatFailedAndPassByWhatFailsForGood) {
  Shop shop(with("[failures]\nmode = \"retry\"\nbackoff_ms = 200\nretries_max = 1\non_failure = \"marker\"\n"));
  shop.start();
  for (const char* order : {"1", "2", "3"}) shop.request("book", order, {{"reseq-targets", "history"}});
  shop.settle();
  shop.answer(shop.records("work")[2], "history");
  fail(shop, shop.records("work")[0], "busy");
  fail(shop, shop.records("work")[1], "full");
  ASSERT_TRUE(wait_until(kPatience, [&] { return shop.work().size() == 5; })) << shop.log();
  shop.kill();
  shop.start();
  const std::vector<Seen> work = shop.records("work");
  const bool first = work[3].header("reseq-seq") == "1";
  fail(shop, first ? work[4] : work[3], "full again");
  ASSERT_TRUE(wait_until(kPatience, [&] { return !shop.dead_letters().empty(); })) << shop.log();
  EXPECT_THAT(shop.released("history"), IsEmpty()) << "it did not wait for what is tried again";
  EXPECT_THAT(shop.dead_letters(), ElementsAre("book 2 failed"));
  shop.answer(first ? work[3] : work[4], "history");
  ASSERT_TRUE(wait_until(kPatience, [&] { return shop.records("output.history").size() == 3; })) << shop.log();
  EXPECT_THAT(shop.released("history"), ElementsAre("book 1", "book 2", "book 3"));
  const Seen letter = shop.records("dead-letter").front();
  EXPECT_EQ(letter.header("reseq-error"), "full again");
  EXPECT_EQ(letter.header("reseq-attempts"), "2");
  const auto& history = shop.records("output.history");
  EXPECT_EQ(history[1].header("reseq-op"), "failed") << "a consumer takes what was given up for a version";
  EXPECT_LT(history[0].number("reseq-version"), history[1].number("reseq-version"));
  EXPECT_LT(history[1].number("reseq-version"), history[2].number("reseq-version"));
  EXPECT_EQ(shop.stop(), 0);
}

// There is no clock of a gap where a lease runs: what loses it too often is given up.
TEST(OrderedTargetsThatWait, GoOnBehindAVersionWhoseWorkerDiesEachTime) {
  Shop shop(with("[dispatch]\nmode = \"journal\"\nlease_ms = 5000\ntimeouts_max = 0\n"));
  shop.start();
  for (const char* order : {"1", "2"}) shop.request("book", order, {{"reseq-targets", "history"}});
  shop.settle();
  shop.answer(shop.records("work")[1], "history");
  shop.settle();
  EXPECT_THAT(shop.released("history"), IsEmpty());
  std::uint64_t order = 0;
  ASSERT_TRUE(wait_until(kPatience, [&] {
    shop.request("film", std::to_string(++order), {{"reseq-targets", "history"}});
    shop.settle();
    shop.answer(shop.records("work").back(), "history");
    shop.settle();
    return !shop.dead_letters().empty();
  })) << shop.log();
  EXPECT_THAT(shop.dead_letters(), ElementsAre("book 1 timed_out"));
  EXPECT_EQ(shop.records("dead-letter").front().header("reseq-targets"), "history");
  EXPECT_THAT(shop.released("history"), Contains("book 2"));
  EXPECT_EQ(shop.stop(), 0);
}

}  // namespace
}  // namespace reseq::test
