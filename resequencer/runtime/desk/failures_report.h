// What an instance tells of work that failed, of all its partitions: documents by their errors, and when targets could
// not be reached. Bounded, because a reply has to fit into a record.
// Thread rule: pure functions of what workers have published.
#pragma once

#include <vector>

#include "admin/document_json.h"
#include "runtime/worker/report.h"

namespace reseq::runtime {

// {"failed", "retrying", "errors": [{"error", "failed", "retrying", "last", "examples": [{"id"}]}], "others"}, the
// errors of most documents first, at most admin::kErrorsMax; null: nothing has failed.
[[nodiscard]] admin::Json failures_json(const std::vector<Board::Seen>& seen);
// [{"partition", "target", "down", "at", "error"}], newest first, at most admin::kBreakerChangesMax.
[[nodiscard]] admin::Json breaker_changes_json(const std::vector<Board::Seen>& seen);

}  // namespace reseq::runtime
