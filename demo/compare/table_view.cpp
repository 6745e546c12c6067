#include "consumers/postgres/connection.h"
#include "consumers/postgres/layout.h"
#include "demo/compare/loaded_view.h"

namespace reseq::demo {

Result<std::unique_ptr<SinkView>> view_table(const std::string& server, const std::string& table) {
  auto connection = postgres::Connection::open({.server = server});
  if (!connection) return connection.error();
  auto rows = connection.value()->run("SELECT id, payload FROM " + postgres::quoted_name(table + "_live"));
  if (!rows) return rows.error();
  LoadedView::Documents documents;
  for (std::size_t row = 0; row < rows.value().count(); ++row)
    documents.emplace(rows.value().at(row, 0).value_or(""), rows.value().at(row, 1).value_or(""));
  return std::unique_ptr<SinkView>(std::make_unique<LoadedView>(std::move(documents)));
}

}  // namespace reseq::demo
