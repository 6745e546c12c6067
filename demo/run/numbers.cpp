#include "demo/run/numbers.h"

#include <nlohmann/json.hpp>
#include <numeric>

#include "demo/run/report_parts.h"

namespace reseq::demo {
namespace {

// Below this many records per worker an idle worker is chance, not a defect.
constexpr std::uint64_t kRecordsPerWorkerExpected = 4;

std::string by_reason(const Counts& counts) {
  std::uint64_t sum = 0;
  std::string list;
  for (const auto& [reason, count] : counts) {
    sum += count;
    list += (list.empty() ? " (" : ", ") + std::to_string(count) + " " + reason;
  }
  return std::to_string(sum) + list + (list.empty() ? "" : ")");
}

nlohmann::ordered_json comparison_json(const Comparison& comparison) {
  nlohmann::ordered_json examples = nlohmann::json::array();
  for (const std::string& example : comparison.examples) examples.push_back(example);
  return {{"documents", comparison.expected},
          {"equal", comparison.equal},
          {"wrong", comparison.wrong()},
          {"differs", comparison.differs},
          {"missing", comparison.missing},
          {"resurrected", comparison.resurrected},
          {"examples", examples}};
}

void check_workers(const Numbers& numbers, std::vector<std::string>& failures) {
  const auto& records = numbers.worker_records;
  const std::uint64_t all = std::accumulate(records.begin(), records.end(), std::uint64_t{0});
  if (all < records.size() * kRecordsPerWorkerExpected) return;
  for (std::size_t i = 0; i < records.size(); ++i)
    if (records[i] == 0) failures.push_back("worker " + std::to_string(i) + " of the pipeline got no record");
}

void check_scrambling(const Numbers& numbers, std::vector<std::string>& failures) {
  const auto demand = [&](std::uint64_t count, const std::string& what) {
    if (count == 0) failures.push_back("the scrambling is too gentle: no " + what);
  };
  std::uint64_t resurrected = 0;
  for (const TargetNumbers& target : numbers.targets) {
    demand(target.without.wrong(), "document of " + target.name + " is wrong without the resequencer");
    resurrected += target.without.resurrected;
    std::uint64_t late = 0;
    for (const char* reason : {"superseded", "stale"})
      if (const auto found = target.results_stopped.find(reason); found != target.results_stopped.end())
        late += found->second;
    demand(late, "result for " + target.name + " comes too late");
  }
  // Rarer than the others, so the targets are taken together.
  demand(resurrected, "document is resurrected without the resequencer");
  if (!numbers.tap()) demand(numbers.superseded_before_work, "request is superseded before work");
}

std::string target_text(const TargetNumbers& target) {
  std::string text = "  target " + target.name + "\n";
  text += row("  results stopped", by_reason(target.results_stopped));
  text += row("  released", std::to_string(target.released));
  text += row("  with the resequencer", documents_text(target.with));
  text += row("  without the resequencer", std::to_string(target.without.wrong()) + " wrong, " +
                                               std::to_string(target.without.resurrected) + " resurrected");
  return text;
}

}  // namespace

std::vector<std::string> failures(const Numbers& numbers, bool require_scramble) {
  std::vector<std::string> failures;
  for (const TargetNumbers& target : numbers.targets) tell_what_differs(target.name, target.with, failures);
  if (numbers.skipped > 0) failures.push_back(std::to_string(numbers.skipped) + " changes could not be sent");
  for (const std::string& change : numbers.skipped_changes) failures.push_back("  " + change);
  check_workers(numbers, failures);
  if (require_scramble) check_scrambling(numbers, failures);
  return failures;
}

std::string table_text(const Numbers& numbers) {
  std::string text = "\n";
  text += row("requests", std::to_string(numbers.requests));
  // Nobody can spare a pipeline what it reads itself.
  text += row("  superseded before work", numbers.tap() ? "none: with intake tap the pipeline reads all requests"
                                                        : std::to_string(numbers.superseded_before_work));
  if (!numbers.requests_stopped.empty()) text += row("  stopped otherwise", by_reason(numbers.requests_stopped));
  text += row("seconds", fixed(numbers.seconds, 1));
  text += row("requests/s", fixed(numbers.requests_per_second(), 0));
  if (numbers.gitlinks > 0) text += row("gitlinks (no documents)", std::to_string(numbers.gitlinks));
  if (!numbers.results_without_target.empty())
    text += row("results stopped, of no target", by_reason(numbers.results_without_target));
  for (const TargetNumbers& target : numbers.targets) text += target_text(target);
  return text;
}

std::string report_json(const Numbers& numbers, const std::vector<std::string>& failures) {
  nlohmann::ordered_json targets = nlohmann::json::object();
  for (const TargetNumbers& target : numbers.targets)
    targets[target.name] = {{"results_stopped", target.results_stopped},
                            {"released", target.released},
                            {"with_resequencer", comparison_json(target.with)},
                            {"without_resequencer", comparison_json(target.without)}};
  const nlohmann::ordered_json report = {
      {"ok", failures.empty()},
      {"failures", failures},
      {"commit", numbers.commit},
      {"seed", numbers.seed},
      {"processes", numbers.processes},
      {"intake", numbers.intake},
      {"workers", numbers.worker_records},
      {"requests", numbers.requests},
      {"skipped", numbers.skipped},
      {"skipped_changes", numbers.skipped_changes},
      {"gitlinks", numbers.gitlinks},
      {"superseded_before_work", numbers.superseded_before_work},
      {"requests_stopped", numbers.requests_stopped},
      {"results_without_target", numbers.results_without_target},
      {"seconds", numbers.seconds},
      {"requests_per_second", numbers.requests_per_second()},
      {"targets", targets},
  };
  return report_text(report);
}

}  // namespace reseq::demo
