// Review: all checks that need nothing but the topics of an application and what was asked for.
// Thread rule: plain function.
#pragma once

#include <functional>
#include <vector>

#include "runtime/application/application.h"
#include "tests/judge/fold.h"
#include "tests/judge/history.h"
#include "tests/judge/replay.h"
#include "tests/judge/specification.h"
#include "tests/judge/verdict.h"

namespace reseq::judge {

struct ReviewOptions {
  bool exact_timers = false;  // what check_timers() requires is given
  std::function<void(Partition, const ReplayedBatch&)> visit = [](Partition, const ReplayedBatch&) {};
};

// The state of each partition as the changelog leaves it.
std::vector<Fold> review(const runtime::Application& application, const History& history,
                         const Specification& specification, const ReviewOptions& options, Verdict& verdict);

}  // namespace reseq::judge
