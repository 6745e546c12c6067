// What instances answered, as a person or a program reads it.
// Thread rule: pure functions, but for print_json(): main thread.
#pragma once

#include <string>

#include "admin/answers.h"
#include "cli/ask.h"

namespace reseq::cli {

// One document with all that is known of it. `part`: of the partition that has it.
[[nodiscard]] std::string document_text(const admin::Json& part, const admin::Json& document);
// One line per document; of a state of the queue, one per order in it, and of lanes, one per target.
// `documents`: each with the member `partition`.
[[nodiscard]] std::string list_text(const admin::Json& documents, admin::State state, View view);
[[nodiscard]] std::string stats_text(const admin::Answers& answers, View view);
[[nodiscard]] std::string target_stats_text(const admin::Answers& answers);
// By priority; empty: nothing waits for its dispatch or is under way since.
[[nodiscard]] std::string queue_stats_text(const admin::Answers& answers);
// By error, the errors of most documents first; empty: nothing has failed.
[[nodiscard]] std::string failures_stats_text(const admin::Answers& answers);
[[nodiscard]] std::string topology_text(const admin::Answers& answers, View view);
// To stdout, for a program.
void print_json(const admin::Json& value);

}  // namespace reseq::cli
