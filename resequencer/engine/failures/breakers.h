// Breakers: one per target that several documents could not be brought to, so that a server that is down costs nobody
// a retry. While it is open nothing is dispatched for the target, but for one document at a time that tries it.
//
// clang-format off
// it opens       breaker_documents documents failed universally, and nothing was released for the target since the
//                first of them; if the last of them says permanent, until an operator resumes it
// it tries       behind breaker_pause one document, and another one behind each further pause; when one fails
//                universally, or has said nothing when the next one is due, the pause is doubled up to
//                breaker_pause_max; when it fails of something else, the next one goes at once
// it closes      with a result of something that was dispatched since it opened, or by an operator. What was dispatched
//                before, and fails universally, waits like the others: it says nothing of the target as it is now
// clang-format on
//
// Thread rule: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/context.h"
#include "model/breaker.h"
#include "model/command.h"

namespace reseq::engine {

// A failure of a document for a target of what was dispatched under this number.
struct TargetFailure {
  DocumentId id;
  TargetNumber target;
  std::uint64_t dispatch = 0;
  FailureKind kind = FailureKind::kUnknown;
  bool universal = false;
  std::string_view error;
};

// The failure waits for its target (F3), which is no retry. `retry_at`: it failed as a probe, and is not the next one.
struct WaitsForTarget {
  UnixMs retry_at;
};

// What is known behind the failure. `last_number`: of the last dispatch. None: it is the document's.
[[nodiscard]] std::optional<WaitsForTarget> note_failure(std::vector<Breaker>& breakers, const TargetFailure& failure,
                                                         std::uint64_t last_number, const Context& context);
// A result was released for the target, of what was dispatched under this number, 0 = nobody knows. True: it was open,
// and is closed.
bool note_release(std::vector<Breaker>& breakers, TargetNumber target, std::uint64_t dispatch);
// Something was dispatched for these targets.
void note_dispatch(std::vector<Breaker>& breakers, TargetSet targets, std::uint64_t dispatch, const Context& context);
// An operator closes it, behind the last dispatch. REQUIRES: it is open.
void close_breaker(std::vector<Breaker>& breakers, TargetNumber target, std::uint64_t last_number);
// Without them nothing is blocked, whatever an earlier configuration has left behind.
[[nodiscard]] bool has_breakers(const DispatchRules& rules);
// Those that this configuration does not have: they would stay open for ever.
void forget_breakers(std::vector<Breaker>& breakers, const Context& context);

[[nodiscard]] TargetSet open_targets(const std::vector<Breaker>& breakers);
// Those of them that are not to be tried now, either.
[[nodiscard]] TargetSet blocked_targets(const std::vector<Breaker>& breakers, UnixMs now);
// When something may be dispatched that goes to these targets alone; none: it waits for an operator, or for a result.
[[nodiscard]] std::optional<UnixMs> next_probe(const std::vector<Breaker>& breakers, TargetSet targets, UnixMs now);

}  // namespace reseq::engine
