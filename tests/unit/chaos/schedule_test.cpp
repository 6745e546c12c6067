// The schedule of a chaos run keeps its promises for any seed.
#include "tests/chaos/nemesis/schedule.h"

#include <gtest/gtest.h>
#include <set>

namespace reseq::chaos {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLength{600'000};

bool same(const std::vector<Planned>& a, const std::vector<Planned>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].begin != b[i].begin || a[i].end != b[i].end || a[i].kind != b[i].kind || a[i].seed != b[i].seed)
      return false;
  return true;
}

TEST(Schedule, IsAFunctionOfItsSeed) {
  const auto& kinds = fault_kinds();
  EXPECT_TRUE(same(draw_schedule(7, kLength, kinds), draw_schedule(7, kLength, kinds)));
  EXPECT_FALSE(same(draw_schedule(7, kLength, kinds), draw_schedule(8, kLength, kinds)));
}

TEST(Schedule, NeverHasMoreFaultsAtOnceThanAllowedAndNoneTwice) {
  const auto& kinds = fault_kinds();
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto plan = draw_schedule(seed, kLength, kinds);
    for (const Planned& one : plan) {
      EXPECT_LE(one.end, kLength);
      EXPECT_LE(one.begin, one.end);
      std::size_t others = 0;
      for (const Planned& other : plan) {
        if (&other == &one || other.begin > one.begin || other.end <= one.begin) continue;
        ++others;
        EXPECT_NE(other.kind, one.kind);
      }
      EXPECT_LT(others, kAtOnce) << "seed " << seed;
    }
  }
}

TEST(Schedule, HasEveryKindInTwentyMinutes) {
  const auto& kinds = fault_kinds();
  std::set<std::size_t> drawn;
  for (const Planned& one : draw_schedule(1, 2 * kLength, kinds)) drawn.insert(one.kind);
  EXPECT_EQ(drawn.size(), kinds.size());
}

}  // namespace
}  // namespace reseq::chaos
