// A git history that a test makes, so that what is in it is known.
// Thread rule: one thread.
#pragma once

#include <string>

#include "tests/support/process.h"

namespace reseq::test {

// Runs this script of bash, `commit` being a function that commits all that is there, in an empty repository below the
// folder. Answers its path.
[[nodiscard]] std::string make_history(const TempDir& folder, const std::string& script);

}  // namespace reseq::test
