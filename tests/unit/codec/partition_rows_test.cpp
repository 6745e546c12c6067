// Meta, target table and identity.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "codec/byte_writer.h"
#include "codec/row_frame.h"
#include "row_generators.h"

namespace reseq::codec {
namespace {

Identity sample_identity() {
  return {"shop", "cluster-1", 12, SequenceKind::kLsn, Partitioner::kCrc32, test_hash_key(), UnixMs(1), ""};
}

template <typename Row, typename Encode, typename Decode>
void expect_guarded(std::string_view key, const Row& row, Encode encode, Decode decode) {
  std::string value;
  encode(key, row, value);
  ASSERT_TRUE(std::holds_alternative<Row>(decode(key, value)));
  EXPECT_EQ(std::get<Row>(decode(key, value)), row);
  for (std::size_t bit = 0; bit < value.size() * 8; ++bit) {
    std::string flipped = value;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_TRUE(std::holds_alternative<RowError>(decode(key, flipped))) << "bit " << bit;
  }
  for (std::size_t size = 0; size < value.size(); ++size)
    EXPECT_TRUE(std::holds_alternative<RowError>(decode(key, value.substr(0, size)))) << "size " << size;
  // A row of another kind, or under another key, is no row of this kind.
  for (const std::string_view other : {meta_key(), target_table_key(), identity_key()})
    if (other != key) {
      EXPECT_EQ(std::get<RowError>(decode(other, value)), RowError::kInvalid);
    }
}

RC_GTEST_PROP(MetaRow, SurvivesEncodingAndHasOneEncoding, ()) {
  const Meta meta = any_meta();
  std::string value;
  encode_meta(meta_key(), meta, value);
  const auto decoded = decode_meta(meta_key(), value);
  RC_ASSERT(std::holds_alternative<Meta>(decoded));
  RC_ASSERT(std::get<Meta>(decoded) == meta);
  std::string again;
  encode_meta(meta_key(), std::get<Meta>(decoded), again);
  RC_ASSERT(again == value);
}

TEST(MetaRow, DetectsEveryFlippedBitAndEveryTruncation) {
  Meta meta;
  meta.state = {Version(9), Version(8), {Version(7), {{TargetNumber(3), Version(6)}}}, Epoch(5), false, 0, 0, {}, {}};
  meta.positions = {{Role::kRequests, Offset(10)}, {Role::kCommands, kNoOffset}};
  meta.ranges = {{Role::kRequests, Offset(1), Offset(10)}};
  meta.lineage = {{1, Offset(0)}, {2, Offset(77)}};
  meta.sweep_cursor = "cursor";
  expect_guarded(meta_key(), meta, encode_meta, decode_meta);
  meta.state.paused = true;
  meta.pins = {{Role::kRequests, Offset(9), UnixMs(1'700'000'000'000), 77}, {Role::kControl, Offset(0), UnixMs(-1), 0}};
  expect_guarded(meta_key(), meta, encode_meta, decode_meta);
  meta.capabilities = 300;
  meta.summary.counts[Count::kHeldRecords] = 300;
  meta.summary.counts[Count::kHeldBytes] = 1;
  meta.agenda = {{1, UnixMs(1'700'000'000'000), 300}, {2, UnixMs(-1), 1}};
  expect_guarded(meta_key(), meta, encode_meta, decode_meta);
}

// To an older version pins are an extension that it keeps as it is, also behind inputs that it has decided, and beside
// a pause, which it knows; a newer one reads them again.
TEST(MetaRow, GivesItsPinsToAnOlderVersionAndGetsThemBack) {
  Meta meta;
  meta.state.paused = true;
  meta.positions = {{Role::kRequests, Offset(10)}};
  meta.pins = {{Role::kRequests, Offset(9), UnixMs(5), 77}};
  std::string value;
  encode_meta(meta_key(), meta, value);
  Meta without = meta;
  without.pins.clear();
  std::string bare;
  encode_meta(meta_key(), without, bare);
  ASSERT_EQ(value.substr(0, bare.size() - kChecksumBytes), bare.substr(0, bare.size() - kChecksumBytes));

  Meta older = without;  // as its decoder has it: what stands behind what it knows
  const std::size_t content = bare.size() - kChecksumBytes;
  older.extensions = value.substr(content, value.size() - kChecksumBytes - content);
  older.positions = {{Role::kRequests, Offset(20)}};
  std::string written;
  encode_meta(meta_key(), older, written);
  const auto newer = decode_meta(meta_key(), written);
  ASSERT_TRUE(std::holds_alternative<Meta>(newer));
  EXPECT_EQ(std::get<Meta>(newer).pins, meta.pins);
  EXPECT_EQ(std::get<Meta>(newer).positions, older.positions);
  EXPECT_EQ(std::get<Meta>(newer).extensions, "");
}

TEST(MetaRow, WithTwoPinsOfOneInputOrAnEmptyListIsRefused) {
  const auto refused = [](const std::string& extensions) {
    Meta meta;
    meta.extensions = extensions;
    std::string value;
    encode_meta(meta_key(), meta, value);
    return std::holds_alternative<RowError>(decode_meta(meta_key(), value));
  };
  const std::string pin("\x00\x02\x03\x08\x07\x06\x05\x04\x03\x02\x01", 11);
  EXPECT_FALSE(refused("\x02\x0b" + pin));
  EXPECT_TRUE(refused("\x02\x16" + pin + pin));
  EXPECT_TRUE(refused(std::string("\x02\x00", 2)));
  EXPECT_TRUE(refused("\x02\x0a" + pin.substr(0, 10)));
}

TEST(MetaRowDeathTest, IsNotWrittenWhenItBreaksItsInvariants) {
  const auto encode = [](const Meta& meta) {
    std::string value;
    encode_meta(meta_key(), meta, value);
  };
  Meta long_lineage;
  for (std::uint64_t i = 0; i <= kMaxLineage; ++i) long_lineage.lineage.push_back({i + 1, Offset(0)});
  EXPECT_DEATH(encode(long_lineage), "invariants");
  Meta twice;
  twice.positions = {{Role::kRequests, Offset(1)}, {Role::kRequests, Offset(2)}};
  EXPECT_DEATH(encode(twice), "invariants");
  Meta backwards;
  backwards.ranges = {{Role::kRequests, Offset(2), Offset(1)}};
  EXPECT_DEATH(encode(backwards), "invariants");
}

RC_GTEST_PROP(Identity, SurvivesEncoding, ()) {
  Identity identity = sample_identity();
  identity.application_id = any_bytes(0, 200);
  identity.cluster_id = any_bytes(0, 40);
  identity.partitions = 1 + static_cast<std::int32_t>(below(100'000));
  identity.sequence_kind = static_cast<SequenceKind>(below(4));
  identity.partitioner = static_cast<Partitioner>(below(3));
  identity.born = UnixMs(any<std::int64_t>());
  identity.extensions = any_extensions();
  std::string value;
  encode_identity(identity_key(), identity, value);
  const auto decoded = decode_identity(identity_key(), value);
  RC_ASSERT(std::holds_alternative<Identity>(decoded));
  RC_ASSERT(std::get<Identity>(decoded) == identity);
}

TEST(Identity, DetectsEveryFlippedBitAndEveryTruncation) {
  expect_guarded(identity_key(), sample_identity(), encode_identity, decode_identity);
}

TEST(Identity, OfAKindOrPartitionerThatNobodyKnowsIsRefused) {
  for (const auto& [kind, partitioner, partitions] : {std::tuple{4, 0, 1}, std::tuple{0, 3, 1}, std::tuple{0, 0, 0}}) {
    std::string value;
    ByteWriter writer(value);
    writer.u8(kRowFormat);
    writer.bytes("shop");
    writer.bytes("cluster");
    writer.varint(static_cast<std::uint64_t>(partitions));
    writer.u8(static_cast<std::uint8_t>(kind));
    writer.u8(static_cast<std::uint8_t>(partitioner));
    writer.raw(std::string(16, 'k'));
    writer.time(UnixMs(1));
    seal(identity_key(), "", 0, writer);
    EXPECT_EQ(std::get<RowError>(decode_identity(identity_key(), value)), RowError::kInvalid);
  }
}

TEST(TargetTable, DetectsEveryFlippedBitAndEveryTruncation) {
  expect_guarded(target_table_key(), TargetTable({"search", "catalogue"}), encode_targets, decode_targets);
}

TEST(TargetTable, KeepsNumbersAndOptionalExtensions) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kMaxTargets; ++i) names.push_back("target." + std::to_string(i));
  const TargetTable table(names, std::string("\x02\x01x", 3));
  std::string value;
  encode_targets(target_table_key(), table, value);
  EXPECT_EQ(std::get<TargetTable>(decode_targets(target_table_key(), value)), table);
}

TEST(TargetTable, WithImpossibleNamesIsRefused) {
  const auto decode = [](const std::vector<std::string>& names) {
    std::string value;
    ByteWriter writer(value);
    writer.u8(kRowFormat);
    writer.varint(names.size());
    for (const std::string& name : names) writer.bytes(name);
    seal(target_table_key(), "", 0, writer);
    return decode_targets(target_table_key(), value);
  };
  EXPECT_TRUE(std::holds_alternative<TargetTable>(decode({"a", "b"})));
  EXPECT_TRUE(std::holds_alternative<TargetTable>(decode({})));
  EXPECT_EQ(std::get<RowError>(decode({"a", "a"})), RowError::kInvalid);
  EXPECT_EQ(std::get<RowError>(decode({"a", ""})), RowError::kInvalid);
  EXPECT_EQ(std::get<RowError>(decode({"a,b"})), RowError::kInvalid);
  EXPECT_EQ(std::get<RowError>(decode({std::string(101, 'a')})), RowError::kInvalid);
  std::vector<std::string> many;
  for (std::size_t i = 0; i <= kMaxTargets; ++i) many.push_back(std::to_string(i));
  EXPECT_EQ(std::get<RowError>(decode(many)), RowError::kInvalid);
}

}  // namespace
}  // namespace reseq::codec
