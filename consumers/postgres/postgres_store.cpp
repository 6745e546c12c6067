#include "consumers/postgres/postgres_store.h"

#include <algorithm>
#include <map>
#include <set>
#include <spdlog/spdlog.h>

#include "base/log.h"
#include "consumers/postgres/sql_state.h"
#include "consumers/sink/marker.h"

namespace reseq::postgres {
namespace {

using remote::Answer;
using remote::Batch;
using remote::Write;

Parameter text(std::string value) {
  return {kTextType, std::move(value)};
}

Error with(Error error, const std::string& what) {
  error.message = what + ": " + error.message;
  return error;
}

bool concerns_a_row(const Error& error) {
  return is_about_data(state_of(error.code));
}

std::vector<std::int64_t> versions_of(std::optional<std::string_view> array) {
  if (!array) return {};
  return read_int8_array(*array).value_or(std::vector<std::int64_t>());
}

Error too_long_alone(const Write& write, std::chrono::milliseconds limit, const Error& why) {
  return {ErrorClass::kInvalid, why.code,
          "the record at offset " + std::to_string(write.offset.value()) + " alone takes longer than " +
              std::to_string(limit.count()) + " ms: look at triggers, constraints and indexes of the table (" +
              why.message + ")"};
}

// An order that all who write keep to, so that two of them cannot wait for each other.
std::vector<std::size_t> by_id(std::span<const Write> writes) {
  std::vector<std::size_t> order(writes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return writes[a].change.id < writes[b].change.id; });
  return order;
}

bool takes_too_long(const Error& error) {
  return error.code == state_code("57014");
}

// A delete writes nulls to what is in the payload, and nothing to columns that the sink does not know.
Result<> judge_not_null(const Layout& layout, const Rows& columns) {
  constexpr std::string_view kYes("\1", 1);
  for (std::size_t i = 0; i < columns.count(); ++i) {
    const std::string name(columns.at(i, 0).value_or(""));
    if (columns.at(i, 2) != kYes || name == "id" || name == "version" || name == "deleted") continue;
    const bool is_written =
        (name == "payload" && layout.payload != PayloadAs::kNone) || (name == "error" && writes_errors(layout)) ||
        std::any_of(layout.columns.begin(), layout.columns.end(), [&](const Column& one) { return one.name == name; });
    if (!is_written && columns.at(i, 3) == kYes) continue;
    const std::string alter = "ALTER TABLE " + quoted_name(layout.table) + " ALTER COLUMN " + quoted_name(name);
    return Error{ErrorClass::kInvalid, 0,
                 "table " + layout.table + " has a column " + name + " that is NOT NULL, " +
                     (is_written ? "and a delete is a row whose payload and columns are null: every delete would be "
                                   "refused. Run: " +
                                       alter + " DROP NOT NULL"
                                 : "without a default, and the sink does not write it: every record would be refused. "
                                   "Run: " +
                                       alter + " DROP NOT NULL, or give it a default")};
  }
  return Done{};
}

}  // namespace

std::string PostgresStore::place() const {
  return place_of(settings_.server.server) + ", table " + settings_.layout.table;
}

Result<> PostgresStore::connect() {
  if (connection_ != nullptr) return Done{};
  auto opened = Connection::open(settings_.server);
  if (!opened) return opened.error();
  connection_ = std::move(opened).value();
  write_.clear();
  rows_at_once_ = kAnyNumber;
  return Done{};
}

Result<Rows> PostgresStore::run(const std::string& statement, std::span<const Parameter> parameters) {
  if (Result<> connected = connect(); !connected) return connected.error();
  auto rows = connection_->run(statement, parameters);
  if (!rows && !concerns_a_row(rows.error()) && !takes_too_long(rows.error())) connection_.reset();
  return rows;
}

Result<bool> PostgresStore::exists(const std::string& table) {
  const std::vector<Parameter> name = {text(quoted_name(table))};
  auto rows = run("SELECT to_regclass($1) IS NOT NULL", name);
  if (!rows) return rows.error();
  return rows.value().at(0, 0).value_or("") == std::string_view("\1", 1);
}

