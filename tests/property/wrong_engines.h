// Wrong engines: the engine with one thing broken, to show that the oracle would notice. What is broken is what left
// the engine, or the rows that it will read next time. Thread rule: constants.
#pragma once

#include <string_view>
#include <vector>

#include "tests/property/deciding.h"

namespace reseq::property {

struct NamedWrongEngine {
  std::string_view name;
  WrongEngine engine;
};

// A document is left wrong in the end.
[[nodiscard]] const std::vector<NamedWrongEngine>& spoiling_engines();

// The end may be right, but a reason, a record or the kept state is not.
[[nodiscard]] const std::vector<NamedWrongEngine>& untruthful_engines();

}  // namespace reseq::property
