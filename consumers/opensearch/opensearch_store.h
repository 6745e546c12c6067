// OpenSearchStore: the documents of one target in an index of OpenSearch.
//
// Invariants: every write carries `reseq-version` as its external version, so an older one never replaces a newer one;
// a delete is a tombstone, a document that the alias hides, so its version is remembered (with hard deletes only for
// as long as the server remembers), and so is a marker of one that failed. What is answered kStored is in the server's
// translog, on its disk.
// Thread rule: as RemoteStore.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "consumers/opensearch/bulk_body.h"
#include "consumers/opensearch/bulk_writer.h"
#include "consumers/opensearch/http_client.h"
#include "consumers/opensearch/target_index.h"
#include "consumers/remote/remote_store.h"

namespace reseq::opensearch {

// kJson: a payload is a JSON object, the document. kText: it is any bytes, and a field of the document.
enum class PayloadForm : unsigned char { kJson, kText };

struct StoreSettings {
  HttpSettings http;
  IndexSettings index;
  BulkLimits bulk{};
  PayloadForm payload = PayloadForm::kJson;
  // With Check::kOff documents are written without versions, and deletes are hard.
  sink::Check check = sink::Check::kVersions;
  std::optional<Milliseconds> tombstone_retention{};  // absent: tombstones stay for ever
  std::optional<Milliseconds> output_retention{};     // absent: the topic keeps records for ever
};

class OpenSearchStore final : public remote::RemoteStore {
 public:
  static Result<std::unique_ptr<OpenSearchStore>> open(const StoreSettings& settings);

  [[nodiscard]] std::string place() const override;
  Result<> prepare() override;
  std::vector<remote::Finding> check() override;
  Result<> write(const remote::Batch& batch, std::span<remote::Answer> answers) override;
  Result<> ask() override;
  Result<> tend() override;
  void interrupt() override;
  Result<bool> is_there() override;
  Result<bool> is_empty() override;

 private:
  OpenSearchStore(std::unique_ptr<HttpClient> client, const StoreSettings& settings);
  // Without a tombstone.
  [[nodiscard]] bool deletes_hard() const {
    return settings_.check == sink::Check::kOff || settings_.index.hard_deletes;
  }
  // Why a write is refused by us; nothing: it is in the body.
  std::optional<std::string_view> add(const remote::Write& write);
  [[nodiscard]] Result<> check_retention() const;
  [[nodiscard]] remote::Finding check_writing();

  std::unique_ptr<HttpClient> client_;
  StoreSettings settings_;
  TargetIndex index_;
  BulkWriter writer_;
  std::atomic<bool> interrupted_ = false;
  BulkBody body_;
  std::vector<std::size_t> places_;  // of the items of the body, in the batch
};

}  // namespace reseq::opensearch
