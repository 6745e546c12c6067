#include "store/partition_store.h"

#include <utility>
#include <variant>

#include "base/assert.h"
#include "codec/keys.h"
#include "codec/row_kinds.h"
#include "codec/rows.h"

namespace reseq::store {

namespace {

Error damaged(std::string_view what, codec::RowError error) {
  return {ErrorClass::kInvalid, 0,
          "changelog: " + std::string(what) + " row is unreadable: " + std::string(codec::name_of(error))};
}

constexpr CountSet kOfJournals = CountSet::of(Count::kWaiting) | CountSet::of(Count::kProcessing);

struct Counted {
  CountSet counts;
  DocumentPriorities priorities;
};

// What a row adds to the sums of its kind.
inline Counted counted(const codec::RowKind& kind, std::string_view value) {
  if (&kind != &codec::kDocumentRows || !codec::has_journal(value)) return {kind.counted(value), {}};
  const DocumentPriorities priorities = codec::priorities_of(value);
  return {codec::count_document(value, priorities), priorities};
}

inline std::optional<OldRow> old_row(const codec::KeyedHash& hash, const codec::RowKind& kind,
                                     const codec::HashedKey& key, std::optional<std::string_view> value) {
  if (!value) return std::nullopt;
  const Digest record = hash.of_record(key, *value);
  const auto [counts, priorities] = counted(kind, *value);
  return OldRow{record, counts, priorities};
}

// The old row goes out of the sums, the new one comes in. The hash of the new record.
Digest replace(Summary& summary, const codec::KeyedHash& hash, const codec::RowKind& kind, const codec::HashedKey& key,
               const std::optional<OldRow>& old, std::optional<std::string_view> fresh) {
  if (old) {
    summary.digest = codec::subtract(summary.digest, old->record);
    summary.counts.subtract(old->counted);
    if (old->counted.has_any_of(kOfJournals)) summary.subtract(old->priorities);
  }
  const Digest record = hash.of_record(key, fresh.value_or(std::string_view()));
  if (fresh) {
    summary.digest = codec::add(summary.digest, record);
    const auto [counts, priorities] = counted(kind, *fresh);
    summary.counts.add(counts);
    if (counts.has_any_of(kOfJournals)) summary.add(priorities);
  }
  return record;
}

void count_held(Summary& summary, std::string_view key, std::optional<std::string_view> old,
                std::optional<std::string_view> fresh) {
  codec::count_held(key, old ? old->size() : 0, fresh ? fresh->size() : 0, summary.counts);
}

}  // namespace

PartitionStore::PartitionStore() = default;

Result<> PartitionStore::restore(const Change& change, Offset offset) {
  const CrashMark mark = this->mark();
  if (fault_) return Error{ErrorClass::kFatal, fault_->code, fault_->message};
  const codec::RowKind* const kind = codec::row_kind_of(change.key);
  if (kind == nullptr)
    return Error{ErrorClass::kInvalid, 0, "changelog: a key of a type that this version does not know"};
  if (!identity_ && kind->type != codec::KeyType::kIdentity)
    return Error{ErrorClass::kInvalid, 0, "changelog: the first record is not the identity: the log was truncated"};
  if (!change.value && !kind->removable)
    return Error{ErrorClass::kInvalid, 0, "changelog: a tombstone for a row that is never removed"};
  if (checkpoint_ && offset < checkpoint_->position)
    return Error{ErrorClass::kInvalid, 0, "changelog: a record that was applied before"};
  if (!change.value && !codec::parse_key(change.key))
    return Error{ErrorClass::kInvalid, 0, "changelog: a key that is none of a " + std::string(kind->name)};
  if (change.value)
    if (const auto error = kind->check(change.key, *change.value)) return damaged(kind->name, *error);

  if (!identity_) set_identity(std::get<Identity>(codec::decode_identity(change.key, *change.value)));
  const codec::HashedKey hashed = hash_->hashed(change.key);
  Digest record;
  if (!kind->summed) {
    record = hash_->of_record(hashed, *change.value);
  } else {
    const auto value = value_of(hashed);
    const auto old = old_row(*hash_, *kind, hashed, value);
    if (fault_) return Error{ErrorClass::kFatal, fault_->code, fault_->message};
    record = replace(summary_, *hash_, *kind, hashed, old, change.value);
    if (kind->held) count_held(summary_, change.key, value, change.value);
  }
  remember(hashed, change.value);
  reach(Offset(offset.value() + 1), record, kind->type == codec::KeyType::kMeta);
  return Done{};
}

void PartitionStore::apply(std::span<const Change> changes, const Summary& after, Offset next) {
  if (changes.empty()) return;
  for (const Change& change : changes) {
    if (!identity_) {
      RESEQ_ASSERT(change.key == codec::identity_key(), "a row before the identity");
      set_identity(std::get<Identity>(codec::decode_identity(change.key, *change.value)));
    }
    remember(hashed_key(change), change.value);
  }
  summary_ = after;
  const Change& last = changes.back();
  reach(next, hash_->of_record(last.key, last.value.value_or(std::string_view())), last.key == codec::meta_key());
}

void PartitionStore::set_identity(Identity identity) {
  identity_ = std::move(identity);
  hash_.emplace(identity_->hash_key);
  memory_ = std::make_unique<MemoryTable>(*hash_);
}

void PartitionStore::remember(const codec::HashedKey& key, std::optional<std::string_view> value) {
  if (key.bytes == codec::meta_key()) {
    meta_ = std::get<Meta>(codec::decode_meta(key.bytes, *value));
  } else if (key.bytes == codec::target_table_key()) {
    targets_ = std::get<TargetTable>(codec::decode_targets(key.bytes, *value));
    has_targets_ = true;
  }
  memory_->put(key, value);
}

void PartitionStore::reach(Offset next, Digest last_record, bool at_meta) {
  const bool named = at_meta && !meta_->lineage.empty();
  checkpoint_ = Checkpoint{next, last_record, named ? meta_->lineage.back().number : 0};
}

std::optional<Offset> PartitionStore::position() const {
  if (!checkpoint_) return std::nullopt;
  return checkpoint_->position;
}

codec::HashedKey PartitionStore::hashed_key(const Change& change) const {
  if (change.looked_up != nullptr) return {change.key, change.looked_up->key_hash};
  if (change.looked_up_row != nullptr) return {change.key, change.looked_up_row->key_hash};
  return hash_->hashed(change.key);
}

Summary PartitionStore::after(std::span<const Change> changes) const {
  const CrashMark mark = this->mark();
  Summary summary = summary_;
  std::optional<codec::KeyedHash> newborn;  // the identity that is about to be applied
  for (const Change& change : changes) {
    if (change.looked_up != nullptr) {
      const LookedUp& known = *change.looked_up;
      (void)replace(summary, *hash_, codec::kDocumentRows, {change.key, known.key_hash}, known.old, change.value);
      continue;
    }
    if (change.looked_up_row != nullptr) {
      const LookedUpRow& known = *change.looked_up_row;
      if (!known.kind->summed) continue;
      const codec::HashedKey key{change.key, known.key_hash};
      const auto old = old_row(*hash_, *known.kind, key, known.value);
      (void)replace(summary, *hash_, *known.kind, key, old, change.value);
      if (known.kind->held) count_held(summary, change.key, known.value, change.value);
      continue;
    }
    const codec::RowKind* const found = codec::row_kind_of(change.key);
    RESEQ_ASSERT(found != nullptr, "a row of a kind that is not known");
    const codec::RowKind& kind = *found;
    if (!kind.summed) continue;
    if (!hash_ && !newborn) {
      RESEQ_ASSERT(change.key == codec::identity_key(), "a row before the identity");
      newborn.emplace(std::get<Identity>(codec::decode_identity(change.key, *change.value)).hash_key);
    }
    const codec::KeyedHash& hash = hash_ ? *hash_ : *newborn;
    const codec::HashedKey key = hash.hashed(change.key);
    const auto value = value_of(key);
    (void)replace(summary, hash, kind, key, old_row(hash, kind, key, value), change.value);
    if (kind.held) count_held(summary, change.key, value, change.value);
  }
  return summary;
}

// Memory first, then disk. The view lives until that key changes or a checkpoint is written.
std::optional<std::string_view> PartitionStore::value_of(const codec::HashedKey& key) const {
  if (memory_ == nullptr) return std::nullopt;
  if (const auto* entry = memory_->find(key)) return entry->value();
  if (disk() == nullptr) return std::nullopt;
  const auto found = disk()->row(key);
  if (found) return found.value();
  break_down(found.error());
  return std::nullopt;
}

std::optional<std::string_view> PartitionStore::row(std::string_view key) const {
  if (memory_ == nullptr) return std::nullopt;
  const CrashMark mark = this->mark();
  return value_of(hash_->hashed(key));
}

engine::Lookup PartitionStore::look_up(DocumentId id, Arena& keys, LookedUp& looked_up) const {
  engine::Lookup found;
  if (memory_ == nullptr) return found;
  const CrashMark mark = this->mark();
  const codec::HashedKey hashed = hash_->hashed(codec::document_key(id, *hash_, keys));
  looked_up = {hashed.bytes, hashed.hash, std::nullopt};
  const auto value = value_of(hashed);
  if (!value) return found;
  looked_up.old = old_row(*hash_, codec::kDocumentRows, hashed, value);
  const auto error = codec::decode_row_of(id, hashed.bytes, *value, found.row.emplace(), found.collision);
  if (error) break_down(damaged("document", *error));
  if (error || found.collision) found.row.reset();
  return found;
}

LookedUpRow PartitionStore::look_up_row(std::string_view key, Arena& keys) const {
  LookedUpRow found{keys.copy(key), {}, {}, codec::row_kind_of(key)};
  RESEQ_ASSERT(found.kind != nullptr, "a row of a kind that is not known");
  if (memory_ == nullptr) return found;
  const CrashMark mark = this->mark();
  const codec::HashedKey hashed = hash_->hashed(found.key);
  found.key_hash = hashed.hash;
  found.value = value_of(hashed);
  return found;
}

std::size_t PartitionStore::rows() const {
  return summary_.counts.rows() + (identity_ ? 1 : 0) + (has_targets_ ? 1 : 0);
}

// A sync that failed on another thread: the kernel may have dropped pages, and LMDB would read old ones again.
const std::optional<Error>& PartitionStore::fault() const {
  if (!fault_ && disk_ && disk_->folder().poisoned())
    fault_ = Error{ErrorClass::kFatal, 0, "state: " + disk_->folder().path() + " was poisoned: a sync failed"};
  return fault_;
}

// The first trouble stays, and what is on disk is not opened again.
void PartitionStore::break_down(Error error) const {
  if (disk_) disk_->poison();
  if (!fault_) fault_ = std::move(error);
}

void PartitionStore::forget() {
  identity_.reset();
  meta_.reset();
  targets_ = TargetTable();
  has_targets_ = false;
  hash_.reset();
  memory_.reset();
  summary_ = Summary();
  checkpoint_.reset();
  fault_.reset();
}

}  // namespace reseq::store
