#include <gtest/gtest.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/result.h"
#include "base/strong.h"

namespace reseq {
namespace {

TEST(Log, EscapesTextFromOutsideAndCutsIt) {
  EXPECT_EQ(log::outside("plain"), "\"plain\"");
  EXPECT_EQ(log::outside("a\nb\x1b[31m\"\\\xff"), "\"a\\x0ab\\x1b[31m\\\"\\\\\\xff\"");
  const std::string cut = log::outside(std::string(300, 'x'));
  EXPECT_EQ(cut, "\"" + std::string(256, 'x') + "\"(300 bytes)");
}

TEST(Result, HoldsAValueOrAnError) {
  const Result<int> good = 5;
  const Result<int> bad = Error{ErrorClass::kRetriable, 7, "later"};
  EXPECT_EQ(good.value(), 5);
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().code, 7);
}

TEST(Result, DiesWhenTheValueOfAnErrorIsTaken) {
  const Result<int> bad = Error{ErrorClass::kFatal, 0, "no"};
  EXPECT_DEATH((void)bad.value(), "value of a failed result");
}

TEST(Arena, KeepsCopiesUntilItIsReset) {
  Arena arena;
  std::string text = "first";
  const std::string_view copy = arena.copy(text);
  text = "other";
  for (int i = 0; i < 1000; ++i) (void)arena.copy(std::string(100, 'x'));
  EXPECT_EQ(copy, "first");
  EXPECT_EQ(arena.copy("").size(), 0U);
}

TEST(Strong, ComparesLikeItsValue) {
  using Length = Strong<struct LengthTag, int>;
  EXPECT_LT(Length(1), Length(2));
  EXPECT_EQ(Length(), Length(0));
}

}  // namespace
}  // namespace reseq
