// Treatment: what the pipeline does with a record of `work`, as a function of a seed and the order that the record is
// for. Each process gives the same answers to the same record, however often it is read: what is lost is always lost,
// and where work has leases, so often that it comes back some times. There some of it fails, some for good.
// Answers come out of order, some late and some twice. Now and then a target is given up, a target is added, or a
// command is one that cannot be used.
// Thread rule: any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "consumers/stage/result.h"
#include "model/ids.h"
#include "tests/judge/specification.h"

namespace reseq::chaos {

struct WorkOrder {
  std::string_view id;
  std::uint32_t epoch = 0;
  std::uint64_t sequence = 0;
  std::uint64_t revision = 0;
  std::uint64_t attempt = 0;  // 0: the work has no lease
};

inline constexpr std::uint64_t kAttemptsLost = 2;    // of what is lost, where work has leases
inline constexpr std::uint64_t kAttemptsFailed = 2;  // of what fails there, unless it is for good

struct PlannedAnswer {
  Milliseconds after;         // behind the reading of the record
  stage::StageResult result;  // without payload: a result for a target holds result_payload(), others none
};

inline constexpr Milliseconds kLongestAnswer{12'000};

// In the order of `after`; a target is added before the result for it. `targets`: reseq-targets of the record.
[[nodiscard]] std::vector<PlannedAnswer> answers(std::uint64_t seed, const WorkOrder& order,
                                                 const std::vector<std::string>& targets);

// The result for this piece will perhaps never be released: it is lost, unless its lease gives it back, or it was given
// up by an answer for its order.
[[nodiscard]] bool excused(std::uint64_t seed, const judge::Piece& piece, bool has_leases = false);

}  // namespace reseq::chaos
