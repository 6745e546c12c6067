// What a person reads of orders that wait for their dispatch, of those that are under way since, and of work that
// failed.
// Thread rule: pure functions.
#pragma once

#include <string>

#include "admin/document_json.h"
#include "cli/ask.h"

namespace reseq::cli {

// What keeps it, or until when it is waited for. `entry`: of the `journal` of the document, which is of this part.
[[nodiscard]] std::string order_in_queue_text(const admin::Json& part, const admin::Json& document,
                                              const admin::Json& entry);
// Why nothing is dispatched for it. `down`: of the `targets_down` of a part.
[[nodiscard]] std::string target_down_text(const admin::Json& down);
// One line per order of the document; empty: it has none in the queue.
[[nodiscard]] std::string queue_text(const admin::Json& part, const admin::Json& document);
// One line per order that is in this state. `documents`: each with the member `partition`. REQUIRES:
// is_of_the_queue(state).
[[nodiscard]] std::string queue_list_text(const admin::Json& documents, admin::State state, View view);

// One line for all targets of the document whose work failed alike; empty: none did.
[[nodiscard]] std::string failures_text(const admin::Json& document);
[[nodiscard]] std::string failure_text(const admin::Json& failure);
// One line per failure that is in this state. REQUIRES: is_of_failures(state).
[[nodiscard]] std::string failures_list_text(const admin::Json& documents, admin::State state, View view);

}  // namespace reseq::cli
