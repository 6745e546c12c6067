// Shelf: the states of a process that no worker holds at the moment: on disk, or parked warm since a partition was
// taken away. A worker takes one when it gets the partition and gives it back when it loses it.
//
// Invariants: a state is held by one worker or by the shelf; a folder is opened once.
// Thread rule: any thread; one mutex, never held over a call to Kafka (docs/decisions/0051-workers-and-threads.md).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/ids.h"
#include "runtime/takeover/recovery.h"
#include "store/partition_store.h"

namespace reseq::runtime {

struct Taken {
  std::unique_ptr<store::PartitionStore> store;
  bool from_disk = false;            // just opened; otherwise parked warm
  UnixMs read_since;                 // of give_back(); 0 from disk
  Rebuild emptied = Rebuild::kNone;  // why the copy on disk was not opened
};

class Shelf {
 public:
  // `root`: folder of this process; each partition gets one inside of it.
  Shelf(std::string root, std::string boot_id, const store::DiskSettings& settings);

  // kRetriable: another worker or process still has it. kInvalid: the folder cannot be used, the text names the fix.
  Result<Taken> take(Partition partition);
  // `read_since`: as judge() wants it, of recovery.h.
  void give_back(Partition partition, std::unique_ptr<store::PartitionStore> store, UnixMs read_since);

  // Checked sync of every state that is open, by whoever holds it. A failure poisons that copy.
  void sync_all();

  // Closes what is on the shelf, marked clean. False: the disk refused one of them, which is logged.
  // REQUIRES: no worker holds one.
  bool close_clean();

 private:
  struct Parked {
    std::unique_ptr<store::PartitionStore> store;
    UnixMs read_since;
  };
  Result<Taken> open(Partition partition);

  std::string root_;
  std::string boot_id_;
  store::DiskSettings settings_;
  std::mutex mutex_;
  std::map<Partition, Parked> parked_;
  std::set<Partition> taken_;
  std::map<Partition, std::shared_ptr<store::SyncHandle>> sync_;
};

}  // namespace reseq::runtime
