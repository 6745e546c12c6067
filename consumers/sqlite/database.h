// Database, Statement: SQLite handles that close themselves and answer with Result. The only #include <sqlite3.h>.
// Thread rule: one thread per Database and its statements. A Statement must not outlive its Database.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/ids.h"

struct sqlite3;
struct sqlite3_stmt;

namespace reseq::sqlite {

class Database;

// Others have the file, for longer than a statement may wait.
[[nodiscard]] bool is_busy(const Error& error);

class Statement {
 public:
  // Parameters count from 1. Bytes are copied. A null optional binds NULL.
  void bind_int(int parameter, std::int64_t value);
  void bind_text(int parameter, std::optional<std::string_view> value);
  void bind_blob(int parameter, std::optional<std::string_view> value);

  // true: a row can be read; false: done, and the statement is reset with its bindings cleared.
  Result<bool> step();
  // Runs a statement that answers no rows.
  Result<> run();
  void reset();

  // Columns count from 0. Empty for NULL. The view lives until the next step() or reset().
  [[nodiscard]] std::optional<std::string_view> bytes(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Database {
 public:
  enum class Mode : unsigned char { kCreate, kReadOnly };

  static Result<Database> open(const std::string& file, Mode mode);

  // How long a statement waits for others who have the file. Ten seconds if not told.
  void wait_at_most(Milliseconds limit);

  // One or more statements without parameters.
  Result<> execute(const char* sql);
  Result<Statement> prepare(std::string_view sql);
  // One Statement per text, in the same order.
  Result<std::vector<Statement>> prepare_all(std::span<const std::string_view> sql);

  Result<bool> has_column(std::string_view table, std::string_view column);

  // Rows changed by the last INSERT, UPDATE or DELETE.
  [[nodiscard]] std::int64_t changes() const;
  [[nodiscard]] std::int64_t last_row_id() const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  explicit Database(sqlite3* handle) : handle_(handle) {}
  std::unique_ptr<sqlite3, Close> handle_;
};

}  // namespace reseq::sqlite
