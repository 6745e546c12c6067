// FileStore: the documents of one target, one file each, with an index in SQLite.
//
//   DIR/documents/...   the payloads of live documents, see folder.h; no id is ever a path
//   DIR/failed/...      the notes of markers (sink/marker.h), each under the path of its document
//   DIR/index.db        documents(id BLOB PRIMARY KEY, seq TEXT, version INTEGER, deleted INTEGER, file TEXT UNIQUE,
//                       error TEXT) and the tables of sqlite::Ledger. A marker is deleted with an error
//
// A document has a file, or a marker has one, or neither has.
// Files change before the index does: a batch is written file by file, then synced, then committed. After a kill a
// file may be ahead of the index, by changes whose positions are not committed either; they are read again, and their
// version is newer than that of the index, so the same file comes out. A reader who wants no more than a folder of
// whole documents need not know.
// Thread rule: one thread, one process per directory.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "consumers/files/folder.h"
#include "consumers/sink/marker.h"
#include "consumers/sink/store.h"
#include "consumers/sqlite/ledger.h"

namespace reseq::files {

inline constexpr const char* kIndexName = "index.db";

class FileStore : public sink::Store {
 public:
  ~FileStore() override;

  // Creates the directory when it does not exist. kInvalid: it belongs to another topic or check, or another process
  // has it.
  static Result<std::unique_ptr<FileStore>> open(const std::string& directory, const sink::StoreIdentity& identity);

  Result<std::map<Partition, Offset>> positions() override { return ledger_->positions(); }
  Result<> begin() override { return ledger_->begin(); }
  Result<sink::Applied> apply(const sink::Change& change) override;
  Result<> reject(Partition partition, Offset offset, std::string_view why) override {
    return ledger_->reject(partition, offset, why);
  }
  Result<> set_position(Partition partition, Offset next) override { return ledger_->set_position(partition, next); }
  Result<> commit() override;
  Result<> finish() override { return ledger_->finish(); }

 private:
  struct Statements;
  FileStore(Folder folder, std::unique_ptr<sqlite::Ledger> ledger, sink::Check check);
  Result<> prepare();
  // The file of a document, or empty when its version is not below the new one.
  Result<std::string> file_to_change(const sink::Change& change);
  Result<std::string> free_name(std::string_view id);
  Result<bool> is_taken(const std::string& name);
  Result<> write_row(const sink::Change& change, const std::string& file, const std::optional<sink::Marker>& marker);
  // `file`: of the document; `marker`: of a change that is one.
  Result<> change_files(const sink::Change& change, const std::string& file, const std::optional<sink::Marker>& marker);

  Folder folder_;
  std::unique_ptr<sqlite::Ledger> ledger_;
  sink::Check check_;
  std::unique_ptr<Statements> statements_;
  bool files_changed_ = false;  // since the last sync
};

}  // namespace reseq::files
