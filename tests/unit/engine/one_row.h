// OneRow: asks the engine about one command on one naive row, and compares it with a restated table.
// Thread rule: one thread.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "naive_row.h"

namespace reseq::engine {

struct Answer {
  Decision decision;
  TargetSet forwarded;
  std::array<NaiveTarget, kNaiveTargets> targets;  // afterwards
  std::optional<Order> barrier;                    // afterwards
};
[[nodiscard]] Answer ask(const NaiveRow& row, const Command& command, const Context& context);

// A table restated: each row of it with its whole condition. None = not exactly one condition holds.
using RestatedTable = std::vector<std::pair<TableRow, bool>>;
[[nodiscard]] std::optional<TableRow> the_one_row(const RestatedTable& table);

// For the message of a failure.
[[nodiscard]] std::string text_of(const NaiveRow& row);

}  // namespace reseq::engine
