#include "tests/support/change_streams.h"

#include <cstdlib>
#include <string_view>
#include <vector>

namespace reseq::test {

std::optional<std::filesystem::path> find_change_stream(const std::string& name,
                                                        const std::filesystem::path& source_dir) {
  std::vector<std::filesystem::path> places;
  if (const char* given = std::getenv("RESEQ_DATA_DIR"); given != nullptr && *given != '\0') places.emplace_back(given);
  places.push_back(source_dir / ".." / "shared" / "data");
  for (const std::filesystem::path& place : places) {
    std::error_code unreadable;
    if (std::filesystem::is_regular_file(place / name, unreadable)) return place / name;
  }
  return std::nullopt;
}

bool change_streams_are_required() {
  const char* ci = std::getenv("CI");
  return ci != nullptr && std::string_view(ci) == "true";
}

}  // namespace reseq::test
