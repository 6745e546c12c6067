#include "store/partition_store.h"

#include <utility>
#include <variant>

#include "base/assert.h"
#include "codec/keys.h"
#include "codec/rows.h"

namespace reseq::store {

namespace {

Error damaged(std::string_view what, codec::RowError error) {
  return {ErrorClass::kInvalid, 0,
          "changelog: " + std::string(what) + " row is unreadable: " + std::string(codec::name_of(error))};
}

// The decoding that a value of this key must survive; the decoded value itself is not needed here.
template <typename T>
std::optional<Error> check(std::string_view what, const codec::Decoded<T>& decoded) {
  if (const auto* error = std::get_if<codec::RowError>(&decoded)) return damaged(what, *error);
  return std::nullopt;
}

bool is_document(std::string_view key) {
  return key.front() == static_cast<char>(codec::KeyType::kDocument);
}

}  // namespace

Result<> PartitionStore::restore(const Change& change) {
  const auto key = codec::parse_key(change.key);
  if (!key) return Error{ErrorClass::kInvalid, 0, "changelog: a key of a type that this version does not know"};
  if (!identity_ && key->type != codec::KeyType::kIdentity)
    return Error{ErrorClass::kInvalid, 0, "changelog: the first record is not the identity: the log was truncated"};
  if (!change.value && key->type != codec::KeyType::kDocument)
    return Error{ErrorClass::kInvalid, 0, "changelog: a tombstone for a row that is never removed"};

  std::optional<Error> error;
  if (change.value) {
    switch (key->type) {
      case codec::KeyType::kIdentity:
        error = check("identity", codec::decode_identity(change.key, *change.value));
        break;
      case codec::KeyType::kTargets:
        error = check("target table", codec::decode_targets(change.key, *change.value));
        break;
      case codec::KeyType::kMeta:
        error = check("meta", codec::decode_meta(change.key, *change.value));
        break;
      case codec::KeyType::kDocument:
        error = check("document", codec::decode_row(change.key, *change.value));
        break;
      case codec::KeyType::kPayload:
        return Error{ErrorClass::kInvalid, 0, "changelog: payload rows are written by a newer version"};
    }
  }
  if (error) return *error;
  apply(change);
  return Done{};
}

void PartitionStore::apply(const Change& change) {
  if (change.key == codec::meta_key()) {
    meta_ = std::get<Meta>(codec::decode_meta(change.key, *change.value));
    return;
  }
  if (change.key == codec::identity_key() && !identity_) {
    identity_ = std::get<Identity>(codec::decode_identity(change.key, *change.value));
    hash_.emplace(identity_->hash_key);
    rows_ = std::make_unique<MemoryTable>(*hash_);
  }
  RESEQ_ASSERT(rows_ != nullptr, "a row before the identity");
  add(summary_, change);
  remember(change);
}

void PartitionStore::remember(const Change& change) {
  if (change.key == codec::target_table_key())
    targets_ = std::get<TargetTable>(codec::decode_targets(change.key, *change.value));
  if (change.value) {
    rows_->put(change.key, *change.value);
  } else {
    rows_->erase(change.key);
  }
}

// The old row goes out of the sums, the new one comes in.
void PartitionStore::add(Summary& summary, const Change& change) const {
  const bool document = is_document(change.key);
  if (const auto old = rows_->find(change.key)) {
    summary.digest = codec::subtract(summary.digest, hash_->of_record(change.key, *old));
    if (document) --(codec::is_watermark(*old) ? summary.watermarks : summary.live_rows);
  }
  if (change.value) {
    summary.digest = codec::add(summary.digest, hash_->of_record(change.key, *change.value));
    if (document) ++(codec::is_watermark(*change.value) ? summary.watermarks : summary.live_rows);
  }
}

Summary PartitionStore::after(std::span<const Change> changes) const {
  Summary summary = summary_;
  for (const Change& change : changes)
    if (change.key != codec::meta_key()) add(summary, change);
  return summary;
}

engine::Lookup PartitionStore::find(DocumentId id) const {
  thread_local std::string key;
  key.clear();
  codec::append_document_key(id, *hash_, key);
  const auto value = rows_->find(key);
  if (!value) return {};
  auto decoded = codec::decode_row(key, *value);
  auto* found = std::get_if<codec::DocumentRow>(&decoded);
  RESEQ_ASSERT(found != nullptr, "a row in memory that cannot be decoded");
  if (codec::key_is_hashed(id) && found->id != id) return {std::nullopt, true};
  return {std::move(found->row), false};
}

TargetSet PartitionStore::pending_targets() const {
  TargetSet pending;
  if (!rows_) return pending;
  rows_->for_each([&](std::string_view key, std::string_view value) {
    if (!is_document(key) || codec::is_watermark(value)) return;
    const auto decoded = codec::decode_row(key, value);
    if (const auto* found = std::get_if<codec::DocumentRow>(&decoded)) pending |= found->row.pending();
  });
  return pending;
}

}  // namespace reseq::store
