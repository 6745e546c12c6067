// Wrong gates: what waits goes wrong in one way each. Thread rule: constants.
#pragma once

#include <vector>

#include "tests/property/wrong_engines.h"

namespace reseq::property {

// A document is left wrong in the end, or something waits for ever.
[[nodiscard]] std::vector<NamedWrongEngine> gates_that_spoil();
[[nodiscard]] std::vector<NamedWrongEngine> untruthful_gates();

}  // namespace reseq::property
