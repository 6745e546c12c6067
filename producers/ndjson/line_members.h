// LineMembers: a line of NDJSON as one object, its members by name, each value exactly as it was written.
// Thread rule: any thread. Views point into the line.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "producers/ndjson/object_members.h"

namespace reseq::ndjson {

// Why a line is refused: kInvalid, in one line.
[[nodiscard]] inline Error bad_line(std::string why) {
  return Error{.what_to_do = ErrorClass::kInvalid, .code = 0, .message = std::move(why)};
}

class LineMembers {
 public:
  // kInvalid with a one-line reason: no JSON object, a member that is not in `names`, or one that comes twice.
  [[nodiscard]] static Result<LineMembers> read(std::string_view text, std::span<const std::string_view> names);

  // Null when the line has no such member.
  [[nodiscard]] const std::string_view* find(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }

 private:
  std::vector<Member> members_;
};

// Nothing when the value is no text, or its text is no base64.
[[nodiscard]] std::optional<std::string> as_text(std::string_view value);
[[nodiscard]] std::optional<std::string> as_bytes(std::string_view value);
// Nothing unless it is a list of at least one text.
[[nodiscard]] std::optional<std::vector<std::string>> as_texts(std::string_view value);

// "payload" or "payload_base64": text as its bytes, other JSON byte by byte as it stands; nothing when it is null or
// absent.
[[nodiscard]] Result<std::optional<std::string>> payload_of(const LineMembers& line);

}  // namespace reseq::ndjson
