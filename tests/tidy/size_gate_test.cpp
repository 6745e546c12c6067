#include <gtest/gtest.h>

#include "gates.h"

namespace reseq::tidy {
namespace {

std::string repeat(const std::string& line, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += line;
  return text;
}
std::string size_report(const std::string& path, const std::string& text) {
  return to_text(check_sizes(SourceTree({{path, text}})));
}

TEST(Sizes, HoldInTheTree) {
  EXPECT_EQ(to_text(check_sizes(SourceTree::of_this_project())), "");
}

TEST(Sizes, ReportAFileOf501Lines) {
  EXPECT_EQ(size_report("resequencer/base/a.h", repeat("int x;\n", 500)), "");
  EXPECT_EQ(size_report("resequencer/base/a.h", repeat("int x;\n", 501)),
            "resequencer/base/a.h: lines: 501, at most 500\n");
  EXPECT_EQ(size_report("docs/a.md", repeat("text\n", 501)), "docs/a.md: lines: 501, at most 500\n");
}

TEST(Sizes, ReportAFunctionOf61Lines) {
  const auto function = [](int lines) { return "\nvoid f(int a) {\n" + repeat("  ++a;\n", lines - 2) + "}\n"; };
  EXPECT_EQ(size_report("resequencer/base/a.cpp", function(60)), "");
  EXPECT_EQ(size_report("resequencer/base/a.cpp", function(61)),
            "resequencer/base/a.cpp:2: lines of void f(int a): 61, at most 60\n");
}

TEST(Sizes, ReportALineOf121Columns) {
  EXPECT_EQ(size_report("script/test", "#!/bin/sh\n" + repeat("x", 120)), "");
  EXPECT_EQ(size_report("script/test", "#!/bin/sh\n" + repeat("x", 121)), "script/test:2: columns: 121, at most 120\n");
  EXPECT_EQ(size_report("resequencer/base/a.h", "// " + repeat("ä", 117)), "");
  EXPECT_EQ(size_report("resequencer/base/a.h", "// " + repeat("ä", 118)),
            "resequencer/base/a.h:1: columns: 121, at most 120\n");
}

TEST(Sizes, KeepTheRootBuildFileAndMainShort) {
  EXPECT_EQ(size_report("CMakeLists.txt", repeat("x\n", 61)), "CMakeLists.txt: lines: 61, at most 60\n");
  EXPECT_EQ(size_report("resequencer/main.cpp", repeat("x;\n", 81)), "resequencer/main.cpp: lines: 81, at most 80\n");
}

}  // namespace
}  // namespace reseq::tidy
