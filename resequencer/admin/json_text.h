// JSON as text. Of members that come from outside: what is missing or of another kind is shown as a dash.
// Thread rule: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "admin/document_json.h"

namespace reseq::admin {

// Values deeper than this are nobody's answer: a record of a megabyte could be half a million arrays, one in the other,
// and what writes or compares them again calls itself as often.
inline constexpr int kJsonDepthMax = 64;
// One object of JSON; discarded (is_discarded()) when it is none, or deeper than that.
[[nodiscard]] Json parse_object(std::string_view text);
// Null when there is none.
[[nodiscard]] Json member(const Json& object, const char* name);
[[nodiscard]] std::int64_t number_in(const Json& object, const char* name, std::int64_t otherwise = 0);
[[nodiscard]] std::string text_in(const Json& object, const char* name, const std::string& otherwise = "-");
[[nodiscard]] std::string number_text(const Json& object, const char* name);
// `name`, or what is below `name`_base64 marked as such.
[[nodiscard]] std::string bytes_in(const Json& object, const std::string& name);
// The bytes themselves, whichever of both has them; empty: neither.
[[nodiscard]] std::string raw_bytes_in(const Json& object, const std::string& name);
// epoch/sequence+revision, without an epoch or revision of 0.
[[nodiscard]] std::string order_text(const Json& order);
// Those of a list of strings, with commas; a dash when there are none.
[[nodiscard]] std::string names_text(const Json& names);
// For a person or a program: with indentation and a newline at the end, in ASCII, whatever the strings hold.
[[nodiscard]] std::string indented(const Json& value);

}  // namespace reseq::admin
