// docs/decision-tables.md is what people read who find a row in an event. It says the same as the comments that stand
// where the rows are decided, and names all rows that an event can name.
#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <vector>

#include "model/effects.h"
#include "tests/support/source_path.h"

namespace reseq::engine {
namespace {

struct WrittenRow {
  std::string label, when, then;
  friend bool operator==(const WrittenRow&, const WrittenRow&) = default;
  friend void PrintTo(const WrittenRow& row, std::ostream* out) {
    *out << row.label << " | " << row.when << " | " << row.then;
  }
};

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(' ') - first + 1));
}

bool is_label(std::string_view word, char table) {
  return word.size() == 2 && word[0] == table && word[1] >= '0' && word[1] <= '9';
}

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(test::source_path(path));
  EXPECT_TRUE(file.is_open()) << path;
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// | S1 | when | what happens |
std::vector<WrittenRow> rows_of_page(char table) {
  std::vector<WrittenRow> rows;
  for (const std::string& line : lines_of("docs/decision-tables.md")) {
    if (line.size() < 7 || !line.starts_with("| ") || !is_label(std::string_view(line).substr(2, 2), table)) continue;
    std::vector<std::string> cells;
    for (std::size_t from = 1; from < line.size();) {
      const std::size_t bar = std::min(line.find('|', from), line.size());
      cells.push_back(trimmed(std::string_view(line).substr(from, bar - from)));
      from = bar + 1;
    }
    EXPECT_EQ(cells.size(), 3U) << line;
    if (cells.size() == 3) rows.push_back({cells[0], cells[1], cells[2]});
  }
  return rows;
}

// "// S1  when -> what happens"; a `when` that goes on in the next lines is indented there.
std::vector<WrittenRow> rows_of_comment(const std::string& path, char table) {
  std::vector<WrittenRow> rows;
  bool open = false;  // the last row goes on
  for (const std::string& line : lines_of(path)) {
    if (!line.starts_with("//")) break;
    std::string_view rest = std::string_view(line).substr(2);
    const bool begins = rest.size() > 5 && is_label(rest.substr(1, 2), table) && rest.substr(3, 2) == "  ";
    if (begins) {
      EXPECT_FALSE(open) << "has no arrow: " << rows.back().label;
      rows.push_back({std::string(rest.substr(1, 2)), "", ""});
      rest.remove_prefix(3);
    } else if (!open || !rest.starts_with("     ")) {
      continue;
    }
    const std::size_t arrow = rest.find(" -> ");
    WrittenRow& row = rows.back();
    row.when += (row.when.empty() ? "" : " ") + trimmed(rest.substr(0, arrow));
    open = arrow == std::string_view::npos;
    if (!open) row.then = trimmed(rest.substr(arrow + 4));
  }
  EXPECT_FALSE(open) << "has no arrow: " << rows.back().label;
  return rows;
}

std::vector<std::string> sorted_labels(const std::vector<WrittenRow>& rows) {
  std::vector<std::string> labels;
  for (const WrittenRow& row : rows) labels.push_back(row.label);
  std::sort(labels.begin(), labels.end());
  return labels;
}

struct Table {
  char letter;
  std::string file;
};

class DecisionTable : public testing::TestWithParam<Table> {};

TEST_P(DecisionTable, SaysOnItsPageWhatItsCodeSays) {
  const auto& [letter, file] = GetParam();
  const std::vector<WrittenRow> page = rows_of_page(letter);
  EXPECT_EQ(page, rows_of_comment("resequencer/engine/" + file, letter));
  std::vector<std::string> named;
  for (const std::string_view name : kTableRowNames)
    if (is_label(name, letter)) named.emplace_back(name);
  EXPECT_EQ(sorted_labels(page), named) << "rows that an event can name";
}

INSTANTIATE_TEST_SUITE_P(All, DecisionTable,
                         testing::Values(Table{'R', "documents/decide_register.cpp"},
                                         Table{'U', "documents/decide_unregister.cpp"},
                                         Table{'S', "documents/decide_sequence.cpp"},
                                         Table{'F', "failures/decide_fail.cpp"},
                                         Table{'O', "orders/orders_inputs.cpp"}),
                         [](const auto& table) { return std::string(1, table.param.letter); });

TEST(DecisionTables, AreAllThatAnEventCanName) {
  for (const std::string_view name : kTableRowNames) {
    const bool known = name == "-" || name == "control" || is_label(name, 'R') || is_label(name, 'U') ||
                       is_label(name, 'S') || is_label(name, 'F') || is_label(name, 'O');
    EXPECT_TRUE(known) << name << " stands on no page";
  }
}

}  // namespace
}  // namespace reseq::engine
