// Sweep: tombstones that are older than any replay of the output are removed from the index, page by page. Each is
// deleted with its own version, so a document that came back meanwhile is left alone.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "consumers/opensearch/http_client.h"
#include "model/ids.h"

namespace reseq::opensearch {

// Tombstones written before `older_than`, of the index behind `write_alias`. Answers how many were removed; what could
// not be removed this time is there for the next one.
[[nodiscard]] Result<std::uint64_t> sweep(HttpClient& client, const std::string& write_alias, UnixMs older_than);

}  // namespace reseq::opensearch
