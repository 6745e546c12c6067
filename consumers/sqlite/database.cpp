#include "consumers/sqlite/database.h"

#include <sqlite3.h>
#include <utility>

#include "base/assert.h"

namespace reseq::sqlite {
namespace {

// A database that is busy or full may work later, but not within this process's next call: the sink stops and is
// started again from what it has committed.
Error error_of(sqlite3* handle, const char* doing) {
  return {.what_to_do = ErrorClass::kFatal,
          .code = sqlite3_extended_errcode(handle),
          .message = std::string("sqlite: ") + doing + ": " + sqlite3_errmsg(handle)};
}

constexpr Milliseconds kBusyWait{10'000};

}  // namespace

bool is_busy(const Error& error) {
  constexpr int kPrimaryCode = 0xff;
  return (error.code & kPrimaryCode) == SQLITE_BUSY || (error.code & kPrimaryCode) == SQLITE_LOCKED;
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

void Statement::bind_int(int parameter, std::int64_t value) {
  RESEQ_ASSERT(sqlite3_bind_int64(statement_.get(), parameter, value) == SQLITE_OK, "a parameter that does not exist");
}

void Statement::bind_text(int parameter, std::optional<std::string_view> value) {
  const int code = value ? sqlite3_bind_text64(statement_.get(), parameter, value->data() ? value->data() : "",
                                               value->size(), SQLITE_TRANSIENT, SQLITE_UTF8)
                         : sqlite3_bind_null(statement_.get(), parameter);
  RESEQ_ASSERT(code == SQLITE_OK, "a parameter that does not exist, or text above 1 GB");
}

void Statement::bind_blob(int parameter, std::optional<std::string_view> value) {
  // An empty blob needs an address, or it would be stored as NULL.
  const int code = value ? sqlite3_bind_blob64(statement_.get(), parameter, value->data() ? value->data() : "",
                                               value->size(), SQLITE_TRANSIENT)
                         : sqlite3_bind_null(statement_.get(), parameter);
  RESEQ_ASSERT(code == SQLITE_OK, "a parameter that does not exist, or a blob above 1 GB");
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    reset();
    return false;
  }
  Error error = error_of(sqlite3_db_handle(statement_.get()), sqlite3_sql(statement_.get()));
  reset();
  return error;
}

Result<> Statement::run() {
  Result<bool> stepped = step();
  if (!stepped) return stepped.error();
  RESEQ_ASSERT(!stepped.value(), "run() of a statement that answers rows");
  return Done{};
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

std::optional<std::string_view> Statement::bytes(int column) const {
  if (sqlite3_column_type(statement_.get(), column) == SQLITE_NULL) return std::nullopt;
  const void* data = sqlite3_column_blob(statement_.get(), column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return std::string_view(static_cast<const char*>(data), size);
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

void Database::Close::operator()(sqlite3* handle) const {
  sqlite3_close_v2(handle);
}

Result<Database> Database::open(const std::string& file, Mode mode) {
  const int flags = mode == Mode::kReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &handle, flags, nullptr);
  Database database(handle);
  if (code != SQLITE_OK) return error_of(handle, file.c_str());
  database.wait_at_most(kBusyWait);
  return database;
}

void Database::wait_at_most(Milliseconds limit) {
  sqlite3_busy_timeout(handle_.get(), static_cast<int>(limit.value()));
}

Result<> Database::execute(const char* sql) {
  if (sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) return error_of(handle_.get(), sql);
  return Done{};
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return error_of(handle_.get(), std::string(sql).c_str());
  return Statement(statement);
}

Result<std::vector<Statement>> Database::prepare_all(std::span<const std::string_view> sql) {
  std::vector<Statement> made;
  for (const std::string_view text : sql) {
    Result<Statement> statement = prepare(text);
    if (!statement) return statement.error();
    made.push_back(std::move(statement).value());
  }
  return made;
}

Result<bool> Database::has_column(std::string_view table, std::string_view column) {
  Result<Statement> find = prepare("SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2");
  if (!find) return find.error();
  find.value().bind_text(1, table);
  find.value().bind_text(2, column);
  return find.value().step();
}

std::int64_t Database::changes() const {
  return sqlite3_changes64(handle_.get());
}
std::int64_t Database::last_row_id() const {
  return sqlite3_last_insert_rowid(handle_.get());
}

}  // namespace reseq::sqlite
