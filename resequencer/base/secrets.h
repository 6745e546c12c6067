// Secrets: which properties of librdkafka hold one, and where they come from.
// Thread rule: any thread; reads files.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace reseq {

// True: this property of librdkafka holds a password or a key, to be hidden wherever it could appear.
[[nodiscard]] bool is_secret(std::string_view kafka_property);

// The first line of a file, hidden in the log. kInvalid: it cannot be read, or is empty.
[[nodiscard]] Result<std::string> read_secret_file(const std::string& path);

}  // namespace reseq
