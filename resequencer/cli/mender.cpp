#include "cli/mender.h"

#include <utility>

#include "admin/json_text.h"
#include "cli/table.h"

namespace reseq::cli {

using admin::Json;

std::int64_t Tally::seen() const {
  std::int64_t all = done_;
  for (const auto& [why, count] : reasons_) all += count;
  return all;
}

std::string Tally::text(const std::string& what) const {
  Table table({"PARTITION", "DOCUMENTS", "LEFT OUT"});
  for (const auto& [partition, counts] : partitions_)
    table.add({std::to_string(partition), std::to_string(counts.done), std::to_string(counts.left_out)});
  std::string text = partitions_.empty() ? "" : table.text();
  text += what + ": " + std::to_string(done_) + "\n";
  for (const auto& [why, count] : reasons_) text += "left out: " + std::to_string(count) + ", " + why + "\n";
  return text;
}

Json Tally::json() const {
  Json partitions = Json::array();
  for (const auto& [partition, counts] : partitions_)
    partitions.push_back({{"partition", partition}, {"documents", counts.done}, {"left_out", counts.left_out}});
  return {{"documents", done_}, {"left_out", reasons_}, {"partitions", std::move(partitions)}};
}

std::string id_of(const Json& document) {
  return admin::raw_bytes_in(document, "id");
}

}  // namespace reseq::cli
