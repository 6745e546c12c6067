#include "consumers/sqlite/ledger.h"

#include <utility>
#include <vector>

#include "base/assert.h"

namespace reseq::sqlite {
namespace {

// Somebody who reads for longer keeps the write-ahead log.
constexpr Milliseconds kFinishWait{1'000};

constexpr const char* kPragmas =
    "PRAGMA journal_mode=WAL;"
    // A power cut may take the last transactions, never half of one: their positions go with them.
    "PRAGMA synchronous=NORMAL;";

constexpr std::string_view kLedgerTables =
    "CREATE TABLE IF NOT EXISTS positions("
    "  topic TEXT, partition INTEGER, next INTEGER NOT NULL, PRIMARY KEY(topic, partition));"
    "CREATE TABLE IF NOT EXISTS rejected("
    "  topic TEXT, partition INTEGER, offset INTEGER, why TEXT, PRIMARY KEY(topic, partition, offset));"
    "CREATE TABLE IF NOT EXISTS sink(name TEXT PRIMARY KEY, value TEXT NOT NULL);";

}  // namespace

struct Ledger::Statements {
  Statement set_position, reject, begin, commit;
};

Ledger::Ledger(Database database, sink::StoreIdentity identity)
    : database_(std::move(database)), identity_(std::move(identity)) {}

Ledger::~Ledger() = default;

Result<std::unique_ptr<Ledger>> Ledger::open(const std::string& file, const sink::StoreIdentity& identity,
                                             std::string_view schema) {
  Result<Database> database = Database::open(file, Database::Mode::kCreate);
  if (!database) return database.error();
  std::unique_ptr<Ledger> ledger(new Ledger(std::move(database).value(), identity));
  if (Result<> set = ledger->database_.execute(kPragmas); !set) return set.error();
  const std::string tables = "BEGIN IMMEDIATE;" + std::string(kLedgerTables) + std::string(schema) + "COMMIT;";
  if (Result<> made = ledger->database_.execute(tables.c_str()); !made) return made.error();
  if (Result<> pinned = ledger->pin_identity(); !pinned) return pinned.error();
  if (Result<> prepared = ledger->prepare(); !prepared) return prepared.error();
  return ledger;
}

Result<> Ledger::add_column(std::string_view table, std::string_view column, std::string_view type) {
  Result<bool> there = database_.has_column(table, column);
  if (!there) return there.error();
  if (there.value()) return Done{};
  const std::string add =
      "ALTER TABLE " + std::string(table) + " ADD COLUMN " + std::string(column) + " " + std::string(type);
  return database_.execute(add.c_str());
}

Result<> Ledger::pin_identity() {
  if (Result<> pinned = pin("topic", identity_.topic); !pinned) return pinned;
  return pin("check", identity_.check == sink::Check::kOff ? "off" : "on");
}

Result<> Ledger::pin(std::string_view name, std::string_view value) {
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
               .message = "this place was filled with " + std::string(name) + " " + pinned + ", not " +
                          std::string(value) + ": use another one"};
}

Result<> Ledger::prepare() {
  constexpr std::string_view kSql[] = {
      "INSERT INTO positions(topic, partition, next) VALUES(?1, ?2, ?3) "
      "ON CONFLICT DO UPDATE SET next = excluded.next",
      "INSERT INTO rejected(topic, partition, offset, why) VALUES(?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
      "BEGIN IMMEDIATE",
      "COMMIT",
  };
  Result<std::vector<Statement>> made = database_.prepare_all(kSql);
  if (!made) return made.error();
  std::vector<Statement>& all = made.value();
  statements_ = std::make_unique<Statements>(
      Statements{std::move(all[0]), std::move(all[1]), std::move(all[2]), std::move(all[3])});
  return Done{};
}

Result<std::map<Partition, Offset>> Ledger::positions() {
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

Result<> Ledger::begin() {
  return statements_->begin.run();
}
Result<> Ledger::commit() {
  return statements_->commit.run();
}

Result<> Ledger::finish() {
  database_.wait_at_most(kFinishWait);
  Result<> folded = database_.execute("PRAGMA journal_mode=DELETE");
  return !folded && is_busy(folded.error()) ? Result<>(Done{}) : folded;
}

Result<> Ledger::reject(Partition partition, Offset offset, std::string_view why) {
  Statement& reject = statements_->reject;
  reject.bind_text(1, identity_.topic);
  reject.bind_int(2, partition.value());
  reject.bind_int(3, offset.value());
  reject.bind_text(4, why);
  return reject.run();
}

Result<> Ledger::set_position(Partition partition, Offset next) {
  Statement& set = statements_->set_position;
  set.bind_text(1, identity_.topic);
  set.bind_int(2, partition.value());
  set.bind_int(3, next.value());
  return set.run();
}

}  // namespace reseq::sqlite
