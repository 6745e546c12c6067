// A result is never judged before the request that it may belong to: with a pipeline that
// reads `requests` itself the result can lie in `commands` long before the resequencer has read the request.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/shop/shop.h"

namespace reseq::test {
namespace {

using testing::IsEmpty;

constexpr int kDocuments = 2000;
// A fetch takes at most 1 MiB of a partition, so all results arrive between the first requests and the others.
const std::string kLargePayload(1000, 'x');

class RequestsFirst : public testing::TestWithParam<const char*> {};

// Small batches: the requests take many transactions.
TEST_P(RequestsFirst, NoResultIsJudgedBeforeABacklogOfRequests) {
  Shop shop("intake = \"" + std::string(GetParam()) + "\"\nbatch_records_max = 100\n[[target]]\nname = \"search\"\n");
  for (int i = 0; i < kDocuments; ++i) shop.result("book-" + std::to_string(i), "2", "search");
  shop.flush();
  for (const char* order : {"1", "2"})
    for (int i = 0; i < kDocuments; ++i)
      shop.send("requests", "book-" + std::to_string(i), kLargePayload, {{"reseq-seq", order}});
  shop.start();
  shop.settle();

  const auto& released = shop.records("output.search");
  EXPECT_EQ(released.size(), kDocuments);
  for (const Seen& seen : released) EXPECT_EQ(seen.payload, seen.key + " 2");
  EXPECT_THAT(shop.dead_letters(), IsEmpty());
  const bool forwards = GetParam() == std::string("inline");
  EXPECT_EQ(shop.work().empty(), !forwards);
}

INSTANTIATE_TEST_SUITE_P(Intake, RequestsFirst, testing::Values("inline", "tap"),
                         [](const auto& intake) { return std::string(intake.param); });

}  // namespace
}  // namespace reseq::test
