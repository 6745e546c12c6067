// Table: rows of cells as aligned columns. Cells come from outside: what is no printable ASCII is shown as \xHH.
// Thread rule: plain value.
#pragma once

#include <string>
#include <vector>

namespace reseq::cli {

class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}
  // REQUIRES: as many cells as the header has.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// An id in a cell: of a long one the beginning, so that it does not push the other columns out of sight.
[[nodiscard]] std::string id_cell(std::string id);

}  // namespace reseq::cli
