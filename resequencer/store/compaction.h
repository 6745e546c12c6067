// Compaction: a new file for a copy on disk whose file is mostly free pages. LMDB gives pages back to its own next
// writes and never to the disk, so what is left is written to a file of its own, step by step, while the old one is
// read and written as before; then the new one takes its place (DiskCopy).
//
// Rows first, in key order, then timers and index entries. A checkpoint in between is written to the new file too, as
// far as that has come: what lies behind is copied later anyway.
//
// Invariants: up to its place the new file has what the copy has, and nothing behind it; what was copied is synced at
// the end of each step. Nothing of the copy changes here: whatever fails, the new file is thrown away.
// Thread rule: used by the owner of the store.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/checkpoint_record.h"
#include "store/environment.h"
#include "store/memory_table.h"
#include "store/state_folder.h"

namespace reseq::store {

struct CompactionSettings {
  std::uint64_t file_bytes_min = std::uint64_t{64} << 20;  // a smaller file stays as it is
  std::uint64_t times_used = 3;                       // one that is more than so many times what is used is rewritten
  std::uint64_t step_bytes = std::uint64_t{4} << 20;  // of entries, copied and synced at once
};

// Bytes of the file.
struct Compacted {
  std::uint64_t before = 0;
  std::uint64_t after = 0;
};

class Compaction {
 public:
  // An empty new file. `on_broken` as in Environment. REQUIRES: the folder outlives this.
  static Result<std::unique_ptr<Compaction>> begin(StateFolder& folder, std::uint64_t map_bytes,
                                                   std::function<void()> on_broken);
  // The file, if it was not taken, is removed.
  ~Compaction();
  Compaction(const Compaction&) = delete;
  Compaction& operator=(const Compaction&) = delete;

  // Copies some more of `copy`, up to `bytes`. True: all of its rows, timers and index entries are there. kInvalid: the
  // copy is damaged. Others: this is over.
  Result<bool> step(const Environment& copy, std::uint64_t bytes);

  // What a checkpoint has just written to the copy. If it cannot be written here, step() says so.
  void follow(const std::vector<const MemoryTable::Entry*>& entries);

  // Makes the new file a copy that stands where `record` says, and durable. REQUIRES: step() said true, and no
  // checkpoint was written since then that follow() was not called for.
  Result<> finish(const Environment& copy, std::string_view record);
  [[nodiscard]] std::unique_ptr<Environment> take() { return std::move(fresh_); }

 private:
  Compaction(StateFolder& folder, std::unique_ptr<Environment> fresh) : folder_(folder), fresh_(std::move(fresh)) {}
  Result<> copy_table(const Environment& copy, Environment::Write& write, Environment::Place& place,
                      std::uint64_t& left);
  Result<> sync() const;

  StateFolder& folder_;
  std::unique_ptr<Environment> fresh_;
  Environment::Place place_;  // up to which all is there
  std::optional<Error> unreadable_;
  std::optional<Error> failed_;
};

}  // namespace reseq::store
