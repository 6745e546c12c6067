// Held records, their pieces and tasks that a disk has damaged, or that somebody else has written.
#include <gtest/gtest.h>
#include <random>

#include "codec/task_row.h"
#include "held_samples.h"

namespace reseq::codec {
namespace {

Hold reference_hold() {
  Hold hold = sample_hold(Held::sample_key());
  hold.reference = true;
  return hold;
}

// Of one row, of several, and of a reference.
std::vector<Held> held_samples() {
  const SampleRecord small = SampleRecord::request().payload("payload");
  const SampleRecord large = SampleRecord::request().with("n", std::nullopt).payload(std::string(9000, 'x'));
  return {Held(small.view()), Held(large.view()), Held(large.view(), reference_hold())};
}

std::string task_value(const std::string& key, const TaskRow& task) {
  std::string value;
  encode_task(key, task, value);
  return value;
}

bool is_refused(const std::string& key, const std::string& value) {
  switch (parse_key(key)->type) {
    case KeyType::kHeld:
      return std::holds_alternative<RowError>(decode_held(key, value));
    case KeyType::kPiece:
      return std::holds_alternative<RowError>(decode_piece(key, value));
    default:
      return std::holds_alternative<RowError>(decode_task(key, value));
  }
}

void expect_damage_is_detected(const std::string& key, const std::string& value) {
  ASSERT_FALSE(is_refused(key, value));
  for (std::size_t bit = 0; bit < value.size() * 8; ++bit) {
    std::string flipped = value;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    ASSERT_TRUE(is_refused(key, flipped)) << "bit " << bit;
  }
  for (std::size_t size = 0; size < value.size(); ++size)
    ASSERT_TRUE(is_refused(key, value.substr(0, size))) << "size " << size;
  ASSERT_TRUE(is_refused(key, value + '\0'));
  std::string other = key;
  other[4] = static_cast<char>(other[4] ^ 1);
  EXPECT_TRUE(is_refused(other, value)) << "under another key";
  for (const KeyType type : {KeyType::kHeld, KeyType::kPiece, KeyType::kTask}) {
    other = key;
    other[0] = static_cast<char>(type);
    EXPECT_TRUE(other == key || is_refused(other, value)) << "as a row of another kind";
  }
}

TEST(ForgedHeldRow, OfEveryFlippedBitAndEveryTruncationIsRefused) {
  for (const Held& held : held_samples())
    for (const auto& [key, value] : held.rows) expect_damage_is_detected(key, value);
  const std::string key = task_key(3, "task-1");
  expect_damage_is_detected(key, task_value(key, {"cursor", "note"}));
}

// What an encoder would have written for what was read.
std::string written_again(const HeldRow& row) {
  std::string content;
  ByteWriter writer(content);
  writer.u8(kRowFormat);
  writer.bytes(row.entries);
  writer.bytes(row.note);
  writer.u8(static_cast<std::uint8_t>(row.role));
  writer.varint(static_cast<std::uint64_t>(row.partition.value()));
  writer.offset(row.offset);
  writer.time(row.timestamp);
  writer.varint(row.bytes);
  writer.u8(row.reference ? 1 : 0);
  writer.varint(row.record_bytes);
  if (row.reference) {
    writer.fixed64(row.hash);
  } else {
    writer.bytes(row.piece);
  }
  writer.raw(row.extensions);
  writer.finish();
  return content;
}

class Mutations {
 public:
  explicit Mutations(std::uint64_t seed) : random_(seed) {}
  std::size_t below(std::size_t limit) { return random_() % limit; }

  // Bytes changed, put in or taken out; most of them near the beginning, where the numbers are.
  std::string of(std::string content) {
    for (std::size_t count = 1 + below(3); count > 0; --count) {
      const std::size_t at = below(std::min<std::size_t>(content.size(), below(4) == 0 ? SIZE_MAX : 60));
      const char byte = below(2) == 0 ? static_cast<char>(below(4)) : static_cast<char>(below(256));
      switch (below(4)) {
        case 0:
          content.insert(at, 1, byte);
          break;
        case 1:
          if (content.size() > 2) content.erase(at, 1);
          break;
        case 2:
          content[at] = static_cast<char>(content[at] ^ (1 << below(8)));
          break;
        default:
          content[at] = byte;
      }
    }
    return content;
  }

