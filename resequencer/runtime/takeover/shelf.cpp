#include "runtime/takeover/shelf.h"

#include <utility>

#include "base/assert.h"
#include "base/log.h"

namespace reseq::runtime {

Shelf::Shelf(std::string root, std::string boot_id, const store::DiskSettings& settings)
    : root_(std::move(root)), boot_id_(std::move(boot_id)), settings_(settings) {}

Result<Taken> Shelf::take(Partition partition) {
  const std::lock_guard lock(mutex_);
  if (taken_.contains(partition))
    return Error{ErrorClass::kRetriable, 0, "another worker of this process still has the state of the partition"};
  if (const auto warm = parked_.find(partition); warm != parked_.end()) {
    Taken taken{std::move(warm->second.store), false, warm->second.read_since, Rebuild::kNone};
    parked_.erase(warm);
    taken_.insert(partition);
    return taken;
  }
  auto opened = open(partition);
  if (!opened) return opened.error();
  taken_.insert(partition);
  sync_[partition] = opened.value().store->sync_handle();
  return opened;
}

Result<Taken> Shelf::open(Partition partition) {
  const std::string path = root_ + "/" + std::to_string(partition.value());
  Rebuild emptied = Rebuild::kNone;
  for (int attempt = 0; attempt < 2; ++attempt) {
    auto folder = store::StateFolder::open(path, boot_id_);
    if (!folder) return folder.error();
    if (emptied == Rebuild::kNone) emptied = judge(folder.value()->found());
    if (emptied != Rebuild::kNone && emptied != Rebuild::kNoCopy)
      if (auto wiped = folder.value()->wipe(); !wiped) return wiped.error();
    auto store = store::PartitionStore::open(std::move(folder).value(), settings_);
    if (store) return Taken{std::move(store).value(), true, UnixMs(), emptied};
    if (store.error().what_to_do != ErrorClass::kInvalid) return store.error();
    spdlog::warn("partition={} recovery=damaged error={}", partition.value(), log::outside(store.error().message));
    emptied = Rebuild::kDamaged;
  }
  return Error{ErrorClass::kInvalid, 0, "the state in " + path + " cannot be opened even when it is empty"};
}

void Shelf::give_back(Partition partition, std::unique_ptr<store::PartitionStore> store, UnixMs read_since) {
  if (store) store->drop_compaction();
  const std::lock_guard lock(mutex_);
  RESEQ_ASSERT(taken_.erase(partition) == 1, "a state given back that was not taken");
  if (store) parked_[partition] = {std::move(store), read_since};
}

void Shelf::sync_all() {
  std::map<Partition, std::shared_ptr<store::SyncHandle>> handles;
  {
    const std::lock_guard lock(mutex_);
    handles = sync_;
  }
  // A copy stays poisoned until its partition is taken over again, which may be never: its failure is told once.
  for (const auto& [partition, handle] : handles) {
    if (handle->poisoned()) continue;
    if (const auto synced = handle->sync(); !synced)
      spdlog::error("partition={} sync=failed error={}", partition.value(), log::outside(synced.error().message));
  }
}

bool Shelf::close_clean() {
  const std::lock_guard lock(mutex_);
  bool clean = true;
  for (auto& [partition, parked] : parked_) {
    const auto closed = parked.store->close_clean();
    if (closed) continue;
    clean = false;
    spdlog::error("partition={} state=unclean error={}", partition.value(), log::outside(closed.error().message));
  }
  parked_.clear();
  sync_.clear();
  return clean;
}

}  // namespace reseq::runtime
