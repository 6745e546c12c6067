#include <gtest/gtest.h>

#include "gates.h"

namespace reseq::tidy {
namespace {

std::string word_report(const std::string& path, const std::string& text) {
  return to_text(check_words(SourceTree({{path, text}})));
}

TEST(Words, HoldInTheTree) {
  EXPECT_EQ(to_text(check_words(SourceTree::of_this_project())), "");
}

TEST(Words, ReportDrawersAmongFilesAndFolders) {
  EXPECT_EQ(word_report("resequencer/base/string_util.h", ""), "resequencer/base/string_util.h: a drawer: util\n");
  EXPECT_EQ(word_report("resequencer/common/order.h", ""), "resequencer/common/order.h: a drawer: common\n");
  EXPECT_EQ(word_report("resequencer/base/database.h", ""), "");
  EXPECT_EQ(word_report("resequencer/base/implied_order.h", ""), "");
}

TEST(Words, ReportRemindersWithoutAnIssue) {
  const std::string reminder =
      "TO"
      "DO";
  EXPECT_EQ(word_report("docs/a.md", reminder + ": write\n"), "docs/a.md:1: " + reminder + " without an issue\n");
  EXPECT_EQ(word_report("docs/a.md",
                        "x\n// FIX"
                        "ME\n"),
            "docs/a.md:2: FIX"
            "ME without an issue\n");
  EXPECT_EQ(word_report("docs/a.md", reminder + "(#12): write\n"), "");
  EXPECT_EQ(word_report("docs/a.md", reminder + "S\n"), "");
}

TEST(Words, ReportPapersThatAreNotInTheTree) {
  EXPECT_EQ(word_report("a.h",
                        "// fenced (RELIA"
                        "BILITY A5)\n"),
            "a.h:1: cites what is not in the tree\n");
  EXPECT_EQ(word_report("a.h",
                        "// the table of DES"
                        "IGN 7\n"),
            "a.h:1: cites what is not in the tree\n");
  EXPECT_EQ(word_report("a.h", "// the design of 2 tables; REDESIGN 7\n"), "");
}

TEST(Words, ReportPathsOfAMachine) {
  EXPECT_EQ(word_report("docs/a.md",
                        "see /wo"
                        "rk/shared/x\n"),
            "docs/a.md:1: path of a machine: /wo"
            "rk/\n");
  EXPECT_EQ(word_report("docs/a.md",
                        "`/ho"
                        "me/me/x`\n"),
            "docs/a.md:1: path of a machine: /ho"
            "me/\n");
  EXPECT_EQ(word_report("docs/a.md",
                        "files in my/wo"
                        "rk/x and https://a.b/ro"
                        "ot/\n"),
            "");
}

}  // namespace
}  // namespace reseq::tidy
