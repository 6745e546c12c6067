// DocumentStore: the documents of one target in one SQLite file, with a full-text index over their payloads and the
// offsets they were read up to.
//
//   documents(id BLOB PRIMARY KEY, seq TEXT, version INTEGER, deleted INTEGER, payload BLOB)
//   documents_fts(id, text)        FTS5; text of payloads that are no UTF-8 is empty, deleted documents have no row
//   documents_fts_rows(row, id)    which row of documents_fts belongs to a document; rowids of `documents` would not
//                                  survive a VACUUM
//   positions(topic, partition, next)   rejected(topic, partition, offset, why)   sink(name, value): what the file is
//   for
//
// Invariants: documents and the positions behind them change in the same transaction, so a kill or a replay of any part
// of the log leaves the same table; with Check::kVersions the version of a document only rises, and a delete stays as a
// row with its version, so that an older release cannot bring the document back.
// Thread rule: one thread, one process (SQLite's own lock refuses a second writer).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "consumers/sqlite/change.h"
#include "consumers/sqlite/database.h"
#include "model/ids.h"

namespace reseq::sqlite {

// What a file is for. Opening it for anything else is refused: its positions would be read as those of another log.
struct StoreIdentity {
  std::string topic;
  Check check = Check::kVersions;
};

enum class Applied : unsigned char {
  kWritten,
  kNotNewer,  // the table has this version or a newer one
};

class DocumentStore {
 public:
  ~DocumentStore();

  // Creates the file when it does not exist. kInvalid: it belongs to another topic or check.
  static Result<std::unique_ptr<DocumentStore>> open(const std::string& file, const StoreIdentity& identity);

  // Next offset to read, per partition; a partition that was never read is absent.
  Result<std::map<Partition, Offset>> positions();

  // begin() .. commit() is one transaction. What is not committed is rolled back when the store is closed.
  Result<> begin();
  Result<Applied> apply(const Change& change);
  Result<> reject(Partition partition, Offset offset, std::string_view why);
  Result<> set_position(Partition partition, Offset next);
  Result<> commit();

  // For an orderly end: folds the write-ahead log into the file, so that it can be read or copied alone, even where
  // nothing may be written. REQUIRES: no transaction is open.
  Result<> finish();

 private:
  struct Statements;
  DocumentStore(Database database, StoreIdentity identity);
  Result<> prepare();
  Result<> pin_identity();
  Result<> pin(std::string_view name, std::string_view value);
  Result<> index(const Change& change);
  Result<std::int64_t> fts_row(std::string_view id);

  Database database_;
  StoreIdentity identity_;
  std::unique_ptr<Statements> statements_;
};

}  // namespace reseq::sqlite
