// Apply: the only place that changes a row. It never decides and never refuses.
// Thread rule: pure functions.
#pragma once

#include <optional>

#include "engine/context.h"
#include "engine/ruling.h"

namespace reseq::engine {

// Makes the change, creating the row if there is none, and sets its deadline:
// - something is pending: the time since when one of its targets waits and got nothing + registration_timeout; overdue
//   as it was, unless that is in the future;
// - nothing is pending (any more): now + watermark_retention, not overdue; none while an order waits for its dispatch,
//   or while something that failed for good is the newest of its target;
// a duration of 0 gives deadline 0 = none. REQUIRES: !edit.nothing()
void apply(const RowEdit& edit, const Context& context, std::optional<Row>& row);

// What follows from a row: orders of its journal that nobody waits for any more are not under way, groups without a
// target are gone, and the deadline. apply() ends with it.
void settle(Row& row, const Context& context);

// A request that was accepted at this order, whatever becomes of it there: of the newest one is known what came.
void note_requested(Row& row, const Order& order, const Accepted& request);

// What workers said of these targets is void.
void forget_failures_of(Row& row, TargetSet targets);
void forget_failures_at(Row& row, const Order& order, TargetSet targets);

// Asserts what model/row.h promises about a row, and that nothing is pending below the barrier.
void check_invariants(const Row& row);

}  // namespace reseq::engine
