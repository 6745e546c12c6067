#include "store/environment.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <lmdb.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/assert.h"

namespace reseq::store {
namespace {

constexpr std::array<const char*, kTables> kNames = {"rows", "timers", "checkpoint"};
constexpr const char* kFile = "/data.mdb";
constexpr unsigned kReadersMax = 8;  // one is used; slots of processes that died are given back at open
constexpr std::uint64_t kMapBytesMin = std::uint64_t{64} << 10;
constexpr std::uint64_t kMapBytesMax = std::uint64_t{1} << 46;  // of 47 bits of addresses
constexpr std::uint64_t kFullPercent = 80;

ErrorClass class_of(int code) {
  switch (code) {
    case MDB_READERS_FULL:
      return ErrorClass::kRetriable;
    case MDB_PANIC:
      return ErrorClass::kFatal;
    default:
      // Positive: errno. The others say that the copy is not what it should be.
      return code > 0 ? ErrorClass::kRetriable : ErrorClass::kInvalid;
  }
}

bool is_about_memory(int code) {
  return code == ENOMEM || code == EINVAL || code == EFBIG || code == EOVERFLOW;
}

// LMDB makes the map as large as the meta pages say that it must be: when a map of the right size can be made, a bit
// flipped there, and nothing is lacking.
bool can_map(const std::string& file, std::uint64_t bytes) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  void* const map = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor, 0);
  ::close(descriptor);
  if (map == MAP_FAILED) return false;
  ::munmap(map, bytes);
  return true;
}

Error failed(const char* doing, int code) {
  return {class_of(code), code, std::string("state: ") + doing + ": " + ::mdb_strerror(code)};
}

MDB_val to_lmdb(std::string_view bytes) {
  // LMDB takes a pointer that is not const; it does not write through it.
  return {bytes.size(), const_cast<char*>(bytes.data())};
}

std::string_view from_lmdb(const MDB_val& value) {
  return {static_cast<const char*>(value.mv_data), value.mv_size};
}

std::size_t index(Table table) {
  return static_cast<std::size_t>(table);
}

void tell_broken(MDB_env* env, const char* /*message*/) {
  const auto* tell = static_cast<const std::function<void()>*>(::mdb_env_get_userctx(env));
  if (tell != nullptr && *tell) (*tell)();
}

}  // namespace

Result<std::unique_ptr<Environment>> Environment::open(const std::string& path, Options options) {
  auto environment = std::unique_ptr<Environment>(new Environment());
  environment->on_broken_ = std::move(options.on_broken);
  if (auto started = environment->start(path, options); !started) return started.error();
  if (auto opened = environment->open_tables(options.create); !opened) return opened.error();
  return environment;
}

Result<> Environment::start(const std::string& path, const Options& options) {
  if (const int code = ::mdb_env_create(&env_); code != 0) return failed("LMDB cannot start", code);
  ::mdb_env_set_userctx(env_, &on_broken_);
  ::mdb_env_set_assert(env_, tell_broken);
  const std::uint64_t map_bytes = std::clamp(options.map_bytes, kMapBytesMin, kMapBytesMax);
  if (const int code = ::mdb_env_set_maxdbs(env_, kTables); code != 0) return failed("number of tables", code);
  if (const int code = ::mdb_env_set_maxreaders(env_, kReadersMax); code != 0) return failed("readers", code);
  if (const int code = ::mdb_env_set_mapsize(env_, map_bytes); code != 0) return failed("map size", code);
  const unsigned flags =
      (options.read_only ? MDB_RDONLY | MDB_NOLOCK : MDB_NOSYNC) | (options.is_file ? MDB_NOSUBDIR : 0U);
  const std::string file = options.is_file ? path : path + kFile;
  struct stat copy {};
  const bool is_new = ::stat(file.c_str(), &copy) != 0 || copy.st_size == 0;
  if (const int code = ::mdb_env_open(env_, path.c_str(), MDB_NOTLS | flags, 0600); code != 0) {
    Error error = failed("LMDB cannot open the copy", code);
    if (!is_new && is_about_memory(code) &&
        can_map(file, std::max(map_bytes, static_cast<std::uint64_t>(copy.st_size))))
      error.what_to_do = ErrorClass::kInvalid;
    return error;
  }
  RESEQ_ASSERT(::mdb_env_get_maxkeysize(env_) >= static_cast<int>(kLmdbKeyBytesMax), "an LMDB with shorter keys");
  // Once is enough: from here on nobody but this process opens the copy, whose folder it holds.
  int dead = 0;
  if (const int code = ::mdb_reader_check(env_, &dead); code != 0) return failed("readers of dead processes", code);
  return check_length();
}

