// FoldedState: the state of each partition, computed from the changelog topic alone: read from its beginning by a plain
// read_committed consumer, folded in memory.
// Thread rule: plain function.
#pragma once

#include <map>
#include <string>

#include "kafka/settings.h"
#include "model/partition_state.h"
#include "store/partition_store.h"

namespace reseq::test {

struct FoldedState {
  Summary rows;      // of the rows that are left
  Summary promised;  // what the newest meta row says of them
  std::vector<Generation> lineage;
  std::uint64_t records = 0;
};

// By partition. Throws when the changelog cannot be read or folded.
[[nodiscard]] std::map<int, FoldedState> fold_changelog(const kafka::Connection& connection, const std::string& topic);

}  // namespace reseq::test
