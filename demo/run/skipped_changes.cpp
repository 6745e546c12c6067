#include "demo/run/skipped_changes.h"

#include <fstream>
#include <string_view>

namespace reseq::demo {
namespace {

constexpr std::string_view kMark = "reseq-produce: skipped ";
constexpr std::size_t kMaxNamed = 10;

}  // namespace

std::vector<std::string> skipped_changes(const std::string& log_file) {
  std::vector<std::string> named;
  std::ifstream log(log_file, std::ios::binary);
  for (std::string line; named.size() < kMaxNamed && std::getline(log, line);)
    if (line.starts_with(kMark)) named.push_back(line.substr(kMark.size()));
  return named;
}

}  // namespace reseq::demo
