// Why a document is, or is not, in its targets as it is: where each of its targets stands, and what became of every
// input, as far as the events topic and the dead letters tell.
// Thread rule: pure functions.
#pragma once

#include <string>
#include <vector>

#include "admin/document_json.h"
#include "cli/ask.h"
#include "runtime/application/event_history.h"

namespace reseq::cli {

// One line per target. `part`: of the partition that has the document.
[[nodiscard]] std::string standing_text(const admin::Json& part, const admin::Json& document);
// Whether requests came behind the newest one and were older than it, and what that may mean; empty: none did.
// `events`: of the document, no run of which is both from before its newest request and from behind it.
[[nodiscard]] std::string older_text(const admin::Json& part, const admin::Json& document,
                                     const std::vector<runtime::PastEvent>& events, const std::string& requests);
// The results that came for targets since they wait and were stopped, one line per target; empty: none did.
// `events`: no run of which is both from before and from behind the time since which its target waits.
[[nodiscard]] std::string stopped_text(const admin::Json& document, const std::vector<runtime::PastEvent>& events);
// One line per dead letter, as runtime::letter_json() gives them. `others`: older ones that are not among them.
[[nodiscard]] std::string letters_text(const admin::Json& letters, std::int64_t others);
// One line per event or run, in their order.
[[nodiscard]] std::string timeline_text(const std::vector<runtime::PastEvent>& events, View view);

// What was not read of a topic, and how to read it; empty: nothing is lacking.
[[nodiscard]] std::string unread_text(const runtime::Unread& unread, const std::string& topic);

}  // namespace reseq::cli