 private:
  std::mt19937_64 random_;
};

// Entries are what was asked for or the row is refused; visiting them stays in their bytes.
void expect_entries_within_limits(std::string_view value) {
  each_index_entry(value, [](std::uint8_t index, std::string_view bytes) {
    EXPECT_LT(index, kIndexes);
    EXPECT_LE(bytes.size(), kMaxIndexEntryBytes);
  });
}

// With extensions of a later version it is read, and what stands before them is written again as it was.
void expect_written_again(const std::string& content, const std::string& again) {
  ASSERT_EQ(content.substr(0, again.size()), again);
  std::string rest = content.substr(again.size());
  ByteReader extensions(rest);
  (void)read_extensions(extensions);
  EXPECT_TRUE(extensions.ok());
}

TEST(ForgedHeldRow, OfRandomBytesWithAChecksumThatFitsIsRefusedOrWrittenAgainAsItWas) {
  Mutations random(11);
  std::size_t read = 0;
  std::size_t refused = 0;
  const std::vector<Held> samples = held_samples();
  for (int i = 0; i < 60'000 && !testing::Test::HasFailure(); ++i) {
    const Held& held = samples[random.below(samples.size())];
    const std::string content = random.of(content_of(held.rows.at(held.key)));
    Held forged = held;
    forged.rows.at(held.key) = sealed_again(held.key, content);
    const std::string& value = forged.rows.at(held.key);
    const auto decoded = decode_held(held.key, value);
    if (std::holds_alternative<RowError>(decoded)) {
      ++refused;
      continue;
    }
    ++read;
    const auto& row = std::get<HeldRow>(decoded);
    expect_entries_within_limits(value);
    EXPECT_EQ(written_again(row), content);
    if (row.reference) continue;
    Arena arena;
    const auto record = forged.record(arena);
    if (!record) continue;
    Hold hold;
    hold.key = held.key;
    each_index_entry(value, [&](std::uint8_t index, std::string_view bytes) {
      hold.entries.push_back({index, bytes});
    });
    hold.note = row.note;
    hold.bytes = row.bytes;
    const Held again(*record, hold);
    // A first piece that is shorter than it could be is one of a row that was written again.
    if (again.head().piece.size() != row.piece.size()) continue;
    for (const auto& [key, bytes] : again.rows) {
      SCOPED_TRACE(i);
      expect_written_again(content_of(forged.rows.at(key)), content_of(bytes));
    }
  }
  EXPECT_GT(read, 5000U);
  EXPECT_GT(refused, 5000U);
}

TEST(ForgedHeldRow, PieceOfRandomBytesWithAChecksumThatFitsIsRefusedOrWrittenAgainAsItWas) {
  Mutations random(12);
  std::size_t read = 0;
  const Held held(SampleRecord::request().payload(std::string(6000, 'x')).view());
  const std::string& key = held.keys.at(1);
  for (int i = 0; i < 30'000 && !testing::Test::HasFailure(); ++i) {
    const std::string content = random.of(content_of(held.rows.at(key)));
    Held forged = held;
    forged.rows.at(key) = sealed_again(key, content);
    const auto decoded = decode_piece(key, forged.rows.at(key));
    Arena arena;
    const auto record = forged.record(arena);
    const auto* piece = std::get_if<std::string_view>(&decoded);
    EXPECT_TRUE(piece != nullptr || !record);
    if (piece == nullptr) continue;
    ++read;
    std::string again;
    ByteWriter writer(again);
    writer.u8(kRowFormat);
    writer.bytes(*piece);
    writer.finish();
    expect_written_again(content, again);
  }
  EXPECT_GT(read, 1000U);
}

TEST(ForgedHeldRow, TaskOfRandomBytesWithAChecksumThatFitsIsRefusedOrWrittenAgainAsItWas) {
  Mutations random(13);
  std::size_t read = 0;
  const std::string key = task_key(3, "task-1");
  const std::string good = content_of(task_value(key, {"cursor", "note"}));
  for (int i = 0; i < 30'000 && !testing::Test::HasFailure(); ++i) {
    const std::string value = sealed_again(key, random.of(good));
    const auto decoded = decode_task(key, value);
    const auto* task = std::get_if<TaskRow>(&decoded);
    if (task == nullptr) continue;
    ++read;
    EXPECT_EQ(task_value(key, *task), value);
  }
  EXPECT_GT(read, 1000U);
}

TEST(ForgedHeldRow, ThatNobodyWouldWriteIsRefused) {
  const std::string key = Held::sample_key();
  const auto error_of_held = [&](std::string_view entries, std::uint8_t role, std::uint64_t partition,
                                 std::uint8_t form, std::string_view rest) {
    std::string content;
    ByteWriter writer(content);
    writer.u8(kRowFormat);
    writer.bytes(entries);
    writer.bytes("note");
    writer.u8(role);
    writer.varint(partition);
    writer.offset(Offset(5));
    writer.time(UnixMs(6));
    writer.varint(7);
    writer.u8(form);
    writer.raw(rest);
    writer.finish();
    const auto decoded = decode_held(key, sealed_again(key, content));
    const auto* error = std::get_if<RowError>(&decoded);
    return error == nullptr ? std::nullopt : std::optional(*error);
  };
  using namespace std::string_literals;
  const std::string body = "\x04\x04\x00\x00\x00\x00"s;
  const std::string entry = "\x7F\x01"s + "e";
  const std::optional<RowError> fine;
  EXPECT_EQ(error_of_held("", 0, 0, 0, body), fine);
  EXPECT_EQ(error_of_held(entry, 9, INT32_MAX, 0, body), fine);
  EXPECT_EQ(error_of_held(entry, 0, 0, 1, "\x05"s + "hash...."), fine);
  EXPECT_EQ(error_of_held("\x80\x01"s + "e", 0, 0, 0, body), RowError::kInvalid) << "no index has this number";
  EXPECT_EQ(error_of_held("\x01\x41"s + std::string(65, 'e'), 0, 0, 0, body), RowError::kInvalid);
  EXPECT_EQ(error_of_held("\x01\x02"s + "e", 0, 0, 0, body), RowError::kInvalid) << "an entry that is cut off";
  EXPECT_EQ(error_of_held("\x01", 0, 0, 0, body), RowError::kInvalid);
  EXPECT_EQ(error_of_held("", 10, 0, 0, body), RowError::kInvalid) << "a role that nobody knows";
  EXPECT_EQ(error_of_held("", 0, std::uint64_t{1} << 31U, 0, body), RowError::kInvalid);
  EXPECT_EQ(error_of_held("", 0, 0, 2, body), RowError::kInvalid) << "a form that nobody knows";
  EXPECT_EQ(error_of_held("", 0, 0, 0, "\x05"s + body.substr(1)), fine)
      << "a shorter first piece, as of a row written again";
  EXPECT_EQ(error_of_held("", 0, 0, 0, "\x03"s + body.substr(1)), RowError::kInvalid) << "a longer first piece";
  EXPECT_EQ(error_of_held("", 0, 0, 0, "\x81\x80\x80\x80\x08\x00"s), RowError::kInvalid) << "too long for a record";
  EXPECT_EQ(error_of_held("", 0, 0, 0, "\x80\x80\x80\x80\x08\x00"s), fine) << "the longest";
  EXPECT_EQ(error_of_held("", 0, 0, 1, "\x05"s + "hash..."), RowError::kTruncated);
  EXPECT_EQ(error_of_held("", 0, 0, 0, body + "\x03\x00"s), RowError::kUnknownMandatory);
  EXPECT_EQ(error_of_held("", 0, 0, 0, body + "\x02\x01!"s), fine) << "of a later version";
}

// With a checksum that fits the key: nothing but its type says that it is of another kind.
TEST(ForgedHeldRow, UnderTheKeyOfAnotherKindIsRefused) {
  const Held held(SampleRecord::request().payload(std::string(6000, 'x')).view());
  const std::string& piece = held.keys.at(1);
  const std::string task = task_key(3, "task-1");
  const std::string values[] = {content_of(held.rows.at(held.key)), content_of(held.rows.at(piece)),
                                content_of(task_value(task, {"cursor", "note"}))};
  const std::string keys[] = {held.key, piece, task};
  for (std::size_t value = 0; value < 3; ++value)
    for (std::size_t key = 0; key < 3; ++key) {
      const std::string sealed = sealed_again(keys[key], values[value]);
      const bool refused[] = {std::holds_alternative<RowError>(decode_held(keys[key], sealed)),
                              std::holds_alternative<RowError>(decode_piece(keys[key], sealed)),
                              std::holds_alternative<RowError>(decode_task(keys[key], sealed))};
      EXPECT_EQ(refused[value], value != key) << value << " under " << key;
    }
}

TEST(ForgedHeldRow, PieceOutsideItsLimitsIsRefused) {
  const std::string key = piece_key(Held::sample_key(), 1);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, kWholePieceBytes, kWholePieceBytes + 1}) {
    std::string content;
    ByteWriter writer(content);
    writer.u8(kRowFormat);
    writer.bytes(std::string(bytes, 'x'));
    writer.finish();
    EXPECT_EQ(is_refused(key, sealed_again(key, content)), bytes == 0 || bytes > kWholePieceBytes) << bytes;
  }
}

