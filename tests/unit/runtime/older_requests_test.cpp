#include "runtime/worker/older_requests.h"

#include <gtest/gtest.h>
#include <string>

namespace reseq::runtime {
namespace {

constexpr std::int64_t kCount = OlderRequests::kCountAfter.value();
constexpr std::int64_t kForget = OlderRequests::kForgetAfter.value();

TEST(OlderRequests, CountADocumentOnceUntilItGetsOneThatIsNotOlder) {
  OlderRequests noted;
  noted.got_older("a", Milliseconds(1'000));
  noted.got_older("a", Milliseconds(2'000));
  noted.got_older("b", Milliseconds(3'000));
  EXPECT_EQ(noted.documents(Milliseconds(3'000 + kCount)), 2U);
  noted.got_newest("a");
  noted.got_newest("nobody knows it");
  EXPECT_EQ(noted.documents(Milliseconds(3'000 + kCount)), 1U);
}

TEST(OlderRequests, CountADocumentFromTwoMinutesAfterTheFirstOne) {
  OlderRequests noted;
  noted.got_older("a", Milliseconds(1'000));
  noted.got_older("a", Milliseconds(60'000));
  EXPECT_EQ(noted.documents(Milliseconds(1'000 + kCount - 1)), 0U) << "its newest change may follow";
  EXPECT_EQ(noted.documents(Milliseconds(1'000 + kCount)), 1U);
  noted.got_newest("a");
  noted.got_older("a", Milliseconds(1'000 + kCount));
  EXPECT_EQ(noted.documents(Milliseconds(1'000 + kCount)), 0U) << "it begins anew behind one that is not older";
}

TEST(OlderRequests, CountADocumentForTenMinutesFromTheLastOne) {
  OlderRequests noted;
  noted.got_older("a", Milliseconds(1'000));
  noted.got_older("a", Milliseconds(5'000));
  EXPECT_EQ(noted.documents(Milliseconds(5'000 + kForget - 1)), 1U);
  EXPECT_EQ(noted.documents(Milliseconds(5'000 + kForget)), 0U);
  noted.got_older("a", Milliseconds(5'000 + kForget));
  EXPECT_EQ(noted.documents(Milliseconds(5'000 + kForget + kCount - 1)), 0U) << "that was the first one again";
  noted.forget(Milliseconds(5'000 + kForget + kForget));
  EXPECT_TRUE(noted.empty());
}

TEST(OlderRequests, HoldSoManyDocumentsAndNoMore) {
  OlderRequests noted;
  for (std::size_t i = 0; i < 2 * OlderRequests::kDocumentsMax; ++i)
    noted.got_older("document " + std::to_string(i), Milliseconds(1'000));
  EXPECT_EQ(noted.documents(Milliseconds(1'000 + kCount)), OlderRequests::kDocumentsMax);
  noted.got_older("later", Milliseconds(1'000 + kForget));
  EXPECT_EQ(noted.documents(Milliseconds(1'000 + kForget + kCount)), 1U) << "what is forgotten makes room";
}

}  // namespace
}  // namespace reseq::runtime
