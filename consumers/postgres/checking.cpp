// What a PostgresStore looks at for --check: the server, the tables, the columns and the rights. Nothing is changed.
#include "consumers/postgres/postgres_store.h"

namespace reseq::postgres {
namespace {

using remote::Finding;

constexpr std::string_view kTrue("\1", 1);

}  // namespace

std::vector<Finding> PostgresStore::check() {
  std::vector<Finding> findings;
  if (Result<> connected = connect(); !connected) {
    findings.push_back({false, "the server answers (" + place() + ")", connected.error().message});
    return findings;
  }
  findings.push_back({true, "the server answers (" + place() + ")", {}});
  std::vector<std::string> tables = {settings_.layout.table};
  if (settings_.layout.positions) tables.push_back(positions_table(settings_.layout));
  bool complete = true;
  for (const std::string& table : tables) {
    auto there = exists(table);
    if (!there) {
      findings.push_back({false, "table " + table, there.error().message});
      return findings;
    }
    const bool is_first = table == settings_.layout.table;
    if (Result<> gone = is_first && !there.value() ? judge_missing_table() : Done{}; !gone) {
      findings.push_back({false, "table " + table + " exists", gone.error().message});
      return findings;
    }
    complete = complete && there.value();
    findings.push_back(check_table(table, there.value()));
  }
  if (!complete) return findings;
  findings.push_back(check_view());
  // Reads the columns, and tries a statement that writes nothing.
  Result<> learned = learn_table();
  findings.push_back({learned.ok(), "the table " + settings_.layout.table + " has the columns, and may be written",
                      learned ? "" : learned.error().message});
  if (learned && !writes_errors(settings_.layout)) findings.push_back(check_errors());
  if (learned && settings_.forget_deletes_days > 0) findings.push_back(check_forgetting());
  return findings;
}

Finding PostgresStore::check_view() {
  const std::string view = live_view(settings_.layout);
  auto there = exists(view);
  if (!there) return {false, "view " + view, there.error().message};
  if (there.value()) return {true, "view " + view + " exists", {}};
  return {true,
          "to know: there is no view " + view + ", so readers see deletes, too; " +
              (settings_.makes_tables ? "the start tries to make it"
                                      : "somebody who may has to run: " + make_view_statement(settings_.layout)),
          {}};
}

Finding PostgresStore::check_errors() const {
  std::string remedy;
  if (error_type_.empty() && !maps_errors(settings_.layout))
    remedy = settings_.makes_tables ? "; the start tries to add it"
                                    : "; somebody who may has to run: " + add_errors_statement(settings_.layout);
  return {true, "to know: of table " + settings_.layout.table + ", " + why_no_errors() + remedy, {}};
}

Finding PostgresStore::check_forgetting() {
  const std::string table = quoted_name(settings_.layout.table);
  const std::string what = "old deletes may be removed from table " + settings_.layout.table;
  const std::vector<Parameter> name = {{kTextType, table}};
  auto may = run("SELECT has_table_privilege($1, 'DELETE'), quote_ident(current_user)", name);
  if (!may) return {false, what, may.error().message};
  if (may.value().at(0, 0) == kTrue) return {true, what, {}};
  return {false, what, "run: GRANT DELETE ON " + table + " TO " + std::string(may.value().at(0, 1).value_or(""))};
}

Finding PostgresStore::check_table(const std::string& table, bool is_there) {
  if (is_there) return {true, "table " + table + " exists", {}};
  const std::string make = "run: " + make_statements(settings_.layout);
  if (!settings_.makes_tables) return {false, "table " + table + " exists", make};
  const std::vector<Parameter> schema = {{kTextType, schema_of(settings_.layout)}};
  auto may =
      run("SELECT has_schema_privilege(oid, 'CREATE') FROM pg_namespace "
          "WHERE nspname = coalesce(nullif($1, ''), current_schema())",
          schema);
  const std::string what = "table " + table + " exists, or may be made";
  if (!may) return {false, what, may.error().message};
  if (may.value().count() == 0) return {false, what, "its schema does not exist: somebody who may has to make it"};
  if (may.value().at(0, 0) != kTrue) return {false, what, make};
  return {true, "table " + table + " does not exist yet, and is made at the start", {}};
}

}  // namespace reseq::postgres
