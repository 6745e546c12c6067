// Why a document is, or is not, in its targets as it is: where each of its targets stands, and what became of every
// input that the events topic still tells of.
// Thread rule: pure functions.
#pragma once

#include <string>
#include <vector>

#include "admin/document_json.h"
#include "cli/ask.h"
#include "runtime/event_history.h"

namespace reseq::cli {

// One line per target. `part`: of the partition that has the document.
[[nodiscard]] std::string standing_text(const admin::Json& part, const admin::Json& document);
// One line per event, oldest first.
[[nodiscard]] std::string timeline_text(const std::vector<runtime::PastEvent>& events, View view);

}  // namespace reseq::cli
