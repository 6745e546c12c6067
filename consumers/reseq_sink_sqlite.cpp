// reseq-sink-sqlite: keeps an SQLite file with a full-text index up to date from `output.<target>`. With --check off it
// reads the results on `commands` instead, as a sink that knows nothing of order.
#include <CLI/CLI.hpp>
#include <string>
#include <utility>

#include "base/usage.h"
#include "consumers/sink/program.h"
#include "consumers/sqlite/document_store.h"

int main(int argc, char** argv) {
  using namespace reseq;  // NOLINT(google-build-using-namespace): the words of this program
  sink::Arguments arguments;
  std::string database;
  CLI::App app("Writes the documents of a target into an SQLite file with a full-text index", "reseq-sink-sqlite");
  sink::declare(app, arguments);
  app.add_option("--database", database, "SQLite file, made when it does not exist")->required();
  if (const auto code = parse(app, argc, argv)) return *code;
  return sink::run(app.get_name(), arguments,
                   [&](const sink::StoreIdentity& identity) -> Result<std::unique_ptr<sink::Store>> {
                     auto store = sqlite::DocumentStore::open(database, identity);
                     if (!store) return store.error();
                     return std::unique_ptr<sink::Store>(std::move(store).value());
                   });
}
