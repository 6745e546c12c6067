// schemas/reasons.md is what people read when they find a reason in a header: it names every one, and no other.
#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "model/reason.h"
#include "tests/support/source_path.h"

namespace reseq {
namespace {

// Cells of the rows of its table that begin with a name in backticks.
std::vector<std::vector<std::string>> documented() {
  std::ifstream file(test::source_path("schemas/reasons.md"));
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| `")) continue;
    std::vector<std::string> cells;
    for (std::size_t from = 1; from < line.size();) {
      const std::size_t bar = line.find('|', from);
      if (bar == std::string::npos) break;
      cells.push_back(line.substr(from, bar - from));
      from = bar + 1;
    }
    rows.push_back(cells);
  }
  return rows;
}

TEST(Reasons, AreDocumentedInTheOrderOfTheCode) {
  std::vector<std::string> names;
  for (const auto& row : documented()) names.push_back(row[0].substr(2, row[0].size() - 4));
  const std::vector<std::string> expected(kReasonNames.begin() + 1, kReasonNames.end());
  EXPECT_EQ(names, expected);
}

TEST(Reasons, HaveAMeaningAndSomethingToDo) {
  for (const auto& row : documented()) {
    ASSERT_EQ(row.size(), 3U) << row[0];
    EXPECT_GT(row[1].size(), 20U) << row[0];
    EXPECT_GT(row[2].size(), 5U) << row[0];
  }
}

}  // namespace
}  // namespace reseq
