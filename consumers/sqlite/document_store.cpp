#include "consumers/sqlite/document_store.h"

#include <utility>
#include <vector>

#include "base/assert.h"
#include "codec/json_writer.h"

namespace reseq::sqlite {
namespace {

constexpr const char* kPragmas =
    "PRAGMA journal_mode=WAL;"
    // A power cut may take the last transactions, never half of one: their positions go with them.
    "PRAGMA synchronous=NORMAL;";

constexpr const char* kSchema =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE IF NOT EXISTS documents("
    "  id BLOB PRIMARY KEY, seq TEXT, version INTEGER, deleted INTEGER, payload BLOB);"
    "CREATE VIRTUAL TABLE IF NOT EXISTS documents_fts USING fts5(id UNINDEXED, text);"
    "CREATE TABLE IF NOT EXISTS documents_fts_rows(row INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE);"
    "CREATE TABLE IF NOT EXISTS positions("
    "  topic TEXT, partition INTEGER, next INTEGER NOT NULL, PRIMARY KEY(topic, partition));"
    "CREATE TABLE IF NOT EXISTS rejected("
    "  topic TEXT, partition INTEGER, offset INTEGER, why TEXT, PRIMARY KEY(topic, partition, offset));"
    "CREATE TABLE IF NOT EXISTS sink(name TEXT PRIMARY KEY, value TEXT NOT NULL);"
    "COMMIT;";

constexpr std::string_view kUpsert =
    "INSERT INTO documents(id, seq, version, deleted, payload) VALUES(?1, ?2, ?3, ?4, ?5) "
    "ON CONFLICT(id) DO UPDATE SET "
    "seq = excluded.seq, version = excluded.version, deleted = excluded.deleted, payload = excluded.payload";

}  // namespace

struct DocumentStore::Statements {
  Statement write, fts_row_find, fts_row_add, fts_remove, fts_add, set_position, reject, begin, commit;
};

DocumentStore::DocumentStore(Database database, StoreIdentity identity)
    : database_(std::move(database)), identity_(std::move(identity)) {}

DocumentStore::~DocumentStore() = default;

Result<std::unique_ptr<DocumentStore>> DocumentStore::open(const std::string& file, const StoreIdentity& identity) {
  Result<Database> database = Database::open(file, Database::Mode::kCreate);
  if (!database) return database.error();
  std::unique_ptr<DocumentStore> store(new DocumentStore(std::move(database).value(), identity));
  if (Result<> set = store->database_.execute(kPragmas); !set) return set.error();
  if (Result<> made = store->database_.execute(kSchema); !made) return made.error();
  if (Result<> pinned = store->pin_identity(); !pinned) return pinned.error();
  if (Result<> prepared = store->prepare(); !prepared) return prepared.error();
  return store;
}

Result<> DocumentStore::pin_identity() {
  if (Result<> pinned = pin("topic", identity_.topic); !pinned) return pinned;
  return pin("check", identity_.check == Check::kOff ? "off" : "on");
}

Result<> DocumentStore::pin(std::string_view name, std::string_view value) {
  Result<Statement> add = database_.prepare("INSERT INTO sink(name, value) VALUES(?1, ?2) ON CONFLICT DO NOTHING");
  if (!add) return add.error();
  add.value().bind_text(1, name);
  add.value().bind_text(2, value);
  if (Result<> added = add.value().run(); !added) return added;
  Result<Statement> find = database_.prepare("SELECT value FROM sink WHERE name = ?1");
  if (!find) return find.error();
  find.value().bind_text(1, name);
  Result<bool> row = find.value().step();
  if (!row) return row.error();
  RESEQ_ASSERT(row.value(), "a name that was just added is missing");
  const std::string pinned(find.value().bytes(0).value_or(""));
  if (pinned == value) return Done{};
  return Error{.what_to_do = ErrorClass::kInvalid,
               .message = "this database was filled with " + std::string(name) + " " + pinned + ", not " +
                          std::string(value) + ": use another --database"};
}

Result<> DocumentStore::prepare() {
  // Equal versions are the same release again: strictly newer only.
  const std::string write =
      std::string(kUpsert) + (identity_.check == Check::kVersions ? " WHERE excluded.version > documents.version" : "");
  const std::string_view sql[] = {
      write,
      "SELECT row FROM documents_fts_rows WHERE id = ?1",
      "INSERT INTO documents_fts_rows(id) VALUES(?1)",
      "DELETE FROM documents_fts WHERE rowid = ?1",
      "INSERT INTO documents_fts(rowid, id, text) VALUES(?1, ?2, ?3)",
      "INSERT INTO positions(topic, partition, next) VALUES(?1, ?2, ?3) "
      "ON CONFLICT DO UPDATE SET next = excluded.next",
      "INSERT INTO rejected(topic, partition, offset, why) VALUES(?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
      "BEGIN IMMEDIATE",
      "COMMIT",
  };
  std::vector<Statement> made;
  for (const std::string_view text : sql) {
    Result<Statement> statement = database_.prepare(text);
    if (!statement) return statement.error();
    made.push_back(std::move(statement).value());
  }
  statements_ = std::make_unique<Statements>(Statements{std::move(made[0]), std::move(made[1]), std::move(made[2]),
                                                        std::move(made[3]), std::move(made[4]), std::move(made[5]),
                                                        std::move(made[6]), std::move(made[7]), std::move(made[8])});
  return Done{};
}

Result<std::map<Partition, Offset>> DocumentStore::positions() {
  Result<Statement> all = database_.prepare("SELECT partition, next FROM positions WHERE topic = ?1");
  if (!all) return all.error();
  all.value().bind_text(1, identity_.topic);
  std::map<Partition, Offset> positions;
  while (true) {
    Result<bool> row = all.value().step();
    if (!row) return row.error();
    if (!row.value()) return positions;
    positions[Partition(static_cast<std::int32_t>(all.value().integer(0)))] = Offset(all.value().integer(1));
  }
}

Result<> DocumentStore::begin() {
  return statements_->begin.run();
}
Result<> DocumentStore::commit() {
  return statements_->commit.run();
}

Result<> DocumentStore::finish() {
  return database_.execute("PRAGMA journal_mode=DELETE");
}

Result<Applied> DocumentStore::apply(const Change& change) {
  const bool deleted = change.op == Op::kDelete;
  Statement& write = statements_->write;
  write.bind_blob(1, change.id);
  write.bind_text(2, change.seq);
  write.bind_int(3, static_cast<std::int64_t>(change.version.value()));
  write.bind_int(4, deleted ? 1 : 0);
  write.bind_blob(5, change.payload);
  if (Result<> written = write.run(); !written) return written.error();
  if (database_.changes() == 0) return Applied::kNotNewer;
  if (Result<> indexed = index(change); !indexed) return indexed.error();
  return Applied::kWritten;
}

Result<> DocumentStore::index(const Change& change) {
  Result<std::int64_t> row = fts_row(change.id);
  if (!row) return row.error();
  Statement& remove = statements_->fts_remove;
  remove.bind_int(1, row.value());
  if (Result<> removed = remove.run(); !removed || change.op == Op::kDelete) return removed;
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
  return database_.last_row_id();
}

Result<> DocumentStore::reject(Partition partition, Offset offset, std::string_view why) {
  Statement& reject = statements_->reject;
  reject.bind_text(1, identity_.topic);
  reject.bind_int(2, partition.value());
  reject.bind_int(3, offset.value());
  reject.bind_text(4, why);
  return reject.run();
}

Result<> DocumentStore::set_position(Partition partition, Offset next) {
  Statement& set = statements_->set_position;
  set.bind_text(1, identity_.topic);
  set.bind_int(2, partition.value());
  set.bind_int(3, next.value());
  return set.run();
}

}  // namespace reseq::sqlite
