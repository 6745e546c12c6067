#include "cli/table.h"

#include <algorithm>

#include "base/assert.h"
#include "base/log.h"

namespace reseq::cli {

std::string id_cell(std::string id) {
  constexpr std::size_t kBytesMax = 64;
  if (id.size() <= kBytesMax) return id;
  id.resize(kBytesMax);
  return id + "...";
}

std::string Table::text() const {
  std::vector<std::size_t> widths(rows_.front().size());
  std::vector<std::vector<std::string>> shown;
  for (const auto& row : rows_) {
    RESEQ_ASSERT(row.size() == widths.size(), "a row of another table");
    auto& cells = shown.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      cells.push_back(log::one_line(row[i]));
      widths[i] = std::max(widths[i], cells[i].size());
    }
  }
  std::string text;
  for (const auto& cells : shown) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      line += cells[i];
      line.append(widths[i] - cells[i].size() + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace reseq::cli
