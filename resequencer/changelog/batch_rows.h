// Batch rows: the changelog records of one batch of one partition, encoded: changed documents, the target table when it
// grew, the meta row last.
// Thread rule: one worker; bytes live in the arena.
#pragma once

#include <span>
#include <vector>

#include "base/arena.h"
#include "codec/command_decoder.h"
#include "model/effects.h"
#include "model/partition_state.h"
#include "model/target.h"
#include "store/batch_view.h"

namespace reseq::changelog {

// Encodes the whole rows of the changed documents, in the order given.
// REQUIRES: they were looked up in `view`, which outlives the changes.
void append_rows(std::span<const RowChange> changes, const store::BatchView& view, Arena& arena,
                 std::vector<store::Change>& out);
// Rows of what a gate holds, made of the records of a batch by their InputIndex.
void append_rows(std::span<const Hold> holds, std::span<const codec::InputRecord> records, const codec::KeyedHash& hash,
                 Arena& arena, std::vector<store::Change>& out);
// Rows of other kinds, which are encoded. REQUIRES: they outlive the changes.
void append_rows(std::span<const KeyedChange> changes, std::vector<store::Change>& out);
// The same where they were looked up in `view`, which outlives the changes.
void append_rows(std::span<const KeyedChange> changes, const store::BatchView& view, std::vector<store::Change>& out);
[[nodiscard]] store::Change targets_row(const TargetTable& table, Arena& arena);
[[nodiscard]] store::Change identity_row(const Identity& identity, Arena& arena);
[[nodiscard]] store::Change meta_row(const Meta& meta, Arena& arena);

}  // namespace reseq::changelog
