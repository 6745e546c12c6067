// A store of a real OpenSearch, with an index that no other test has.
// Thread rule: one thread.
#pragma once

#include <memory>
#include <string>

#include "consumers/opensearch/opensearch_store.h"
#include "tests/opensearch/search_server.h"

namespace reseq::test {

[[nodiscard]] opensearch::StoreSettings settings_of(const SearchServer& server);

// Opened and prepared; throws when that fails.
[[nodiscard]] std::unique_ptr<opensearch::OpenSearchStore> prepared(const opensearch::StoreSettings& settings);

}  // namespace reseq::test
