// SuiteAmount: how many random cases a suite plays and with which seed, unless RESEQ_PROPERTY_CASES and
// RESEQ_PROPERTY_SEED (a number, or `random`) say otherwise. What was chosen is printed.
// Thread rule: one thread.
#pragma once

#include <cstdint>

namespace reseq::test {

struct Amount {
  int cases = 0;
  std::uint64_t seed = 0;
  bool shrink = true;
};

[[nodiscard]] Amount amount_of_suite(int cases, std::uint64_t seed);

}  // namespace reseq::test
