// Documents that wait: monotonic targets, starvation, overdue reports.
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

// Sequences rise, and so do versions.
void expect_rising(const std::vector<Seen>& records) {
  for (std::size_t i = 1; i < records.size(); ++i) {
    EXPECT_GT(records[i].number("reseq-seq"), records[i - 1].number("reseq-seq")) << records[i].key;
    EXPECT_GT(records[i].number("reseq-version"), records[i - 1].number("reseq-version")) << records[i].key;
  }
}

TEST(Monotonic, ReleasesEveryResultThatRisesAndNoOther) {
  Shop shop(R"(
    [[target]]
    name = "search"
    [[target]]
    name = "feed"
    order = "monotonic"
  )");
  shop.start();
  for (const char* order : {"1", "2", "3", "4"}) shop.request("book", order);
  shop.settle();
  for (const char* order : {"2", "1", "3", "2", "4", "3"})
    for (const char* target : {"search", "feed"}) shop.result("book", order, target);
  shop.settle();
  EXPECT_THAT(shop.released("feed"), ElementsAre("book 2", "book 3", "book 4"));
  EXPECT_THAT(shop.released("search"), ElementsAre("book 4"));
  expect_rising(shop.records("output.feed"));
  EXPECT_THAT(shop.dead_letters(), IsEmpty());
}

// Each answer comes when the next request is already there: without help none would ever pass.
TEST(Starvation, LetsRisingResultsThroughWhenADocumentChangesFasterThanItsPipeline) {
  Shop shop("starvation_after_ms = 500\nevents = \"all\"\n[[target]]\nname = \"search\"\n");
  shop.start();
  int last = 1;
  shop.request("hot", "1");
  const auto change = [&] {
    ++last;
    shop.request("hot", std::to_string(last));
    shop.settle();
    shop.result("hot", std::to_string(last - 1), "search");
    shop.settle();
  };
  ASSERT_TRUE(wait_until(kPatience, [&] {
    change();
    return !shop.records("output.search").empty();
  }));
  EXPECT_THAT(shop.events(), Contains("hot 1 dropped S4 superseded")) << "it did not starve at first";

  // It starves until its newest request is answered; what is older than a release stays behind it.
  change();
  change();
  const std::string oldest = shop.released("search").front();
  shop.send("commands", "hot", "late",
            {{"reseq-command", "sequence"}, {"reseq-target", "search"}, {"reseq-seq", oldest.substr(4)}});
  shop.result("hot", std::to_string(last), "search");
  shop.settle();
  EXPECT_GE(shop.records("output.search").size(), 4U);
  EXPECT_EQ(shop.released("search").back(), "hot " + std::to_string(last));
  for (const Seen& seen : shop.records("output.search")) EXPECT_NE(seen.payload, "late");

  // From then on it is a document like any other.
  const std::size_t before = shop.records("output.search").size();
  shop.request("hot", std::to_string(last + 1));
  shop.request("hot", std::to_string(last + 2));
  shop.settle();
  shop.result("hot", std::to_string(last + 2), "search");
  shop.result("hot", std::to_string(last + 1), "search");
  shop.settle();
  EXPECT_EQ(shop.records("output.search").size(), before + 1);
  EXPECT_EQ(shop.released("search").back(), "hot " + std::to_string(last + 2));
  expect_rising(shop.records("output.search"));
  EXPECT_THAT(shop.dead_letters(), IsEmpty());
}

TEST(Overdue, IsReportedOnceHoweverOftenItIsRequestedAndALateResultStillGoesOut) {
  Shop shop("registration_timeout_ms = 1500\nstarvation_after_ms = 0\n[[target]]\nname = \"search\"\n");
  shop.start();
  const auto overdue = [&](const std::string& document) {
    const auto events = shop.events();
    return std::count_if(events.begin(), events.end(), [&](const std::string& event) {
      return event.starts_with(document + " ") && event.ends_with(" overdue");
    });
  };
  int last = 0;
  const auto change = [&] { shop.request("book", std::to_string(++last)); };
  EXPECT_TRUE(wait_until(kPatience, [&] {
    change();
    return overdue("book") > 0;
  })) << "requests start the clock anew";
  change();
  // Another document becomes overdue later than all timers that could fire twice for this one.
  shop.request("other", "1");
  EXPECT_TRUE(wait_until(kPatience, [&] { return overdue("other") > 0; }));
  EXPECT_EQ(overdue("book"), 1);
  shop.result("book", std::to_string(last), "search");
  shop.settle();
  EXPECT_THAT(shop.released("search"), ElementsAre("book " + std::to_string(last)));
  change();
  EXPECT_TRUE(wait_until(kPatience, [&] { return overdue("book") > 1; })) << "what waits anew is told of anew";
  EXPECT_THAT(shop.dead_letters(), IsEmpty());
}

}  // namespace
}  // namespace reseq::test
