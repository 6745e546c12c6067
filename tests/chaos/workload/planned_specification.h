// PlannedSpecification: the plan, as the judge asks for it.
// Thread rule: any thread.
#pragma once

#include "tests/chaos/workload/plan.h"
#include "tests/judge/specification.h"

namespace reseq::chaos {

class PlannedSpecification : public judge::Specification {
 public:
  explicit PlannedSpecification(const PlanSettings& settings) : plan_(settings) {}

  [[nodiscard]] std::optional<judge::Asked> asked(const judge::Record& request) const override;
  [[nodiscard]] bool excused(const judge::Piece& piece) const override;

 private:
  Plan plan_;
};

}  // namespace reseq::chaos
