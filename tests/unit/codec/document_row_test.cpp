#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "codec/row_frame.h"
#include "codec/rows.h"
#include "row_generators.h"

namespace reseq::codec {
namespace {

const std::string kProductId = "products/4711";

Sequence number(char low) {
  return Sequence(std::string(7, '\0') + low);
}

std::string encoded(const Row& row, const std::string& id = kProductId) {
  std::string value;
  encode_row(document_key(id), id, row, value);
  return value;
}

RowError error_of(const Decoded<DocumentRow>& decoded) {
  EXPECT_TRUE(std::holds_alternative<RowError>(decoded));
  const auto* error = std::get_if<RowError>(&decoded);
  return error != nullptr ? *error : RowError::kTruncated;
}

Row live_row() {
  Row row;
  row.groups.push_back({{Epoch(), Sequence("20240229"), Revision()}, true, TargetSet(3), TargetSet(), TargetSet()});
  row.since.push_back({TargetSet(3), UnixMs(1'709'164'800'000)});
  row.deadline = UnixMs(1'709'164'860'000);
  row.requested = Requested{row.groups[0].order, Offset(1'000'000), PayloadHash(0x0123456789ABCDEF), TargetSet(3)};
  return row;
}

Row watermark() {
  Row row;
  row.groups.push_back({{Epoch(), Sequence("20240229"), Revision()}, true, TargetSet(), TargetSet(3), TargetSet()});
  row.last_version = Version(std::uint64_t{1'709'164'800'000} << 16);
  row.deadline = UnixMs(1'709'164'860'000);
  row.requested = Requested{row.groups[0].order, Offset(1'000'000), PayloadHash(0x0123456789ABCDEF), TargetSet(3)};
  return row;
}

RC_GTEST_PROP(DocumentRow, SurvivesEncodingAndHasOneEncoding, ()) {
  const std::string id = any_id();
  const std::string key = document_key(id);
  const Row row = any_row();
  std::string value;
  encode_row(key, id, row, value);
  const auto decoded = decode_row(key, value);
  RC_ASSERT(std::holds_alternative<DocumentRow>(decoded));
  RC_ASSERT(std::get<DocumentRow>(decoded).id == id);
  RC_ASSERT(std::get<DocumentRow>(decoded).row == row);
  RC_ASSERT(is_watermark(value) == !row.live());
  RC_ASSERT(has_journal(value) == !row.journal.empty());
  std::string again;
  encode_row(key, id, std::get<DocumentRow>(decoded).row, again);
  RC_ASSERT(again == value);
}

RC_GTEST_PROP(DocumentRow, DetectsEveryFlippedBit, ()) {
  const std::string id = any_bytes(1, 20);
  const std::string key = document_key(id);
  std::string value;
  encode_row(key, id, any_row(), value);
  const std::size_t bit = below(value.size() * 8);
  value[bit / 8] = static_cast<char>(value[bit / 8] ^ (1 << (bit % 8)));
  RC_ASSERT(std::holds_alternative<RowError>(decode_row(key, value)));
}

TEST(DocumentRow, DetectsEveryFlippedBitOfOneRow) {
  for (const Row& row : {live_row(), watermark()}) {
    const std::string value = encoded(row);
    for (std::size_t bit = 0; bit < value.size() * 8; ++bit) {
      std::string flipped = value;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      EXPECT_TRUE(std::holds_alternative<RowError>(decode_row(document_key(kProductId), flipped))) << "bit " << bit;
    }
  }
}

TEST(DocumentRow, IsRefusedAtEveryLengthButItsOwn) {
  const std::string value = encoded(live_row());
  for (std::size_t size = 0; size < value.size(); ++size)
    EXPECT_TRUE(std::holds_alternative<RowError>(decode_row(document_key(kProductId), value.substr(0, size)))) << size;
  EXPECT_EQ(error_of(decode_row(document_key(kProductId), value + '\0')), RowError::kBadChecksum);
  EXPECT_EQ(error_of(decode_row(document_key(kProductId), "")), RowError::kTruncated);
}

TEST(DocumentRow, IsRefusedUnderTheKeyOfAnotherDocument) {
  EXPECT_EQ(error_of(decode_row(document_key("products/4712"), encoded(live_row()))), RowError::kBadChecksum);
  EXPECT_EQ(error_of(decode_row(meta_key(), encoded(live_row()))), RowError::kInvalid);
}

TEST(DocumentRow, IsSmall) {
  EXPECT_LE(encoded(live_row()).size(), 45U);
  EXPECT_LE(encoded(watermark()).size(), 45U);
  Row counted = watermark();
  counted.groups[0].order.sequence = number(7);
  counted.requested->order = counted.groups[0].order;
  EXPECT_LE(encoded(counted).size(), 38U);
}

TEST(DocumentRow, KeepsSequencesOfEightBytesWithAndWithoutLeadingZeros) {
  for (std::size_t zeros = 0; zeros <= 8; ++zeros) {
    Row row = watermark();
    row.groups[0].order.sequence = Sequence(std::string(zeros, '\0') + std::string(8 - zeros, 'x'));
    row.requested.reset();
    const auto decoded = decode_row(document_key(kProductId), encoded(row));
    ASSERT_TRUE(std::holds_alternative<DocumentRow>(decoded)) << zeros;
    EXPECT_EQ(std::get<DocumentRow>(decoded).row, row) << zeros;
  }
}

TEST(DocumentRow, HoldsTheWholeIdOnlyUnderAHashedKey) {
  const std::string id(600, 'x');
  const std::string value = encoded(watermark(), id);
  EXPECT_EQ(value.size(), encoded(watermark()).size() + 2 + id.size());
  EXPECT_EQ(std::get<DocumentRow>(decode_row(document_key(id), value)).id, id);
}

TEST(DocumentRow, TellsAWatermarkFromALiveRow) {
  EXPECT_TRUE(is_watermark(encoded(watermark())));
  EXPECT_FALSE(is_watermark(encoded(live_row())));
}

TEST(DocumentRow, IsAppendedBehindWhatIsThere) {
  std::string out = "before";
  encode_row(document_key(kProductId), kProductId, live_row(), out);
  EXPECT_EQ(out, "before" + encoded(live_row()));
}

TEST(DocumentRowDeathTest, IsNotWrittenWhenItBreaksItsInvariants) {
  Row rising = watermark();
  rising.groups.push_back(rising.groups[0]);
  EXPECT_DEATH(encoded(rising), "invariants");
  Row overlapping = watermark();
  overlapping.groups[0].removed = TargetSet(1);
  EXPECT_DEATH(encoded(overlapping), "invariants");
}

// To an older version deletions are an extension that it keeps: as they are, also when it has released something newer.
TEST(DocumentRow, TellsNoDeletionThatAnOlderVersionHasOvertaken) {
  Row row = watermark();
  const std::size_t content = encoded(row).size() - kChecksumBytes;
  row.deletions = {{TargetNumber(0), row.groups[0].order, UnixMs(1'709'164'800'000)},
                   {TargetNumber(1), row.groups[0].order, UnixMs(1'709'164'800'001)}};
  const std::string value = encoded(row);
  Row older = watermark();
  older.extensions = value.substr(content, value.size() - kChecksumBytes - content);
  EXPECT_EQ(encoded(older), value);

  older.groups[0].served = TargetSet(2);
  const Group overtaking{{Epoch(), Sequence("20240301"), Revision()}, true, TargetSet(), TargetSet(1), TargetSet()};
  older.groups.insert(older.groups.begin(), overtaking);
  const auto decoded = decode_row(document_key(kProductId), encoded(older));
  ASSERT_TRUE(std::holds_alternative<DocumentRow>(decoded));
  const Row& read = std::get<DocumentRow>(decoded).row;
  EXPECT_EQ(encoded(read), encoded(older));
  EXPECT_EQ(read.deletion_of(TargetNumber(0)), nullptr);
  ASSERT_NE(read.deletion_of(TargetNumber(1)), nullptr);
  EXPECT_EQ(read.deletion_of(TargetNumber(1))->at, UnixMs(1'709'164'800'001));
}

// To an older version what a target got while it waited is an extension that it keeps, also when the wait has ended.
TEST(DocumentRow, TellsNothingThatAnOlderVersionHasLeftBehindOfAnEarlierWait) {
  const UnixMs began(1'709'164'800'000);
  const UnixMs got(1'709'164'800'500);
  Row row = live_row();
  const std::size_t content = encoded(row).size() - kChecksumBytes;
  row.meanwhile = {{TargetSet(2), got}};
  const std::string value = encoded(row);
  Row older = live_row();
  older.extensions = value.substr(content, value.size() - kChecksumBytes - content);
  EXPECT_EQ(encoded(older), value);
  EXPECT_EQ(row.without_release_since(), began);

  older.since = {{TargetSet(1), began}, {TargetSet(2), UnixMs(got.value() + 1)}};  // released, and requested again
  const auto decoded = decode_row(document_key(kProductId), encoded(older));
  ASSERT_TRUE(std::holds_alternative<DocumentRow>(decoded));
  const Row& read = std::get<DocumentRow>(decoded).row;
  EXPECT_EQ(encoded(read), encoded(older));
  std::vector<std::pair<TargetSet, UnixMs>> waits;
  read.each_without_release([&](TargetSet targets, UnixMs time) { waits.emplace_back(targets, time); });
  EXPECT_EQ(waits, (std::vector<std::pair<TargetSet, UnixMs>>{{TargetSet(1), began},
                                                              {TargetSet(2), UnixMs(got.value() + 1)}}));
}

// The same of the order with which a wait began.
TEST(DocumentRow, KnowsNoBeginOfAWaitThatAnOlderVersionHasEnded) {
  const UnixMs began(1'709'164'800'000);
  Row row = live_row();
  row.since = {{TargetSet(3), began}};
  const std::size_t content = encoded(row).size() - kChecksumBytes;
  row.overtaken = {{TargetSet(2), Order{Epoch(), Sequence::of_number(3), Revision()}, began}};
  const std::string value = encoded(row);
  Row older = live_row();
  older.since = row.since;
  older.extensions = value.substr(content, value.size() - kChecksumBytes - content);
  EXPECT_EQ(encoded(older), value);
  EXPECT_EQ(row.overtaken_of(TargetNumber(0)), nullptr);
  ASSERT_NE(row.overtaken_of(TargetNumber(1)), nullptr);

  older.since = {{TargetSet(1), began}, {TargetSet(2), UnixMs(began.value() + 1)}};  // released, and requested again
  const auto decoded = decode_row(document_key(kProductId), encoded(older));
  ASSERT_TRUE(std::holds_alternative<DocumentRow>(decoded));
  const Row& read = std::get<DocumentRow>(decoded).row;
  EXPECT_EQ(encoded(read), encoded(older));
  EXPECT_EQ(read.overtaken_of(TargetNumber(1)), nullptr);
}

// To an older version what a request asks for is an extension that it keeps, also when another one has come.
TEST(DocumentRow, KnowsNothingOfWhatARequestAsksForThatAnOlderVersionHasOvertaken) {
  Row row = watermark();
  const std::size_t content = encoded(row).size() - kChecksumBytes;
  row.requested->content = Digest{7, 8};
  const std::string value = encoded(row);
  Row older = watermark();
  older.extensions = value.substr(content, value.size() - kChecksumBytes - content);
  EXPECT_EQ(encoded(older), value);
  older.requested->position = Offset(1'000'001);
  const auto decoded = decode_row(document_key(kProductId), encoded(older));
  ASSERT_TRUE(std::holds_alternative<DocumentRow>(decoded));
  Row read = std::get<DocumentRow>(decoded).row;
  EXPECT_EQ(read.requested->content, Digest());
  EXPECT_EQ(encoded(read), encoded(older)) << "a row with two encodings";
  read.requested->content = Digest{9, 10};
  row.requested->position = Offset(1'000'001);
  row.requested->content = Digest{9, 10};
  EXPECT_EQ(encoded(read), encoded(row)) << "what it asks for stands there twice";
}

TEST(DocumentRow, RefusesWhatNobodyCanHaveNotedOfARequest) {
  Row row = watermark();
  const std::size_t content = encoded(row).size() - kChecksumBytes;
  row.requested->content = Digest{7, 8};
  const std::string value = encoded(row);
  const std::string one = value.substr(content + 2, value.size() - kChecksumBytes - content - 2);
  const auto refuses = [](const std::string& bytes) {
    Row other = watermark();
    other.extensions = "\x0c" + std::string(1, static_cast<char>(bytes.size())) + bytes;
    return std::holds_alternative<RowError>(decode_row(document_key(kProductId), encoded(other)));
  };
  EXPECT_FALSE(refuses(one));
  EXPECT_TRUE(refuses(one + '\0')) << "more than one";
  EXPECT_TRUE(refuses(one.substr(0, one.size() - 1))) << "cut short";
  EXPECT_TRUE(refuses(one.substr(0, one.size() - 16) + std::string(16, '\0'))) << "nothing";
}

TEST(DocumentRow, KeepsExtensionsOfLaterVersionsBeforeAndBehindItsOwn) {
  Row row = live_row();
  row.requested->content = Digest{7, 8};
  row.meanwhile = {{TargetSet(1), UnixMs(1'709'164'800'500)}};
  row.overtaken = {{TargetSet(2), Order{Epoch(), Sequence::of_number(3), Revision()}, UnixMs(1'709'164'800'400)}};
  row.failures = {{TargetSet(1), Order{Epoch(), Sequence::of_number(3), Revision()}, 4, 3, 2, true, true,
                   UnixMs(1'709'164'800'300), "not a PDF"}};
  row.lanes.push_back({TargetNumber(0), 300, 2, Order{Epoch(), Sequence::of_number(3), Revision()}});
  row.lanes.push_back({TargetNumber(63), 300, 0, Order()});
  row.extensions = std::string("\x02\x01?\x0a\x01!\x10\x01!", 9);
  const auto decoded = decode_row(document_key(kProductId), encoded(row));
  ASSERT_TRUE(std::holds_alternative<DocumentRow>(decoded));
  EXPECT_EQ(std::get<DocumentRow>(decoded).row, row);
}

// A longer one than a worker may say is in no row, nor are two about one target.
TEST(DocumentRow, RefusesFailuresThatNobodyCanHaveNoted) {
  const Order order{Epoch(), Sequence::of_number(3), Revision()};
  Row row = live_row();
  row.failures = {{TargetSet(1), order, 1, 0, 0, false, false, UnixMs(), std::string(kMaxErrorBytes, 'x')}};
  const std::string good = encoded(row);
  ASSERT_TRUE(std::holds_alternative<DocumentRow>(decode_row(document_key(kProductId), good)));
  const auto forged = [&](const std::string& failures) {
    Row other = live_row();
    other.extensions = "\x08" + std::string(1, static_cast<char>(failures.size())) + failures;
    return std::holds_alternative<RowError>(decode_row(document_key(kProductId), encoded(other)));
  };
  Row twice = live_row();
  twice.failures = {{TargetSet(1), order, 1, 0, 0, false, false, UnixMs(), ""}};
  const std::string value = encoded(twice);
  const std::size_t content = encoded(live_row()).size() - kChecksumBytes;
  const std::string one = value.substr(content + 2, value.size() - kChecksumBytes - content - 2);
  EXPECT_FALSE(forged(one));
  EXPECT_TRUE(forged(one + one)) << "two of one target";
  EXPECT_TRUE(forged("")) << "none";
  EXPECT_TRUE(forged(one.substr(0, one.size() - 1))) << "cut short";
}

}  // namespace
}  // namespace reseq::codec
