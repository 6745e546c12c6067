// One process has a journal and another one has none, as while the configuration of an application is changed from one
// process to the next: they exchange partitions in which requests wait.
#include <algorithm>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/e2e/patience.h"
#include "tests/shop/shop.h"

namespace reseq::test {
namespace {

using testing::IsEmpty;

constexpr const char* kJournal = R"(
  session.timeout.ms = 6000
  [dispatch]
  mode = "journal"
  in_flight_max = 2
  [[target]]
  name = "search"
)";
const std::vector<std::string> kWithoutJournal = {"RESEQ_DISPATCH_MODE=immediate"};
constexpr int kExchanged = 4;
constexpr int kManyBooks = 60;

class Changing : public testing::Test {
 protected:
  void request_all(const std::string& order) {
    for (int i = 0; i < kManyBooks; ++i) shop.request("book-" + std::to_string(i), order);
    shop.settle();
  }
  // Each attempt of `work` that is new. True: there was one.
  bool answer_all() {
    const std::vector<Seen> work = shop.records("work");
    const bool any = answered_ < work.size();
    for (; answered_ < work.size(); ++answered_) shop.answer(work[answered_], "search");
    shop.settle();
    return any;
  }
  std::size_t books_sent() {
    std::set<std::string> books;
    for (const Seen& seen : shop.records("work")) books.insert(seen.key);
    return books.size();
  }
  std::map<std::string, std::vector<std::uint64_t>> orders_released() {
    std::map<std::string, std::vector<std::uint64_t>> orders;
    for (const Seen& seen : shop.records("output.search")) orders[seen.key].push_back(seen.number("reseq-seq"));
    return orders;
  }
  bool all_end_with(std::uint64_t order) {
    return wait_until(kPatience, [&] {
      answer_all();
      const auto orders = orders_released();
      return orders.size() == kManyBooks &&
             std::all_of(orders.begin(), orders.end(), [&](const auto& one) { return one.second.back() == order; });
    });
  }

  Shop shop{kJournal, kExchanged};

 private:
  std::size_t answered_ = 0;
};

TEST_F(Changing, OneOfTwoProcessesAfterTheOtherLosesNothingThatWaits) {
  shop.start(1);
  shop.wait_for_owners();
  request_all("1");
  EXPECT_LE(shop.records("work").size(), 2U * kExchanged) << "nothing waits";

  shop.start(2, kWithoutJournal);
  shop.wait_for_owners();
  request_all("2");
  EXPECT_LT(books_sent(), static_cast<std::size_t>(kManyBooks)) << "nothing waits any more";
  answer_all();
  shop.kill(1);
  request_all("3");
  // What waited leaves as it came, and nobody waits any more.
  ASSERT_TRUE(wait_until(kPatience, [&] { return books_sent() == static_cast<std::size_t>(kManyBooks); }))
      << shop.log(2);
  shop.start(1);
  shop.wait_for_owners();
  request_all("4");
  EXPECT_EQ(shop.stop(2), 0);
  request_all("5");
  EXPECT_TRUE(all_end_with(5)) << shop.log(1);
  for (const auto& [book, orders] : orders_released())
    EXPECT_TRUE(std::adjacent_find(orders.begin(), orders.end(), std::greater_equal<>()) == orders.end())
        << book << " was released twice at an order, or at an older one";
  EXPECT_THAT(shop.dead_letters(), IsEmpty());
  EXPECT_EQ(shop.stop(1), 0);
}

}  // namespace
}  // namespace reseq::test
