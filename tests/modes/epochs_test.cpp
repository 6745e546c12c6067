// Epochs and RESET: a producer whose counter starts again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/shop/shop.h"

namespace reseq::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// Two partitions: every document lives in one of them, a RESET has to reach both.
const std::vector<std::string> kFourBooks = {"book-0", "book-1", "book-2", "book-3"};

std::vector<std::string> each_of_four(const std::string& what) {
  std::vector<std::string> lines;
  for (const std::string& book : kFourBooks) lines.push_back(book + " " + what);
  return lines;
}

TEST(Reset, LetsTheCounterOfAProducerStartAgain) {
  Shop shop("events = \"all\"\n[[target]]\nname = \"search\"\n", 2);
  shop.start();
  for (const auto& book : kFourBooks) shop.request(book, "100");
  shop.settle();

  // The counter starts again. What is in flight is compared with its document, not with the partition.
  shop.reset(1);
  shop.settle();
  shop.result("book-0", "0:100", "search");
  shop.settle();
  EXPECT_THAT(shop.released("search"), ElementsAre("book-0 100"));

  for (const auto& book : kFourBooks) shop.request(book, "1");
  shop.settle();
  std::vector<std::string> forwarded = each_of_four("100 -> search");
  for (const auto& line : each_of_four("1:1 -> search")) forwarded.push_back(line);
  EXPECT_THAT(shop.work(), testing::UnorderedElementsAreArray(forwarded));

  // Old results are behind now, results without an epoch could be old ones, those of the new counter pass.
  shop.result("book-1", "0:100", "search");
  shop.result("book-2", "1", "search");
  shop.result("book-3", "1:1", "search");
  shop.settle();
  EXPECT_THAT(shop.released("search"), UnorderedElementsAre("book-0 100", "book-3 1:1"));
  EXPECT_THAT(shop.dead_letters(), ElementsAre("book-2 1 epoch_missing"));
  EXPECT_THAT(shop.events(), Contains("book-1 100 dropped S4 superseded"));

  // Repeated, or to a lower epoch: nothing changes. So it is for a new process that finds the state of the old one.
  shop.reset(1);
  shop.reset(0);
  shop.settle();
  EXPECT_EQ(shop.stop(), 0);
  shop.start();
  for (const auto& book : kFourBooks) shop.request(book, "2");
  shop.settle();
  for (const auto& line : each_of_four("1:2 -> search")) forwarded.push_back(line);
  EXPECT_THAT(shop.work(), testing::UnorderedElementsAreArray(forwarded));

  // A request of the old counter that is sent again behind the RESET counts as new. A producer that names epochs itself
  // is told what became of the old one.
  shop.request("book-0", "0:101");
  shop.request("book-1", "2:1");
  shop.settle();
  EXPECT_THAT(shop.events(), Contains("book-0 101 dropped R4 epoch_behind"));
  EXPECT_THAT(shop.work(), Contains("book-1 2:1 -> search"));
  shop.result("book-1", "1:2", "search");
  shop.result("book-1", "2:1", "search");
  shop.settle();
  EXPECT_THAT(shop.released("search"), UnorderedElementsAre("book-0 100", "book-3 1:1", "book-1 2:1"));
  EXPECT_THAT(shop.dead_letters(), ElementsAre("book-2 1 epoch_missing"));
}

}  // namespace
}  // namespace reseq::test
