#include <algorithm>
#include <gtest/gtest.h>

#include "gates.h"

namespace reseq::tidy {
namespace {

TEST(TopLevel, HoldsWhatItIsAllowedToHold) {
  EXPECT_EQ(to_text(check_top_level(SourceTree::of_this_project())), "");
}

TEST(TopLevel, ReportsWhatIsMissingAndWhatDoesNotBelong) {
  std::vector<File> files;
  for (const Violation& missing : check_top_level(SourceTree({}))) files.push_back({missing.path, ""});
  EXPECT_EQ(to_text(check_top_level(SourceTree(files))), "");
  std::erase_if(files, [](const File& file) { return file.path == "LICENSE"; });
  files.push_back({"notes.txt", ""});
  files.push_back({"extra/a.cpp", ""});
  EXPECT_EQ(to_text(check_top_level(SourceTree(files))),
            "LICENSE: missing at the top of the tree\n"
            "extra: does not belong at the top of the tree\n"
            "notes.txt: does not belong at the top of the tree\n");
}

}  // namespace
}  // namespace reseq::tidy
