// Layout: how documents lie in a table, and the statements that follow from it.
//   <table>            a row per document: id, version, deleted, payload, error, and the columns of the mapping. A
//                      delete is a row, too: deleted, with its version, everything else null. So is a marker
//                      (sink/marker.h): deleted, with an error, and the payload is its note
//   <table>_live       a view of it without deletes and without `deleted`
//   <table>_positions  topic, partition, next: the next offset of each partition
// Invariant: every name in a statement is quoted, every value is a parameter or a quoted literal.
// Thread rule: pure functions, plain values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace reseq::postgres {

enum class PayloadAs : unsigned char { kJsonb, kText, kBytea, kNone };  // kNone: only the columns of the mapping
enum class IdAs : unsigned char { kText, kBytea };

// A column that is taken out of a JSON payload.
struct Column {
  std::string name;
  std::vector<std::string> path;  // of keys and indexes; empty: the whole payload
  std::string type = "text";      // as the server calls it, without a length
};

// `--column title=/title`: a name, and a JSON pointer (RFC 6901). kInvalid says what is wrong.
[[nodiscard]] Result<Column> parse_column(std::string_view text);

struct Layout {
  std::string table = "documents";  // perhaps schema.table
  PayloadAs payload = PayloadAs::kJsonb;
  IdAs id = IdAs::kText;
  std::vector<Column> columns;
  bool positions = true;
  bool versions = true;  // off: the last write wins
  bool errors = true;    // the table has a column for them; off: the note of a marker has to do
};

// `--column error=...` fills that column, so it is not ours.
[[nodiscard]] bool maps_errors(const Layout& layout);
[[nodiscard]] inline bool writes_errors(const Layout& layout) {
  return layout.errors && !maps_errors(layout);
}

[[nodiscard]] std::string_view name_of(PayloadAs payload);
[[nodiscard]] std::string_view name_of(IdAs id);

// "shop.documents" -> "shop"."documents"
[[nodiscard]] std::string quoted_name(std::string_view name);
[[nodiscard]] std::string schema_of(const Layout& layout);        // not quoted; "" = the current one
[[nodiscard]] std::string live_view(const Layout& layout);        // not quoted
[[nodiscard]] std::string positions_table(const Layout& layout);  // not quoted

[[nodiscard]] std::string make_view_statement(const Layout& layout);
// For a table of an older version.
[[nodiscard]] std::string add_errors_statement(const Layout& layout);
// What has to be there, made where it is missing.
[[nodiscard]] std::string make_statements(const Layout& layout);

// $1 ids, $2 versions, $3 payloads (null = deleted), $4 errors (null = no marker), as arrays. Answers an array of the
// versions that were written.
[[nodiscard]] std::string write_statement(const Layout& layout);
// The same, only if the position is moved: $5 topic, $6 partition, $7 from, $8 to. Answers whether it was (0 or 1), and
// the array.
[[nodiscard]] std::string write_and_move_statement(const Layout& layout);

}  // namespace reseq::postgres
