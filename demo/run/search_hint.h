// What to do next: a search that finds something in this very index, the files of the catalogue, and the way to one's
// own Kafka and pipeline.
// Thread rule: one thread.
#pragma once

#include <string>

#include "base/result.h"
#include "demo/run/settings.h"

namespace reseq::demo {

// A word that some, not all, documents contain; empty when there is none.
Result<std::string> word_to_search(const std::string& database_file);

// The command for a shell, with the path quoted for it.
[[nodiscard]] std::string search_command(const std::string& database_file, const std::string& word);

// Prints which documents of the catalogue are in which files.
[[nodiscard]] std::string list_command(const Settings& settings);

// Searches the index of OpenSearch.
[[nodiscard]] std::string index_command(const Settings& settings);

// Looks into the table of PostgreSQL.
[[nodiscard]] std::string table_command(const Settings& settings);

[[nodiscard]] std::string next_steps(const Settings& settings);

}  // namespace reseq::demo
