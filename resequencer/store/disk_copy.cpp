#include "store/disk_copy.h"

#include <algorithm>
#include <fcntl.h>
#include <string>
#include <utility>

#include "base/assert.h"
#include "base/failpoint.h"
#include "base/file_descriptor.h"
#include "codec/rows.h"
#include "model/effects.h"
#include "store/index_key.h"
#include "store/row_write.h"

namespace reseq::store {
namespace {

constexpr std::size_t kEntriesAhead = 8;
constexpr std::uint64_t kFilterKept = std::uint64_t{1} << 18U;  // keys; so many take half a megabyte at most

bool is_whole(const std::optional<Environment::Entry>& row) {
  return !row || codec::is_intact(row->key, row->value);
}

constexpr std::uint8_t kTimerRange = kIndexes;

// Which index an entry of the table is of, or that it is a timer.
std::uint8_t range_of(std::string_view key) {
  return std::min(static_cast<std::uint8_t>(key.front()), kTimerRange);
}

// Behind all keys of a range; it is none itself.
std::string end_of(std::uint8_t range) {
  return range == kTimerRange ? std::string(kLmdbKeyBytesMax + 1, '\xFF')
                              : std::string(1, static_cast<char>(range + 1));
}

// Of an entry of the table; none: it is damaged.
std::optional<std::string_view> row_of(std::string_view key) {
  if (range_of(key) != kTimerRange) {
    const auto entry = parse_index_key(key);
    return entry ? std::optional(entry->row) : std::nullopt;
  }
  const auto timer = parse_timer_key(key);
  return timer ? std::optional(timer->key) : std::nullopt;
}

}  // namespace

Result<std::unique_ptr<DiskCopy>> DiskCopy::open(std::unique_ptr<StateFolder> folder, const DiskSettings& settings) {
  const StateFolder::Copy found = folder->found();
  if (found == StateFolder::Copy::kPoisoned || found == StateFolder::Copy::kOtherBoot)
    return Error{ErrorClass::kInvalid, 0,
                 "state: the copy in " + folder->path() + " is not to be trusted: " + std::string(name_of(found))};
  auto copy = std::unique_ptr<DiskCopy>(new DiskCopy(std::move(folder), settings));
  copy->found_ = found;
  if (auto opened = copy->open(); !opened) return opened.error();
  return copy;
}

Result<> DiskCopy::open() {
  // A copy that was closed clean has all of its tables; any other may have been cut off while it was created.
  const bool create = found_ != StateFolder::Copy::kClean;
  if (create)
    if (auto begun = folder_->begin_writing(); !begun) return begun;
  auto opened = Environment::open(
      folder_->path(), {.map_bytes = settings_.map_bytes, .create = create, .on_broken = [this] { poison(); }});
  if (!opened) return opened.error();
  environment_ = std::move(opened).value();
  const auto record = environment_->get(Table::kCheckpoint, kCheckpointKey);
  if (!record) return record.error();
  if (record.value()) {
    auto decoded = decode_checkpoint(*record.value());
    if (!decoded) return decoded.error();
    written_ = decoded.value();
  }
  hidden_.clear();
  filter_.reset();
  if (const auto rows = environment_->entries(Table::kRows); rows && rows.value() == 0) filter_.emplace();
  sync_->attach(environment_->descriptor(), *folder_);
  return Done{};
}

DiskCopy::~DiskCopy() {
  close();
}

void DiskCopy::close() {
  sync_->detach();
  compaction_.reset();
  environment_.reset();
}

// LMDB has no checksums: a bit that flips in a key, on its page or on the way there, hides the row, and a document that
// is missed is taken for a new one. So what stands around the place of a missing key has to be whole and in order.
Result<std::optional<std::string_view>> DiskCopy::row(std::string_view key) const {
  const auto found = environment_->find_row(key);
  if (!found) return found.error();
  const auto& [value, before, behind] = found.value();
  if (value) return codec::is_intact(key, *value) ? Result<std::optional<std::string_view>>(value) : damaged_row();
  const bool in_order = !(before && before->key >= key) && !(behind && behind->key <= key);
  if (!in_order || !is_whole(before) || !is_whole(behind)) return damaged_row();
  return std::optional<std::string_view>();
}

Result<std::optional<std::string_view>> DiskCopy::row(const codec::HashedKey& key) const {
  if (filter_ && !filter_->may_have(key.hash.low)) return std::optional<std::string_view>();
  return row(key.bytes);
}

std::uint64_t DiskCopy::row_count() const {
  const auto count = environment_->entries(Table::kRows);
  return count ? count.value() : 0;
}

std::optional<Environment::Scan> DiskCopy::scan(const MemoryTable& memory, std::string_view from,
                                                std::uint8_t range) const {
  const auto next = hidden_.upper_bound(from);
  const bool in_run = next != hidden_.begin() && std::prev(next)->second > from;
  const std::string start(in_run ? std::prev(next)->second : from);
  if (start == end_of(range)) return std::nullopt;
  auto scan = environment_->scan(Table::kTimers, start);
  const auto is_of_range = [&] { return scan.valid() && range_of(scan.key()) == range; };
  const char* const first = scan.key().data();
  while (is_of_range()) {
    const auto row = row_of(scan.key());
    if (!row || memory.find(*row) == nullptr) break;
    scan.next();
  }
  if (scan.error()) return scan;
  const std::string behind = is_of_range() ? std::string(scan.key()) : end_of(range);
  if (!is_of_range() || scan.key().data() != first) note_hidden(in_run ? std::prev(next)->first : from, behind);
  return is_of_range() ? std::optional(std::move(scan)) : std::nullopt;
}

void DiskCopy::note_hidden(std::string_view from, std::string_view end) const {
  constexpr std::size_t kRunsMax = 1'000;
  if (hidden_.size() == kRunsMax) hidden_.clear();
  const std::string begin(from);
  hidden_.erase(hidden_.lower_bound(begin), hidden_.lower_bound(end));
  hidden_.emplace(begin, end);
}

std::optional<Environment::Scan> DiskCopy::timers(const MemoryTable& memory) const {
  return scan(memory, std::string(1, static_cast<char>(kTimerRange)), kTimerRange);
}

std::optional<Environment::Scan> DiskCopy::index(const MemoryTable& memory, std::uint8_t index,
                                                 std::string_view from) const {
  RESEQ_ASSERT(index < kTimerRange, "an index outside its limits");
  return scan(memory, from, index);
}

Result<> DiskCopy::write(const MemoryTable& memory, const CheckpointRecord& record) {
  if (folder_->poisoned())
    return Error{ErrorClass::kFatal, 0, "state: " + folder_->path() + " is poisoned: it must be rebuilt"};
  failpoint(Failpoint::kCheckpointBegin);
  if (auto begun = folder_->begin_writing(); !begun) return begun;
  const std::string encoded = encode_checkpoint(record);
  const auto entries = memory.in_key_order();
  std::vector<const MemoryTable::Entry*> added;  // of which the filter does not know
  auto done = environment_->write([&](Environment::Write& write) -> Result<> {
    added.clear();
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (i + kEntriesAhead < entries.size()) prefetch(*entries[i + kEntriesAhead]);
      const MemoryTable::Entry& entry = *entries[i];
      const bool is_new = filter_ && !filter_->may_have(entry.hash());
      if (is_new && entry.value()) added.push_back(&entry);
      if (auto row = write_row(write, entry, is_new); !row) return row;
    }
    auto recorded = write.put(Table::kCheckpoint, kCheckpointKey, encoded);
    failpoint(Failpoint::kCheckpointWritten);
    return recorded;
  });
  failpoint(Failpoint::kCheckpointCommitted);
  hidden_.clear();
  if (done) {
    written_ = record;
    if (compaction_) compaction_->follow(entries);
    note_added(added);
  } else if (done.error().what_to_do != ErrorClass::kRetriable) {
    poison();
    return Error{ErrorClass::kFatal, done.error().code, done.error().message};
  }
  return done;
}

