// Operations: what the records of `control` do (schemas/wire.md, "Control"). They are rare, so what they need
// is kept out of the decision tables.
// Thread rule: pure functions.
#pragma once

#include "engine/context.h"
#include "engine/ruling.h"
#include "model/command.h"
#include "model/partition_state.h"

namespace reseq::engine {

// Whatever is pending of these targets becomes removed where it is: the row goes on to stop what is older.
// Dropped: `unregistered` when the document is not known, `unexpected_state`, `no_change` when nothing is pending.
[[nodiscard]] Ruling decide_expire(const Expire& command, const Row* row);

// What waits moves to at once or behind a date; `moves` = something would. A date further ahead than a request may wish
// is refused. Dropped as above; `no_change` also when the date has passed.
[[nodiscard]] Ruling decide_dispatch(const DispatchByHand& command, const Row* row, bool moves, const Context& context);

// As a SEQUENCE, but where that is unregistered (S3, S5) the target is registered and served at once. What is
// superseded or stale stays so: of what is known, no hand lets an old result win. `row` null = nothing is known:
// dropped (`unregistered`) unless the operator accepts that.
[[nodiscard]] Ruling decide_release(const ReleaseByHand& command, const Row* row, const PartitionState& state,
                                    const Context& context);

// These change the state of the partition, unless they are dry runs.
// `version_exhausted`: hardly a version would be left above this floor. `unexpected_state`, `no_change`.
[[nodiscard]] Decision raise_floor(const RaiseFloor& command, PartitionState& state);
// `no_change`.
[[nodiscard]] Decision pause(const Pause& command, PartitionState& state);
[[nodiscard]] Decision resume_target(const ResumeTarget& command, PartitionState& state);

}  // namespace reseq::engine
