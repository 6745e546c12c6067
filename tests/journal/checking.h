// Checking: plays many random histories and finds the smallest one that is wrong. RESEQ_PROPERTY_CASES sets how many,
// RESEQ_PROPERTY_SEED which (a number, or `random` for a new one, which is printed).
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "tests/journal/history.h"
#include "tests/support/suite_amount.h"

namespace reseq::journal {

using test::Amount;

// Of the whole suite: fixed unless the environment says otherwise.
[[nodiscard]] Amount suite_amount();

// What came of a case that is wrong.
struct Wrong {
  std::string violation;
  std::string story;
};

struct Failure {
  int after_cases = 0;
  Wrong wrong;
  History history;
};

std::ostream& operator<<(std::ostream& out, const Failure& failure);

// Plays a history; none: nothing is wrong.
using Play = std::function<std::optional<Wrong>(const History&)>;

// Nothing if every history was right.
[[nodiscard]] std::optional<Failure> check(const Amount& amount, const Play& play);

}  // namespace reseq::journal
