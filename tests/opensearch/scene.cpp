#include "tests/opensearch/scene.h"

#include <atomic>

#include "tests/support/good.h"

namespace reseq::test {

opensearch::StoreSettings settings_of(const SearchServer& server) {
  static std::atomic<int> count = 0;
  opensearch::StoreSettings settings;
  settings.http.urls = {server.url()};
  settings.index.name = "shop-" + std::to_string(++count);
  return settings;
}

std::unique_ptr<opensearch::OpenSearchStore> prepared(const opensearch::StoreSettings& settings) {
  std::unique_ptr<opensearch::OpenSearchStore> store = good(opensearch::OpenSearchStore::open(settings));
  (void)good(store->prepare());
  return store;
}

}  // namespace reseq::test
