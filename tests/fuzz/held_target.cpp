// Rows of what waits. Any bytes as a first row, a piece or a task are refused, or read as a row whose encoding is these
// very bytes; a record that its pieces give is written as these very pieces. A record that was held comes back from its
// rows as it was, and from damaged ones not at all.
#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <vector>

#include "base/arena.h"
#include "base/assert.h"
#include "codec/held_rows.h"
#include "codec/keys.h"
#include "codec/task_row.h"
#include "pieces.h"
#include "row_checks.h"
#include "targets.h"

namespace reseq::fuzz {
namespace {

using Stored = std::map<std::string, std::string, std::less<>>;  // values by key

const std::string& sample_held_key() {
  static const std::string key = codec::held_key(1, "rank");
  return key;
}

std::vector<IndexEntry> entries_in(std::string_view value) {
  std::vector<IndexEntry> entries;
  codec::each_index_entry(value, [&](std::uint8_t index, std::string_view bytes) {
    RESEQ_ASSERT(index < kIndexes && bytes.size() <= kMaxIndexEntryBytes, "an entry outside its limits");
    entries.push_back({index, bytes});
  });
  return entries;
}

codec::FindRow finder(const Stored& rows) {
  return [&rows](std::string_view key) -> std::optional<std::string_view> {
    const auto found = rows.find(key);
    return found == rows.end() ? std::nullopt : std::optional<std::string_view>(found->second);
  };
}

Stored stored(const Hold& hold, const codec::InputRecord& record) {
  Arena arena;
  std::vector<KeyedChange> changes;
  codec::append_held(hold, record, codec::KeyedHash(HashKey()), arena, changes);
  Stored rows;
  for (const KeyedChange& change : changes) {
    RESEQ_ASSERT(change.value.has_value(), "a row without a value");
    RESEQ_ASSERT(rows.emplace(change.key, *change.value).second, "two rows under one key");
    if (change.value->size() <= codec::kHeldValueBytes) continue;
    const auto head = codec::decode_held(hold.key, *change.value);
    RESEQ_ASSERT(change.key == hold.key && std::get<codec::HeldRow>(head).piece.empty(), "a row longer than a page");
  }
  return rows;
}

// The bytes of the record that such rows hold.
std::string record_in(std::string_view key, const Stored& rows, std::uint32_t further_pieces) {
  const auto head = codec::decode_held(key, rows.find(key)->second);
  std::string bytes(std::get<codec::HeldRow>(head).piece);
  for (std::uint32_t number = 1; number <= further_pieces; ++number) {
    const std::string next = codec::piece_key(key, number);
    bytes += std::get<std::string_view>(codec::decode_piece(next, rows.find(next)->second));
  }
  return bytes;
}

// None: its rows do not give one.
std::optional<codec::InputRecord> record_of(std::string_view key, const Stored& rows, Arena& arena) {
  const auto value = finder(rows)(key);
  if (!value) return std::nullopt;
  const auto decoded = codec::decode_held(key, *value);
  const auto* held = std::get_if<codec::HeldRow>(&decoded);
  if (held == nullptr || held->reference) return std::nullopt;
  return codec::held_record(key, *held, finder(rows), arena);
}

// The record of any rows: if they give one, it is written as the bytes that it was read from.
void check_record(const std::string& key, const Stored& rows) {
  Arena arena;
  const auto record = record_of(key, rows, arena);
  if (!record) return;
  const std::string& value = rows.find(key)->second;
  const auto decoded = codec::decode_held(key, value);
  const auto& head = std::get<codec::HeldRow>(decoded);
  RESEQ_ASSERT(record->role == head.role && record->partition == head.partition && record->offset == head.offset &&
                   record->timestamp == head.timestamp,
               "a record from elsewhere");
  RESEQ_ASSERT(codec::held_bytes(*record) == head.record_bytes, "a record of another length");
  Hold hold;
  hold.key = key;
  hold.entries = entries_in(value);
  hold.note = head.note;
  const Stored again = stored(hold, *record);
  RESEQ_ASSERT(
      record_in(key, rows, head.further_pieces) == record_in(key, again, static_cast<std::uint32_t>(again.size() - 1)),
      "a record with two encodings");
}

// Half of them with a right checksum, because no fuzzer guesses one.
std::string value_of(std::string_view key, std::string value, bool sealed) {
  if (sealed) seal(key, "", value);
  return value;
}

// Any bytes as the first row of a record, and some as pieces.
void fuzz_first(Pieces& pieces, bool sealed, const std::string& key) {
  Stored rows;
  for (auto count = static_cast<std::uint32_t>(pieces.below(3)); count > 0 && !key.empty(); --count) {
    const std::string next = codec::piece_key(key, count);
    std::string content;
    codec::ByteWriter writer(content);
    writer.u8(codec::kRowFormat);
    writer.bytes(pieces.text());
    writer.finish();
    rows[next] = value_of(next, content, true);
  }
  std::string& value = rows[key];
  value = value_of(key, std::string(pieces.rest()), sealed);
  const auto encode = [&](std::string_view of, const codec::HeldRow& held, std::string& out) {
    Arena arena;
    out = codec::held_again(of, held, entries_in(value), held.note, arena).value.value();
  };
  check_row_of<codec::HeldRow>(key, value, codec::decode_held, encode);
  check_record(key, rows);
}

void fuzz_piece(Pieces& pieces, bool sealed, const std::string& key) {
  const std::string value = value_of(key, std::string(pieces.rest()), sealed);
  const auto decoded = codec::decode_piece(key, value);
  const auto* piece = std::get_if<std::string_view>(&decoded);
  if (piece == nullptr) return;
  RESEQ_ASSERT(codec::is_intact(key, value), "a piece that was read although it is damaged");
  RESEQ_ASSERT(codec::parse_key(key)->type == codec::KeyType::kPiece, "a piece under the key of something else");
  RESEQ_ASSERT(!piece->empty() && piece->size() < codec::kHeldValueBytes, "a piece outside its limits");
  std::string content;
  codec::ByteWriter writer(content);
  writer.u8(codec::kRowFormat);
  writer.bytes(*piece);
  writer.finish();
  RESEQ_ASSERT(value.starts_with(content), "a piece with two encodings");
}

void check_same(const codec::InputRecord& a, const codec::InputRecord& b) {
  const auto is_same = [](const Header& x, const Header& y) { return x.name == y.name && x.value == y.value; };
  RESEQ_ASSERT(a.role == b.role && a.partition == b.partition && a.offset == b.offset && a.timestamp == b.timestamp &&
                   a.key == b.key && a.payload == b.payload && a.headers_left_out == b.headers_left_out &&
                   std::equal(a.headers.begin(), a.headers.end(), b.headers.begin(), b.headers.end(), is_same),
               "another record than the one that was held");
}

void damage(Pieces& pieces, Stored& rows) {
  const auto one = [&] { return std::next(rows.begin(), static_cast<std::ptrdiff_t>(pieces.below(rows.size()))); };
  const auto row = one();
  std::string& value = row->second;
  switch (pieces.below(4)) {
    case 0:
      rows.erase(row);
      return;
    case 1:
      value.resize(pieces.number() % value.size());
      return;
    case 2:
      value[pieces.number() % value.size()] ^= static_cast<char>(1U << pieces.below(8));
      return;
    default:
      std::swap(value, one()->second);
  }
}

// A record that is held: it comes back, also when its first row was written again; from damaged rows it comes back or
// not at all.
void fuzz_held_and_damaged(Pieces& pieces) {
  std::vector<std::string> texts(8);
  for (std::string& text : texts) text = pieces.text();
  const auto maybe = [&](const std::string& text) {
    return pieces.flag() ? std::optional<std::string_view>(text) : std::nullopt;
  };
  const std::vector<Header> headers = {{texts[0], maybe(texts[1])}, {texts[2], maybe(texts[3])}};
  codec::InputRecord record;
  record.role = static_cast<Role>(pieces.below(10));
  record.partition = Partition(pieces.byte());
  // The highest is none of a record: the next one would have no offset.
  record.offset = Offset(static_cast<std::int64_t>(pieces.number() % INT64_MAX));
  record.timestamp = UnixMs(static_cast<std::int64_t>(pieces.number()));
  record.key = maybe(texts[4]);
  record.payload = maybe(texts[5]);
  record.headers = std::span(headers).first(pieces.below(3));
  if (record.headers.empty()) record.headers_left_out = static_cast<std::uint32_t>(pieces.number());
  const std::string entry = texts[7].substr(0, kMaxIndexEntryBytes);
  Hold hold;
  hold.key = sample_held_key();
  hold.entries.resize(pieces.below(3), {static_cast<std::uint8_t>(pieces.below(kIndexes)), entry});
  hold.note = texts[6];

  Stored rows = stored(hold, record);
  Arena arena;
  const auto read = record_of(hold.key, rows, arena);
  RESEQ_ASSERT(read.has_value(), "a record that does not come back");
  check_same(*read, record);
  if (pieces.flag()) {
    std::string& first = rows.find(hold.key)->second;
    const auto decoded = codec::decode_held(hold.key, first);
    first = codec::held_again(hold.key, std::get<codec::HeldRow>(decoded), {}, texts[7], arena).value.value();
    const auto again = record_of(hold.key, rows, arena);
    RESEQ_ASSERT(again.has_value(), "a record that does not come back after its first row was written again");
    check_same(*again, record);
  }
  damage(pieces, rows);
  if (const auto left = record_of(hold.key, rows, arena)) check_same(*left, record);
}

}  // namespace

void fuzz_held(std::string_view input) {
  Pieces pieces(input);
  const std::uint8_t choice = pieces.byte();
  const bool sealed = (choice & 4U) == 0;
  const std::string key = (choice & 8U) != 0 ? pieces.text() : std::string();
  switch (choice & 3U) {
    case 0:
      return fuzz_first(pieces, sealed, key.empty() ? sample_held_key() : key);
    case 1:
      return fuzz_piece(pieces, sealed, key.empty() ? codec::piece_key(sample_held_key(), 1) : key);
    case 2: {
      const std::string task = key.empty() ? codec::task_key(1, "rank") : key;
      return check_row_of<codec::TaskRow>(task, value_of(task, std::string(pieces.rest()), sealed), codec::decode_task,
                                          codec::encode_task);
    }
    default:
      return fuzz_held_and_damaged(pieces);
  }
}

}  // namespace reseq::fuzz
