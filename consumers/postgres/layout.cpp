#include "consumers/postgres/layout.h"

#include <algorithm>
#include <optional>

namespace reseq::postgres {
namespace {

std::string in_quotes(std::string_view text, char quote) {
  std::string result(1, quote);
  for (const char letter : text) {
    if (letter == quote) result.push_back(quote);
    result.push_back(letter);
  }
  result.push_back(quote);
  return result;
}

std::string identifier(std::string_view name) {
  return in_quotes(name, '"');
}

// Of SCHEMA.TABLE. An empty schema is none that the server takes.
struct NameParts {
  std::optional<std::string_view> schema;  // absent without a dot
  std::string_view name;
};

NameParts name_parts_of(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return {std::nullopt, name};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

// '{"a","b"}', as text[] reads it. Backslashes stand for themselves in a literal (standard_conforming_strings).
std::string path_literal(const std::vector<std::string>& path) {
  std::string array = "{";
  for (const std::string& step : path) {
    if (array.size() > 1) array += ',';
    array += '"';
    for (const char letter : step) {
      if (letter == '"' || letter == '\\') array += '\\';
      array += letter;
    }
    array += '"';
  }
  return in_quotes(array + "}", '\'');
}

// A cast that is said would cut a text to the length of its column in silence; what the assignment does is an error.
// Nothing is taken out of the note of a marker.
std::string value_of(const Column& column) {
  const bool is_json = column.type == "jsonb" || column.type == "json";
  const std::string value = "(CASE WHEN w.error IS NULL THEN w.j END " + std::string(is_json ? "#>" : "#>>") + " " +
                            path_literal(column.path) + ")";
  const bool is_text = column.type == "text" || column.type.starts_with("character");
  return is_text ? value : value + "::" + column.type;
}

bool reads_json(const Layout& layout) {
  return layout.payload == PayloadAs::kJsonb || !layout.columns.empty();
}

std::string payload_value(const Layout& layout) {
  return layout.payload == PayloadAs::kJsonb ? "w.j" : "w.payload";
}

// `condition`: what the written rows hang on; empty: nothing.
std::string insert_part(const Layout& layout, std::string_view condition) {
  std::string names = "id, version, deleted";
  std::string values = "w.id, w.version, w.payload IS NULL OR w.error IS NOT NULL";
  std::string changes = "version = excluded.version, deleted = excluded.deleted";
  const auto add = [&](const std::string& name, const std::string& value) {
    names += ", " + name;
    values += ", " + value;
    changes += ", " + name + " = excluded." + name;
  };
  if (layout.payload != PayloadAs::kNone) add("payload", payload_value(layout));
  if (writes_errors(layout)) add("error", "w.error");
  for (const Column& column : layout.columns) add(identifier(column.name), value_of(column));
  const std::string payloads = layout.payload == PayloadAs::kBytea ? "bytea[]" : "text[]";
  // OFFSET 0 keeps the JSON of a payload from being parsed once per column.
  return "INSERT INTO " + quoted_name(layout.table) + " AS d (" + names + ") SELECT " + values +
         " FROM (SELECT u.id, u.version, u.payload, u.error" + (reads_json(layout) ? ", u.payload::jsonb AS j" : "") +
         " FROM unnest($1::" + std::string(name_of(layout.id)) + "[], $2::bigint[], $3::" + payloads +
         ", $4::text[]) AS u (id, version, payload, error)" +
         (condition.empty() ? "" : " WHERE " + std::string(condition)) +
         " OFFSET 0) AS w ON CONFLICT (id) DO UPDATE SET " + changes +
         (layout.versions ? " WHERE d.version < excluded.version" : "") + " RETURNING d.version";
}

}  // namespace

std::string_view name_of(PayloadAs payload) {
  switch (payload) {
    case PayloadAs::kJsonb:
      return "jsonb";
    case PayloadAs::kText:
      return "text";
    case PayloadAs::kBytea:
      return "bytea";
    case PayloadAs::kNone:
      return "none";
  }
  return "none";
}

std::string_view name_of(IdAs id) {
  return id == IdAs::kText ? "text" : "bytea";
}

Result<Column> parse_column(std::string_view text) {
  const auto invalid = [&](const char* why) {
    return Error{ErrorClass::kInvalid, 0, "--column " + std::string(text) + ": " + why};
  };
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return invalid("NAME=POINTER is needed, as in title=/title");
  Column column{.name = std::string(text.substr(0, equals)), .path = {}};
  for (const std::string_view taken : {"id", "version", "deleted", "payload"})
    if (column.name == taken) return invalid("the sink writes this column itself");
  std::string_view pointer = text.substr(equals + 1);
  if (pointer.empty()) return column;
  if (pointer.front() != '/') return invalid("a JSON pointer begins with /");
  for (const char letter : pointer) {
    if (letter == '/')
      column.path.emplace_back();
    else
      column.path.back().push_back(letter);
  }
  for (std::string& step : column.path) {
    for (std::size_t at = step.find('~'); at != std::string::npos; at = step.find('~', at + 1)) {
      const char which = at + 1 < step.size() ? step[at + 1] : ' ';
      if (which != '0' && which != '1') return invalid("in a JSON pointer ~ is written ~0, and / is ~1");
      step.replace(at, 2, which == '0' ? "~" : "/");
    }
  }
  return column;
}

bool maps_errors(const Layout& layout) {
  return std::any_of(layout.columns.begin(), layout.columns.end(),
                     [](const Column& column) { return column.name == "error"; });
}

std::string quoted_name(std::string_view name) {
  const NameParts parts = name_parts_of(name);
  return (parts.schema ? identifier(*parts.schema) + "." : "") + identifier(parts.name);
}

std::string schema_of(const Layout& layout) {
  return std::string(name_parts_of(layout.table).schema.value_or(""));
}

std::string live_view(const Layout& layout) {
  return layout.table + "_live";
}

std::string positions_table(const Layout& layout) {
  return layout.table + "_positions";
}

std::string make_view_statement(const Layout& layout) {
  std::string columns = "id, version";
  if (layout.payload != PayloadAs::kNone) columns += ", payload";
  for (const Column& column : layout.columns) columns += ", " + identifier(column.name);
  return "CREATE OR REPLACE VIEW " + quoted_name(live_view(layout)) + " AS SELECT " + columns + " FROM " +
         quoted_name(layout.table) + " WHERE NOT deleted;\n";
}

std::string add_errors_statement(const Layout& layout) {
  return "ALTER TABLE " + quoted_name(layout.table) + " ADD COLUMN IF NOT EXISTS error text;\n";
}

std::string make_statements(const Layout& layout) {
  const std::string table = quoted_name(layout.table);
  std::string columns = maps_errors(layout) ? "" : ", error text";
  for (const Column& column : layout.columns) columns += ", " + identifier(column.name) + " " + column.type;
  const std::string payload =
      layout.payload == PayloadAs::kNone ? "" : ", payload " + std::string(name_of(layout.payload));
  const std::string index = std::string(name_parts_of(layout.table).name) + "_deleted";
  std::string made = "CREATE TABLE IF NOT EXISTS " + table + " (id " + std::string(name_of(layout.id)) +
                     " PRIMARY KEY, version bigint NOT NULL, deleted boolean NOT NULL" + payload + columns + ");\n" +
                     "CREATE INDEX IF NOT EXISTS " + identifier(index) + " ON " + table +
                     " (version) WHERE deleted;\n" + make_view_statement(layout);
  if (layout.positions)
    made += "CREATE TABLE IF NOT EXISTS " + quoted_name(positions_table(layout)) +
            " (topic text, partition integer, next bigint NOT NULL, PRIMARY KEY (topic, partition));\n";
  return made;
}

std::string write_statement(const Layout& layout) {
  return "WITH written AS (" + insert_part(layout, "") + ") SELECT array_agg(version) FROM written";
}

std::string write_and_move_statement(const Layout& layout) {
  return "WITH moved AS (UPDATE " + quoted_name(positions_table(layout)) +
         " SET next = $8 WHERE topic = $5 AND partition = $6 AND next = $7 RETURNING 1), written AS (" +
         insert_part(layout, "EXISTS (SELECT FROM moved)") +
         ") SELECT (SELECT count(*) FROM moved), (SELECT array_agg(version) FROM written)";
}

}  // namespace reseq::postgres
