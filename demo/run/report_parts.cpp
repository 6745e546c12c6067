#include "demo/run/report_parts.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace reseq::demo {

std::string row(const std::string& label, const std::string& value) {
  char text[400];
  std::snprintf(text, sizeof text, "  %-34s %s\n", label.c_str(), value.c_str());
  return text;
}

std::string number(std::uint64_t value) {
  return std::to_string(value);
}

std::string fixed(double value, int digits) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string documents_text(const Comparison& comparison) {
  return std::to_string(comparison.equal) + " of " + std::to_string(comparison.expected) + " documents right, " +
         std::to_string(comparison.wrong()) + " wrong, " + std::to_string(comparison.resurrected) + " resurrected";
}

void tell_what_differs(const std::string& target, const Comparison& comparison, std::vector<std::string>& failures) {
  if (comparison.right()) return;
  failures.push_back(target + " differs from the commit: " + std::to_string(comparison.wrong()) + " wrong, " +
                     std::to_string(comparison.resurrected) + " resurrected");
  for (const std::string& example : comparison.examples) failures.push_back("  " + example);
}

std::string report_text(const nlohmann::ordered_json& report) {
  return report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace reseq::demo
