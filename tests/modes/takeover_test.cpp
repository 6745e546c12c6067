// What a mode knows outlives the process that knew it: one of two processes is killed, the other goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "tests/shop/shop.h"

namespace reseq::test {
namespace {

using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::UnorderedElementsAreArray;

// The group takes six seconds to give the partitions of the dead to the living; by then the documents starve.
constexpr const char* kToml = R"(
  session.timeout.ms = 6000
  starvation_after_ms = 5000
  [[target]]
  name = "search"
)";
const std::vector<std::string> kSixBooks = {"book-0", "book-1", "book-2", "book-3", "book-4", "book-5"};

std::vector<std::string> each_of_six(const std::string& what) {
  std::vector<std::string> lines;
  for (const std::string& book : kSixBooks) lines.push_back(book + " " + what);
  return lines;
}

TEST(Takeover, KeepsTheEpochOfAResetAndWhoHasWaitedForHowLong) {
  Shop shop(kToml, 2);
  shop.start(1);
  shop.start(2);
  shop.wait_for_owners();

  shop.reset(7);
  for (const auto& book : kSixBooks) shop.request(book, "1");
  shop.settle();
  EXPECT_THAT(shop.work(), UnorderedElementsAreArray(each_of_six("7:1 -> search")));
  shop.kill(1);

  // The requests of one partition are read six seconds later. No epoch is sent, and each document has waited since its
  // first request, so what is older than the newest request passes as well.
  for (const auto& book : kSixBooks) shop.request(book, "2");
  shop.settle();
  EXPECT_THAT(shop.work(), IsSupersetOf(each_of_six("7:2 -> search")));
  for (const auto& book : kSixBooks) shop.result(book, "7:1", "search");
  shop.settle();
  EXPECT_THAT(shop.released("search"), UnorderedElementsAreArray(each_of_six("7:1")));
  for (const auto& book : kSixBooks) shop.result(book, "7:2", "search");
  shop.settle();
  std::vector<std::string> all = each_of_six("7:1");
  for (const auto& line : each_of_six("7:2")) all.push_back(line);
  EXPECT_THAT(shop.released("search"), UnorderedElementsAreArray(all));
  std::set<int> partitions;
  for (const Seen& seen : shop.records("output.search")) partitions.insert(seen.partition);
  EXPECT_EQ(partitions.size(), 2U) << "documents of the process that was killed, and of the other one";
  EXPECT_THAT(shop.dead_letters(), IsEmpty());
  EXPECT_EQ(shop.stop(2), 0);
}

}  // namespace
}  // namespace reseq::test
