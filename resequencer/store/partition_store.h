// PartitionStore: the state of one partition, a view of its changelog. Live batches and restores change it through the
// same apply(). This version keeps all rows in memory; a takeover restores them from the changelog.
//
// Invariants: summary() is what a full pass over the rows would give; only rows committed to the changelog are in it;
// no row is applied before the identity, whose random key hashes ids and rows. Thread rule: used by the worker that
// owns the partition.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "codec/hash.h"
#include "engine/state_view.h"
#include "model/partition_state.h"
#include "store/memory_table.h"

namespace reseq::store {

// One changelog record: a whole row, or its end.
struct Change {
  std::string_view key;
  std::optional<std::string_view> value;
};

struct Summary {
  Digest digest;
  std::uint64_t live_rows = 0;
  std::uint64_t watermarks = 0;
  friend bool operator==(const Summary&, const Summary&) = default;
};

class PartitionStore final : public engine::StateView {
 public:
  // Reads and checks a record that comes from the changelog, then applies it. kInvalid: it is damaged, of a newer
  // format, or stands before the identity; nothing changed then.
  Result<> restore(const Change& change);

  // Applies a record that this process encoded itself and that is committed.
  void apply(const Change& change);

  // What summary() will be once `changes` are applied. REQUIRES: keys are distinct.
  [[nodiscard]] Summary after(std::span<const Change> changes) const;
  [[nodiscard]] const Summary& summary() const { return summary_; }

  [[nodiscard]] engine::Lookup find(DocumentId id) const override;

  [[nodiscard]] bool empty() const { return !identity_ && !meta_ && (!rows_ || rows_->size() == 0); }
  [[nodiscard]] const std::optional<Identity>& identity() const { return identity_; }
  [[nodiscard]] const std::optional<Meta>& meta() const { return meta_; }
  [[nodiscard]] const TargetTable& targets() const { return targets_; }
  // REQUIRES: an identity was applied.
  [[nodiscard]] const codec::KeyedHash& hash() const { return *hash_; }

  // Targets for which some document still waits. A pass over all rows.
  [[nodiscard]] TargetSet pending_targets() const;
  [[nodiscard]] std::size_t rows() const { return rows_ ? rows_->size() : 0; }

 private:
  void add(Summary& summary, const Change& change) const;
  void remember(const Change& change);

  std::optional<Identity> identity_;
  std::optional<Meta> meta_;
  TargetTable targets_;
  std::optional<codec::KeyedHash> hash_;
  std::unique_ptr<MemoryTable> rows_;
  Summary summary_;
};

}  // namespace reseq::store
