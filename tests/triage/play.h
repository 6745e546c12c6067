// One cell played on a worker: errors at the right request, and what they ended in.
// Thread rule: one thread per cell.
#pragma once

#include <memory>
#include <string>

#include "tests/triage/subject.h"
#include "tests/triage/table.h"

namespace reseq::triage {

struct Outcome {
  bool as_told = false;
  std::string seen;  // for a person: the ending and what it was read from
};

// `subject`: one that is left from another cell, or empty; what can serve the next cell is left in it.
[[nodiscard]] Outcome play(const Cell& cell, std::unique_ptr<Subject>& subject);

}  // namespace reseq::triage
