// DocumentStore: the documents of one target in one SQLite file, with a full-text index over their payloads and the
// offsets they were read up to.
//
//   documents(id BLOB PRIMARY KEY, seq TEXT, version INTEGER, deleted INTEGER, payload BLOB, error TEXT)
//                                  a marker (sink/marker.h) is deleted with an error, and its payload is its note
//   documents_fts(id, text)        FTS5; text of payloads that are no UTF-8 is empty, deleted documents have no row
//   documents_fts_rows(row, id)    which row of documents_fts belongs to a document; rowids of `documents` would not
//                                  survive a VACUUM
//
// and the tables of the Ledger. Invariant: documents and the positions behind them change in the same transaction.
// Thread rule: one thread, one process (SQLite's own lock refuses a second writer).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "consumers/sink/store.h"
#include "consumers/sqlite/ledger.h"
#include "model/ids.h"

namespace reseq::sqlite {

class DocumentStore : public sink::Store {
 public:
  ~DocumentStore() override;

  // Creates the file when it does not exist. kInvalid: it belongs to another topic or check.
  static Result<std::unique_ptr<DocumentStore>> open(const std::string& file, const sink::StoreIdentity& identity);

  Result<std::map<Partition, Offset>> positions() override { return ledger_->positions(); }
  Result<> begin() override { return ledger_->begin(); }
  Result<sink::Applied> apply(const sink::Change& change) override;
  Result<> reject(Partition partition, Offset offset, std::string_view why) override {
    return ledger_->reject(partition, offset, why);
  }
  Result<> set_position(Partition partition, Offset next) override { return ledger_->set_position(partition, next); }
  Result<> commit() override { return ledger_->commit(); }
  Result<> finish() override { return ledger_->finish(); }

 private:
  struct Statements;
  explicit DocumentStore(std::unique_ptr<Ledger> ledger);
  Result<> prepare(sink::Check check);
  Result<> index(const sink::Change& change);
  Result<std::int64_t> fts_row(std::string_view id);

  std::unique_ptr<Ledger> ledger_;
  std::unique_ptr<Statements> statements_;
};

}  // namespace reseq::sqlite
