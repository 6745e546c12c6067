#include "tests/bench/requests.h"

#include <gtest/gtest.h>
#include <vector>

namespace reseq::bench {
namespace {

std::vector<std::uint64_t> requests_per_document(const Requests& requests) {
  std::vector<std::uint64_t> count(requests.documents());
  for (const Request& request : requests.all()) EXPECT_EQ(request.sequence, ++count[request.document]);
  return count;
}

TEST(Requests, AskForEachDocumentOnceBeforeUpdates) {
  const Requests requests({.documents = 100, .updates = 50});
  ASSERT_EQ(requests.all().size(), 150U);
  for (std::uint64_t document = 0; document < 100; ++document) EXPECT_EQ(requests.all()[document].document, document);
  const auto count = requests_per_document(requests);
  for (std::uint64_t document = 0; document < 100; ++document) EXPECT_EQ(requests.last(document), count[document]);
}

TEST(Requests, AskForEachDocumentAgainSoManyLater) {
  const Requests requests({.documents = 5, .again_after = 2});
  std::vector<std::uint64_t> documents;
  for (const Request& request : requests.all()) documents.push_back(request.document);
  EXPECT_EQ(documents, (std::vector<std::uint64_t>{0, 1, 2, 0, 3, 1, 4, 2, 3, 4}));
  EXPECT_EQ(requests_per_document(requests), std::vector<std::uint64_t>(5, 2));
}

TEST(Failing, CountsTheDocumentsThatItIncludes) {
  const Failing none;
  const Failing some{.every = 3, .below = 8};
  for (std::uint64_t documents = 0; documents < 12; ++documents) {
    std::uint64_t included = 0;
    for (std::uint64_t document = 0; document < documents; ++document) included += some.includes(document) ? 1 : 0;
    EXPECT_EQ(some.count(documents), included) << documents;
    EXPECT_EQ(none.count(documents), 0U);
  }
}

TEST(Requests, FollowZipfsLaw) {
  constexpr std::uint64_t kRecords = 200'000;
  const Requests requests({.documents = 1'000, .each_once = false, .updates = kRecords, .choice = Choice::kZipf});
  const auto count = requests_per_document(requests);
  const double first = static_cast<double>(count[0]);
  EXPECT_NEAR(first / kRecords, 1 / 7.485, 0.005);  // the sum of 1/k for k = 1 .. 1000 is 7.485
  EXPECT_NEAR(static_cast<double>(count[1]) / first, 0.5, 0.05);
  EXPECT_NEAR(static_cast<double>(count[9]) / first, 0.1, 0.02);
}

TEST(Requests, HavePayloadsThatNameThem) {
  const std::string payload = payload_of({.document = 7, .sequence = 3});
  EXPECT_EQ(payload.size(), kPayloadBytes);
  EXPECT_TRUE(payload.starts_with("doc-7 3 ."));
}

}  // namespace
}  // namespace reseq::bench
