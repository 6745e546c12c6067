// The comparison with the oracle must see every way in which a sink can be wrong.
#include "demo/compare/comparison.h"

#include <gtest/gtest.h>

#include "consumers/sqlite/document_store.h"
#include "tests/unit/demo/repository.h"

namespace reseq::demo {
namespace {

using sqlite::Change;
using sqlite::DocumentStore;

constexpr const char* kOddPath = "dir/sp ace\nnew\tline-\xff";

class ComparisonTest : public ::testing::Test {
 protected:
  ComparisonTest() {
    repository_.write("a.txt", "first\n");
    repository_.write("empty", "");
    repository_.write(kOddPath, std::string("\0binary\xff", 8));
    repository_.commit();
    store_ = DocumentStore::open(file(), {.topic = "t"}).value();
    put("a.txt", "first\n");
    put("empty", "");
    put(kOddPath, std::string("\0binary\xff", 8));
    // What was deleted on the way stays in the sink as a deleted row.
    remove("gone.txt");
  }

  void put(std::string_view id, std::string_view payload) { apply({.id = id, .version = next(), .payload = payload}); }
  void remove(std::string_view id) { apply({.id = id, .version = next(), .op = Op::kDelete}); }
  Comparison compared() {
    const GitTree tree = read_tree(repository_.path(), "HEAD").value();
    return compare(file(), repository_.path(), tree, repository_.path() + "/.git").value();
  }
  Repository repository_;

 private:
  std::string file() { return repository_.path() + "/.git/search.db"; }
  Version next() { return Version(++version_); }
  void apply(const Change& change) {
    ASSERT_TRUE(store_->begin().ok());
    ASSERT_TRUE(store_->apply(change).ok());
    ASSERT_TRUE(store_->commit().ok());
  }
  std::unique_ptr<DocumentStore> store_;
  std::uint64_t version_ = 0;
};

TEST_F(ComparisonTest, IsRightWhenEveryBlobIsThereAndNothingElse) {
  const Comparison comparison = compared();
  EXPECT_TRUE(comparison.right());
  EXPECT_EQ(comparison.expected, 3U);
  EXPECT_EQ(comparison.equal, 3U);
  EXPECT_TRUE(comparison.examples.empty());
}

TEST_F(ComparisonTest, SeesAnOlderPayload) {
  put("a.txt", "first");
  const Comparison comparison = compared();
  EXPECT_FALSE(comparison.right());
  EXPECT_EQ(comparison.differs, 1U);
  EXPECT_EQ(comparison.wrong(), 1U);
  EXPECT_EQ(comparison.examples, std::vector<std::string>{"a.txt: other bytes than the commit has"});
}

TEST_F(ComparisonTest, SeesADocumentThatIsMissing) {
  repository_.write("late.txt", "late");
  repository_.commit();
  const Comparison comparison = compared();
  EXPECT_FALSE(comparison.right());
  EXPECT_EQ(comparison.missing, 1U);
  EXPECT_EQ(comparison.wrong(), 1U);
}

TEST_F(ComparisonTest, SeesADocumentThatWasDeletedByMistakeEvenAnEmptyOne) {
  remove("empty");
  const Comparison comparison = compared();
  EXPECT_FALSE(comparison.right());
  EXPECT_EQ(comparison.missing, 1U);
  EXPECT_EQ(comparison.examples, std::vector<std::string>{"empty: deleted, but the commit has it"});
}

TEST_F(ComparisonTest, SeesAResurrectedDocument) {
  put("gone.txt", "back again");
  const Comparison comparison = compared();
  EXPECT_FALSE(comparison.right());
  EXPECT_EQ(comparison.wrong(), 0U);
  EXPECT_EQ(comparison.resurrected, 1U);
}

TEST_F(ComparisonTest, SeesOneWrongByteInABlobLargerThanAnyBuffer) {
  std::string large(3'000'000, 'x');
  repository_.write("large", large);
  repository_.commit();
  put("large", large);
  EXPECT_TRUE(compared().right());
  large[2'999'999] = 'y';
  put("large", large);
  EXPECT_EQ(compared().differs, 1U);
}

TEST_F(ComparisonTest, KeepsOnlyTheFirstExamples) {
  for (int i = 0; i < 20; ++i) put("extra-" + std::to_string(i), "x");
  const Comparison comparison = compared();
  EXPECT_EQ(comparison.resurrected, 20U);
  EXPECT_EQ(comparison.examples.size(), kMaxExamples);
}

TEST(GitTree, CountsGitlinksAndTakesSymbolicLinksAsBlobs) {
  Repository repository;
  repository.write("file", "x");
  std::filesystem::create_symlink("file", repository.path() + "/link");
  repository.commit();
  const std::string id = resolve_commit(repository.path(), "HEAD").value();
  repository.git({"update-index", "--add", "--cacheinfo", "160000," + id + ",module"});
  repository.git({"-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-q", "-m", "module"});
  const GitTree tree = read_tree(repository.path(), "HEAD").value();
  EXPECT_EQ(tree.gitlinks, 1U);
  ASSERT_EQ(tree.entries.size(), 2U);
  EXPECT_EQ(tree.entries[0].path, "file");
  EXPECT_EQ(tree.entries[1].path, "link");
}

TEST(GitTree, RefusesWhatIsNoListing) {
  EXPECT_FALSE(parse_tree("100644 blob abc\tcut").ok());
  EXPECT_FALSE(parse_tree(std::string_view("nonsense\0", 9)).ok());
  EXPECT_FALSE(parse_tree(std::string_view("040000 tree abc\tdir\0", 20)).ok());
  EXPECT_TRUE(parse_tree("").ok());
}

}  // namespace
}  // namespace reseq::demo
