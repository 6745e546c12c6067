// Rows whose checksum is right and whose content is not: written by a newer version, by a bug, or by someone else.
#include <gtest/gtest.h>

#include "codec/row_frame.h"
#include "row_generators.h"

namespace reseq::codec {
namespace {

const std::string kForgedId = "a";

// Bytes from hex digits; blanks are skipped.
std::string bytes(std::string_view hex) {
  std::string out;
  int high = -1;
  for (const char c : hex) {
    if (c == ' ') continue;
    const int digit = c <= '9' ? c - '0' : c - 'a' + 10;
    if (high >= 0) out.push_back(static_cast<char>(high * 16 + digit));
    high = high >= 0 ? -1 : digit;
  }
  return out;
}

// Decodes format and body with a checksum that fits.
Decoded<DocumentRow> decode(std::string_view hex, const std::string& id = kForgedId) {
  std::string value = bytes(hex);
  ByteWriter writer(value);
  seal(document_key(id), "", 0, writer);
  return decode_row(document_key(id), value);
}

void expect(std::string_view hex, RowError error, const std::string& id = kForgedId) {
  const auto decoded = decode(hex, id);
  ASSERT_TRUE(std::holds_alternative<RowError>(decoded)) << hex;
  EXPECT_EQ(std::get<RowError>(decoded), error) << hex << ": " << name_of(std::get<RowError>(decoded));
}

// format, flags (pending), one group: order head 1, sequence "s", sets, pending 3
constexpr std::string_view kGood = "01 01 01 0173 02 03";

TEST(ForgedRow, TheHonestOneIsRead) {
  EXPECT_TRUE(std::holds_alternative<DocumentRow>(decode(kGood)));
}

TEST(ForgedRow, OfALaterFormatIsRefused) {
  expect("02 01 01 0173 02 03", RowError::kUnknownFormat);
  expect("01 8110 01 0173 02 03", RowError::kUnknownFormat);  // a flag that nobody knows yet
}

TEST(ForgedRow, WithNumbersLongerThanNeedBeIsRefused) {
  expect("01 8100 01 0173 02 03", RowError::kInvalid);
  expect("01 01 8100 0173 02 03", RowError::kInvalid);
  expect("01 01 01 0173 02 8300", RowError::kInvalid);
  expect("01 01 01 0173 02 ffffffffffffffffff02", RowError::kInvalid);    // beyond 64 bits: target 64
  expect("01 01 01 0173 02 ffffffffffffffffff8001", RowError::kInvalid);  // beyond ten bytes
}

TEST(ForgedRow, ThatEndsTooEarlyIsRefused) {
  expect("01 01", RowError::kTruncated);
  expect("01 01 01", RowError::kTruncated);
  expect("01 01 01 0573 02 03", RowError::kTruncated);
  expect("01 01 02 0173 02 03", RowError::kTruncated);
  expect("01 01 ffffffff0f", RowError::kTruncated);  // four thousand million groups
}

TEST(ForgedRow, WithAnImpossibleSequenceIsRefused) {
  expect("01 01 01 29" + std::string(82, '6') + "02 03", RowError::kInvalid);  // 41: more than 32 and no zeros
  expect("01 01 01 08 0061616161616161 02 03", RowError::kInvalid);            // a zero that is not to be written
  expect("01 01 01 21 00616161616161 02 03", RowError::kInvalid);              // two zeros that say one
}

TEST(ForgedRow, WithPartsThatShouldBeAbsentIsRefused) {
  expect("01 01 01 41 00 73 02 03", RowError::kInvalid);               // epoch 0
  expect("01 01 01 81 73 00 02 03", RowError::kInvalid);               // revision 0
  expect("01 01 01 0173 06 03 00", RowError::kInvalid);                // served: none
  expect("01 09 01 0173 02 03 00", RowError::kInvalid);                // since: none
  expect("01 11 01 0173 02 03 0000000000000000", RowError::kInvalid);  // version 0
  expect("01 21 01 0173 02 03 00", RowError::kInvalid);                // deadline 0
  expect("01 03 01 61 01 0173 02 03", RowError::kInvalid);             // an id under a raw key
}

TEST(ForgedRow, WithGroupsThatBreakTheirInvariantsIsRefused) {
  expect("01 01 02 0173 02 03 0173 04 01", RowError::kInvalid);  // the same order twice
  expect("01 01 02 0173 02 03 0174 04 01", RowError::kInvalid);  // rising
  expect("01 01 01 0173 06 03 01", RowError::kInvalid);          // pending and served
  expect("01 01 01 0173 0a 03 01", RowError::kInvalid);          // pending and removed
  expect("01 00 01 0173 0c 03 01", RowError::kInvalid);          // served and removed
  expect("01 00 01 0173 01", RowError::kInvalid);                // empty
  expect("01 01 01 0173 12 03", RowError::kInvalid);             // a set that nobody knows
  expect("01 01 02 0173 02 03 0172 02 01", RowError::kInvalid);  // pending in an older group, too
  expect("01 01 02 0173 02 03 0172 08 01", RowError::kInvalid);  // removed in an older group
  EXPECT_TRUE(std::holds_alternative<DocumentRow>(decode("01 01 02 0173 02 03 0172 04 01")));  // last release: fine
}

TEST(ForgedRow, WhoseFlagsLieIsRefused) {
  expect("01 00 01 0173 02 03", RowError::kInvalid);  // pending, but no flag
  expect("01 01 01 0173 04 03", RowError::kInvalid);  // flag, but nothing pending
  // requested in full although it equals the newest group
  expect("01 c106 01 0173 02 03 0173 01 0000000000000000 03", RowError::kInvalid);
  expect("01 8102 01 0173 02 03", RowError::kInvalid);  // its order's flag without requested
}

TEST(ForgedRow, WithOverlappingWaitingSetsIsRefused) {
  expect("01 09 01 0173 02 03 02 03 05 01 05", RowError::kInvalid);
}

TEST(ForgedRow, WithAVersionOutOfRangeIsRefused) {
  expect("01 11 01 0173 02 03 0000000000000080", RowError::kInvalid);
}

TEST(ForgedRow, WithAnotherIdThanItsKeySaysIsRefused) {
  const std::string id(600, 'x');
  const std::string other = std::string(128, 'x') + std::string(472, 'y');
  const auto with_id = [](const std::string& bytes_of_id) {
    std::string hex = "01 03 d804";
    for (const char c : bytes_of_id) hex += c == 'x' ? "78" : "79";
    return hex + "01 0173 02 03";
  };
  EXPECT_TRUE(std::holds_alternative<DocumentRow>(decode(with_id(id), id)));
  // The codec has no hash key: an id of the same prefix is for the store to compare.
  EXPECT_TRUE(std::holds_alternative<DocumentRow>(decode(with_id(other), id)));
  expect(with_id(std::string(600, 'y')), RowError::kInvalid, id);
  expect(kGood, RowError::kInvalid, id);  // none at all
}

TEST(ForgedRow, KeepsOptionalExtensionsAndRefusesMandatoryOnes) {
  const auto decoded = decode("01 01 01 0173 02 03 02 03 616263 10 00");
  ASSERT_TRUE(std::holds_alternative<DocumentRow>(decoded));
  const Row& row = std::get<DocumentRow>(decoded).row;
  EXPECT_EQ(row.extensions, bytes("02 03 616263 10 00"));
  std::string again;
  encode_row(document_key(kForgedId), kForgedId, row, again);
  EXPECT_EQ(again.substr(0, again.size() - kChecksumBytes), bytes("01 01 01 0173 02 03 02 03 616263 10 00"));

  expect("01 01 01 0173 02 03 03 01 61", RowError::kUnknownMandatory);
  expect("01 01 01 0173 02 03 02 00 03 00", RowError::kUnknownMandatory);
  expect("01 01 01 0173 02 03 02 05 61", RowError::kTruncated);
  expect("01 01 01 0173 02 03 04 00 02 00", RowError::kInvalid);  // falling
  expect("01 01 01 0173 02 03 04 00 04 00", RowError::kInvalid);  // twice
}

TEST(ForgedRow, WithDeletionsThatNobodyWouldWriteIsRefused) {
  EXPECT_TRUE(std::holds_alternative<DocumentRow>(decode("01 01 01 0173 02 03 00 04 05 0173 07")));
  expect("01 01 01 0173 02 03 00 00", RowError::kInvalid);                        // none
  expect("01 01 01 0173 02 03 00 04 40 0173 07", RowError::kInvalid);             // of target 64
  expect("01 01 01 0173 02 03 00 08 05 0173 07 05 0173 08", RowError::kInvalid);  // two of one target
  expect("01 01 01 0173 02 03 00 03 05 0173", RowError::kTruncated);
}

TEST(ForgedRow, WithReleasesMeanwhileThatNobodyWouldWriteIsRefused) {
  EXPECT_TRUE(std::holds_alternative<DocumentRow>(decode("01 01 01 0173 02 03 04 02 03 07")));
  expect("01 01 01 0173 02 03 04 00", RowError::kInvalid);              // none
  expect("01 01 01 0173 02 03 04 02 00 07", RowError::kInvalid);        // of no target
  expect("01 01 01 0173 02 03 04 04 03 07 01 08", RowError::kInvalid);  // two of one target
  expect("01 01 01 0173 02 03 04 01 03", RowError::kInvalid);           // no time
}

}  // namespace
}  // namespace reseq::codec
