// What is said at the end of a run.
#include <cmath>

#include "tests/chaos/run/run.h"

namespace reseq::chaos {

std::string void_lines(const RunReport& report) {
  std::string lines;
  if (!report.is_void()) return lines;
  for (const std::string& proof : report.torn_by_broker) lines += "void: torn by the broker: " + proof + "\n";
  for (const std::string& violation : report.violations) lines += "void: " + violation + "\n";
  return lines;
}

std::string last_line(const RunOptions& options, const RunReport& report) {
  std::string minutes = std::to_string(std::round(report.minutes * 10) / 10);
  minutes.erase(minutes.find_last_not_of('0') + 1);
  if (minutes.ends_with('.')) minutes.pop_back();
  return "chaos: seed=" + std::to_string(options.seed) + " minutes=" + minutes +
         " faults=" + std::to_string(report.faults) + " kills=" + std::to_string(report.kills) +
         " rebalances=" + std::to_string(report.rebalances) + " records=" + std::to_string(report.records) +
         " violations=" + std::to_string(report.violations.size());
}

}  // namespace reseq::chaos
