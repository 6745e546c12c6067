#include "tests/chaos/run/choices.h"

#include <algorithm>
#include <stdexcept>

#include "tests/chaos/nemesis/failpoints.h"
#include "tests/support/process.h"

namespace reseq::chaos {

namespace {

bool is_final_act(const std::string& name) {
  const auto& all = final_acts();
  return std::any_of(all.begin(), all.end(), [&](const FinalAct& act) { return act.name == name; });
}

}  // namespace

std::vector<FinalAct> choose_acts(const RunOptions& options) {
  std::vector<FinalAct> chosen;
  for (const FinalAct& act : final_acts())
    if (std::find(options.faults.begin(), options.faults.end(), act.name) != options.faults.end())
      chosen.push_back(act);
  return chosen;
}

std::vector<FaultKind> choose_kinds(const RunOptions& options) {
  const auto& all = fault_kinds();
  std::vector<FaultKind> chosen;
  for (const std::string& name : options.faults) {
    if (is_final_act(name)) continue;
    const auto found = std::find_if(all.begin(), all.end(), [&](const FaultKind& kind) { return kind.name == name; });
    if (found == all.end()) throw std::runtime_error("no fault is named " + name + ": see --list-faults");
    if (found->brokers_min > options.brokers)
      throw std::runtime_error(name + " needs --brokers " + std::to_string(found->brokers_min));
    chosen.push_back(*found);
  }
  if (!options.faults.empty()) return chosen;
  for (const FaultKind& kind : all)
    if (kind.brokers_min <= options.brokers) chosen.push_back(kind);
  return chosen;
}

std::vector<std::string> choose_points(const RunOptions& options) {
  std::vector<std::string> points = ask_failpoints(test::program("resequencer-faulty"), options.folder);
  for (const std::string& name : options.points)
    if (std::find(points.begin(), points.end(), name) == points.end())
      throw std::runtime_error("no failpoint is named " + name);
  if (!options.points.empty()) points = options.points;
  if (options.backlog > 0) std::erase(points, "takeover.birth");
  return points;
}

}  // namespace reseq::chaos
