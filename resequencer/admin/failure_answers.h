// What all instances tell of work that failed, put together: by error, and when targets could not be reached.
// Invariants: bounded, whatever they answer: kErrorsMax errors with kExamplesMax ids each, kBreakerChangesMax changes.
// Thread rule: pure functions.
#pragma once

#include <cstddef>

#include "admin/answers.h"

namespace reseq::admin {

inline constexpr std::size_t kErrorsMax = 10;
inline constexpr std::size_t kExamplesMax = 3;
inline constexpr std::size_t kBreakerChangesMax = 30;

// As one instance tells it (schemas/admin.replies.schema.json, `failures`); `others` are what stands in none of the
// errors. Null: nobody tells of any.
[[nodiscard]] Json failures_of(const Answers& answers);
// Newest first, each with the member `instance`.
[[nodiscard]] Json breaker_changes_of(const Answers& answers);

}  // namespace reseq::admin
