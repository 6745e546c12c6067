// Ledger: the SQLite file of a store, with the tables that every store needs beside its documents:
//
//   positions(topic, partition, next)   rejected(topic, partition, offset, why)   sink(name, value): what it is for
//
// Invariant: what the owner writes into `database()` between begin() and commit() changes together with the positions.
// Thread rule: one thread, one process (SQLite's own lock refuses a second writer).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "consumers/sink/store.h"
#include "consumers/sqlite/database.h"
#include "model/ids.h"

namespace reseq::sqlite {

class Ledger {
 public:
  ~Ledger();

  // Creates the file when it does not exist, and the owner's tables by `schema` (CREATE ... IF NOT EXISTS). kInvalid:
  // the file belongs to another topic or check.
  static Result<std::unique_ptr<Ledger>> open(const std::string& file, const sink::StoreIdentity& identity,
                                              std::string_view schema);

  // For a file whose version did not have the column yet. `type`: as SQLite reads it.
  Result<> add_column(std::string_view table, std::string_view column, std::string_view type);

  [[nodiscard]] Database& database() { return database_; }

  // As sink::Store. What is not committed is rolled back when the ledger is closed.
  Result<std::map<Partition, Offset>> positions();
  Result<> begin();
  Result<> reject(Partition partition, Offset offset, std::string_view why);
  Result<> set_position(Partition partition, Offset next);
  Result<> commit();

  // Folds the write-ahead log into the file, so that it can be read or copied alone, even where nothing may be written.
  // While somebody reads it the log stays beside it: nothing is missing then, whoever reads it, and the next finish()
  // folds it. REQUIRES: no transaction is open.
  Result<> finish();

 private:
  struct Statements;
  Ledger(Database database, sink::StoreIdentity identity);
  Result<> pin_identity();
  Result<> pin(std::string_view name, std::string_view value);
  Result<> prepare();

  Database database_;
  sink::StoreIdentity identity_;
  std::unique_ptr<Statements> statements_;
};

}  // namespace reseq::sqlite