// What the loop will need of it: entries in key order lie anywhere in memory, and so do their bits in the filter.
void DiskCopy::prefetch(const MemoryTable::Entry& entry) const {
  entry.prefetch();
  if (filter_) filter_->prefetch(entry.hash());
}

// Ids that come and go would make the filter grow for ever: it is given up when most of what it knows is gone.
void DiskCopy::note_added(const std::vector<const MemoryTable::Entry*>& entries) {
  if (!filter_) return;
  for (const MemoryTable::Entry* entry : entries) filter_->add(entry->hash());
  if (filter_->added() > std::max(kFilterKept, 2 * row_count())) filter_.reset();
}

bool DiskCopy::wants_compaction() const {
  if (environment_ == nullptr || folder_->poisoned()) return false;
  if (compaction_) return true;
  const CompactionSettings& settings = settings_.compaction;
  const auto size = environment_->size();
  if (!size || !written_ || size.value().file_bytes < settings.file_bytes_min) return false;
  const std::uint64_t used = size.value().file_bytes - size.value().free_bytes;
  return size.value().file_bytes / settings.times_used > used;
}

Result<std::optional<Compacted>> DiskCopy::compact() {
  RESEQ_ASSERT(environment_ != nullptr && written_, "a copy without a checkpoint is compacted");
  if (folder_->poisoned())
    return Error{ErrorClass::kFatal, 0, "state: " + folder_->path() + " is poisoned: it must be rebuilt"};
  auto done = step_compaction();
  if (done && !done.value()) return done;
  compaction_.reset();
  if (done || done.error().what_to_do == ErrorClass::kRetriable) return done;
  poison();
  return Error{ErrorClass::kFatal, done.error().code, done.error().message};
}

