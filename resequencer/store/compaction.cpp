#include "store/compaction.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "base/failpoint.h"
#include "codec/rows.h"
#include "store/row_write.h"

namespace reseq::store {
namespace {

constexpr std::uint64_t kEntryBytes = 16;  // beside key and value

// Of the new file, which can always be made again.
Error of_new_file(const Error& error) {
  return {ErrorClass::kRetriable, error.code, "the new file: " + error.message};
}

}  // namespace

Result<std::unique_ptr<Compaction>> Compaction::begin(StateFolder& folder, std::uint64_t map_bytes,
                                                      std::function<void()> on_broken) {
  failpoint(Failpoint::kCompactionBegin);
  if (auto removed = folder.remove_fresh(); !removed) return removed.error();
  auto opened =
      Environment::open(folder.fresh_path(),
                        {.map_bytes = map_bytes, .create = true, .is_file = true, .on_broken = std::move(on_broken)});
  if (opened) return std::unique_ptr<Compaction>(new Compaction(folder, std::move(opened).value()));
  (void)folder.remove_fresh();
  return of_new_file(opened.error());
}

Compaction::~Compaction() {
  fresh_.reset();
  (void)folder_.remove_fresh();  // what stays is removed when the folder is opened again
}

Result<bool> Compaction::step(const Environment& copy, std::uint64_t bytes) {
  if (failed_) return *failed_;
  Environment::Place next;
  const auto copied = fresh_->write([&](Environment::Write& write) -> Result<> {
    next = place_;
    write.only_behind();
    std::uint64_t left = bytes;
    while (left > 0 && next.table != Table::kCheckpoint)
      if (auto table = copy_table(copy, write, next, left); !table) return table;
    return Done{};
  });
  if (unreadable_) return *unreadable_;
  if (!copied) return of_new_file(copied.error());
  failpoint(Failpoint::kCompactionCopied);
  if (auto synced = sync(); !synced) return synced.error();
  place_ = std::move(next);
  return place_.table == Table::kCheckpoint;
}

// From behind the place to the end of its table, where the next one begins, or until nothing is left of the bytes.
Result<> Compaction::copy_table(const Environment& copy, Environment::Write& write, Environment::Place& place,
                                std::uint64_t& left) {
  auto scan = copy.scan(place.table, place.key);
  if (scan.valid() && scan.key() == place.key) scan.next();
  for (; scan.valid(); scan.next()) {
    if (left == 0) return Done{};
    if (place.table == Table::kRows && !codec::is_intact(scan.key(), scan.value())) {
      unreadable_ = damaged_row();
      return *unreadable_;
    }
    if (auto put = write.put(place.table, scan.key(), scan.value()); !put) return put;
    place.key = scan.key();
    left -= std::min(left, scan.key().size() + scan.value().size() + kEntryBytes);
  }
  if (scan.error()) {
    unreadable_ = *scan.error();
    return *unreadable_;
  }
  place = {place.table == Table::kRows ? Table::kTimers : Table::kCheckpoint, {}};
  return Done{};
}

void Compaction::follow(const std::vector<const MemoryTable::Entry*>& entries) {
  if (failed_) return;
  const auto followed = fresh_->write([&](Environment::Write& write) -> Result<> {
    write.only_up_to(place_);
    for (const MemoryTable::Entry* entry : entries) {
      if (!place_.covers(Table::kRows, entry->key())) continue;
      if (auto row = write_row(write, *entry, false); !row) return row;
    }
    return Done{};
  });
  if (!followed) failed_ = of_new_file(followed.error());
}

Result<> Compaction::finish(const Environment& copy, std::string_view record) {
  if (failed_) return *failed_;
  const auto written =
      fresh_->write([&](Environment::Write& write) { return write.put(Table::kCheckpoint, kCheckpointKey, record); });
  if (!written) return of_new_file(written.error());
  for (const Table table : {Table::kRows, Table::kTimers, Table::kCheckpoint}) {
    const auto there = copy.entries(table);
    const auto here = fresh_->entries(table);
    if (!there) return there.error();
    if (!here || here.value() != there.value())
      return Error{ErrorClass::kRetriable, 0, "the new file: a table has not as many entries as in the copy"};
  }
  if (auto synced = sync(); !synced) return synced;
  failpoint(Failpoint::kCompactionWhole);
  return Done{};
}

Result<> Compaction::sync() const {
  if (::fdatasync(fresh_->descriptor()) == 0) return Done{};
  return of_new_file({ErrorClass::kRetriable, errno, "cannot be synced: " + std::generic_category().message(errno)});
}

}  // namespace reseq::store
