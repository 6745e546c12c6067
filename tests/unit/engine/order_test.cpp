// Sequences compare as their bytes do, whatever their lengths and whatever zeros they hold.
#include "model/order.h"

#include <gtest/gtest.h>
#include <random>
#include <string>

#include "model/ids.h"

namespace reseq {
namespace {

std::string random_bytes(std::mt19937_64& random) {
  static constexpr char kBytes[] = {'\0', '\0', '\1', '\x7F', '\x80', '\xFF'};  // few, so that many begin alike
  std::string bytes(random() % (Sequence::kMaxBytes + 1), '\0');
  for (char& byte : bytes) byte = kBytes[random() % sizeof kBytes];
  return bytes;
}

// A copy that differs in one place, or in its length, or not at all.
std::string near(std::string bytes, std::mt19937_64& random) {
  switch (random() % 4) {
    case 0:
      return bytes;
    case 1:
      return bytes.substr(0, random() % (bytes.size() + 1));
    case 2:
      return bytes.size() < Sequence::kMaxBytes ? bytes + std::string(1, '\0') : bytes;
    default:
      if (!bytes.empty()) bytes[random() % bytes.size()] = static_cast<char>(random());
      return bytes;
  }
}

TEST(Sequence, ComparesAsItsBytesDo) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    const std::string a = random_bytes(random);
    const std::string b = i % 2 == 0 ? random_bytes(random) : near(a, random);
    const auto expected = std::string_view(a) <=> std::string_view(b);
    ASSERT_EQ(Sequence(a) <=> Sequence(b), expected) << testing::PrintToString(a) << testing::PrintToString(b);
    ASSERT_EQ(Sequence(a) == Sequence(b), a == b);
  }
}

TEST(Sequence, SaysItsNumberAndNoneForOtherBytes) {
  for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{258}, UINT64_MAX})
    EXPECT_EQ(Sequence::of_number(number).number(), number);
  EXPECT_EQ(Sequence("2024-01").number(), std::nullopt);
  EXPECT_EQ(Sequence().number(), std::nullopt);
}

TEST(Version, IsMillisecondsAboveACounter) {
  EXPECT_EQ(version_at(UnixMs(1)).value(), 65'536U);
  EXPECT_EQ(time_of(Version(version_at(UnixMs(1000)).value() + 65'535)), UnixMs(1000));
  EXPECT_EQ(version_at(UnixMs(-5)), Version());
  EXPECT_EQ(version_at(UnixMs(INT64_MAX)).value(), kVersionLimit);
}

}  // namespace
}  // namespace reseq
