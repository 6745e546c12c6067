// The end does not depend on timing: for every interleaving of the inputs that keeps each worker's own order, without
// monotonic targets, sweep, reprocess and UNREGISTER, a sink shows the same at the end, and it is what was asked for. A
// target that was deleted shows what one that never had a release shows. It is the same when some of the requests wait:
// waiting changes when, never what.
#include "tests/property/interleaving.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <iostream>

#include "tests/property/checking.h"
#include "tests/property/wrong_engines.h"
#include "tests/property/wrong_gates.h"

namespace reseq::property {
namespace {

constexpr int kInterleavings = 6;  // of the same inputs
constexpr int kCasesPerHistory = 5;

std::string text_of(const Shown& shown) {
  std::string text;
  for (const auto& order : shown) text += " " + (order ? describe(*order) : std::string("nothing"));
  return text;
}

// Empty, or the first interleaving that ends otherwise.
std::string wrong_end(int histories, std::uint64_t seed, const WrongEngine& engine, bool gated = false) {
  std::mt19937_64 random(seed);
  for (int i = 0; i < histories; ++i) {
    const Inputs inputs = draw_inputs(random);
    const Shown asked = asked_for(inputs);
    for (int j = 0; j < kInterleavings; ++j) {
      const Played played = play(inputs, random, engine, gated);
      if (played.shown == asked) continue;
      return "history " + std::to_string(i) + ", interleaving " + std::to_string(j) + " shows" + text_of(played.shown) +
             ", asked for was" + text_of(asked) + "\n" + played.story;
    }
  }
  return {};
}

TEST(Interleaving, OfTheSameInputsEndsTheSame) {
  const Amount amount = suite_amount();
  const std::string end = wrong_end(amount.cases / kCasesPerHistory, amount.seed, {});
  EXPECT_TRUE(end.empty()) << end;
}

TEST(Interleaving, EndsTheSameWhenSomeRequestsWait) {
  const Amount amount = suite_amount();
  const std::string end = wrong_end(amount.cases / kCasesPerHistory, amount.seed, {}, true);
  EXPECT_TRUE(end.empty()) << end;
}

// A check that cannot fail is a defect.
bool is_of_a_gate(const NamedWrongEngine& wrong) {
  const std::vector<NamedWrongEngine> gates = gates_that_spoil();
  return std::any_of(gates.begin(), gates.end(), [&](const NamedWrongEngine& gate) { return gate.name == wrong.name; });
}

class WrongInterleaving : public testing::TestWithParam<std::string_view> {};

TEST_P(WrongInterleaving, IsNoticed) {
  constexpr int kHistories = 400;
  for (const NamedWrongEngine& wrong : spoiling_engines()) {
    if (wrong.name != GetParam()) continue;
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      const std::string end = wrong_end(kHistories, seed, wrong.engine, is_of_a_gate(wrong));
      EXPECT_FALSE(end.empty()) << "an engine that " << wrong.name << " passed, seed " << seed;
      if (seed == 1) std::cout << "an engine that " << wrong.name << ":\n" << end;
    }
    return;
  }
  FAIL() << "no engine that " << GetParam();
}

INSTANTIATE_TEST_SUITE_P(Engines, WrongInterleaving,
                         testing::Values("refuses a REGISTER behind the newest order of its document",
                                         "takes a REGISTER for targets that have something newer",
                                         "forgets the barrier", "drops a due result as superseded",
                                         "takes what it lets through for the newest"));

}  // namespace
}  // namespace reseq::property
