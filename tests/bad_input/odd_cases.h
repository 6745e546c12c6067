// Records that look odd and are good: they have to go through like any other.
// Thread rule: plain functions.
#pragma once

#include <string>
#include <vector>

#include "tests/bad_input/record.h"

namespace reseq::test {

struct OddCase {
  std::string name;
  Record request;  // for an application with kCasesToml, partition 0
};
[[nodiscard]] std::vector<OddCase> odd_ids();
[[nodiscard]] std::vector<OddCase> odd_headers();

// The headers that travel unchanged: all but those that the resequencer or a pipeline may set or remove.
[[nodiscard]] Headers travelling(const Record& record);

}  // namespace reseq::test