// Reading a page behind the end of the file would be a SIGBUS.
Result<> Environment::check_length() {
  struct stat status {};
  if (::fstat(descriptor(), &status) != 0) return failed("length of the copy", errno);
  if (static_cast<std::uint64_t>(status.st_size) < used_bytes())
    return Error{ErrorClass::kInvalid, 0,
                 "state: the copy has " + std::to_string(status.st_size) + " of " + std::to_string(used_bytes()) +
                     " bytes: it was cut short"};
  return Done{};
}

Result<> Environment::open_tables(bool create) {
  MDB_txn* transaction = nullptr;
  if (const int code = ::mdb_txn_begin(env_, nullptr, create ? 0U : MDB_RDONLY, &transaction); code != 0)
    return failed("a transaction for the tables", code);
  for (std::size_t i = 0; i < kTables; ++i) {
    const int code = ::mdb_dbi_open(transaction, kNames[i], create ? MDB_CREATE : 0U, &handles_[i]);
    if (code == 0) continue;
    ::mdb_txn_abort(transaction);
    return failed("a table of the copy", code);
  }
  if (const int code = ::mdb_txn_commit(transaction); code != 0) return failed("creating the tables", code);
  if (const int code = ::mdb_txn_begin(env_, nullptr, MDB_RDONLY, &read_); code != 0)
    return failed("a transaction to read", code);
  if (const int code = ::mdb_cursor_open(read_, handles_[index(Table::kRows)], &rows_); code != 0)
    return failed("a cursor to read", code);
  return Done{};
}

Environment::~Environment() {
  if (rows_ != nullptr) ::mdb_cursor_close(rows_);
  if (read_ != nullptr) ::mdb_txn_abort(read_);
  if (env_ != nullptr) ::mdb_env_close(env_);
}

Result<std::optional<std::string_view>> Environment::get(Table table, std::string_view key) const {
  MDB_val name = to_lmdb(key);
  MDB_val value{};
  const int code = ::mdb_get(read_, handles_[index(table)], &name, &value);
  if (code == MDB_NOTFOUND) return std::optional<std::string_view>();
  if (code != 0) return failed("reading", code);
  return std::optional(from_lmdb(value));
}

Result<std::uint64_t> Environment::entries(Table table) const {
  MDB_stat status{};
  if (const int code = ::mdb_stat(read_, handles_[index(table)], &status); code != 0) return failed("counting", code);
  return std::uint64_t{status.ms_entries};
}

Result<Environment::Found> Environment::find_row(std::string_view key) const {
  MDB_val name = to_lmdb(key);
  MDB_val value{};
  Found found;
  int code = ::mdb_cursor_get(rows_, &name, &value, MDB_SET_RANGE);
  if (code == 0 && from_lmdb(name) == key) {
    found.value = from_lmdb(value);
    return found;
  }
  if (code == 0) found.behind = Entry{from_lmdb(name), from_lmdb(value)};
  if (code == 0 || code == MDB_NOTFOUND) {
    code = ::mdb_cursor_get(rows_, &name, &value, found.behind ? MDB_PREV : MDB_LAST);
    if (code == 0) found.before = Entry{from_lmdb(name), from_lmdb(value)};
  }
  if (code != 0 && code != MDB_NOTFOUND) return failed("reading", code);
  return found;
}

