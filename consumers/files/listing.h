// Listing: which file a document of a FileStore is in, as lines of JSON.
// Thread rule: one thread; the store may be written by another process meanwhile.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "base/result.h"

namespace reseq::files {

// One line per live document, in the order of ids by bytes, or the line of one id:
// {"id":..,"seq":..,"version":"..","file":..}, the file below the directory. What is no UTF-8 is in `id_base64` and
// `seq_base64`. Answers how many there were.
Result<std::uint64_t> list_documents(const std::string& directory, const std::optional<std::string>& id,
                                     std::FILE* out);

}  // namespace reseq::files
