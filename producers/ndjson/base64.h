// Base64 (RFC 4648, section 4, with padding), for ids and payloads that are not UTF-8.
// Thread rule: any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace reseq::ndjson {

// Nothing when the text is no base64: a foreign character, a wrong length, bits that are lost.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

}  // namespace reseq::ndjson
