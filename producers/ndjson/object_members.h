// Members of a JSON object as views of its text, so that a value can be passed on exactly as it was written.
// Thread rule: any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace reseq::ndjson {

struct Member {
  std::string name;        // unescaped
  std::string_view value;  // as written, without the blanks around it
};

// REQUIRES: `text` is valid JSON (nlohmann::json::accept) and an object.
[[nodiscard]] std::vector<Member> members_of(std::string_view text);

}  // namespace reseq::ndjson