Result<> PostgresStore::prepare() {
  auto there = exists(settings_.layout.table);
  if (!there) return there.error();
  // A table of somebody else is looked at before anything is made beside it.
  Result<> fits = there.value() ? learn_columns() : judge_missing_table();
  if (!fits) return fits;
  bool complete = there.value();
  if (complete && settings_.layout.positions) {
    auto positions = exists(positions_table(settings_.layout));
    if (!positions) return positions.error();
    complete = positions.value();
  }
  if (Result<> made = complete ? make_view() : make(); !made) return made;
  if (there.value())
    if (Result<> added = add_errors(); !added) return added;
  return learn_table();
}

Result<> PostgresStore::judge_missing_table() {
  if (!settings_.layout.positions) return Done{};
  const std::string table = positions_table(settings_.layout);
  auto there = exists(table);
  if (!there || !there.value()) return there ? Result<>(Done{}) : Result<>(there.error());
  const std::vector<Parameter> topic = {text(settings_.topic)};
  auto rows = run("SELECT coalesce(sum(next), 0)::bigint FROM " + quoted_name(table) + " WHERE topic = $1", topic);
  if (!rows) return rows.error();
  if (read_int8(rows.value().at(0, 0).value_or("")) == 0) return Done{};
  return Error{ErrorClass::kInvalid, 0,
               "table " + settings_.layout.table + " is gone, but " + table + " says that " + settings_.topic +
                   " was written to it: made anew it would lack all of that. Restore both tables from one backup, or "
                   "begin anew: stop the sinks, run: DELETE FROM " +
                   quoted_name(table) + " WHERE topic = '" + settings_.topic + "', and start them"};
}

Result<> PostgresStore::make() {
  const std::string statements = make_statements(settings_.layout);
  if (!settings_.makes_tables)
    return Error{ErrorClass::kInvalid, 0,
                 "tables are missing, and --create off says that they are not made. Run: " + statements};
  Result<> made = make_one_by_one(statements);
  if (made) return made;
  Error error = with(made.error(), "cannot make the tables");
  if (error.what_to_do == ErrorClass::kInvalid) error.message += ". Somebody who may has to run: " + statements;
  return error;
}

Result<> PostgresStore::make_one_by_one(const std::string& statements) {
  if (Result<> connected = connect(); !connected) return connected;
  Result<> made = connection_->script("BEGIN; SELECT pg_advisory_xact_lock(hashtext('reseq-sink-postgres')); " +
                                      statements + "COMMIT");
  if (!made) connection_.reset();
  return made;
}

Result<> PostgresStore::make_view() {
  const std::string view = live_view(settings_.layout);
  auto there = exists(view);
  if (!there || there.value()) return there ? Result<>(Done{}) : Result<>(there.error());
  const std::string statement = make_view_statement(settings_.layout);
  const auto why = try_to_make(statement);
  if (!why) return why.error();
  if (!why.value().empty())
    spdlog::warn("view={} is missing, and was not made ({}): who reads {} sees deletes, too. Run: {}", view,
                 log::one_line(why.value()), settings_.layout.table, log::one_line(statement));
  return Done{};
}

Result<> PostgresStore::add_errors() {
  if (writes_errors(settings_.layout)) return Done{};
  const bool is_lacking = error_type_.empty() && !maps_errors(settings_.layout);
  const std::string statement = add_errors_statement(settings_.layout);
  std::string remedy;
  if (is_lacking) {
    const auto why = try_to_make(statement);
    if (!why) return why.error();
    if (why.value().empty()) return Done{};
    remedy = ". It was not added (" + log::one_line(why.value()) + "). Run: " + log::one_line(statement);
  }
  spdlog::warn("table={} {}{}", settings_.layout.table, why_no_errors(), remedy);
  return Done{};
}

std::string PostgresStore::why_no_errors() const {
  const std::string why = maps_errors(settings_.layout) ? "--column fills its column error"
                          : error_type_.empty()         ? "it has no column error"
                                                        : "its column error is of type " + error_type_ + ", not text";
  return why + ": why a document failed stands only in the payload of its row";
}

Result<std::string> PostgresStore::try_to_make(const std::string& statement) {
  if (!settings_.makes_tables) return std::string("--create is off");
  Result<> made = make_one_by_one(statement);
  if (made) return std::string();
  if (made.error().what_to_do != ErrorClass::kInvalid) return made.error();
  return made.error().message;
}

