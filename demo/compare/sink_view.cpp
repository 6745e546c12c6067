#include "demo/compare/sink_view.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "consumers/sqlite/database.h"

namespace reseq::demo {
namespace {

namespace fs = std::filesystem;
using sqlite::Database;
using sqlite::Statement;

// A table `documents` with a column that holds the payload, or says where it is.
class Table {
 public:
  static Result<Table> open(const std::string& database_file, const std::string& column) {
    Result<Database> database = Database::open(database_file, Database::Mode::kReadOnly);
    if (!database) return database.error();
    Result<Statement> find = database.value().prepare("SELECT deleted, " + column + " FROM documents WHERE id = ?1");
    if (!find) return find.error();
    return Table(std::move(database).value(), std::move(find).value());
  }

  // As a payload: what the column says.
  Result<Held> find(std::string_view id) {
    find_.bind_blob(1, id);
    Result<bool> found = find_.step();
    if (!found) return found.error();
    if (!found.value()) return Held{};
    Held held{.known = true};
    if (find_.integer(0) == 0) held.payload = std::string(find_.bytes(1).value_or(""));
    find_.reset();
    return held;
  }

  Result<std::vector<std::string>> live(const std::string& column) {
    Result<Statement> all =
        database_.prepare("SELECT " + column + " FROM documents WHERE deleted = 0 ORDER BY " + column);
    if (!all) return all.error();
    std::vector<std::string> values;
    while (true) {
      Result<bool> row = all.value().step();
      if (!row) return row.error();
      if (!row.value()) return values;
      values.emplace_back(all.value().bytes(0).value_or(""));
    }
  }

 private:
  Table(Database database, Statement find) : database_(std::move(database)), find_(std::move(find)) {}
  Database database_;
  Statement find_;  // before its database goes
};

class DatabaseView : public SinkView {
 public:
  explicit DatabaseView(Table table) : table_(std::move(table)) {}
  Result<Held> find(std::string_view id) override { return table_.find(id); }
  Result<std::vector<std::string>> live() override { return table_.live("id"); }

 private:
  Table table_;
};

class DirectoryView : public SinkView {
 public:
  DirectoryView(Table index, fs::path documents) : index_(std::move(index)), documents_(std::move(documents)) {}

  Result<Held> find(std::string_view id) override {
    Result<Held> held = index_.find(id);
    if (!held || !held.value().payload) return held;
    std::ifstream file(documents_ / *held.value().payload, std::ios::binary);
    if (!file) return Held{};
    return Held{.known = true, .payload = std::string(std::istreambuf_iterator<char>(file), {})};
  }

  Result<std::vector<std::string>> live() override {
    Result<std::vector<std::string>> ids = index_.live("id");
    if (!ids) return ids;
    Result<std::vector<std::string>> files = index_.live("file");
    if (!files) return files;
    const std::unordered_set<std::string> indexed(files.value().begin(), files.value().end());
    std::error_code failed;
    for (fs::recursive_directory_iterator entry(documents_, failed), end; !failed && entry != end;
         entry.increment(failed)) {
      const std::string path = entry->path().lexically_relative(documents_);
      if (!entry->is_directory() && !indexed.contains(path)) ids.value().push_back("file " + path);
    }
    if (failed) return Error{.code = failed.value(), .message = "cannot read " + documents_.string()};
    return ids;
  }

 private:
  Table index_;
  fs::path documents_;
};

}  // namespace

Result<std::unique_ptr<SinkView>> view_database(const std::string& database_file) {
  Result<Table> table = Table::open(database_file, "payload");
  if (!table) return table.error();
  return std::unique_ptr<SinkView>(std::make_unique<DatabaseView>(std::move(table).value()));
}

Result<std::unique_ptr<SinkView>> view_directory(const std::string& directory) {
  Result<Table> index = Table::open(directory + "/index.db", "file");
  if (!index) return index.error();
  return std::unique_ptr<SinkView>(
      std::make_unique<DirectoryView>(std::move(index).value(), fs::path(directory) / "documents"));
}

}  // namespace reseq::demo
