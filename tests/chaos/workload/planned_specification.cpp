#include "tests/chaos/workload/planned_specification.h"

#include "tests/chaos/workload/treatment.h"

namespace reseq::chaos {

std::optional<judge::Asked> PlannedSpecification::asked(const judge::Record& request) const {
  if (!judge::header_of(request, kNumber)) return std::nullopt;  // RESET
  return plan_.asked(Number(judge::number_of(request, kNumber)));
}

bool PlannedSpecification::excused(const judge::Piece& piece) const {
  return chaos::excused(plan_.settings().seed, piece, plan_.settings().journal);
}

}  // namespace reseq::chaos
