// The part of PartitionStore that deals with its copy on disk: opening, checkpoint, closing, wiping.
#include <utility>
#include <variant>

#include "base/assert.h"
#include "codec/keys.h"
#include "codec/rows.h"
#include "store/partition_store.h"

namespace reseq::store {
namespace {

Error unreadable(std::string_view what) {
  return {ErrorClass::kInvalid, 0, "state: the " + std::string(what) + " of the copy is missing or damaged"};
}

// A row that a copy with a checkpoint must have.
template <typename T, typename Decode>
std::optional<T> pinned(const DiskCopy& disk, std::string_view key, const Decode& decode) {
  const auto found = disk.row(key);
  if (!found || !found.value()) return std::nullopt;
  auto decoded = decode(key, *found.value());
  if (auto* row = std::get_if<T>(&decoded)) return std::move(*row);
  return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<PartitionStore>> PartitionStore::open(std::unique_ptr<StateFolder> folder,
                                                             const DiskSettings& settings) {
  const CrashMarks marks = folder->crash_marks();
  const CrashMark mark(&marks);
  auto disk = DiskCopy::open(std::move(folder), settings);
  if (!disk) return disk.error();
  auto store = std::make_unique<PartitionStore>();
  store->disk_ = std::move(disk).value();
  if (auto loaded = store->load(); !loaded) return loaded.error();
  return store;
}

Result<> PartitionStore::load() {
  const auto& record = disk_->written();
  if (!record) {
    if (disk_->row_count() != 0) return unreadable("checkpoint record");
    return Done{};
  }
  auto identity = pinned<Identity>(*disk_, codec::identity_key(), codec::decode_identity);
  if (!identity) return unreadable("identity");
  set_identity(std::move(*identity));
  summary_ = record->summary;
  checkpoint_ = record->checkpoint;

  // Which of these there are, the number of rows tells: a checkpoint can lie before the first of them.
  const auto meta = disk_->row(codec::meta_key());
  const auto targets = disk_->row(codec::target_table_key());
  if (!meta || !targets) return unreadable("meta row or target table");
  if (meta.value()) {
    meta_ = pinned<Meta>(*disk_, codec::meta_key(), codec::decode_meta);
    if (!meta_) return unreadable("meta row");
  }
  if (targets.value()) {
    auto table = pinned<TargetTable>(*disk_, codec::target_table_key(), codec::decode_targets);
    if (!table) return unreadable("target table");
    targets_ = std::move(*table);
    has_targets_ = true;
  }
  if (disk_->row_count() != rows() + (meta_ ? 1 : 0)) return unreadable("number of rows");
  return Done{};
}

std::optional<Environment::Size> PartitionStore::disk_size() const {
  if (disk() == nullptr) return std::nullopt;
  const auto size = disk()->size();
  return size ? std::optional(size.value()) : std::nullopt;
}

std::optional<Checkpoint> PartitionStore::checkpointed() const {
  if (!disk_ || !disk_->written()) return std::nullopt;
  return disk_->written()->checkpoint;
}

std::size_t PartitionStore::dirty_rows() const {
  return disk_ && memory_ ? memory_->size() : 0;
}

std::uint64_t PartitionStore::dirty_bytes() const {
  return disk_ && memory_ ? memory_->bytes() : 0;
}

Result<> PartitionStore::write_checkpoint() {
  if (!disk_ || !checkpoint_) return Done{};
  if (fault_) return Error{ErrorClass::kFatal, fault_->code, fault_->message};
  if (memory_->size() == 0 && checkpointed() == checkpoint_) return Done{};
  const CrashMark mark = this->mark();
  auto written = disk_->write(*memory_, {*checkpoint_, summary_});
  if (written) {
    memory_->clear();
  } else if (written.error().what_to_do == ErrorClass::kFatal) {
    break_down(written.error());
  }
  return written;
}

Result<std::optional<Compacted>> PartitionStore::compact() {
  if (const auto& broken = fault()) return Error{ErrorClass::kFatal, broken->code, broken->message};
  const CrashMark mark = this->mark();
  auto compacted = disk_->compact();
  if (!compacted && compacted.error().what_to_do == ErrorClass::kFatal) break_down(compacted.error());
  return compacted;
}

void PartitionStore::drop_compaction() {
  const CrashMark mark = this->mark();
  if (disk_) disk_->drop_compaction();
}

std::shared_ptr<SyncHandle> PartitionStore::sync_handle() const {
  return disk_ ? disk_->sync() : std::make_shared<SyncHandle>();
}

Result<> PartitionStore::close_clean() {
  if (!disk_) return Done{};
  if (const auto& broken = fault()) return *broken;  // a copy that could not be emptied is not even open
  // A copy that stands inside of a transaction could not be caught up: the older one can.
  const auto last = checkpointed();
  const bool worse = last && last->generation != 0 && checkpoint_ && checkpoint_->generation == 0;
  if (!worse)
    if (auto written = write_checkpoint(); !written) return written;
  return disk_->close_clean();
}

Result<> PartitionStore::wipe() {
  forget();
  if (!disk_) return Done{};
  auto wiped = disk_->wipe();
  if (!wiped) fault_ = wiped.error();
  return wiped;
}

StateFolder::Copy PartitionStore::found() const {
  return disk_ ? disk_->folder().found() : StateFolder::Copy::kNone;
}

std::string PartitionStore::folder() const {
  return disk_ ? disk_->folder().path() : std::string();
}

}  // namespace reseq::store
