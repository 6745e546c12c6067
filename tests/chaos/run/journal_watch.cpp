#include "tests/chaos/run/journal_watch.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace reseq::chaos {

namespace {

std::optional<InJournal> counted(const std::string& printed) {
  const auto stats = nlohmann::json::parse(printed.substr(std::min(printed.find('{'), printed.size())), nullptr,
                                           /*allow_exceptions=*/false);
  if (!stats.is_object() || !stats.value("complete", false)) return std::nullopt;
  InJournal found;
  for (const auto& one : stats.value("queue", nlohmann::json::array())) {
    found.waiting += one.value("waiting", std::uint64_t{0});
    found.processing += one.value("processing", std::uint64_t{0});
  }
  return found;
}

}  // namespace

void JournalWatch::ask() {
  if (answer_->asked && !on_call_.idle()) return;
  answer_->asked = true;
  on_call_.attempt({"stats", "-o", "json"}, [answer = answer_](const std::string& printed) {
    answer->found = counted(printed);
    answer->asked = false;
  });
}

std::optional<InJournal> JournalWatch::take() {
  return std::exchange(answer_->found, std::nullopt);
}

}  // namespace reseq::chaos