Result<> PostgresStore::learn_table() {
  if (Result<> learned = learn_columns(); !learned) return learned;
  return learn_statements();
}

Result<> PostgresStore::learn_columns() {
  const std::vector<Parameter> name = {text(quoted_name(settings_.layout.table))};
  auto rows =
      run("SELECT a.attname::text, format_type(a.atttypid, NULL), a.attnotnull, a.atthasdef OR a.attidentity <> '' "
          "FROM pg_attribute a WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped",
          name);
  if (!rows) return rows.error();
  std::map<std::string, std::string, std::less<>> types;
  for (std::size_t i = 0; i < rows.value().count(); ++i)
    types.emplace(rows.value().at(i, 0).value_or(""), rows.value().at(i, 1).value_or(""));
  if (types.empty())
    if (Result<> gone = judge_missing_table(); !gone) return gone;
  const auto invalid = [&](const std::string& what) {
    return Error{ErrorClass::kInvalid, 0, "table " + settings_.layout.table + " " + what};
  };
  if (types.empty()) return invalid("does not exist");
  Layout& layout = settings_.layout;
  std::vector<std::pair<std::string, std::string>> needed = {
      {"id", std::string(name_of(layout.id))}, {"version", "bigint"}, {"deleted", "boolean"}};
  if (layout.payload != PayloadAs::kNone) needed.emplace_back("payload", name_of(layout.payload));
  const auto lacking = [&](const std::string& column, const std::string& type) {
    return invalid("has no column " + column + ": ALTER TABLE ... ADD COLUMN " + column + " " + type);
  };
  const auto other = [&](const std::string& column, const std::string& type, const std::string& wanted) {
    return invalid("has a column " + column + " of type " + type + ", not " + wanted);
  };
  for (const auto& [column, type] : needed) {
    const auto found = types.find(column);
    if (found == types.end()) return lacking(column, type);
    if (found->second != type) return other(column, found->second, type);
  }
  for (Column& column : layout.columns) {
    const auto found = types.find(column.name);
    if (found == types.end())
      return invalid("has no column " + column.name + " of --column: ALTER TABLE ... ADD COLUMN " +
                     quoted_name(column.name) + " text, or another type");
    column.type = found->second;
  }
  const auto errors = types.find("error");
  error_type_ = errors == types.end() ? "" : errors->second;
  layout.errors = error_type_ == "text";
  return judge_not_null(layout, rows.value());
}

// A dry run of what is written later, with nothing in it: the server reads it, plans it and looks at the rights.
Result<> PostgresStore::learn_statements() {
  write_ = write_statement(settings_.layout);
  write_and_move_ = write_and_move_statement(settings_.layout);
  std::vector<Parameter> parameters = parameters_of({});
  if (settings_.layout.positions) {
    parameters.push_back(text(settings_.topic));
    parameters.push_back({kInt4Type, int4_bytes(-1)});
    parameters.push_back({kInt8Type, int8_bytes(-1)});
    parameters.push_back({kInt8Type, int8_bytes(-1)});
  }
  auto tried = run(settings_.layout.positions ? write_and_move_ : write_, parameters);
  if (tried) return Done{};
  write_.clear();
  return with(tried.error(), "the table cannot be written");
}

std::vector<Parameter> PostgresStore::parameters_of(std::span<const Write> writes) const {
  const bool text_ids = settings_.layout.id == IdAs::kText;
  const bool bytes = settings_.layout.payload == PayloadAs::kBytea;
  ArrayWriter ids(text_ids ? kTextType : kByteaType, writes.size());
  ArrayWriter versions(kInt8Type, writes.size());
  ArrayWriter payloads(bytes ? kByteaType : kTextType, writes.size());
  ArrayWriter errors(kTextType, writes.size());
  for (const std::size_t place : by_id(writes)) {
    const sink::Change& change = writes[place].change;
    ids.add(change.id);
    versions.add_int8(static_cast<std::int64_t>(change.version.value()));
    if (change.op == sink::ChangeOp::kFailed) {
      const sink::Marker marker = sink::marker_of(change);
      payloads.add(sink::note_of(marker));
      errors.add(marker.why());
      continue;
    }
    errors.add_null();
    if (change.payload)
      payloads.add(*change.payload);
    else
      payloads.add_null();
  }
  return {{text_ids ? kTextArrayType : kByteaArrayType, ids.take()},
          {kInt8ArrayType, versions.take()},
          {bytes ? kByteaArrayType : kTextArrayType, payloads.take()},
          {kTextArrayType, errors.take()}};
}