TEST(ForgedHeldRow, WhoseRecordIsNoneGivesNone) {
  using namespace std::string_literals;
  const auto record_of = [&](const std::string& bytes) {
    Held held(SampleRecord::request().view());
    HeldRow row = held.head();
    row.piece = bytes;
    row.record_bytes = bytes.size();
    held.rows.at(held.key) = sealed_again(held.key, written_again(row));
    EXPECT_FALSE(is_refused(held.key, held.rows.at(held.key)));
    Arena arena;
    return held.record(arena).has_value();
  };
  EXPECT_TRUE(record_of("\x00\x00\x00"s));
  EXPECT_TRUE(record_of("\x03\x01k\x00\x01\x01h\x01\x01vpayload"s));
  EXPECT_FALSE(record_of(""));
  EXPECT_FALSE(record_of("\x04\x00\x00"s)) << "a flag that nobody knows";
  EXPECT_FALSE(record_of("\x00\x00\x00x"s)) << "bytes of a payload that is null";
  EXPECT_FALSE(record_of("\x00\x80\x80\x80\x80\x10\x00"s)) << "more headers left out than there can be";
  EXPECT_FALSE(record_of("\x00\x00\x01\x01h"s)) << "a header that is cut off";
  EXPECT_FALSE(record_of("\x00\x00\x01\x01h\x02"s)) << "a flag of a header that nobody knows";
  EXPECT_FALSE(record_of("\x02\x00\x7Fpayload"s)) << "more headers than bytes";
}

}  // namespace
}  // namespace reseq::codec
