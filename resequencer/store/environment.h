// Environment: one LMDB environment with its tables, and the one read transaction that is kept between writes.
//
// Flags MDB_NOTLS | MDB_NOSYNC: what is written is durable only after a sync; page writes go through pwrite, so that a
// full or failing disk is an error of a call, never a signal. Values that are read are views into the map: they live
// until the next write().
//
// Invariants: no transaction is active while the map grows; the read transaction is reset while a write runs, so that
// pages of the snapshot before it can be used again; the file is as long as its last page says. Thread rule: used by
// the owner of the store; descriptor() may be synced from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

struct MDB_env;
struct MDB_txn;
struct MDB_cursor;

namespace reseq::store {

enum class Table : unsigned char { kRows, kTimers, kCheckpoint };
inline constexpr std::size_t kTables = 3;
inline constexpr std::size_t kLmdbKeyBytesMax = 511;

class Environment {
 public:
  using Handles = std::array<unsigned, kTables>;

  struct Options {
    std::uint64_t map_bytes = 0;
    bool create = false;              // what is missing; without it a missing table is kInvalid and nothing is written
    bool read_only = false;           // leaves no trace, not even LMDB's own lock. REQUIRES: nobody has the folder
    bool is_file = false;             // the path is that of the file, whose lock lies beside it, not that of a folder
    std::function<void()> on_broken;  // LMDB found its own structure broken and is about to end the process
  };
  // kInvalid: damaged, cut short or of another format; kRetriable: the system refused.
  static Result<std::unique_ptr<Environment>> open(const std::string& path, Options options);
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  [[nodiscard]] Result<std::optional<std::string_view>> get(Table table, std::string_view key) const;
  // A row, or what stands around the place where it would be.
  struct Entry {
    std::string_view key, value;
  };
  struct Found {
    std::optional<std::string_view> value;
    std::optional<Entry> before, behind;  // only without a value; none at the ends of the table
  };
  [[nodiscard]] Result<Found> find_row(std::string_view key) const;
  [[nodiscard]] Result<std::uint64_t> entries(Table table) const;

  // Entries in key order.
  class Scan {
   public:
    ~Scan();
    Scan(const Scan&) = delete;
    Scan& operator=(const Scan&) = delete;
    Scan(Scan&& other) noexcept;
    Scan& operator=(Scan&&) = delete;

    // False at the end and after an error.
    [[nodiscard]] bool valid() const { return valid_; }
    [[nodiscard]] std::string_view key() const { return key_; }
    [[nodiscard]] std::string_view value() const { return value_; }
    void next();
    [[nodiscard]] const std::optional<Error>& error() const { return error_; }

   private:
    friend class Environment;
    Scan() = default;
    void take(int code, std::string_view key, std::string_view value);
    MDB_cursor* cursor_ = nullptr;
    bool valid_ = false;
    std::string_view key_, value_;
    std::optional<Error> error_;
  };
  // From the first key at or behind `from`; empty = from the start.
  [[nodiscard]] Scan scan(Table table, std::string_view from) const;

  // Tables in their order, the keys of each in theirs.
  struct Place {
    Table table = Table::kRows;
    std::string key;
    // What lies there is in front of this place, or at it.
    [[nodiscard]] bool covers(Table of, std::string_view one) const { return of != table ? of < table : one <= key; }
  };

  // A write transaction, while fill() of write() runs.
  class Write {
   public:
    // Changes of what lies behind the place are left out from now on. REQUIRES: it outlives this.
    void only_up_to(const Place& place) { last_ = &place; }
    // What is put from now on comes in key order, behind all that its table has: pages are filled whole.
    void only_behind() { append_.fill(true); }

    // The view lives until the next change.
    [[nodiscard]] Result<std::optional<std::string_view>> get(Table table, std::string_view key);
    Result<> put(Table table, std::string_view key, std::string_view value);
    // No error when it is not there.
    Result<> remove(Table table, std::string_view key);

   private:
    friend class Environment;
    Write(MDB_txn* transaction, const Handles& handles) : transaction_(transaction), handles_(handles) {}
    Result<> open_cursors();
    MDB_txn* transaction_;
    const Handles& handles_;
    std::array<MDB_cursor*, kTables> cursors_{};
    std::array<bool, kTables> append_{};  // the table was empty: keys that rise can be appended
    const Place* last_ = nullptr;
  };
  // Runs `fill` in one transaction and commits; runs it again when the map was full and has grown. On an error nothing
  // was changed. kFatal: the environment is unusable.
  Result<> write(const std::function<Result<>(Write&)>& fill);

  struct Size {
    std::uint64_t file_bytes = 0;  // up to the last page in use
    std::uint64_t free_bytes = 0;  // of these, pages that the next writes can use
  };
  [[nodiscard]] Result<Size> size() const;
  [[nodiscard]] std::uint64_t map_bytes() const;
  [[nodiscard]] int descriptor() const;

 private:
  Environment() = default;
  Result<> start(const std::string& path, const Options& options);
  Result<> open_tables(bool create);
  Result<> check_length();
  Result<> attempt(const std::function<Result<>(Write&)>& fill);
  Result<> grow();
  Result<> renew();
  [[nodiscard]] std::uint64_t used_bytes() const;

  MDB_env* env_ = nullptr;
  MDB_txn* read_ = nullptr;
  MDB_cursor* rows_ = nullptr;  // of read_
  Handles handles_{};
  std::function<void()> on_broken_;
};

}  // namespace reseq::store