Result<> PostgresStore::write(const Batch& batch, std::span<Answer> answers) {
  if (Result<> connected = connect(); !connected) return connected;
  if (write_.empty())
    if (Result<> learned = learn_table(); !learned) return learned;
  if (batch.writes.size() > rows_at_once_) return write_in_parts(batch, answers);
  Result<> written = settings_.layout.positions ? write_and_move(batch, answers) : write_alone(batch, answers);
  if (written) return written;
  if (concerns_a_row(written.error())) return find_refused(batch, answers, written.error());
  if (!takes_too_long(written.error()) || batch.writes.empty()) return written;
  rows_at_once_ = std::max<std::size_t>(1, batch.writes.size() / 2);
  return write_in_parts(batch, answers);
}

Result<> PostgresStore::write_alone(const Batch& batch, std::span<Answer> answers) {
  auto rows = run(write_, parameters_of(batch.writes));
  if (!rows) return rows.error();
  set_answers(batch, versions_of(rows.value().at(0, 0)), answers);
  return Done{};
}

Result<> PostgresStore::write_and_move(const Batch& batch, std::span<Answer> answers) {
  std::vector<Parameter> parameters = parameters_of(batch.writes);
  parameters.push_back(text(settings_.topic));
  parameters.push_back({kInt4Type, int4_bytes(batch.partition.value())});
  parameters.push_back({kInt8Type, int8_bytes(batch.first.value())});
  parameters.push_back({kInt8Type, int8_bytes(batch.next.value())});
  auto rows = run(write_and_move_, parameters);
  if (!rows) {
    // Without a session that is still there the server said nothing, or nothing that is about this batch.
    if (connection_ == nullptr) unanswered_ = {batch.partition, batch.next};
    return rows.error();
  }
  if (read_int8(rows.value().at(0, 0).value_or("")) != 1) return judge_position(batch, answers);
  unanswered_.reset();
  set_answers(batch, versions_of(rows.value().at(0, 1)), answers);
  return Done{};
}

Result<bool> PostgresStore::move_position(const Batch& batch) {
  const std::vector<Parameter> parameters = {text(settings_.topic),
                                             {kInt4Type, int4_bytes(batch.partition.value())},
                                             {kInt8Type, int8_bytes(batch.first.value())},
                                             {kInt8Type, int8_bytes(batch.next.value())}};
  auto moved = run("UPDATE " + quoted_name(positions_table(settings_.layout)) +
                       " SET next = $4 WHERE topic = $1 AND partition = $2 AND next = $3",
                   parameters);
  if (!moved) return moved.error();
  return moved.value().affected() == 1;
}

Result<> PostgresStore::write_in_parts(const Batch& batch, std::span<Answer> answers) {
  if (auto begun = run("BEGIN"); !begun) return begun.error();
  if (settings_.layout.positions) {
    auto moved = move_position(batch);
    if (!moved || !moved.value()) connection_.reset();
    if (!moved) return moved.error();
    if (!moved.value()) return judge_position(batch, answers);
  }
  std::vector<Write> writes;
  for (const std::size_t place : by_id(batch.writes)) writes.push_back(batch.writes[place]);
  std::vector<std::int64_t> versions;
  Result<> written = write_parts(writes, versions);
  if (!written) {
    if (connection_ != nullptr)
      if (auto undone = run("ROLLBACK"); !undone) return undone.error();
    return concerns_a_row(written.error()) ? find_refused(batch, answers, written.error()) : written;
  }
  auto committed = run("COMMIT");
  if (!committed) {
    if (connection_ == nullptr) {
      unanswered_ = {batch.partition, batch.next};
      return committed.error();
    }
    return concerns_a_row(committed.error()) ? find_refused(batch, answers, committed.error()) : committed.error();
  }
  unanswered_.reset();
  set_answers(batch, std::move(versions), answers);
  return Done{};
}

