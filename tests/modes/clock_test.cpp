// Hours in seconds: the first process runs with a clock two hours in the past, the next one with the real clock.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/patience.h"
#include "tests/shop/shop.h"

namespace reseq::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr int kAnswered = 300;

std::vector<std::string> two_hours_ago() {
  return {"LD_PRELOAD=" + program("libreseq_clock_shift.so"), "RESEQ_TEST_CLOCK_SHIFT_S=-7200"};
}

std::string answered(int number) {
  return "answered-" + std::to_string(number);
}

TEST(Downtime, MakesOverdueOnlyWhatTheLogDoesNotAnswer) {
  Shop shop("registration_timeout_ms = 3600000\nbatch_records_max = 20\n[[target]]\nname = \"search\"\n");
  shop.start(1, two_hours_ago());
  for (int i = 0; i < kAnswered; ++i) shop.request(answered(i), "1");
  shop.request("silent", "1");
  shop.settle();
  shop.kill();
  EXPECT_THAT(shop.events(), IsEmpty()) << "their time was not over";

  // Their deadlines passed an hour ago when the next process starts; these results wait in the log.
  for (int i = 0; i < kAnswered; ++i) shop.result(answered(i), "1", "search");
  shop.start();
  EXPECT_TRUE(wait_until(kPatience, [&] { return !shop.records("events").empty(); }));
  shop.settle();
  EXPECT_EQ(shop.records("output.search").size(), kAnswered);
  EXPECT_THAT(shop.events(), ElementsAre("silent 1 overdue"));
  shop.result("silent", "1", "search");
  shop.settle();
  EXPECT_EQ(shop.released("search").back(), "silent 1");
  EXPECT_THAT(shop.dead_letters(), IsEmpty());
}

// An hour without a result is told of. A document that changes faster than the pipeline works is served by then, and
// gets nothing from before it began to wait; one whose pipeline only takes its time gets its newest result alone.
TEST(Defaults, TellOfALostResultAndServeADocumentThatNeverRests) {
  Shop shop("[[target]]\nname = \"search\"\n");
  shop.start(1, two_hours_ago());
  for (const char* id : {"busy", "silent"}) shop.request(id, "1");
  shop.settle();
  shop.kill();
  EXPECT_THAT(shop.events(), IsEmpty());

  shop.start();
  EXPECT_TRUE(wait_until(kPatience, [&] { return shop.records("events").size() == 2; }));
  EXPECT_THAT(shop.events(), testing::UnorderedElementsAre("busy 1 overdue", "silent 1 overdue"));
  EXPECT_TRUE(wait_until(kPatience, [&] {
    return shop.log().find("alarm=overdue worker=0 documents=") != std::string::npos;
  })) << shop.log();
  shop.request("busy", "2");
  shop.settle();
  for (const char* result : {"0", "1", "2"}) shop.result("busy", result, "search");
  shop.result("silent", "0", "search");
  shop.settle();
  EXPECT_THAT(shop.released("search"), ElementsAre("busy 1", "busy 2"));
}

TEST(WatermarkRetention, ForgetsCompletedDocumentsAndDecidesWhatWaitsBeforeThat) {
  Shop shop("watermark_retention_ms = 3600000\nevents = \"all\"\n[[target]]\nname = \"search\"\n");
  const auto forgotten = [&](const std::string& id) {
    const auto& rows = shop.records("changelog");
    return std::any_of(rows.begin(), rows.end(),
                       [&](const Seen& row) { return !row.payload && row.key.find(id) != std::string::npos; });
  };
  shop.start(1, two_hours_ago());
  for (const char* id : {"book", "toy"}) {
    shop.request(id, "5");
    shop.result(id, "5", "search");
    shop.result(id, "4", "search");
  }
  shop.settle();
  EXPECT_THAT(shop.events(), Contains("book 4 dropped S6 stale"));
  shop.kill();
  EXPECT_FALSE(forgotten("book"));

  // An old request and an old result lie in the log before the sweep can come: they are still recognised.
  shop.request("toy", "3");
  shop.result("toy", "4", "search");
  shop.start();
  EXPECT_TRUE(wait_until(kPatience, [&] { return forgotten("book") && forgotten("toy"); }));
  shop.settle();
  EXPECT_THAT(shop.events(), Contains("toy 3 dropped R4 superseded"));
  EXPECT_THAT(shop.work(), ElementsAre("book 5 -> search", "toy 5 -> search"));
  EXPECT_THAT(shop.dead_letters(), IsEmpty());

  shop.result("book", "4", "search");
  shop.settle();
  shop.request("book", "3");
  shop.settle();
  EXPECT_EQ(shop.work().back(), "book 3 -> search") << "to who has forgotten, everything is new";
  EXPECT_THAT(shop.dead_letters(), ElementsAre("book 4 unregistered"));
  EXPECT_THAT(shop.released("search"), ElementsAre("book 5", "toy 5"));
}

}  // namespace
}  // namespace reseq::test
