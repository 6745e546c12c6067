#include "source_tree.h"

#include <gtest/gtest.h>

namespace reseq::tidy {
namespace {

// Without files every gate would hold, so this is the test that the others stand on.
TEST(SourceTree, IsReadFromTheCheckout) {
  const SourceTree& tree = SourceTree::of_this_project();
  EXPECT_GT(tree.files().size(), 50U) << "the gates need a git checkout";
  ASSERT_NE(tree.find("tests/tidy/source_tree_test.cpp"), nullptr);
  EXPECT_NE(tree.find("tests/tidy/source_tree_test.cpp")->text.find("IsReadFromTheCheckout"), std::string::npos);
  EXPECT_TRUE(tree.has("resequencer/engine"));
  EXPECT_FALSE(tree.has("resequencer/eng"));
  EXPECT_FALSE(tree.has("build"));
}

TEST(SourceTree, IsEmptyWithoutACheckout) {
  EXPECT_TRUE(SourceTree::of_checkout("/proc").files().empty());
}

TEST(HasWord, WantsWholeWords) {
  EXPECT_TRUE(has_word("a.getenv(x)", "getenv"));
  EXPECT_FALSE(has_word("secure_getenv(x)", "getenv"));
  EXPECT_FALSE(has_word("getenvs", "getenv"));
}

}  // namespace
}  // namespace reseq::tidy
