#include "tests/chaos/run/unfinished_watch.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace reseq::chaos {

using nlohmann::json_literals::operator""_json_pointer;

namespace {

std::optional<Unfinished> counted(const std::string& printed) {
  const auto stats = nlohmann::json::parse(printed.substr(std::min(printed.find('{'), printed.size())), nullptr,
                                           /*allow_exceptions=*/false);
  if (!stats.is_object() || !stats.value("complete", false)) return std::nullopt;
  Unfinished found;
  for (const auto& one : stats.value("queue", nlohmann::json::array())) {
    found.waiting += one.value("waiting", std::uint64_t{0});
    found.processing += one.value("processing", std::uint64_t{0});
  }
  for (const auto& partition : stats.value("partitions", nlohmann::json::array()))
    found.places += partition.value("/documents/lanes/places"_json_pointer, std::uint64_t{0});
  return found;
}

}  // namespace

void UnfinishedWatch::ask() {
  if (answer_->asked && !on_call_.idle()) return;
  answer_->asked = true;
  on_call_.attempt({"stats", "-o", "json"}, [answer = answer_](const std::string& printed) {
    answer->found = counted(printed);
    answer->asked = false;
  });
}

std::optional<Unfinished> UnfinishedWatch::take() {
  return std::exchange(answer_->found, std::nullopt);
}

}  // namespace reseq::chaos
