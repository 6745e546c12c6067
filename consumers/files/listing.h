// Listing: which file a document of a FileStore is in, and what is not there because it failed, as lines of JSON.
// Thread rule: one thread; the store may be written by another process meanwhile.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "base/result.h"

namespace reseq::files {

enum class Listed : unsigned char { kDocuments, kFailed };

// One line per live document, or per marker of one that failed, in the order of ids by bytes, or the line of one id:
// {"id":..,"seq":..,"version":"..","file":..}, the file below the directory; of a marker with "error" in front of the
// file. What is no UTF-8 is in `id_base64` and `seq_base64`. Answers how many there were.
Result<std::uint64_t> list_documents(const std::string& directory, Listed what, const std::optional<std::string>& id,
                                     std::FILE* out);

}  // namespace reseq::files
