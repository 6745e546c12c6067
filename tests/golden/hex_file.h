// Golden files: bytes as readable text. A line holds pairs of hex digits in any grouping; `#` begins a comment;
// `[name]` begins a section.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace reseq::golden {

// Sections by name. Fails the running test when the file is missing or not well-formed.
[[nodiscard]] std::map<std::string, std::string> read_hex_file(const std::string& name);

// As one line of hex, for messages.
[[nodiscard]] std::string hex(std::string_view bytes);

}  // namespace reseq::golden
