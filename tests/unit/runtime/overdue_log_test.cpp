#include "runtime/worker/overdue_log.h"

#include <gtest/gtest.h>

namespace reseq::runtime {
namespace {

constexpr std::int64_t kMinute = OverdueLog::kRepeat.value();

TEST(OverdueLog, TellsTheFirstAtOnceAndThenAtMostOnceAMinuteOfAllSince) {
  OverdueLog log;
  EXPECT_EQ(log.look(Milliseconds(1'000), 0), std::nullopt);
  EXPECT_EQ(log.look(Milliseconds(2'000), 3), 3U);
  EXPECT_EQ(log.look(Milliseconds(3'000), 5'000), std::nullopt);
  EXPECT_EQ(log.look(Milliseconds(2'000 + kMinute - 1), 9'000), std::nullopt);
  EXPECT_EQ(log.look(Milliseconds(2'000 + kMinute), 9'003), 9'000U);
  EXPECT_EQ(log.look(Milliseconds(2'000 + 5 * kMinute), 9'003), std::nullopt) << "nothing new";
  EXPECT_EQ(log.look(Milliseconds(2'001 + 5 * kMinute), 9'004), 1U) << "the first after a while";
}

}  // namespace
}  // namespace reseq::runtime
