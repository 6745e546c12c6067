// Rows, encoded, and places on disk for the tests of the store.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "base/big_endian.h"
#include "codec/held_rows.h"
#include "codec/keys.h"
#include "codec/rows.h"
#include "codec/task_row.h"
#include "store/batch_view.h"

namespace reseq::store {

inline constexpr const char* kBootId = "11111111-2222-3333-4444-555555555555";

struct Encoded {
  std::string key, value;
  [[nodiscard]] Change put() const { return {key, value}; }
  [[nodiscard]] Change gone() const { return {key, std::nullopt}; }
};

inline Identity identity(std::uint8_t seed = 1) {
  Identity made;
  made.application_id = "shop";
  made.partitions = 4;
  made.hash_key.bytes.fill(seed);
  return made;
}

inline Encoded identity_row(std::uint8_t seed = 1) {
  Encoded row{std::string(codec::identity_key()), ""};
  codec::encode_identity(row.key, identity(seed), row.value);
  return row;
}

inline Encoded targets_row(const TargetTable& table) {
  Encoded row{std::string(codec::target_table_key()), ""};
  codec::encode_targets(row.key, table, row.value);
  return row;
}

inline Encoded meta_row(const Meta& meta) {
  Encoded row{std::string(codec::meta_key()), ""};
  codec::encode_meta(row.key, meta, row.value);
  return row;
}

inline Meta meta_of(std::uint64_t generation) {
  Meta meta;
  meta.now = UnixMs(5);
  meta.positions = {{Role::kRequests, Offset(3)}};
  meta.lineage = {{generation, Offset(0)}};
  return meta;
}

inline Row row_of(std::uint64_t sequence, TargetSet pending, TargetSet served) {
  Row row;
  row.groups.push_back(
      {Order{Epoch(0), Sequence::of_number(sequence), Revision(0)}, true, pending, served, TargetSet()});
  return row;
}

inline Row live(std::uint64_t sequence, std::int64_t deadline = 0, bool overdue = false) {
  Row row = row_of(sequence, TargetSet(1), TargetSet());
  row.deadline = UnixMs(deadline);
  row.overdue = overdue;
  return row;
}

inline Row watermark(std::uint64_t sequence, std::int64_t deadline = 0) {
  Row row = row_of(sequence, TargetSet(), TargetSet(1));
  row.deadline = UnixMs(deadline);
  return row;
}

// An entry of a journal at an order of a row above, for its target.
inline JournalEntry entry_of(EntryState state, std::uint64_t sequence, std::uint8_t priority,
                             std::int64_t lease_until = 0) {
  JournalEntry entry;
  entry.order = Order{Epoch(0), Sequence::of_number(sequence), Revision(0)};
  entry.state = state;
  entry.targets = TargetSet(1);
  entry.number = 1;
  entry.urgency.priority = priority;
  entry.attempt = state == EntryState::kProcessing ? 1 : 0;
  entry.lease_until = UnixMs(lease_until);
  return entry;
}
inline JournalEntry waiting(std::uint64_t sequence, std::uint8_t priority) {
  return entry_of(EntryState::kWaiting, sequence, priority);
}
inline JournalEntry processing(std::uint64_t sequence, std::uint8_t priority, std::int64_t lease_until = 1) {
  return entry_of(EntryState::kProcessing, sequence, priority, lease_until);
}
inline Row with_journal(Row row, const std::vector<JournalEntry>& entries) {
  for (const JournalEntry& entry : entries) row.journal.push_back(entry);
  return row;
}

inline Encoded document(const std::string& id, const Row& row) {
  Encoded made;
  codec::append_document_key(id, codec::KeyedHash(identity().hash_key), made.key);
  codec::encode_row(made.key, id, row, made.value);
  return made;
}

// A row that stands under the key of another id: what a collision of 128-bit hashes would look like.
inline Encoded forged(const std::string& id, const std::string& owner, const Row& row) {
  Encoded made;
  codec::append_document_key(id, codec::KeyedHash(identity().hash_key), made.key);
  codec::encode_row(made.key, owner, row, made.value);
  return made;
}

using Entries = std::vector<std::pair<std::uint8_t, std::string>>;  // of indexes

// A record that is held: its first row, and its pieces.
inline std::vector<Encoded> held(const std::string& rank, const Entries& entries, std::size_t payload_bytes = 10) {
  const std::string key = codec::held_key(1, rank);
  const std::string payload(payload_bytes, 'p');
  codec::InputRecord record;
  record.payload = payload;
  Hold hold;
  hold.key = key;
  for (const auto& [index, bytes] : entries) hold.entries.push_back({index, bytes});
  Arena arena;
  std::vector<KeyedChange> changes;
  codec::append_held(hold, record, codec::KeyedHash(identity().hash_key), arena, changes);
  std::vector<Encoded> rows;
  for (const KeyedChange& change : changes)
    rows.push_back({std::string(change.key), std::string(change.value.value_or(""))});
  return rows;
}
// One without pieces.
inline Encoded held_row(const std::string& rank, const Entries& entries) {
  return held(rank, entries).front();
}

inline Encoded task(const std::string& rank, const std::string& note) {
  Encoded made{codec::task_key(1, rank), ""};
  codec::encode_task(made.key, {"cursor", note}, made.value);
  return made;
}

// As a batch sees it.
inline engine::Lookup find(const PartitionStore& store, const std::string& id) {
  return BatchView(store).find(id);
}

// A directory that goes away with the test.
class Place {
 public:
  explicit Place(const std::string& parent = testing::TempDir()) : path_(parent + "/reseq-store-XXXXXX") {
    EXPECT_NE(::mkdtemp(path_.data()), nullptr) << path_;
  }
  ~Place() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  [[nodiscard]] std::string folder() const { return path_ + "/state/0"; }
  [[nodiscard]] std::string file(const std::string& name) const { return folder() + "/" + name; }
  [[nodiscard]] const std::string& path() const { return path_; }

