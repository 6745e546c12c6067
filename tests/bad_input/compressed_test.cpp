// Large records and brokers that compress: what is read may unpack to much more than was fetched, and what is written
// is judged by its size when it is compressed, which is larger than before if nothing in it repeats.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/bad_input/random_bytes.h"
#include "tests/bad_input/subject.h"

namespace reseq::test {
namespace {

constexpr std::size_t kMebibyte = 1024 * 1024;
constexpr std::size_t kInputBytes = 17 * kMebibyte;  // what init gives to the inputs
constexpr std::size_t kLargeWorkBytes = 16 * kMebibyte;

TEST(Compressed, RecordsOfEverySizeAreReadAndWritten) {
  Subject subject("compressed", "[[target]]\nname = \"search\"\n",
                  {{"requests",
                    Subject::kPartitions,
                    {{"max.message.bytes", std::to_string(kInputBytes)}, {"compression.type", "zstd"}}},
                   {"work", 1, {{"max.message.bytes", std::to_string(kLargeWorkBytes)}, {"compression.type", "lz4"}}}});
  const auto send = [&](const std::string& stem, std::string payload) {
    return subject.send("requests", {id_in(0, stem, Subject::kPartitions), std::move(payload), {{"reseq-seq", "1"}}});
  };
  const Place largest = send("largest", random_bytes(kInputBytes - 64 * 1024));
  std::vector<Place> around_work;
  for (const std::size_t below : {20'000U, 17'300U, 17'200U, 1'000U, 800U, 0U})
    around_work.push_back(send("below-" + std::to_string(below) + "-", random_bytes(kLargeWorkBytes - below)));
  std::vector<Place> repeating;
  for (const std::size_t mebibytes : {2U, 5U, 11U, 13U, 15U})
    repeating.push_back(send("repeating-" + std::to_string(mebibytes) + "-", std::string(mebibytes * kMebibyte, 'a')));
  subject.settle();

  EXPECT_EQ(subject.verdict(largest).reason, "too_large");
  EXPECT_EQ(subject.verdict(around_work.front()).outcome, "forwarded");
  EXPECT_EQ(subject.verdict(around_work.back()).reason, "too_large");
  for (const Place& place : repeating) EXPECT_EQ(subject.verdict(place).outcome, "forwarded") << place;
  EXPECT_EQ(subject.letter(largest).record.payload->size(), kInputBytes - 64 * 1024) << "dead-letter takes all inputs";
  EXPECT_EQ(subject.finish(), "");
}

}  // namespace
}  // namespace reseq::test
