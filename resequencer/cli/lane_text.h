// What a person reads of lanes: what strict and total targets wait for, and which results wait for that.
// Thread rule: pure functions.
#pragma once

#include <string>

#include "admin/answers.h"
#include "admin/document_json.h"
#include "cli/ask.h"

namespace reseq::cli {

// The first place of a lane, and what becomes of it.
[[nodiscard]] std::string lane_head_text(const admin::Json& head);
// How many results, of a `held` or `blocks` of a lane; "0" without one.
[[nodiscard]] std::string held_text(const admin::Json& held);
// One line per lane in which the document has places, or had some; empty: there is none.
[[nodiscard]] std::string lanes_of_document_text(const admin::Json& document);
// Of all partitions, what waits and what is skipped first; empty: nothing waits.
[[nodiscard]] std::string lanes_text(const admin::Answers& answers);
// One line per document and target that is in this state. `documents`: each with the member `partition`. REQUIRES:
// is_of_lanes(state).
[[nodiscard]] std::string lane_list_text(const admin::Json& documents, admin::State state, View view);

}  // namespace reseq::cli
