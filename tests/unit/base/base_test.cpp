#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <xxhash.h>

#include "base/arena.h"
#include "base/id_hash.h"
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

TEST(Log, KeepsAWholeLineAndEscapesIt) {
  EXPECT_EQ(log::one_line("no \"quotes\"\r\n\x1b[31m \xe2\x80\xae\x7f"),
            "no \"quotes\"\\x0d\\x0a\\x1b[31m \\xe2\\x80\\xae\\x7f");
  EXPECT_EQ(log::one_line(std::string(1000, 'x')), std::string(1000, 'x'));
}

// The secrets of a process stay: in a process of its own.
TEST(LogDeathTest, HidesSecretsWhereverTheyStand) {
  const auto hides = [] {
    log::hide_secret("hunter2");
    log::hide_secret("hunter2-and-more");
    log::hide_secret("abc");
    const bool hidden =
        log::outside("user=x password=hunter2 again hunter2") == "\"user=x password=******** again ********\"" &&
        log::one_line("hunter2-and-more") == "********" && log::outside("abc") == "\"abc\"" &&
        log::outside(std::string(252, 'x') + "hunter2") == "\"" + std::string(252, 'x') + "****\"(260 bytes)";
    std::exit(hidden ? 0 : 1);
  };
  EXPECT_EXIT(hides(), testing::ExitedWithCode(0), "");
}

TEST(IdHash, IsKeyedByTheProcess) {
  EXPECT_EQ(IdHash()("doc-1"), IdHash()(std::string("doc-1")));
  EXPECT_NE(IdHash()("doc-1"), IdHash()("doc-2"));
  EXPECT_NE(IdHash()("doc-1"), XXH3_64bits("doc-1", 5));
  EXPECT_NE(IdHash()("doc-1"), std::hash<std::string_view>()("doc-1"));
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
