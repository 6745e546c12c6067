// Records that wait in the state: what is written is what comes back, and nothing else.
#include "codec/held_rows.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "held_samples.h"

namespace reseq::codec {
namespace {

// No row is longer than a page of its own, and each but the last is as long as it may be.
void expect_full_pieces(const Held& held) {
  const HeldRow head = held.head();
  ASSERT_EQ(held.keys.size(), 1U + head.further_pieces);
  std::uint64_t bytes = head.piece.size();
  for (std::size_t i = 0; i < held.keys.size(); ++i) {
    const std::string& value = held.rows.at(held.keys[i]);
    ASSERT_LE(value.size(), kHeldValueBytes) << i;
    if (i + 1 < held.keys.size()) {
      ASSERT_EQ(value.size(), kHeldValueBytes) << i;
    }
    if (i == 0) continue;
    ASSERT_EQ(held.keys[i], piece_key(held.key, static_cast<std::uint32_t>(i)));
    const auto piece = decode_piece(held.keys[i], value);
    ASSERT_TRUE(std::holds_alternative<std::string_view>(piece)) << i;
    bytes += std::get<std::string_view>(piece).size();
  }
  EXPECT_EQ(bytes, head.record_bytes);
}

void expect_survives(const InputRecord& record) {
  const Held held(record);
  expect_full_pieces(held);
  EXPECT_EQ(held.head().record_bytes, held_bytes(record));
  Arena arena;
  const auto again = held.record(arena);
  ASSERT_TRUE(again.has_value());
  EXPECT_TRUE(is_same(*again, record));
}

void expect_payload_survives(std::size_t bytes) {
  std::string payload(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) payload[i] = static_cast<char>(i * 7 + i / 256);
  SCOPED_TRACE(bytes);
  expect_survives(SampleRecord::request().payload(std::move(payload)).view());
}

constexpr std::size_t kRowCounts[] = {1, 2, 3, 25};

// The longest payload of a record that takes so many rows.
std::size_t longest_payload(std::size_t rows) {
  const SampleRecord longer = SampleRecord::request().payload(std::string(rows * kHeldValueBytes, 'x'));
  const std::size_t of_first = Held(longer.view()).head().piece.size();
  const std::size_t others = held_bytes(SampleRecord::request().payload("").view());
  return of_first + (rows - 1) * kWholePieceBytes - others;
}

RC_GTEST_PROP(HeldRows, GiveTheRecordBackThatTheyWereMadeOf, ()) {
  const SampleRecord sample = any_record();
  InputRecord record = sample.view();
  record.partition = Partition(static_cast<std::int32_t>(below(INT32_MAX)));
  record.offset = any_offset();
  record.timestamp = UnixMs(any<std::int64_t>());
  if (record.headers.empty()) record.headers_left_out = any<std::uint32_t>();
  const std::string note = one_in(5) ? std::string(below(10'000), 'n') : any_bytes(0, 40);
  const std::string key = held_key(any<std::uint8_t>(), any_bytes(kMinRankBytes, 40));
  std::vector<std::string> bytes;
  for (std::size_t count = below(4); count > 0; --count) bytes.push_back(any_bytes(0, kMaxIndexEntryBytes));
  Hold hold;
  hold.key = key;
  hold.note = note;
  hold.bytes = any<std::uint64_t>();
  for (const std::string& one : bytes) hold.entries.push_back({static_cast<std::uint8_t>(below(kIndexes)), one});

  const Held held(record, hold);
  const HeldRow head = held.head();
  RC_ASSERT(head.note == note);
  RC_ASSERT(head.bytes == hold.bytes);
  const auto entries = entries_of(held.rows.at(key));
  RC_ASSERT(entries.size() == hold.entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i)
    RC_ASSERT(entries[i] == std::pair(hold.entries[i].index, std::string(hold.entries[i].bytes)));
  RC_ASSERT(!head.reference);
  RC_ASSERT(head.record_bytes == held_bytes(record));
  Arena arena;
  const auto again = held.record(arena);
  RC_ASSERT(again.has_value());
  RC_ASSERT(is_same(*again, record));
  RC_ASSERT(Held(*again, hold).rows == held.rows);
}

TEST(HeldRows, OfAnyLengthAroundEachPieceBorderAreFullAndComeBack) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{100'000}, std::size_t{16} << 20U})
    expect_payload_survives(bytes);
  for (std::size_t bytes = 4000; bytes <= 4200; ++bytes) expect_payload_survives(bytes);
  for (const std::size_t rows : kRowCounts)
    for (std::size_t bytes = longest_payload(rows) - 3; bytes <= longest_payload(rows) + 3; ++bytes)
      expect_payload_survives(bytes);
}

TEST(HeldRows, AreAsManyAsTheirBytesNeed) {
  for (const std::size_t rows : kRowCounts) {
    const std::size_t most = longest_payload(rows);
    EXPECT_EQ(Held(SampleRecord::request().payload(std::string(most, 'x')).view()).rows.size(), rows);
    EXPECT_EQ(Held(SampleRecord::request().payload(std::string(most + 1, 'x')).view()).rows.size(), rows + 1);
  }
}

TEST(HeldRows, TellNullFromEmpty) {
  using MaybeBytes = std::optional<std::string>;
  for (const MaybeBytes& key : {MaybeBytes(), MaybeBytes(""), MaybeBytes("k")})
    for (const MaybeBytes& payload : {MaybeBytes(), MaybeBytes(""), MaybeBytes("p")})
      for (const MaybeBytes& value : {MaybeBytes(), MaybeBytes(""), MaybeBytes("v")})
        expect_survives(
            SampleRecord(Role::kRequests).with("", value).with("h", value).key(key).payload(payload).view());
  expect_survives(SampleRecord(Role::kAdminReplies).key(std::nullopt).payload(std::nullopt).view());
}

TEST(HeldRows, OfHeadersAndKeysLongerThanAPageComeBack) {
  const std::string page(5000, 'h');
  expect_survives(SampleRecord::request().with(page, page).with("n", std::nullopt).with(page, "").view());
  expect_survives(SampleRecord::request().key(page + page).payload(std::nullopt).view());
  SampleRecord many = SampleRecord::request();
  for (int i = 0; i < 3000; ++i) many.with("name", std::to_string(i));
  expect_survives(many.view());
}

TEST(HeldRows, WithANoteLongerThanAPageHaveTheWholeRecordInPieces) {
  const SampleRecord sample = SampleRecord::request().payload(std::string(3 * kHeldValueBytes, 'x'));
  constexpr std::size_t kNotes[] = {4000, 4020, 4021, 4022, 4023, 4024, 4025, 4026, 4027, 4028, 4080, 4081, 20'000};
  for (const std::size_t bytes : kNotes) {
    const std::string note(bytes, 'n');
    Hold hold = sample_hold(Held::sample_key());
    hold.note = note;
    const Held held(sample.view(), hold);
    EXPECT_EQ(held.head().note, note);
    if (bytes >= 4080) {
      EXPECT_EQ(held.head().piece, "");
    }
    Arena arena;
    const auto again = held.record(arena);
    ASSERT_TRUE(again.has_value()) << bytes;
    EXPECT_TRUE(is_same(*again, sample.view())) << bytes;
    for (const std::string& key : held.keys)
      EXPECT_TRUE(held.rows.at(key).size() <= kHeldValueBytes || (key == held.key && held.head().piece.empty()));
  }
}

TEST(HeldRows, SayWhereTheirDocumentIsFromWhereTheirHeadersEndInTheFirst) {
  const auto source_of = [](const SampleRecord& record) {
    const Held held(record.view());
    return std::string(document_source_of(held.head()));
  };
  const std::string large(2 * kHeldValueBytes, 'x');
  EXPECT_EQ(source_of(SampleRecord::request().with("reseq-source", "crawler").payload(large)), "crawler");
  EXPECT_EQ(source_of(SampleRecord::request().payload(large)), "");
  EXPECT_EQ(source_of(SampleRecord::request().with("reseq-source", std::nullopt)), "");
  EXPECT_EQ(source_of(SampleRecord::request().with("reseq-source", "a").with("reseq-source", "b")), "b");
  EXPECT_EQ(source_of(SampleRecord::request().with("reseq-source", "a").with("large", large)), "")
      << "a later one may be in the next row";
  const SampleRecord record = SampleRecord::request().with("reseq-source", "crawler");
  Hold reference = sample_hold(Held::sample_key());
  reference.reference = true;
  const Held held(record.view(), reference);
  EXPECT_EQ(document_source_of(held.head()), "");
}

TEST(HeldRows, OfAReferenceAreOneThatKnowsItsRecord) {
  const KeyedHash hash(test_hash_key());
  const SampleRecord sample = SampleRecord::request().payload(std::string(100'000, 'x'));
  InputRecord record = sample.view();
  record.partition = Partition(3);
  Hold hold = sample_hold(Held::sample_key());
  hold.reference = true;
  const Held held(record, hold);
  EXPECT_EQ(held.rows.size(), 1U);
  EXPECT_LT(held.rows.at(held.key).size(), 100U);
  const HeldRow head = held.head();
  EXPECT_TRUE(head.reference);
  EXPECT_EQ(head.role, record.role);
  EXPECT_EQ(head.partition, record.partition);
  EXPECT_EQ(head.offset, record.offset);
  EXPECT_EQ(head.timestamp, record.timestamp);
  EXPECT_EQ(head.record_bytes, held_bytes(record));
  EXPECT_EQ(head.further_pieces, 0U);
  EXPECT_EQ(head.hash, hash.of_input(record.key, record.payload));
  EXPECT_EQ(head.hash, hash.of_record("doc-1", std::string(100'000, 'x')).low);
  EXPECT_EQ(head.note, "note");
  EXPECT_EQ(entries_of(held.rows.at(held.key)).size(), 3U);
}

TEST(HeldRows, KnowARecordByItsKeyAndPayload) {
  const KeyedHash hash(test_hash_key());
  const auto hash_of = [&](std::optional<std::string> key, std::optional<std::string> payload) {
    return hash.of_input(key, payload);
  };
  EXPECT_EQ(hash_of(std::nullopt, std::nullopt), hash_of("", ""));
  EXPECT_NE(hash_of("a", "b"), hash_of("ab", ""));
  EXPECT_NE(hash_of("a", "b"), hash_of("a", "c"));
  EXPECT_NE(hash_of("a", "b"), hash_of("b", "b"));
}

TEST(HeldRows, OfWhichAPieceIsMissingAreNoRecord) {
  const SampleRecord sample = SampleRecord::request().payload(std::string(4 * kHeldValueBytes, 'x'));
  const Held whole(sample.view());
  ASSERT_GE(whole.keys.size(), 4U);
  Arena arena;
  EXPECT_TRUE(whole.record(arena).has_value());
  for (std::size_t i = 1; i < whole.keys.size(); ++i) {
    Held held = whole;
    held.rows.erase(held.keys[i]);
    EXPECT_FALSE(held.record(arena).has_value()) << i;
  }
}

// The length is what a row says: no memory is taken for it before the last piece is there.
TEST(HeldRows, OfWhichTheLastPieceIsMissingAreNotBegun) {
  std::vector<std::string> asked;
  const auto none = [&](std::string_view key) -> std::optional<std::string_view> {
    asked.emplace_back(key);
    return std::nullopt;
  };
  HeldRow row;
  row.record_bytes = kMaxHeldRecordBytes;
  row.further_pieces = 500'000;
  Arena arena;
  EXPECT_FALSE(held_record(Held::sample_key(), row, none, arena).has_value());
  EXPECT_EQ(asked, std::vector{piece_key(Held::sample_key(), 500'000)});
}

TEST(HeldRows, WhosePiecesAreSwappedAreNoRecord) {
  const SampleRecord sample = SampleRecord::request().payload(std::string(4 * kHeldValueBytes, 'x'));
  Held held(sample.view());
  std::swap(held.rows.at(held.keys[1]), held.rows.at(held.keys[2]));
  Arena arena;
  EXPECT_FALSE(held.record(arena).has_value());
}

// Even when somebody seals what is left, or moves bytes from one to the next.
TEST(HeldRows, WhosePiecesHaveAnotherLengthAreNoRecord) {
  const SampleRecord sample = SampleRecord::request().payload(std::string(4 * kHeldValueBytes, 'x'));
  const Held whole(sample.view());
  const auto with_length = [](Held& held, std::size_t piece, std::size_t bytes) {
    std::string content;
    ByteWriter writer(content);
    writer.u8(kRowFormat);
    writer.bytes(std::string(bytes, 'x'));
    writer.finish();
    held.rows.at(held.keys[piece]) = sealed_again(held.keys[piece], content);
  };
  Arena arena;
  const std::size_t last = whole.keys.size() - 1;
  const std::size_t of_last = whole.head().record_bytes - whole.head().piece.size() - (last - 1) * kWholePieceBytes;
  Held honest = whole;
  for (std::size_t i = 1; i < last; ++i) with_length(honest, i, kWholePieceBytes);
  with_length(honest, last, of_last);
  EXPECT_TRUE(honest.record(arena).has_value());
  for (std::size_t i = 1; i <= last; ++i)
    for (const int change : {-1, 1}) {
      Held held = honest;
      const std::size_t bytes = i == last ? of_last : kWholePieceBytes;
      with_length(held, i, bytes + static_cast<std::size_t>(change));
      EXPECT_FALSE(held.record(arena).has_value()) << i << " " << change;
    }
  Held moved = honest;
  with_length(moved, 1, kWholePieceBytes - 10);
  with_length(moved, last, of_last + 10);
  EXPECT_FALSE(moved.record(arena).has_value());
}

TEST(HeldRowsDeathTest, AreNotWrittenWithAnEntryOutsideItsLimits) {
  const SampleRecord sample = SampleRecord::request();
  const auto hold_with = [&](const IndexEntry& entry) {
    Hold hold = sample_hold(Held::sample_key());
    hold.entries = {entry};
    return Held(sample.view(), hold).rows.size();
  };
  EXPECT_EQ(hold_with({kIndexes - 1, std::string(kMaxIndexEntryBytes, 'e')}), 1U);
  EXPECT_DEATH((void)hold_with({kIndexes, "e"}), "limits");
  EXPECT_DEATH((void)hold_with({0, std::string(kMaxIndexEntryBytes + 1, 'e')}), "limits");
}

// As a gate does that keeps a record for longer: the record and its pieces stay what they are.
TEST(HeldRows, WrittenAgainWithAnotherNoteKeepTheirRecord) {
  for (const std::size_t bytes : {0U, 100U, 4'000U, 9'000U})
    for (const std::size_t note : {0U, 1U, 40U, 5'000U}) {
      SCOPED_TRACE(std::to_string(bytes) + " bytes, a note of " + std::to_string(note));
      const SampleRecord sample = SampleRecord::request().payload(std::string(bytes, 'x'));
      Held held(sample.view());
      Arena arena;
      const std::vector<IndexEntry> entries = {{5, "later"}};
      const std::string text(note, 'n');
      const KeyedChange again = held_again(held.key, held.head(), entries, text, arena);
      EXPECT_EQ(again.key, held.key);
      held.rows[held.key] = again.value.value();
      EXPECT_EQ(held.head().note, text);
      EXPECT_EQ(entries_of(held.rows.at(held.key)), (std::vector<std::pair<std::uint8_t, std::string>>{{5, "later"}}));
      const auto record = held.record(arena);
      ASSERT_TRUE(record.has_value());
      EXPECT_TRUE(is_same(*record, sample.view()));
    }
}

// What a later version has put there is not the gate's: it is not lost when an older one writes the row again.
TEST(HeldRows, WrittenAgainKeepExtensionsOfALaterVersion) {
  Hold reference = sample_hold(Held::sample_key());
  reference.reference = true;
  const SampleRecord sample = SampleRecord::request();
  for (const Hold& hold : {sample_hold(Held::sample_key()), reference}) {
    const Held held(sample.view(), hold);
    const std::string later = sealed_again(held.key, content_of(held.rows.at(held.key)) + "\x02\x01?\x04\x01!");
    const auto decoded = decode_held(held.key, later);
    ASSERT_TRUE(std::holds_alternative<HeldRow>(decoded));
    Arena arena;
    const KeyedChange again = held_again(held.key, std::get<HeldRow>(decoded), hold.entries, hold.note, arena);
    EXPECT_EQ(again.value, later);
  }
}

}  // namespace
}  // namespace reseq::codec