Environment::Scan Environment::scan(Table table, std::string_view from) const {
  Scan scan;
  RESEQ_ASSERT(from.size() <= kLmdbKeyBytesMax, "a key that LMDB cannot hold");
  int code = ::mdb_cursor_open(read_, handles_[index(table)], &scan.cursor_);
  MDB_val key = to_lmdb(from);
  MDB_val value{};
  if (code == 0) code = ::mdb_cursor_get(scan.cursor_, &key, &value, from.empty() ? MDB_FIRST : MDB_SET_RANGE);
  scan.take(code, from_lmdb(key), from_lmdb(value));
  return scan;
}

Environment::Scan::Scan(Scan&& other) noexcept
    : cursor_(std::exchange(other.cursor_, nullptr)),
      valid_(other.valid_),
      key_(other.key_),
      value_(other.value_),
      error_(std::move(other.error_)) {}

Environment::Scan::~Scan() {
  if (cursor_ != nullptr) ::mdb_cursor_close(cursor_);
}

void Environment::Scan::next() {
  MDB_val key{};
  MDB_val value{};
  const int code = ::mdb_cursor_get(cursor_, &key, &value, MDB_NEXT);
  take(code, from_lmdb(key), from_lmdb(value));
}

void Environment::Scan::take(int code, std::string_view key, std::string_view value) {
  valid_ = code == 0;
  key_ = key;
  value_ = value;
  if (code != 0 && code != MDB_NOTFOUND) error_ = failed("reading in order", code);
}

Result<> Environment::Write::open_cursors() {
  for (std::size_t i = 0; i < kTables; ++i) {
    MDB_stat status{};
    if (const int code = ::mdb_stat(transaction_, handles_[i], &status); code != 0) return failed("counting", code);
    append_[i] = status.ms_entries == 0;
    if (const int code = ::mdb_cursor_open(transaction_, handles_[i], &cursors_[i]); code != 0)
      return failed("a cursor to write", code);
  }
  return Done{};
}

Result<std::optional<std::string_view>> Environment::Write::get(Table table, std::string_view key) {
  if (append_[index(table)]) return std::optional<std::string_view>();  // keys rise: it cannot be there
  MDB_val name = to_lmdb(key);
  MDB_val value{};
  const int code = ::mdb_cursor_get(cursors_[index(table)], &name, &value, MDB_SET);
  if (code == MDB_NOTFOUND) return std::optional<std::string_view>();
  if (code != 0) return failed("reading before a write", code);
  return std::optional(from_lmdb(value));
}

Result<> Environment::Write::put(Table table, std::string_view key, std::string_view value) {
  RESEQ_ASSERT(!key.empty() && key.size() <= kLmdbKeyBytesMax, "a key that LMDB cannot hold");
  if (last_ != nullptr && !last_->covers(table, key)) return Done{};
  MDB_val name = to_lmdb(key);
  MDB_val bytes = to_lmdb(value);
  const bool append = append_[index(table)];
  int code = ::mdb_cursor_put(cursors_[index(table)], &name, &bytes, append ? MDB_APPEND : 0U);
  if (code == MDB_KEYEXIST && append) {  // the keys of this table do not rise
    append_[index(table)] = false;
    code = ::mdb_cursor_put(cursors_[index(table)], &name, &bytes, 0);
  }
  if (code != 0) return failed("writing", code);
  return Done{};
}

Result<> Environment::Write::remove(Table table, std::string_view key) {
  if (last_ != nullptr && !last_->covers(table, key)) return Done{};
  MDB_val name = to_lmdb(key);
  MDB_val value{};
  MDB_cursor* cursor = cursors_[index(table)];
  int code = ::mdb_cursor_get(cursor, &name, &value, MDB_SET);
  if (code == MDB_NOTFOUND) return Done{};
  if (code == 0) code = ::mdb_cursor_del(cursor, 0);
  if (code != 0) return failed("removing", code);
  return Done{};
}

