// What the steps of a client must make it print.
// Thread rule: pure functions.
#pragma once

#include <string>
#include <vector>

#include "tests/clients/application.h"

namespace reseq::test {

// The lines that differ from what the `read` and `index` lines of `steps` say, word by word, `*` standing for anything;
// also an exit code that is not 0. Empty = all is as it must be.
[[nodiscard]] std::vector<std::string> differences(const std::string& steps, const Transcript& transcript);

}  // namespace reseq::test
