#include "demo/run/progress_files.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace reseq::demo {
namespace {

using nlohmann::json;

// The last line that has its end; a line that is being written is not read.
std::optional<json> last_line(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  const std::string text = content.str();
  const std::size_t end = text.rfind('\n');
  if (end == std::string::npos || end == 0) return std::nullopt;
  const std::size_t before = text.rfind('\n', end - 1);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  json line = json::parse(text.substr(begin, end - begin), nullptr, false);
  if (!line.is_object()) return std::nullopt;
  return line;
}

std::uint64_t number(const json& line, const char* name) {
  const auto found = line.find(name);
  return found != line.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

std::vector<std::uint64_t> numbers(const json& line, const char* name) {
  std::vector<std::uint64_t> all;
  const auto found = line.find(name);
  if (found == line.end() || !found->is_array()) return all;
  for (const json& item : *found) all.push_back(item.is_number_unsigned() ? item.get<std::uint64_t>() : 0);
  return all;
}

}  // namespace

bool PipelineProgress::every_worker_has_partitions() const {
  return !partitions.empty() && std::all_of(partitions.begin(), partitions.end(), [](auto count) { return count > 0; });
}

std::optional<SourceProgress> source_progress(const std::string& file) {
  const auto line = last_line(file);
  if (!line) return std::nullopt;
  return SourceProgress{number(*line, "sent"), number(*line, "skipped"), number(*line, "total")};
}

std::optional<SinkProgress> sink_progress(const std::string& file) {
  const auto line = last_line(file);
  if (!line) return std::nullopt;
  SinkProgress progress{number(*line, "records"), number(*line, "rejected"), {}};
  const auto positions = line->find("positions");
  if (positions == line->end() || !positions->is_object()) return progress;
  for (const auto& [name, next] : positions->items()) {
    std::int32_t partition = 0;
    std::from_chars(name.data(), name.data() + name.size(), partition);
    if (next.is_number_integer()) progress.positions[Partition(partition)] = Offset(next.get<std::int64_t>());
  }
  return progress;
}

std::optional<PipelineProgress> pipeline_progress(const std::string& file) {
  const auto line = last_line(file);
  if (!line) return std::nullopt;
  return PipelineProgress{numbers(*line, "records"), numbers(*line, "partitions"), number(*line, "results")};
}

}  // namespace reseq::demo
