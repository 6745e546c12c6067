// What the reports of all runs have in common: a row of the table, a target that is not the commit, the text of
// report.json.
// Thread rule: pure functions.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "demo/compare/comparison.h"

namespace reseq::demo {

[[nodiscard]] std::string row(const std::string& label, const std::string& value);

[[nodiscard]] std::string number(std::uint64_t value);
[[nodiscard]] std::string fixed(double value, int digits);

// "12 of 14 documents right, 1 wrong, 1 resurrected"
[[nodiscard]] std::string documents_text(const Comparison& comparison);

// Adds what is wrong with this target, if anything is.
void tell_what_differs(const std::string& target, const Comparison& comparison, std::vector<std::string>& failures);

// Paths are bytes; what is no UTF-8 is shown with replacement characters.
[[nodiscard]] std::string report_text(const nlohmann::ordered_json& report);

}  // namespace reseq::demo
