#include <gtest/gtest.h>

#include "gates.h"

namespace reseq::tidy {
namespace {

std::size_t count_in(const std::string& path, const std::string& text) {
  return check_purity(SourceTree({{path, text}})).size();
}
std::size_t count(const std::string& text) {
  return count_in("resequencer/engine/a.cpp", text);
}

TEST(Purity, HoldsInTheTree) {
  EXPECT_EQ(to_text(check_purity(SourceTree::of_this_project())), "");
}

TEST(Purity, ReportsClocksRandomnessThreadsEnvironmentAndLogs) {
  EXPECT_EQ(count("auto now = std::chrono::system_clock::now();\n"), 1U);
  EXPECT_EQ(count("auto now = std::chrono::steady_clock::now();\n"), 1U);
  EXPECT_EQ(count("auto now = time(nullptr);\n"), 1U);
  EXPECT_EQ(count("auto now = std::time (nullptr);\n"), 1U);
  EXPECT_EQ(count("auto now = ::time(nullptr);\n"), 1U);
  EXPECT_EQ(count("return time(nullptr);\n"), 1U);
  EXPECT_EQ(count("int dice = rand();\n"), 1U);
  EXPECT_EQ(count("std::mt19937 dice;\n"), 1U);
  EXPECT_EQ(count("#include <random>\n"), 1U);
  EXPECT_EQ(count("#include <thread>\n"), 1U);
  EXPECT_EQ(count("#include <mutex>\n"), 1U);
  EXPECT_EQ(count("const char* home = std::getenv(\"HOME\");\n"), 1U);
  EXPECT_EQ(count("spdlog::info(\"x\");\n"), 1U);
  EXPECT_EQ(count("#include <spdlog/spdlog.h>\n"), 1U);
  EXPECT_EQ(count("#include \"base/log.h\"\n"), 1U);
}

TEST(Purity, CoversCodecAndLeavesTheShellFree) {
  EXPECT_EQ(count_in("resequencer/codec/a.h", "int dice = rand();\n"), 1U);
  EXPECT_EQ(count_in("resequencer/runtime/a.cpp", "int dice = rand();\n"), 0U);
}

TEST(Purity, LetsOtherWordsAndCommentsPass) {
  EXPECT_EQ(count("// the steady_clock of the shell\n"), 0U);
  EXPECT_EQ(count("auto x = row.time();\n"), 0U);
  EXPECT_EQ(count("auto x = overtime(1) + operand(2) + context.clock() + model::time(3);\n"), 0U);
  EXPECT_EQ(count("void time(UnixMs value);\n"), 0U);
  EXPECT_EQ(count("auto x = \"getenv\";\n"), 0U);
}

TEST(Purity, ReportsIterationOverAnUnorderedContainer) {
  const std::string declared = "std::unordered_map<std::string, std::vector<int>> rows_;\n";
  EXPECT_EQ(count(declared + "auto row = rows_.find(x);\n"), 0U);
  EXPECT_EQ(count(declared + "for (const auto& row : rows_) {\n}\n"), 1U);
  EXPECT_EQ(count(declared + "std::sort(rows_.begin(), rows_.end());\n"), 1U);
  EXPECT_EQ(check_purity(SourceTree({{"resequencer/engine/a.h", declared},
                                     {"resequencer/engine/a.cpp", "for (auto& [id, row] : rows_) f(row);\n"}}))
                .size(),
            1U);
}

}  // namespace
}  // namespace reseq::tidy