  [[nodiscard]] Result<std::unique_ptr<PartitionStore>> open(const DiskSettings& settings = {}) const {
    auto folder = StateFolder::open(this->folder(), kBootId);
    if (!folder) return folder.error();
    return PartitionStore::open(std::move(folder).value(), settings);
  }
  // The store, or a failed test.
  [[nodiscard]] std::unique_ptr<PartitionStore> must_open(const DiskSettings& settings = {}) const {
    auto opened = open(settings);
    if (opened) return std::move(opened).value();
    ADD_FAILURE() << opened.error().message;
    return nullptr;
  }

 private:
  std::string path_;
};

// Applies a change as the next record of the changelog.
inline Result<> restore_next(PartitionStore& store, const Change& change) {
  return store.restore(change, store.position().value_or(Offset(0)));
}

// Applies changes as a transaction of this process.
inline void commit(PartitionStore& store, std::vector<Change> changes) {
  const Summary after = store.after(changes);
  const auto next = Offset(store.position().value_or(Offset(0)).value() + static_cast<std::int64_t>(changes.size()));
  store.apply(changes, after, next);
}

// Entries of an index and the keys of their rows.
using Found = std::vector<std::pair<std::string, std::string>>;
inline Found index_of(const PartitionStore& store, std::uint8_t index, std::string_view from = {},
                      std::size_t entries_max = SIZE_MAX) {
  Found found;
  store.index(index, from, entries_max, [&](std::string_view entry, std::string_view key) {
    found.emplace_back(entry, key);
    return true;
  });
  return found;
}

// An entry of kLeaseIndex, and the key of its document.
inline Found::value_type lease_of(std::uint64_t until, const std::string& id) {
  std::string entry;
  append_big_endian(until, entry);
  return {entry, document(id, live(1)).key};
}

// Of all documents, a few rows at a time.
inline TargetSet pending_targets(const PartitionStore& store) {
  TargetSet pending;
  PartitionStore::Walked walked;
  while (!walked.ended && !store.fault()) walked = store.pending_targets(walked.cursor, 7, pending);
  return pending;
}

}  // namespace reseq::store
