// Inventory: reads the changelog of one partition from its beginning to its high watermark and keeps what makes it
// self-describing, not its rows: for `check` and `seek`, which have no state of their own.
// Invariants: memory does not grow with the documents, but with those that wait for a target that is not configured.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kafka/cluster.h"
#include "model/partition_state.h"
#include "model/target.h"

namespace reseq::changelog {

struct Inventory {
  std::optional<Identity> identity;  // none: nothing was ever written
  TargetTable targets;
  std::optional<Meta> meta;                      // the newest one
  std::map<std::string, std::uint64_t> waiting;  // documents that wait for a target that is not configured, by target
  std::uint64_t records = 0;
  Offset end;  // high watermark it was read to
};

struct InventoryRequest {
  kafka::TopicPartition where;
  std::vector<std::string> configured_targets;
  Milliseconds stall_limit;                                        // longest wait for the next record
  std::function<void(Offset position, Offset end)> progress = {};  // called now and then
};

// kTimeout: nothing comes, for instance because a transaction stays open. kInvalid: it cannot be read.
[[nodiscard]] Result<Inventory> take_inventory(kafka::LogReader& reader, const InventoryRequest& request);

}  // namespace reseq::changelog
