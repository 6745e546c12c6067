// Wrong journals: job tables with one rule that is another one. Whoever compares has to notice each of them.
// Thread rule: none.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "tests/journal/job_table.h"

namespace reseq::journal {

struct NamedWrongJournal {
  std::string_view name;  // "a journal that ..."
  std::unique_ptr<Player> (*make)(const Rules& rules);
};

[[nodiscard]] const std::vector<NamedWrongJournal>& wrong_journals();

}  // namespace reseq::journal
