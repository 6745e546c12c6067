// The comparison of an ordered target with the history must see every way in which the target can be wrong.
#include "demo/compare/version_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <utility>

#include "demo/compare/history.h"
#include "tests/unit/demo/repository.h"

namespace reseq::demo {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

DocumentVersion version(const std::string& document, std::uint64_t sequence, const char* content) {
  DocumentVersion one{.name = {document, sequence}};
  if (content != nullptr) one.content = content_hash(content);
  return one;
}

// Two documents that change by turns, one of which is deleted at last.
std::vector<DocumentVersion> history() {
  return {version("a", 1, "a1"), version("b", 1, "b1"), version("a", 2, ""),
          version("b", 3, "b3"), version("a", 4, "a4"), version("b", 5, nullptr)};
}

OrderComparison of_everything(const std::vector<DocumentVersion>& got) {
  return compare_order(history(), got, OrderOf::kEverything);
}
OrderComparison of_documents(const std::vector<DocumentVersion>& got) {
  return compare_order(history(), got, OrderOf::kDocuments);
}

TEST(VersionOrder, IsRightWhenAllCameOnceInTheirOrder) {
  for (const OrderComparison& comparison : {of_everything(history()), of_documents(history())}) {
    EXPECT_TRUE(comparison.all_right());
    EXPECT_EQ(comparison.expected, 6U);
    EXPECT_EQ(comparison.right, 6U);
    EXPECT_THAT(comparison.examples, IsEmpty());
  }
}

TEST(VersionOrder, SeesAVersionThatIsMissing) {
  auto got = history();
  got.erase(got.begin() + 2);
  for (const OrderComparison& comparison : {of_everything(got), of_documents(got)}) {
    EXPECT_FALSE(comparison.all_right());
    EXPECT_EQ(comparison.missing, 1U);
    EXPECT_EQ(comparison.right, 5U);
    EXPECT_THAT(comparison.examples, ElementsAre("a, order 2: missing"));
  }
}

TEST(VersionOrder, SeesTheLastVersionMissing) {
  auto got = history();
  got.pop_back();
  EXPECT_THAT(of_everything(got).examples, ElementsAre("b, order 5: missing"));
}

TEST(VersionOrder, SeesAVersionThatCameTwice) {
  auto got = history();
  got.insert(got.begin() + 4, got[3]);
  for (const OrderComparison& comparison : {of_everything(got), of_documents(got)}) {
    EXPECT_FALSE(comparison.all_right());
    EXPECT_EQ(comparison.twice, 1U);
    EXPECT_EQ(comparison.out_of_order, 0U);
    EXPECT_THAT(comparison.examples, ElementsAre("b, order 3: came again"));
  }
}

TEST(VersionOrder, SeesTwoVersionsOfADocumentThatAreSwapped) {
  auto got = history();
  std::swap(got[0], got[2]);
  EXPECT_EQ(of_documents(got).out_of_order, 1U);
  EXPECT_FALSE(of_documents(got).all_right());
  EXPECT_THAT(of_documents(got).examples, ElementsAre("a, order 1: came behind a later one"));
  EXPECT_EQ(of_everything(got).out_of_order, 2U) << "b, order 1 came behind a later one, too";
}

TEST(VersionOrder, OfDocumentsDoesNotAskForAnOrderBetweenThem) {
  auto got = history();
  std::swap(got[0], got[1]);
  EXPECT_TRUE(of_documents(got).all_right());
  EXPECT_FALSE(of_everything(got).all_right());
  EXPECT_THAT(of_everything(got).examples, ElementsAre("a, order 1: came behind a later one"));
}

TEST(VersionOrder, SeesTheContentOfAnotherVersion) {
  auto got = history();
  got[4].content = got[0].content;
  for (const OrderComparison& comparison : {of_everything(got), of_documents(got)}) {
    EXPECT_FALSE(comparison.all_right());
    EXPECT_EQ(comparison.other_content, 1U);
    EXPECT_EQ(comparison.right, 5U);
    EXPECT_THAT(comparison.examples, ElementsAre("a, order 4: has other bytes than the history"));
  }
}

TEST(VersionOrder, TellsADeletionFromAnEmptyDocument) {
  auto got = history();
  std::swap(got[2].content, got[5].content);
  EXPECT_EQ(of_everything(got).other_content, 2U);
}

TEST(VersionOrder, SeesAVersionThatNobodyIsToGet) {
  auto got = history();
  got.push_back(version("c", 1, "c1"));
  got.push_back(version("a", 5, "a5"));
  const OrderComparison comparison = of_everything(got);
  EXPECT_FALSE(comparison.all_right());
  EXPECT_EQ(comparison.unexpected, 2U);
  EXPECT_THAT(comparison.examples, ElementsAre("c, order 1: nobody is to get it", "a, order 5: nobody is to get it"));
}

TEST(VersionOrder, ReadsTheVersionsOfAHistory) {
  Repository repository;
  repository.write("a", "first");
  repository.write("b", "");
  repository.commit();
  repository.git({"rm", "-q", "a"});
  repository.write("b", "text");
  repository.commit();
  const auto changes = read_history(repository.path(), "HEAD").value();
  const auto versions = read_versions(repository.path(), changes, repository.path()).value();
  const std::vector<DocumentVersion> expected = {version("a", 1, "first"), version("b", 1, ""),
                                                 version("a", 2, nullptr), version("b", 2, "text")};
  EXPECT_TRUE(compare_order(expected, versions, OrderOf::kEverything).all_right());
}

}  // namespace
}  // namespace reseq::demo
