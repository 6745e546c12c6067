// Fingerprint: 64 bits over bytes as 16 hex digits (XXH3, what `xxhsum -H3` prints). Tells contents apart, protects
// from nobody. Thread rule: any thread.
#pragma once

#include <string>
#include <string_view>

namespace reseq::sending {

[[nodiscard]] std::string fingerprint(std::string_view bytes);

}  // namespace reseq::sending
