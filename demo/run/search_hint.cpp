#include "demo/run/search_hint.h"

#include "consumers/sqlite/database.h"

namespace reseq::demo {
namespace {

using sqlite::Database;
using sqlite::Statement;

// Letters only, so that it needs no quoting in SQL, in FTS5 or in a shell.
constexpr const char* kWord =
    "SELECT term FROM temp.terms WHERE length(term) BETWEEN 5 AND 12 AND term NOT GLOB '*[^a-z]*' "
    "AND doc <= (SELECT 1 + count(*) / 20 FROM documents WHERE deleted = 0) ORDER BY doc DESC, term LIMIT 1";

std::string shell_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char letter : text) quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return quoted + "'";
}

}  // namespace

Result<std::string> word_to_search(const std::string& database_file) {
  Result<Database> database = Database::open(database_file, Database::Mode::kReadOnly);
  if (!database) return database.error();
  if (Result<> made =
          database.value().execute("CREATE VIRTUAL TABLE temp.terms USING fts5vocab('main', 'documents_fts', 'row')");
      !made)
    return made.error();
  Result<Statement> find = database.value().prepare(kWord);
  if (!find) return find.error();
  Result<bool> found = find.value().step();
  if (!found) return found.error();
  return found.value() ? std::string(find.value().bytes(0).value_or("")) : std::string();
}

std::string search_command(const std::string& database_file, const std::string& word) {
  return "sqlite3 " + shell_quoted(database_file) +
         " \"select id, snippet(documents_fts, 1, '[', ']', '...', 8) from documents_fts where documents_fts match '" +
         word + "' order by rank limit 5\"";
}

std::string list_command(const Settings& settings) {
  return shell_quoted(settings.program("reseq-sink-files")) + " list --directory " +
         shell_quoted(settings.checked_directory()) + " | head -n 3";
}

std::string index_command(const Settings& settings) {
  return "curl -s " + shell_quoted(settings.search_url + "/" + settings.checked_index() +
                                   "/_search?q=text:word&size=5&filter_path=hits.hits._id");
}

std::string table_command(const Settings& settings) {
  return "psql " + shell_quoted(settings.search_url) + " -c 'SELECT convert_from(id, $$UTF8$$), version FROM \"" +
         settings.table(true) + "_live\" LIMIT 5'";
}

std::string next_steps(const Settings& settings) {
  std::string text;
  if (settings.opensearch()) {
    text +=
        "Search one of your own: RESEQ_OPENSEARCH_URL=http://host:9200 script/quickstart --sink opensearch keeps the\n"
        "index, and then\n  " +
        index_command(settings) + "\n";
  } else if (settings.postgres()) {
    text +=
        "Look into one of your own: RESEQ_POSTGRES_URL=postgresql://user@host/database script/quickstart --sink "
        "postgres\n"
        "keeps the table, and then\n  " +
        table_command(settings) + "\n";
  } else if (settings.out_folder.empty()) {
    text += "Search it yourself: run again with --out DIR, which keeps search.db, catalogue/ and report.json.\n";
  } else {
    const Result<std::string> word = word_to_search(settings.checked_database());
    const bool found = word.ok() && !word.value().empty();
    text += "Search it:\n  " + search_command(settings.checked_database(), found ? word.value() : "word") + "\n";
    text += "Which file of the catalogue is which document:\n  " + list_command(settings) + "\n";
  }
  text +=
      "On your own Kafka: RESEQ_BOOTSTRAP_SERVERS=host:9092 script/quickstart\n"
      "With your own pipeline: a file app.toml with application.id, bootstrap.servers and a [[target]], then\n"
      "  resequencer init --config app.toml && resequencer run --config app.toml\n"
      "  Producers write to <application.id>.requests with the document id as key and a header reseq-seq.\n"
      "  Workers read <application.id>.work (read_committed) and write to <application.id>.commands with the same\n"
      "  key and all reseq-* headers, reseq-command: sequence and reseq-target.\n"
      "  Consumers read <application.id>.output.<target> and write what has a newer reseq-version.\n";
  return text;
}

}  // namespace reseq::demo
