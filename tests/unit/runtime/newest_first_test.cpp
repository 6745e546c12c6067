// What is read of a topic that nothing indexes while somebody waits, and how it is told.
#include "runtime/application/newest_first.h"

#include <gtest/gtest.h>

#include "codec/hash.h"
#include "runtime/application/letters.h"

namespace reseq::runtime {
namespace {

using admin::Json;
using std::chrono::milliseconds;

constexpr Milliseconds kTime{500};
constexpr std::int64_t kFirstPiece = 100;

TEST(NewestFirst, ReadsTheFirstPieceWhateverTheTime) {
  EXPECT_EQ(next_piece(kFirstPiece, 0, milliseconds(0), kTime), 100);
  EXPECT_EQ(next_piece(kFirstPiece, 0, milliseconds(9'000), kTime), 100);
}

TEST(NewestFirst, ReadsAsMuchAgainAsLongAsItFitsIntoHalfOfWhatIsLeft) {
  EXPECT_EQ(next_piece(kFirstPiece, 100, milliseconds(10), kTime), 100);
  EXPECT_EQ(next_piece(kFirstPiece, 10'000, milliseconds(10), kTime), 10'000);
  EXPECT_EQ(next_piece(kFirstPiece, 80'000, milliseconds(80), kTime), 80'000);
  EXPECT_EQ(next_piece(kFirstPiece, 320'000, milliseconds(320), kTime), 90'000)
      << "a thousand in a millisecond, 180 are left";
  EXPECT_EQ(next_piece(kFirstPiece, 320'000, milliseconds(500), kTime), 0);
  EXPECT_EQ(next_piece(kFirstPiece, 100, milliseconds(400), kTime), 0) << "a topic of large records, or a slow broker";
  EXPECT_EQ(next_piece(kFirstPiece, 10'000, milliseconds(2'000), kTime), 0);
}

TEST(NewestFirst, ReadsAllWithoutALimitInPiecesThatEnd) {
  EXPECT_EQ(next_piece(kFirstPiece, 10'000, milliseconds(60'000), Milliseconds(0)), 10'000);
  EXPECT_EQ(next_piece(kFirstPiece, 50'000'000, milliseconds(60'000), Milliseconds(0)), 1'000'000);
}

TEST(Letters, AreCountedByReasonTheMostFrequentFirst) {
  LetterCounts counts;
  EXPECT_EQ(counts.json(), Json::array());
  counts.add("misrouted", UnixMs(5'000));
  counts.add("misrouted", UnixMs(2'000));
  counts.add("unregistered", UnixMs(7'000));
  const Json json = counts.json();
  ASSERT_EQ(json.size(), 2U);
  EXPECT_EQ(json[1]["reason"], "unregistered");
  EXPECT_EQ(json[0]["letters"], 2);
  EXPECT_EQ(json[0]["oldest"], "1970-01-01T00:00:02.000Z");
  EXPECT_EQ(json[0]["newest"], "1970-01-01T00:00:05.000Z");
}

TEST(Letters, SayWhereAKeyBelongsAndWhoHasPlacedIt) {
  constexpr std::int32_t kPartitions = 12;
  const std::string key = "products/4711";
  const Partition murmur2 = codec::partition_of(key, Partitioner::kMurmur2, kPartitions);
  const Partition crc32 = codec::partition_of(key, Partitioner::kCrc32, kPartitions);
  ASSERT_NE(murmur2, crc32);
  EXPECT_FALSE(misplaced(key, murmur2, Partitioner::kMurmur2, kPartitions));
  EXPECT_FALSE(misplaced(key, crc32, Partitioner::kUnchecked, kPartitions));
  EXPECT_FALSE(misplaced(key, crc32, Partitioner::kMurmur2, 0)) << "nobody has told how many there are";
  const auto by_crc32 = misplaced(key, crc32, Partitioner::kMurmur2, kPartitions);
  ASSERT_TRUE(by_crc32);
  EXPECT_EQ(by_crc32->belongs_to, murmur2);
  EXPECT_EQ(by_crc32->placed_by, Partitioner::kCrc32);
  const auto by_murmur2 = misplaced(key, murmur2, Partitioner::kCrc32, kPartitions);
  ASSERT_TRUE(by_murmur2);
  EXPECT_EQ(by_murmur2->belongs_to, crc32);
  const Partition third((std::max(murmur2, crc32).value() + 1) % kPartitions);
  ASSERT_TRUE(third != murmur2 && third != crc32);
  EXPECT_FALSE(misplaced(key, third, Partitioner::kMurmur2, kPartitions)->placed_by);
}

}  // namespace
}  // namespace reseq::runtime
