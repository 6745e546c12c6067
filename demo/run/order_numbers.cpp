#include "demo/run/order_numbers.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "demo/run/report_parts.h"

namespace reseq::demo {
namespace {

constexpr std::size_t kProblemsTold = 20;

std::string wrong_text(const OrderComparison& comparison) {
  std::string text = number(comparison.missing) + " missing, " + number(comparison.twice) + " twice, " +
                     number(comparison.out_of_order) + " out of order, " + number(comparison.other_content) +
                     " other content";
  if (comparison.unexpected > 0) text += ", " + number(comparison.unexpected) + " that nobody is to get";
  return text;
}

void tell_wrong_order(const std::string& name, const OrderComparison& comparison, std::vector<std::string>& failures) {
  if (comparison.all_right()) return;
  failures.push_back(name + " is not the history: " + wrong_text(comparison));
  for (const std::string& example : comparison.examples) failures.push_back("  " + example);
}

void check_scrambled(const OrderNumbers& numbers, std::vector<std::string>& failures) {
  for (const OrderNumbers::Target& target : numbers.targets) {
    const auto demand = [&](std::uint64_t count, const std::string& what) {
      if (count == 0) failures.push_back("the scrambling is too gentle: no " + what + " for " + target.name);
    };
    demand(target.without.out_of_order, "result out of order");
    demand(target.without.twice, "result twice");
    demand(target.held, "result before its turn");
    demand(target.lost, "lost result");
  }
}

std::string target_text(const OrderNumbers::Target& target) {
  const OrderComparison& with = target.with;
  std::string text = row("target " + target.name, "order = \"" + target.order + "\"");
  text += row("  results lost, places skipped", number(target.lost) + ", " + number(target.skipped));
  text += row("  results before their turn, held", number(target.held));
  text += row("  with the resequencer",
              number(with.right) + " of " + number(with.expected) + " right, " + wrong_text(with));
  text += row("  without the resequencer",
              number(target.without.out_of_order) + " out of order, " + number(target.without.twice) + " twice");
  return text;
}

nlohmann::ordered_json order_json(const OrderComparison& comparison) {
  nlohmann::ordered_json examples = nlohmann::json::array();
  for (const std::string& example : comparison.examples) examples.push_back(example);
  return {{"versions", comparison.expected},         {"right", comparison.right},
          {"missing", comparison.missing},           {"twice", comparison.twice},
          {"out_of_order", comparison.out_of_order}, {"other_content", comparison.other_content},
          {"unexpected", comparison.unexpected},     {"examples", examples}};
}

}  // namespace

std::vector<std::string> failures(const OrderNumbers& numbers, bool require_scramble) {
  std::vector<std::string> failures;
  if (numbers.skipped > 0) failures.push_back(number(numbers.skipped) + " changes could not be sent");
  for (const std::string& change : numbers.skipped_changes) failures.push_back("  " + change);
  tell_wrong_order("requests", numbers.requests, failures);
  for (const OrderNumbers::Target& target : numbers.targets) tell_wrong_order(target.name, target.with, failures);
  tell_what_differs("search", numbers.search, failures);
  const std::size_t told = std::min(kProblemsTold, numbers.problems.size());
  for (std::size_t i = 0; i < told; ++i) failures.push_back(numbers.problems[i]);
  if (told < numbers.problems.size()) failures.push_back("and " + number(numbers.problems.size() - told) + " more");
  if (require_scramble) check_scrambled(numbers, failures);
  return failures;
}

std::string table_text(const OrderNumbers& numbers) {
  std::string text = "\n" + row("changes of the history", number(numbers.changes));
  text += row("seconds", fixed(numbers.seconds, 1));
  text += row("a lost result is waited for", fixed(static_cast<double>(numbers.gap_timeout_ms) / 1'000, 0) + " s");
  for (const OrderNumbers::Target& target : numbers.targets) text += target_text(target);
  text += row("target search", "order = \"newest\"");
  return text + row("  with the resequencer", documents_text(numbers.search));
}

std::string report_json(const OrderNumbers& numbers, const std::vector<std::string>& failures) {
  nlohmann::ordered_json targets = nlohmann::json::object();
  for (const OrderNumbers::Target& target : numbers.targets)
    targets[target.name] = {{"order", target.order},
                            {"lost", target.lost},
                            {"skipped", target.skipped},
                            {"held", target.held},
                            {"results_stopped", target.results_stopped},
                            {"with_resequencer", order_json(target.with)},
                            {"without_resequencer", order_json(target.without)}};
  targets["search"] = {{"order", "newest"},
                       {"documents", numbers.search.expected},
                       {"equal", numbers.search.equal},
                       {"wrong", numbers.search.wrong()},
                       {"resurrected", numbers.search.resurrected}};
  return report_text({{"ok", failures.empty()},
                      {"failures", failures},
                      {"commit", numbers.commit},
                      {"seed", numbers.seed},
                      {"processes", numbers.processes},
                      {"changes", numbers.changes},
                      {"skipped", numbers.skipped},
                      {"skipped_changes", numbers.skipped_changes},
                      {"seconds", numbers.seconds},
                      {"gap_timeout_ms", numbers.gap_timeout_ms},
                      {"requests", order_json(numbers.requests)},
                      {"targets", targets}});
}

}  // namespace reseq::demo
