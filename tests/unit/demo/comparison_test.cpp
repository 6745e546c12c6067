// The comparison with the oracle must see every way in which a sink can be wrong.
#include "demo/compare/comparison.h"

#include <fstream>
#include <gtest/gtest.h>

#include "consumers/files/file_store.h"
#include "consumers/sqlite/document_store.h"
#include "tests/unit/demo/repository.h"

namespace reseq::demo {
namespace {

using sink::Change;

constexpr const char* kOddPath = "dir/sp ace\nnew\tline-\xff";

// What the demo's targets are written by.
enum class Kind { kDatabase, kDirectory };

class ComparisonTest : public ::testing::TestWithParam<Kind> {
 protected:
  ComparisonTest() {
    repository_.write("a.txt", "first\n");
    repository_.write("empty", "");
    repository_.write(kOddPath, std::string("\0binary\xff", 8));
    repository_.commit();
    if (GetParam() == Kind::kDatabase)
      store_ = sqlite::DocumentStore::open(place(), {.topic = "t"}).value();
    else
      store_ = files::FileStore::open(place(), {.topic = "t"}).value();
    put("a.txt", "first\n");
    put("empty", "");
    put(kOddPath, std::string("\0binary\xff", 8));
    // What was deleted on the way stays in the sink as a deleted row.
    remove("gone.txt");
  }

  void put(std::string_view id, std::string_view payload) { apply({.id = id, .version = next(), .payload = payload}); }
  void remove(std::string_view id) { apply({.id = id, .version = next(), .op = sink::ChangeOp::kDelete}); }
  void fail(std::string_view id) {
    apply({.id = id, .version = next(), .op = sink::ChangeOp::kFailed, .payload = R"({"reason":"failed"})"});
  }
  Comparison compared() {
    const GitTree tree = read_tree(repository_.path(), "HEAD").value();
    return compare(*view(), repository_.path(), tree, repository_.path() + "/.git").value();
  }
  std::string place() { return repository_.path() + "/.git/sink"; }
  Repository repository_;

 private:
  std::unique_ptr<SinkView> view() {
    return (GetParam() == Kind::kDatabase ? view_database(place()) : view_directory(place())).value();
  }
  Version next() { return Version(++version_); }
  void apply(const Change& change) {
    ASSERT_TRUE(store_->begin().ok());
    ASSERT_TRUE(store_->apply(change).ok());
    ASSERT_TRUE(store_->commit().ok());
  }
  std::unique_ptr<sink::Store> store_;
  std::uint64_t version_ = 0;
};

TEST_P(ComparisonTest, IsRightWhenEveryBlobIsThereAndNothingElse) {
  const Comparison comparison = compared();
  EXPECT_TRUE(comparison.right());
  EXPECT_EQ(comparison.expected, 3U);
  EXPECT_EQ(comparison.equal, 3U);
  EXPECT_TRUE(comparison.examples.empty());
}

TEST_P(ComparisonTest, DoesNotTakeANoteOfAFailureForADocument) {
  fail("a.txt");
  EXPECT_FALSE(compared().right()) << "what should be there";
  EXPECT_EQ(compared().equal, 2U);
  put("a.txt", "first\n");
  fail("gone.txt");
  EXPECT_TRUE(compared().right()) << "what should not be there";
}

TEST_P(ComparisonTest, SeesAnOlderPayload) {
  put("a.txt", "first");
  const Comparison comparison = compared();
  EXPECT_FALSE(comparison.right());
  EXPECT_EQ(comparison.differs, 1U);
  EXPECT_EQ(comparison.wrong(), 1U);
  EXPECT_EQ(comparison.examples, std::vector<std::string>{"a.txt: other bytes than the commit has"});
}

TEST_P(ComparisonTest, SeesADocumentThatIsMissing) {
  repository_.write("late.txt", "late");
  repository_.commit();
  const Comparison comparison = compared();
  EXPECT_FALSE(comparison.right());
  EXPECT_EQ(comparison.missing, 1U);
  EXPECT_EQ(comparison.wrong(), 1U);
}

TEST_P(ComparisonTest, SeesADocumentThatWasDeletedByMistakeEvenAnEmptyOne) {
  remove("empty");
  const Comparison comparison = compared();
  EXPECT_FALSE(comparison.right());
  EXPECT_EQ(comparison.missing, 1U);
  EXPECT_EQ(comparison.examples, std::vector<std::string>{"empty: deleted, but the commit has it"});
}

TEST_P(ComparisonTest, SeesAResurrectedDocument) {
  put("gone.txt", "back again");
  const Comparison comparison = compared();
  EXPECT_FALSE(comparison.right());
  EXPECT_EQ(comparison.wrong(), 0U);
  EXPECT_EQ(comparison.resurrected, 1U);
}

TEST_P(ComparisonTest, SeesOneWrongByteInABlobLargerThanAnyBuffer) {
  std::string large(3'000'000, 'x');
  repository_.write("large", large);
  repository_.commit();
  put("large", large);
  EXPECT_TRUE(compared().right());
  large[2'999'999] = 'y';
  put("large", large);
  EXPECT_EQ(compared().differs, 1U);
}

TEST_P(ComparisonTest, KeepsOnlyTheFirstExamples) {
  for (int i = 0; i < 20; ++i) put("extra-" + std::to_string(i), "x");
  const Comparison comparison = compared();
  EXPECT_EQ(comparison.resurrected, 20U);
  EXPECT_EQ(comparison.examples.size(), kMaxExamples);
}

INSTANTIATE_TEST_SUITE_P(OfEveryTarget, ComparisonTest, ::testing::Values(Kind::kDatabase, Kind::kDirectory),
                         [](const auto& test) { return test.param == Kind::kDatabase ? "Search" : "Catalogue"; });

using DirectoryComparisonTest = ComparisonTest;
INSTANTIATE_TEST_SUITE_P(OfTheDirectory, DirectoryComparisonTest, ::testing::Values(Kind::kDirectory));

TEST_P(DirectoryComparisonTest, SeesAFileThatIsGoneOrChangedAlthoughTheIndexHasIt) {
  std::filesystem::path document;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(place() + "/documents"))
    if (entry.path().filename() == "a.txt") document = entry.path();
  std::ofstream(document) << "touched";
  EXPECT_EQ(compared().differs, 1U);
  std::filesystem::remove(document);
  EXPECT_EQ(compared().missing, 1U);
}

TEST_P(DirectoryComparisonTest, TakesAFileThatNoIndexKnowsForADocument) {
  std::ofstream(place() + "/documents/stray") << "x";
  const Comparison comparison = compared();
  EXPECT_EQ(comparison.resurrected, 1U);
  EXPECT_EQ(comparison.examples, std::vector<std::string>{"file stray: in the sink, but the commit does not have it"});
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