Result<> Environment::write(const std::function<Result<>(Write&)>& fill) {
  ::mdb_txn_reset(read_);
  Result<> done = attempt(fill);
  while (!done && done.error().code == MDB_MAP_FULL) {
    if (auto grown = grow(); !grown) {
      if (grown.error().what_to_do == ErrorClass::kFatal) return grown;
      done = grown;
      break;
    }
    done = attempt(fill);
  }
  // A map that may not grow is no failure of this write: the next one meets a full map.
  if (done && used_bytes() > map_bytes() / 100 * kFullPercent) {
    auto grown = grow();
    if (!grown && grown.error().what_to_do == ErrorClass::kFatal) return grown;
  }
  // A file that ends before its last pages (free ones are not written) is no sign of damage, so it is not left so.
  struct stat status {};
  if (done && ::fstat(descriptor(), &status) == 0 && static_cast<std::uint64_t>(status.st_size) < used_bytes())
    (void)!::ftruncate(descriptor(), static_cast<off_t>(used_bytes()));
  if (auto renewed = renew(); !renewed) return renewed;
  return done;
}

Result<> Environment::attempt(const std::function<Result<>(Write&)>& fill) {
  MDB_txn* transaction = nullptr;
  if (const int code = ::mdb_txn_begin(env_, nullptr, 0, &transaction); code != 0)
    return failed("a transaction to write", code);
  Write write(transaction, handles_);
  Result<> filled = write.open_cursors();
  if (filled) filled = fill(write);
  if (!filled) {
    ::mdb_txn_abort(transaction);
    return filled;
  }
  if (const int code = ::mdb_txn_commit(transaction); code != 0) return failed("committing", code);
  return Done{};
}

Result<> Environment::grow() {
  const std::uint64_t bytes = map_bytes() * 2;
  if (bytes > kMapBytesMax) return Error{ErrorClass::kRetriable, ENOSPC, "state: the map is as large as it can be"};
  if (const int code = ::mdb_env_set_mapsize(env_, bytes); code != 0)
    // LMDB has given up the old map before: nothing of it may be touched any more.
    return Error{ErrorClass::kFatal, code, failed("a larger map", code).message};
  return Done{};
}

Result<> Environment::renew() {
  int code = ::mdb_txn_renew(read_);
  if (code == 0) code = ::mdb_cursor_renew(read_, rows_);
  if (code == 0) return Done{};
  return Error{ErrorClass::kFatal, code, failed("the environment is unusable", code).message};
}

std::uint64_t Environment::used_bytes() const {
  MDB_envinfo environment{};
  MDB_stat status{};
  ::mdb_env_info(env_, &environment);
  ::mdb_env_stat(env_, &status);
  return (std::uint64_t{environment.me_last_pgno} + 1) * status.ms_psize;
}

Result<Environment::Size> Environment::size() const {
  constexpr std::uint64_t kMetaPages = 2;
  // The list of free pages and the table of tables are tables too.
  std::vector<MDB_dbi> all = {0, 1};
  all.insert(all.end(), handles_.begin(), handles_.end());
  std::uint64_t pages = kMetaPages;
  MDB_stat status{};
  for (const MDB_dbi table : all) {
    if (const int code = ::mdb_stat(read_, table, &status); code != 0) return failed("the size of a table", code);
    pages += status.ms_branch_pages + status.ms_leaf_pages + status.ms_overflow_pages;
  }
  const std::uint64_t used = pages * status.ms_psize;
  const std::uint64_t file = used_bytes();
  return Size{file, file - std::min(used, file)};
}

std::uint64_t Environment::map_bytes() const {
  MDB_envinfo environment{};
  ::mdb_env_info(env_, &environment);
  return environment.me_mapsize;
}

int Environment::descriptor() const {
  int descriptor = -1;
  ::mdb_env_get_fd(env_, &descriptor);
  return descriptor;
}

}  // namespace reseq::store
