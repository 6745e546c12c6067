#include "consumers/files/file_store.h"

#include <utility>
#include <vector>

#include "consumers/files/file_name.h"

namespace reseq::files {
namespace {

constexpr std::string_view kSchema =
    "CREATE TABLE IF NOT EXISTS documents("
    "  id BLOB PRIMARY KEY, seq TEXT, version INTEGER, deleted INTEGER, file TEXT NOT NULL UNIQUE, "
    "  error TEXT);";

}  // namespace

struct FileStore::Statements {
  sqlite::Statement find, find_name, write;
};

FileStore::FileStore(Folder folder, std::unique_ptr<sqlite::Ledger> ledger, sink::Check check)
    : folder_(std::move(folder)), ledger_(std::move(ledger)), check_(check) {}

FileStore::~FileStore() = default;

Result<std::unique_ptr<FileStore>> FileStore::open(const std::string& directory, const sink::StoreIdentity& identity) {
  Result<Folder> folder = Folder::open(directory);
  if (!folder) return folder.error();
  auto ledger = sqlite::Ledger::open(directory + "/" + kIndexName, identity, kSchema);
  if (!ledger) return ledger.error();
  if (Result<> added = ledger.value()->add_column("documents", "error", "TEXT"); !added) return added.error();
  std::unique_ptr<FileStore> store(new FileStore(std::move(folder).value(), std::move(ledger).value(), identity.check));
  if (Result<> prepared = store->prepare(); !prepared) return prepared.error();
  return store;
}

Result<> FileStore::prepare() {
  constexpr std::string_view kSql[] = {
      "SELECT version, file FROM documents WHERE id = ?1",
      "SELECT 1 FROM documents WHERE file = ?1",
      "INSERT INTO documents(id, seq, version, deleted, file, error) VALUES(?1, ?2, ?3, ?4, ?5, ?6) "
      "ON CONFLICT(id) DO UPDATE SET seq = excluded.seq, version = excluded.version, deleted = excluded.deleted, "
      "error = excluded.error",
  };
  Result<std::vector<sqlite::Statement>> made = ledger_->database().prepare_all(kSql);
  if (!made) return made.error();
  std::vector<sqlite::Statement>& all = made.value();
  statements_ = std::make_unique<Statements>(Statements{std::move(all[0]), std::move(all[1]), std::move(all[2])});
  return Done{};
}

Result<sink::Applied> FileStore::apply(const sink::Change& change) {
  Result<std::string> file = file_to_change(change);
  if (!file) return file.error();
  if (file.value().empty()) return sink::Applied::kNotNewer;
  std::optional<sink::Marker> marker;
  if (change.op == sink::ChangeOp::kFailed) marker = sink::marker_of(change);
  if (Result<> written = write_row(change, file.value(), marker); !written) return written.error();
  files_changed_ = true;
  if (Result<> changed = change_files(change, file.value(), marker); !changed) return changed.error();
  return sink::Applied::kWritten;
}

// What the index does not know of may be there: files of a batch that was not committed, which may be left out of a log
// that is compacted. So both places are seen to each time.
Result<> FileStore::change_files(const sink::Change& change, const std::string& file,
                                 const std::optional<sink::Marker>& marker) {
  const std::string document = path_of_document(file);
  const std::string failed = path_of_marker(file);
  Result<> put = Done{};
  if (marker) put = folder_.put(failed, sink::note_of(*marker) + "\n");
  if (change.op == sink::ChangeOp::kUpsert) put = folder_.put(document, *change.payload);
  if (!put) return put;
  if (change.op != sink::ChangeOp::kUpsert)
    if (Result<> removed = folder_.remove(document); !removed) return removed;
  return marker ? Result<>(Done{}) : folder_.remove(failed);
}

Result<std::string> FileStore::file_to_change(const sink::Change& change) {
  sqlite::Statement& find = statements_->find;
  find.bind_blob(1, change.id);
  Result<bool> known = find.step();
  if (!known) return known.error();
  if (!known.value()) return free_name(change.id);
  const auto version = static_cast<std::uint64_t>(find.integer(0));
  std::string file(find.bytes(1).value_or(std::string_view()));
  find.reset();
  // Equal versions are the same release again: strictly newer only.
  if (check_ == sink::Check::kVersions && change.version.value() <= version) return std::string();
  return file;
}

Result<std::string> FileStore::free_name(std::string_view id) {
  for (std::uint64_t attempt = 1;; ++attempt) {
    std::string name = file_name(id, attempt);
    if (has_plain_name(id)) return name;
    Result<bool> taken = is_taken(name);
    if (!taken) return taken.error();
    if (!taken.value()) return name;
  }
}

Result<bool> FileStore::is_taken(const std::string& name) {
  sqlite::Statement& find = statements_->find_name;
  find.bind_text(1, name);
  Result<bool> found = find.step();
  if (found && found.value()) find.reset();
  return found;
}

Result<> FileStore::write_row(const sink::Change& change, const std::string& file,
                              const std::optional<sink::Marker>& marker) {
  sqlite::Statement& write = statements_->write;
  write.bind_blob(1, change.id);
  write.bind_text(2, change.seq);
  write.bind_int(3, static_cast<std::int64_t>(change.version.value()));
  write.bind_int(4, change.op == sink::ChangeOp::kUpsert ? 0 : 1);
  write.bind_text(5, file);
  write.bind_text(6, marker ? std::optional<std::string_view>(marker->why()) : std::nullopt);
  return write.run();
}

Result<> FileStore::commit() {
  // The index may reach the disk at any time after its commit, so the files have to be there before.
  if (files_changed_)
    if (Result<> synced = folder_.sync(); !synced) return synced;
  files_changed_ = false;
  return ledger_->commit();
}

}  // namespace reseq::files