Result<std::optional<Compacted>> DiskCopy::step_compaction() {
  constexpr std::optional<Compacted> kMoreToCome;
  if (!compaction_) {
    if (auto begun = folder_->begin_writing(); !begun) return begun.error();
    auto compaction = Compaction::begin(*folder_, settings_.map_bytes, [this] { poison(); });
    if (!compaction) return compaction.error();
    compaction_ = std::move(compaction).value();
  }
  const auto all = compaction_->step(*environment_, settings_.compaction.step_bytes);
  if (!all) return all.error();
  if (!all.value() || sync_->running()) return kMoreToCome;
  if (auto whole = compaction_->finish(*environment_, encode_checkpoint(*written_)); !whole) return whole.error();
  const auto before = environment_->size();
  if (!before) return before.error();
  if (auto replaced = replace_file(); !replaced) return replaced.error();
  const auto after = environment_->size();
  if (!after) return after.error();
  return std::optional(Compacted{before.value().file_bytes, after.value().file_bytes});
}

// The environment of the new file stays open under its new name.
Result<> DiskCopy::replace_file() {
  auto taken = folder_->take_fresh();
  if (!taken) return taken;
  auto fresh = compaction_->take();
  sync_->close_later(FileDescriptor(::fcntl(environment_->descriptor(), F_DUPFD_CLOEXEC, 0)));
  sync_->attach(fresh->descriptor(), *folder_);
  environment_ = std::move(fresh);
  return taken;
}

Result<> DiskCopy::close_clean() {
  if (environment_ == nullptr) return Error{ErrorClass::kFatal, 0, "state: the copy is closed"};
  auto synced = sync_->sync();
  failpoint(Failpoint::kStopSynced);
  close();
  failpoint(Failpoint::kStopClosed);
  if (!synced) return synced;
  return folder_->mark_clean();
}

Result<> DiskCopy::wipe() {
  close();
  written_.reset();
  hidden_.clear();
  if (auto wiped = folder_->wipe(); !wiped) return wiped;
  found_ = StateFolder::Copy::kNone;
  return open();
}

void DiskCopy::poison() const {
  // When not even this can be written, what LMDB reads next time fails its checks or is read right.
  (void)folder_->poison();
}

std::optional<CheckpointRecord> look_at_copy(const std::string& folder, const std::string& boot_id) {
  const auto held = StateFolder::look(folder, boot_id);
  if (!held) return std::nullopt;
  const StateFolder::Copy found = held.value()->found();
  if (found != StateFolder::Copy::kClean && found != StateFolder::Copy::kSameBoot) return std::nullopt;
  const auto opened = Environment::open(folder, {.read_only = true, .on_broken = {}});
  if (!opened) return std::nullopt;
  const auto record = opened.value()->get(Table::kCheckpoint, kCheckpointKey);
  if (!record || !record.value()) return std::nullopt;
  const auto decoded = decode_checkpoint(*record.value());
  if (!decoded) return std::nullopt;
  return decoded.value();
}

}  // namespace reseq::store
