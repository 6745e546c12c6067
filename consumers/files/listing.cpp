#include "consumers/files/listing.h"

#include <string_view>

#include "codec/json_writer.h"
#include "consumers/files/file_store.h"
#include "consumers/sqlite/database.h"

namespace reseq::files {
namespace {

using sqlite::Database;
using sqlite::Statement;

std::string question(Listed what, bool of_one) {
  return std::string("SELECT id, seq, version, file") +
         (what == Listed::kFailed ? ", error FROM documents WHERE error IS NOT NULL"
                                  : " FROM documents WHERE deleted = 0") +
         (of_one ? " AND id = ?1" : " ORDER BY id");
}

void bytes(codec::JsonWriter& line, const char* name, const char* name_base64, std::string_view value) {
  if (codec::is_utf8(value))
    line.text(name, value);
  else
    line.base64(name_base64, value);
}

bool print(const Statement& row, Listed what, std::FILE* out) {
  codec::JsonWriter line;
  bytes(line, "id", "id_base64", row.bytes(0).value_or(""));
  if (const auto seq = row.bytes(1)) bytes(line, "seq", "seq_base64", *seq);
  line.number_as_text("version", static_cast<std::uint64_t>(row.integer(2)));
  const std::string_view file = row.bytes(3).value_or("");
  if (what == Listed::kFailed) line.text("error", row.bytes(4).value_or(""));
  line.text("file", what == Listed::kFailed ? path_of_marker(file) : path_of_document(file));
  const std::string text = std::string(line.finish()) + "\n";
  return std::fwrite(text.data(), 1, text.size(), out) == text.size();
}

}  // namespace

Result<std::uint64_t> list_documents(const std::string& directory, Listed what, const std::optional<std::string>& id,
                                     std::FILE* out) {
  Result<Database> index = Database::open(directory + "/" + kIndexName, Database::Mode::kReadOnly);
  if (!index) return index.error();
  // An index of an older version, which no sink has opened since: it has no markers.
  if (what == Listed::kFailed)
    if (Result<bool> there = index.value().has_column("documents", "error"); !there || !there.value())
      return there ? Result<std::uint64_t>(0) : Result<std::uint64_t>(there.error());
  Result<Statement> find = index.value().prepare(question(what, id.has_value()));
  if (!find) return find.error();
  if (id) find.value().bind_blob(1, *id);
  for (std::uint64_t count = 0;; ++count) {
    Result<bool> row = find.value().step();
    if (!row) return row.error();
    if (!row.value()) return count;
    if (!print(find.value(), what, out)) return Error{.message = "cannot write the list"};
  }
}

}  // namespace reseq::files
