// SinkView: the documents that a sink has, read by tables, files and searches alone, apart from the code that wrote
// them.
// Thread rule: one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace reseq::demo {

struct Held {
  bool known = false;                    // live, or remembered as deleted
  std::optional<std::string> payload{};  // of a live document
};

class SinkView {
 public:
  virtual ~SinkView() = default;
  virtual Result<Held> find(std::string_view id) = 0;
  // The ids of all live documents, and whatever else somebody who looks there would take for one.
  virtual Result<std::vector<std::string>> live() = 0;
};

// The file of reseq-sink-sqlite.
Result<std::unique_ptr<SinkView>> view_database(const std::string& database_file);
// The documents that an alias of reseq-sink-opensearch shows, payloads as text. Read at the call.
Result<std::unique_ptr<SinkView>> view_index(const std::string& url, const std::string& alias);
// The view of a table of reseq-sink-postgres, ids and payloads as bytes. Read at the call.
Result<std::unique_ptr<SinkView>> view_table(const std::string& server, const std::string& table);
// The directory of reseq-sink-files. A file that its index does not know is live, under its path.
Result<std::unique_ptr<SinkView>> view_directory(const std::string& directory);

}  // namespace reseq::demo
