#include "consumers/sqlite/document_store.h"

#include <utility>
#include <vector>

#include "codec/json_writer.h"
#include "consumers/sink/marker.h"

namespace reseq::sqlite {
namespace {

constexpr std::string_view kDocumentTables =
    "CREATE TABLE IF NOT EXISTS documents("
    "  id BLOB PRIMARY KEY, seq TEXT, version INTEGER, deleted INTEGER, payload BLOB, error TEXT);"
    "CREATE VIRTUAL TABLE IF NOT EXISTS documents_fts USING fts5(id UNINDEXED, text);"
    "CREATE TABLE IF NOT EXISTS documents_fts_rows(row INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE);";

constexpr std::string_view kUpsert =
    "INSERT INTO documents(id, seq, version, deleted, payload, error) VALUES(?1, ?2, ?3, ?4, ?5, ?6) "
    "ON CONFLICT(id) DO UPDATE SET "
    "seq = excluded.seq, version = excluded.version, deleted = excluded.deleted, payload = excluded.payload, "
    "error = excluded.error";

}  // namespace

struct DocumentStore::Statements {
  Statement write, fts_row_find, fts_row_add, fts_remove, fts_add;
};

DocumentStore::DocumentStore(std::unique_ptr<Ledger> ledger) : ledger_(std::move(ledger)) {}

DocumentStore::~DocumentStore() = default;

Result<std::unique_ptr<DocumentStore>> DocumentStore::open(const std::string& file,
                                                           const sink::StoreIdentity& identity) {
  Result<std::unique_ptr<Ledger>> ledger = Ledger::open(file, identity, kDocumentTables);
  if (!ledger) return ledger.error();
  if (Result<> added = ledger.value()->add_column("documents", "error", "TEXT"); !added) return added.error();
  std::unique_ptr<DocumentStore> store(new DocumentStore(std::move(ledger).value()));
  if (Result<> prepared = store->prepare(identity.check); !prepared) return prepared.error();
  return store;
}

Result<> DocumentStore::prepare(sink::Check check) {
  // Equal versions are the same release again: strictly newer only.
  const std::string write =
      std::string(kUpsert) + (check == sink::Check::kVersions ? " WHERE excluded.version > documents.version" : "");
  const std::string_view sql[] = {
      write,
      "SELECT row FROM documents_fts_rows WHERE id = ?1",
      "INSERT INTO documents_fts_rows(id) VALUES(?1)",
      "DELETE FROM documents_fts WHERE rowid = ?1",
      "INSERT INTO documents_fts(rowid, id, text) VALUES(?1, ?2, ?3)",
  };
  Result<std::vector<Statement>> made = ledger_->database().prepare_all(sql);
  if (!made) return made.error();
  std::vector<Statement>& all = made.value();
  statements_ = std::make_unique<Statements>(
      Statements{std::move(all[0]), std::move(all[1]), std::move(all[2]), std::move(all[3]), std::move(all[4])});
  return Done{};
}

Result<sink::Applied> DocumentStore::apply(const sink::Change& change) {
  std::optional<std::string_view> payload = change.payload;
  std::optional<std::string_view> error;
  sink::Marker marker;
  std::string note;
  if (change.op == sink::ChangeOp::kFailed) {
    marker = sink::marker_of(change);
    note = sink::note_of(marker);
    payload = note;
    error = marker.why();
  }
  Statement& write = statements_->write;
  write.bind_blob(1, change.id);
  write.bind_text(2, change.seq);
  write.bind_int(3, static_cast<std::int64_t>(change.version.value()));
  // Whoever leaves out what is deleted has documents, and nothing else.
  write.bind_int(4, change.op == sink::ChangeOp::kUpsert ? 0 : 1);
  write.bind_blob(5, payload);
  write.bind_text(6, error);
  if (Result<> written = write.run(); !written) return written.error();
  if (ledger_->database().changes() == 0) return sink::Applied::kNotNewer;
  if (Result<> indexed = index(change); !indexed) return indexed.error();
  return sink::Applied::kWritten;
}

Result<> DocumentStore::index(const sink::Change& change) {
  Result<std::int64_t> row = fts_row(change.id);
  if (!row) return row.error();
  Statement& remove = statements_->fts_remove;
  remove.bind_int(1, row.value());
  if (Result<> removed = remove.run(); !removed || change.op != sink::ChangeOp::kUpsert) return removed;
  Statement& add = statements_->fts_add;
  add.bind_int(1, row.value());
  if (codec::is_utf8(change.id))
    add.bind_text(2, change.id);
  else
    add.bind_blob(2, change.id);
  add.bind_text(3, codec::is_utf8(*change.payload) ? *change.payload : std::string_view());
  return add.run();
}

Result<std::int64_t> DocumentStore::fts_row(std::string_view id) {
  Statement& find = statements_->fts_row_find;
  find.bind_blob(1, id);
  Result<bool> found = find.step();
  if (!found) return found.error();
  if (found.value()) {
    const std::int64_t row = find.integer(0);
    find.reset();
    return row;
  }
  Statement& add = statements_->fts_row_add;
  add.bind_blob(1, id);
  if (Result<> added = add.run(); !added) return added.error();
  return ledger_->database().last_row_id();
}

}  // namespace reseq::sqlite
