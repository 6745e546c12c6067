// Store: what a sink keeps of one topic: the documents, what it could not use, and how far it has read.
//
// Every store promises: what happens between begin() and commit() is kept together with the positions, or done again
// from the old ones, so that a kill and a replay of any part of the log leave the same documents; with
// Check::kVersions the version of a document only rises, and a delete is remembered with its version, so that an older
// release cannot bring the document back.
// Thread rule: one thread, one process per store.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "consumers/sink/change.h"
#include "model/ids.h"

namespace reseq::sink {

// What a store is for. Opening it for anything else is refused: its positions would be read as those of another log.
struct StoreIdentity {
  std::string topic;
  Check check = Check::kVersions;
};

enum class Applied : unsigned char {
  kWritten,
  kNotNewer,  // the store has this version or a newer one
};

class Store {
 public:
  virtual ~Store() = default;

  // Next offset to read, per partition; a partition that was never read is absent.
  virtual Result<std::map<Partition, Offset>> positions() = 0;

  virtual Result<> begin() = 0;
  virtual Result<Applied> apply(const Change& change) = 0;
  // Keeps a record that breaks the wire contract aside, by its place in the log and the reason.
  virtual Result<> reject(Partition partition, Offset offset, std::string_view why) = 0;
  virtual Result<> set_position(Partition partition, Offset next) = 0;
  virtual Result<> commit() = 0;

  // For an orderly end. REQUIRES: no batch is open.
  virtual Result<> finish() = 0;
};

}  // namespace reseq::sink
