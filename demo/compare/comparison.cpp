#include "demo/compare/comparison.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "consumers/sqlite/database.h"

namespace reseq::demo {
namespace {

using sqlite::Database;
using sqlite::Statement;

void note(Comparison& comparison, std::string_view path, const char* how) {
  if (comparison.examples.size() < kMaxExamples) comparison.examples.push_back(std::string(path) + ": " + how);
}

Result<> check_entry(Statement& find, const TreeEntry& entry, const std::string& content, Comparison& comparison) {
  find.bind_blob(1, entry.path);
  Result<bool> found = find.step();
  if (!found) return found.error();
  const bool live = found.value() && find.integer(0) == 0;
  const std::optional<std::string_view> payload = live ? find.bytes(1) : std::nullopt;
  ++comparison.expected;
  if (!live) {
    ++comparison.missing;
    note(comparison, entry.path, found.value() ? "deleted, but the commit has it" : "missing");
  } else if (!payload || *payload != content) {
    ++comparison.differs;
    note(comparison, entry.path, "other bytes than the commit has");
  } else {
    ++comparison.equal;
  }
  if (found.value()) find.reset();
  return Done{};
}

Result<> find_resurrected(Database& database, const GitTree& tree, Comparison& comparison) {
  std::unordered_set<std::string_view> paths;
  for (const TreeEntry& entry : tree.entries) paths.insert(entry.path);
  Result<Statement> live = database.prepare("SELECT id FROM documents WHERE deleted = 0 ORDER BY id");
  if (!live) return live.error();
  while (true) {
    Result<bool> row = live.value().step();
    if (!row) return row.error();
    if (!row.value()) return Done{};
    const std::string_view id = live.value().bytes(0).value_or(std::string_view());
    if (paths.contains(id)) continue;
    ++comparison.resurrected;
    note(comparison, id, "in the sink, but the commit does not have it");
  }
}

}  // namespace

Result<Comparison> compare(const std::string& database_file, const std::string& repository, const GitTree& tree,
                           const std::string& scratch_folder) {
  Result<Database> database = Database::open(database_file, Database::Mode::kReadOnly);
  if (!database) return database.error();
  Result<Statement> find = database.value().prepare("SELECT deleted, payload FROM documents WHERE id = ?1");
  if (!find) return find.error();
  Result<BlobReader> blobs = BlobReader::open(repository, tree, scratch_folder);
  if (!blobs) return blobs.error();

  Comparison comparison;
  for (const TreeEntry& entry : tree.entries) {
    Result<std::string> content = blobs.value().next(entry);
    if (!content) return content.error();
    if (Result<> checked = check_entry(find.value(), entry, content.value(), comparison); !checked)
      return checked.error();
  }
  if (Result<> searched = find_resurrected(database.value(), tree, comparison); !searched) return searched.error();
  return comparison;
}

}  // namespace reseq::demo
