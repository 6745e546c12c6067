// Checking: plays many random worlds and finds the smallest one that is wrong.
// RESEQ_PROPERTY_CASES sets how many, RESEQ_PROPERTY_SEED which (a number, or `random` for a new one, which is
// printed). Thread rule: one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tests/property/deciding.h"
#include "tests/property/hits.h"
#include "tests/property/script.h"
#include "tests/support/suite_amount.h"

namespace reseq::property {

using test::Amount;

// Of the whole suite: fixed unless the environment says otherwise.
[[nodiscard]] Amount suite_amount();

struct Failure {
  int after_cases = 0;
  std::string violation;  // what the oracle said of the smallest case
  std::string story;      // its batches
  Script script;
};

// Nothing if every world was right.
[[nodiscard]] std::optional<Failure> check(const Amount& amount, const WrongEngine& engine, Hits* hits);

}  // namespace reseq::property
