// FAIL: a worker could not do its work for a target. Table F stands at the head of decide_fail.cpp.
// Thread rule: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/context.h"
#include "engine/ruling.h"
#include "model/command.h"
#include "model/partition_state.h"
#include "model/row.h"

namespace reseq::engine {

struct FailRuling {
  Ruling ruling;
  // What is known behind it of each target that failed: it is tried again, or given up.
  std::vector<Failure> failures;
  UnixMs retry_at;                               // of those that are tried again: not before
  std::vector<Breaker> breakers;                 // behind it, if something failed
  std::optional<Failure> untold = std::nullopt;  // of what nobody kept: it is removed, and failed
};

[[nodiscard]] FailRuling decide_fail(const Fail& command, const Row* row, const PartitionState& state,
                                     const Context& context);

// How long behind its last failure an order is tried again: doubled with each retry, and spread by the hash of its
// document, so that what failed together does not come back together.
[[nodiscard]] Milliseconds backoff_of(DocumentId id, std::uint32_t retries, const DispatchRules& rules);

}  // namespace reseq::engine
