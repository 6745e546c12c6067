// The scrambling is seeded and strong enough to matter.
#include "demo/pipeline/treatment.h"

#include <gtest/gtest.h>
#include <string>

namespace reseq::demo {
namespace {

bool same(const Treatment& a, const Treatment& b) {
  return a.work == b.work && a.retry == b.retry && a.duplicate == b.duplicate;
}

TEST(Treatment, IsTheSameForTheSameSeedIdAndSequence) {
  for (int i = 0; i < 100; ++i)
    EXPECT_TRUE(
        same(treatment_of(Seed(1), "t", "id", std::to_string(i)), treatment_of(Seed(1), "t", "id", std::to_string(i))));
}

TEST(Treatment, DiffersBetweenSeedsTargetsIdsAndSequences) {
  int seeds = 0, targets = 0, ids = 0, sequences = 0;
  for (int i = 0; i < 100; ++i) {
    const std::string n = std::to_string(i);
    const Treatment one = treatment_of(Seed(1), "t", n, "1");
    seeds += same(one, treatment_of(Seed(2), "t", n, "1")) ? 1 : 0;
    targets += same(one, treatment_of(Seed(1), "u", n, "1")) ? 1 : 0;
    ids += same(one, treatment_of(Seed(1), "t", n + "x", "1")) ? 1 : 0;
    sequences += same(one, treatment_of(Seed(1), "t", n, "2")) ? 1 : 0;
  }
  EXPECT_LT(seeds, 20);
  EXPECT_LT(targets, 20);
  EXPECT_LT(ids, 20);
  EXPECT_LT(sequences, 20);
}

TEST(Treatment, IsMostlyShortWithALongTailRetriesAndDuplicatesWithinTheirLimits) {
  int below_20_ms = 0, above_2_s = 0, retries = 0, duplicates = 0;
  for (int i = 0; i < 10'000; ++i) {
    const Treatment treatment = treatment_of(Seed(3), "t", "document-" + std::to_string(i % 500), std::to_string(i));
    ASSERT_GE(treatment.work, Milliseconds(1));
    ASSERT_LE(treatment.work, kLongestWork);
    ASSERT_LE(treatment.retry.value_or(Milliseconds(0)), kLongestRetry);
    ASSERT_LE(treatment.duplicate.value_or(Milliseconds(0)), kLongestDuplicate);
    below_20_ms += treatment.work < Milliseconds(20) ? 1 : 0;
    above_2_s += treatment.work >= Milliseconds(2'000) ? 1 : 0;
    retries += treatment.retry ? 1 : 0;
    duplicates += treatment.duplicate ? 1 : 0;
  }
  EXPECT_NEAR(below_20_ms, 7'500, 200);
  EXPECT_NEAR(above_2_s, 800, 120);
  EXPECT_NEAR(retries, 500, 100);
  EXPECT_NEAR(duplicates, 500, 100);
}

}  // namespace
}  // namespace reseq::demo