Result<> PostgresStore::write_parts(std::span<const Write> writes, std::vector<std::int64_t>& versions) {
  while (!writes.empty()) {
    const auto part = writes.first(std::min(writes.size(), rows_at_once_));
    if (auto saved = run("SAVEPOINT part"); !saved) return saved.error();
    auto rows = run(write_, parameters_of(part));
    if (rows) {
      const std::vector<std::int64_t> more = versions_of(rows.value().at(0, 0));
      versions.insert(versions.end(), more.begin(), more.end());
      if (auto released = run("RELEASE SAVEPOINT part"); !released) return released.error();
      writes = writes.subspan(part.size());
      continue;
    }
    if (!takes_too_long(rows.error())) return rows.error();
    if (auto undone = run("ROLLBACK TO SAVEPOINT part"); !undone) return undone.error();
    if (part.size() == 1) return too_long_alone(part.front(), settings_.server.statement_limit, rows.error());
    rows_at_once_ = part.size() / 2;
  }
  return Done{};
}

// When the position is behind the batch, and its answer was lost with a connection, it was written by that try.
// Otherwise it was somebody else, who perhaps made the same batch of the same records.
Result<> PostgresStore::judge_position(const Batch& batch, std::span<Answer> answers) {
  auto known = positions(std::span(&batch.partition, 1));
  if (!known) return known.error();
  const auto position = known.value().find(batch.partition);
  const bool is_unanswered = unanswered_ == std::pair(batch.partition, batch.next);
  unanswered_.reset();
  if (is_unanswered && position != known.value().end() && position->second == batch.next) {
    for (Answer& answer : answers) answer.kind = Answer::Kind::kStored;
    return Done{};
  }
  const std::string stands = position == known.value().end() ? "none" : std::to_string(position->second.value());
  return Error{ErrorClass::kFenced, 0,
               "the position of partition " + std::to_string(batch.partition.value()) + " is " + stands + ", not " +
                   std::to_string(batch.first.value())};
}

void PostgresStore::set_answers(const Batch& batch, std::vector<std::int64_t> written,
                                std::span<Answer> answers) const {
  std::sort(written.begin(), written.end());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto version = static_cast<std::int64_t>(batch.writes[i].change.version.value());
    const bool is_stored = !settings_.layout.versions || std::binary_search(written.begin(), written.end(), version);
    answers[i].kind = is_stored ? Answer::Kind::kStored : Answer::Kind::kNotNewer;
  }
}

Result<> PostgresStore::find_refused(const Batch& batch, std::span<Answer> answers, const Error& why) {
  // Constraints that are looked at when a transaction ends are looked at at once.
  if (auto begun = run("BEGIN"); !begun) return begun.error();
  if (auto at_once = run("SET CONSTRAINTS ALL IMMEDIATE"); !at_once) return at_once.error();
  Result<> tried = try_range(batch.writes, answers);
  if (!tried) {
    connection_.reset();
    return tried;
  }
  if (auto undone = run("ROLLBACK"); !undone) return undone.error();
  bool is_found = false;
  for (const Answer& answer : answers) is_found = is_found || answer.kind == Answer::Kind::kRefused;
  // It is none of them alone: told, and tried again after a pause.
  if (!is_found) return Error{ErrorClass::kRetriable, why.code, why.message};
  for (Answer& answer : answers)
    if (answer.kind != Answer::Kind::kRefused) answer.kind = Answer::Kind::kHeldBack;
  return Done{};
}

Result<> PostgresStore::try_range(std::span<const Write> writes, std::span<Answer> answers) {
  if (auto saved = run("SAVEPOINT range"); !saved) return saved.error();
  auto rows = run(write_, parameters_of(writes));
  if (rows) return Done{};
  const bool is_slow = takes_too_long(rows.error());
  if (!is_slow && !concerns_a_row(rows.error())) return rows.error();
  if (auto undone = run("ROLLBACK TO SAVEPOINT range"); !undone) return undone.error();
  if (writes.size() == 1 && is_slow) return too_long_alone(writes[0], settings_.server.statement_limit, rows.error());
  if (writes.size() == 1) {
    answers[0] = {Answer::Kind::kRefused, rows.error().message};
    return Done{};
  }
  const std::size_t half = writes.size() / 2;
  if (Result<> first = try_range(writes.first(half), answers.first(half)); !first) return first;
  return try_range(writes.subspan(half), answers.subspan(half));
}

}  // namespace reseq::postgres
