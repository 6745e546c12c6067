// One row of memory goes to a copy on disk, with the timers and index entries that the new row has and the old one had.
// Thread rule: used by the owner of the store.
#pragma once

#include "base/result.h"
#include "store/environment.h"
#include "store/memory_table.h"

namespace reseq::store {

// A row that came and went since the last checkpoint is not there and leaves nothing behind. `is_new`: it is not there
// for sure. kInvalid: the row that is there fails its checksum.
Result<> write_row(Environment::Write& write, const MemoryTable::Entry& entry, bool is_new);

// kInvalid: a row of a copy fails its checksum.
[[nodiscard]] Error damaged_row();

}  // namespace reseq::store
