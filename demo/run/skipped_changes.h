// Which changes the source could not send, in its own words.
// Thread rule: any thread.
#pragma once

#include <string>
#include <vector>

namespace reseq::demo {

// The first few lines of a source's log that name a skipped change.
[[nodiscard]] std::vector<std::string> skipped_changes(const std::string& log_file);

}  // namespace reseq::demo
