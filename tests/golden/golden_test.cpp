// The bytes of keys, rows and hashes are a promise: what an older version wrote must be read by every later one. Each
// file here pins one encoding, with a comment on every part. A test that fails here asks for a new format number, never
// for a new file.
#include <gtest/gtest.h>

#include "codec/hash.h"
#include "codec/held_rows.h"
#include "codec/keys.h"
#include "codec/place_row.h"
#include "codec/rows.h"
#include "codec/sequence_text.h"
#include "codec/task_row.h"
#include "hex_file.h"

namespace reseq::golden {
namespace {

using codec::Decoded;

HashKey hash_key() {
  HashKey key;
  for (std::size_t i = 0; i < key.bytes.size(); ++i) key.bytes[i] = static_cast<std::uint8_t>(i);
  return key;
}

std::string key_of(DocumentId id) {
  std::string key;
  codec::append_document_key(id, codec::KeyedHash(hash_key()), key);
  return key;
}

Sequence number(std::string_view text) {
  return *codec::parse_sequence(SequenceKind::kU64, text);
}

void expect_bytes(const std::string& file, const std::string& section, std::string_view actual) {
  EXPECT_EQ(hex(actual), hex(read_hex_file(file)[section])) << file << " [" << section << "]";
}

void expect_row(const std::string& file, const std::string& id, const Row& row) {
  expect_bytes(file, "key", key_of(id));
  std::string value;
  codec::encode_row(key_of(id), id, row, value);
  expect_bytes(file, "value", value);
  const auto decoded = codec::decode_row(key_of(id), read_hex_file(file)["value"]);
  ASSERT_TRUE(std::holds_alternative<codec::DocumentRow>(decoded)) << file;
  EXPECT_EQ(std::get<codec::DocumentRow>(decoded).id, id);
  EXPECT_EQ(std::get<codec::DocumentRow>(decoded).row, row);
}

template <typename Value, typename Encode, typename Decode>
void expect_single(const std::string& file, std::string_view key, const Value& value, Encode encode, Decode decode) {
  expect_bytes(file, "key", key);
  std::string bytes;
  encode(key, value, bytes);
  expect_bytes(file, "value", bytes);
  const std::string pinned = read_hex_file(file)["value"];
  const Decoded<Value> decoded = decode(key, pinned);
  ASSERT_TRUE(std::holds_alternative<Value>(decoded)) << file;
  EXPECT_EQ(std::get<Value>(decoded), value);
}

Row minimal() {
  Row row;
  row.groups.push_back({{Epoch(), number("7"), Revision()}, false, TargetSet(1), TargetSet(), TargetSet()});
  return row;
}

TEST(Golden, Keys) {
  expect_bytes("keys", "raw: doc-1", key_of("doc-1"));
  expect_bytes("keys", "escaped: a NUL b NUL", key_of(std::string("a\0b\0", 4)));
  expect_bytes("keys", "hashed: 600 times x", key_of(std::string(600, 'x')));
  expect_bytes("keys", "hashed: 4096 times y", key_of(std::string(4096, 'y')));
}

TEST(Golden, Hashes) {
  const codec::KeyedHash hash(hash_key());
  const auto big_endian = [](std::uint64_t high, std::uint64_t low) {
    std::string bytes;
    for (const std::uint64_t half : {high, low})
      for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(half >> shift));
    return bytes;
  };
  const auto digest = [&](Digest value) { return big_endian(value.high, value.low); };
  expect_bytes("hashes", "keyed: nothing", digest(hash("")));
  expect_bytes("hashes", "keyed: doc-1", digest(hash("doc-1")));
  expect_bytes("hashes", "keyed: 600 times x", digest(hash(std::string(600, 'x'))));
  expect_bytes("hashes", "record: key doc-1, value v", digest(hash.of_record("doc-1", "v")));
  const auto payload = [&](Op op, std::optional<std::string_view> bytes) {
    return big_endian(0, codec::payload_hash(op, bytes).value()).substr(8);
  };
  expect_bytes("hashes", "payload: upsert payload", payload(Op::kUpsert, "payload"));
  expect_bytes("hashes", "payload: upsert null", payload(Op::kUpsert, std::nullopt));
  expect_bytes("hashes", "payload: delete empty", payload(Op::kDelete, ""));
  expect_bytes("hashes", "payload: delete null", payload(Op::kDelete, std::nullopt));
}

TEST(Golden, WhatARequestAsksFor) {
  const codec::KeyedHash hash(hash_key());
  const std::vector<Header> headers = {{"tenant", "first is not last"}, {"tenant", "a"}, {"empty", std::nullopt}};
  const std::vector<std::string> names = {"tenant", "empty", "absent"};
  const auto content = [&](Op op, std::optional<std::string_view> payload, std::span<const std::string> counts) {
    const Digest digest = codec::content_hash(hash, op, payload, headers, counts);
    std::string bytes;
    for (const std::uint64_t half : {digest.high, digest.low})
      for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(half >> shift));
    return bytes;
  };
  expect_bytes("hashes", "content: upsert payload", content(Op::kUpsert, "payload", {}));
  expect_bytes("hashes", "content: delete null with headers", content(Op::kDelete, std::nullopt, names));
}

TEST(Golden, RowMinimal) {
  expect_row("row-minimal", "doc-1", minimal());
}

TEST(Golden, RowWatermark) {
  Row row;
  row.groups.push_back({{Epoch(), number("17"), Revision()}, true, TargetSet(), TargetSet(3), TargetSet()});
  row.last_version = Version(std::uint64_t{1'709'164'800'000} << 16);
  row.deadline = UnixMs(1'709'769'600'000);
  row.requested = Requested{row.groups[0].order, Offset(1'000'000), PayloadHash(0x0123456789ABCDEF), TargetSet(3)};
  expect_row("row-watermark", "products/4711", row);
}

TEST(Golden, RowAllParts) {
  Row row;
  row.barrier = Order{Epoch(1), number("5"), Revision()};
  row.groups.push_back({{Epoch(2), Sequence("2024-b"), Revision(3)}, true, TargetSet(1), TargetSet(2), TargetSet(4)});
  row.groups.push_back({{Epoch(2), Sequence("2024-a"), Revision()}, false, TargetSet(), TargetSet(9), TargetSet()});
  row.groups.push_back(
      {{Epoch(1), Sequence("2023"), Revision()}, true, TargetSet(std::uint64_t{1} << 63), TargetSet(), TargetSet(16)});
  row.since.push_back({TargetSet(1), UnixMs(1'709'164'800'000)});
  row.since.push_back({TargetSet(std::uint64_t{1} << 63), UnixMs(1'709'164'700'000)});
  row.last_version = Version(std::uint64_t{1'709'164'800'000} << 16 | 5);
  row.deadline = UnixMs(1'709'164'860'000);
  row.overdue = true;
  row.requested = Requested{
      {Epoch(2), Sequence("2024-a"), Revision()}, Offset(300), PayloadHash(0xFEDCBA9876543210), TargetSet(17)};
  expect_row("row-all-parts", std::string("a\0b", 3), row);
}

TEST(Golden, RowOfAHashedId) {
  expect_row("row-hashed-id", std::string(600, 'x'), minimal());
}

TEST(Golden, RowWithExtensions) {
  Row row = minimal();
  row.extensions = std::string(
      "\x02\x03"
      "abc"
      "\x80\x01\x00",
      8);
  expect_row("row-extensions", "doc-1", row);
}

TEST(Golden, RowWithDeletions) {
  Row row;
  row.groups.push_back({{Epoch(), number("17"), Revision()}, true, TargetSet(), TargetSet(3), TargetSet()});
  row.last_version = Version(std::uint64_t{1'709'164'800'000} << 16);
  row.deletions.push_back({TargetNumber(1), row.groups[0].order, UnixMs(1'709'164'799'000)});
  row.deletions.push_back({TargetNumber(0), row.groups[0].order, UnixMs(1'709'164'800'000)});
  row.extensions = std::string("\x02\x01?", 3);
  expect_row("row-deletions", "doc-1", row);
}

TEST(Golden, RowWithReleasesMeanwhile) {
  Row row = minimal();
  row.groups[0].pending = TargetSet(7);
  row.since.push_back({TargetSet(7), UnixMs(1'709'164'700'000)});
  row.meanwhile.push_back({TargetSet(5), UnixMs(1'709'164'799'000)});
  row.meanwhile.push_back({TargetSet(2), UnixMs(1'709'164'800'000)});
  row.extensions = std::string("\x02\x01?", 3);
  expect_row("row-meanwhile", "doc-1", row);
}

TEST(Golden, RowWithAWaitThatWasOvertaken) {
  Row row = minimal();
  row.groups[0].pending = TargetSet(7);
  row.since.push_back({TargetSet(7), UnixMs(1'709'164'700'000)});
  row.overtaken.push_back({TargetSet(3), {Epoch(), number("11"), Revision()}, UnixMs(1'709'164'700'000)});
  row.overtaken.push_back({TargetSet(4), {Epoch(2), number("9"), Revision(1)}, UnixMs(1'709'164'700'000)});
  row.extensions = std::string("\x02\x01?\x0a\x01!", 6);
  expect_row("row-overtaken", "doc-1", row);
}

TEST(Golden, RowWithWorkThatFailed) {
  Row row = minimal();
  row.groups[0].pending = TargetSet(1);
  row.groups[0].removed = TargetSet(2);
  const Order order = row.groups[0].order;
  row.failures.push_back({TargetSet(1), order, 300, 2, 1, false, false, UnixMs(1'709'164'700'000), "down"});
  row.failures.push_back({TargetSet(2), order, 1, 0, 0, true, false, UnixMs(1'709'164'800'000), ""});
  expect_row("row-failures", "doc-1", row);
}

TEST(Golden, RowThatSaysWhatItsRequestAsksFor) {
  Row row = minimal();
  row.requested = Requested{row.groups[0].order, Offset(1'000'000), PayloadHash(0x0123456789ABCDEF), TargetSet(1),
                            Digest{0x1122334455667788, 0x99AABBCCDDEEFF00}};
  row.extensions = std::string("\x0a\x01!", 3);
  expect_row("row-content", "doc-1", row);
}

JournalEntry waiting(std::string_view sequence) {
  JournalEntry entry;
  entry.order = {Epoch(), number(sequence), Revision()};
  entry.targets = TargetSet(3);
  entry.number = 7;
  entry.urgency.inserted = entry.urgency.process_at = UnixMs(1'709'164'800'000);
  entry.request = {Offset(1'000'000), UnixMs(1'709'164'799'000), 0x0123456789ABCDEF, 300, 400};
  return entry;
}

TEST(Golden, RowThatOnlyWaits) {
  Row row;
  row.journal.push_back(waiting("17"));
  expect_row("row-waiting", "doc-1", row);
}

TEST(Golden, RowThatIsConsolidated) {
  Row row;
  row.journal.push_back(waiting("17"));
  row.journal.begin()->urgency.consolidate_until = UnixMs(1'709'164'800'500);
  expect_row("row-consolidated", "doc-1", row);
}

TEST(Golden, RowWithAJournal) {
  Row row = minimal();
  row.groups[0].pending = TargetSet(7);
  row.groups[0].requested = true;
  row.requested = Requested{{Epoch(), number("18"), Revision()}, Offset(1'000'001), PayloadHash(7), TargetSet(3)};
  JournalEntry again = waiting("7");
  again.targets = TargetSet(1);
  again.attempt = 1;
  again.losses = 1;
  again.retry_at = UnixMs(1'709'164'801'000);
  row.journal.push_back(again);
  JournalEntry newer = waiting("18");
  newer.number = 8;
  newer.urgency = {5, UnixMs(1'709'164'800'000), UnixMs(1'709'164'860'000), UnixMs(1'709'164'900'000), UnixMs()};
  row.journal.push_back(newer);
  JournalEntry under_way = waiting("7");
  under_way.state = EntryState::kProcessing;
  under_way.op = Op::kDelete;
  under_way.targets = TargetSet(6);
  under_way.number = 300;
  under_way.attempt = 2;
  under_way.timeouts = 1;
  under_way.lease_until = UnixMs(1'709'168'400'000);
  under_way.dispatched_at = UnixMs(1'709'164'800'000);
  row.journal.push_back(under_way);
  JournalEntry gone;
  gone.order = {Epoch(), number("9"), Revision()};
  gone.state = EntryState::kGone;
  gone.op = Op::kDelete;
  gone.for_all = true;
  row.journal.push_back(gone);
  row.extensions = std::string("\x02\x01?\x0a\x01!", 6);
  expect_row("row-journal", "doc-1", row);
}

TEST(Golden, Meta) {
  Meta meta;
  meta.state.clock = Version(std::uint64_t{1'709'164'800'000} << 16);
  meta.state.last = Version(meta.state.clock.value() + 2);
  meta.state.floors = {Version(1000), {{TargetNumber(0), Version(2000)}, {TargetNumber(63), Version(1)}}};
  meta.state.default_epoch = Epoch(3);
  meta.positions = {{Role::kRequests, Offset(128)}, {Role::kCommands, Offset(64)}, {Role::kControl, Offset(0)}};
  meta.ranges = {{Role::kRequests, Offset(100), Offset(127)}, {Role::kCommands, Offset(64), Offset(64)}};
  meta.now = UnixMs(1'709'164'800'000);
  meta.lineage = {{1, Offset(0)}, {2, Offset(200)}};
  meta.summary.digest = {0x0123456789ABCDEF, 0xFEDCBA9876543210};
  meta.summary.counts[Count::kLiveRows] = 300;
  meta.summary.counts[Count::kWatermarks] = 5;
  meta.sweep_cursor = "D";
  meta.swept_from = "C";
  meta.swept_to = "DD";
  meta.config_hash = 0x1122334455667788;
  expect_single("meta", codec::meta_key(), meta, codec::encode_meta, codec::decode_meta);
}

TEST(Golden, MetaWithPinsOfAPausedPartition) {
  Meta meta;
  meta.state.paused = true;
  meta.positions = {{Role::kRequests, Offset(128)}, {Role::kControl, Offset(0)}, {Role::kCommands, Offset(66)}};
  meta.pins = {{Role::kRequests, Offset(127), UnixMs(1'709'164'800'000), 0x0123456789ABCDEF},
               {Role::kCommands, Offset(64), UnixMs(-1), 7}};
  meta.extensions = std::string("\x0c\x01?", 3);
  expect_single("meta-pins", codec::meta_key(), meta, codec::encode_meta, codec::decode_meta);
}

TEST(Golden, MetaWithAllExtensions) {
  Meta meta;
  meta.state.paused = true;
  meta.pins = {{Role::kRequests, Offset(127), UnixMs(1'709'164'800'000), 0x0123456789ABCDEF}};
  meta.capabilities = 129;
  meta.summary.counts[Count::kHeldRecords] = 2;
  meta.summary.counts[Count::kHeldPieces] = 300;
  meta.summary.counts[Count::kHeldBytes] = 1'000'000;
  meta.summary.counts[Count::kTasks] = 1;
  meta.agenda = {{1, UnixMs(1'709'164'800'000), 300}, {3, UnixMs(0), 1}};
  meta.extensions = std::string("\x0c\x01?", 3);
  expect_single("meta-extensions", codec::meta_key(), meta, codec::encode_meta, codec::decode_meta);
}

TEST(Golden, MetaOfAJournal) {
  Meta meta;
  meta.capabilities = 2;
  meta.summary.counts[Count::kLiveRows] = 2;
  meta.summary.counts[Count::kWaiting] = 2;
  meta.summary.counts[Count::kProcessing] = 1;
  meta.state.journal_number = 300;
  meta.state.journal_answered = 5;
  meta.summary.priorities = {{5, 1, 0}, {100, 1, 1}};
  meta.extensions = std::string("\x0c\x01?", 3);
  expect_single("meta-journal", codec::meta_key(), meta, codec::encode_meta, codec::decode_meta);
}

TEST(Golden, MetaWithBreakers) {
  Breaker counting;
  counting.target = TargetNumber(1);
  counting.counted = {0x0123456789ABCDEF};
  counting.error = "no";
  Breaker open;
  open.target = TargetNumber(2);
  open.open = true;
  open.until_resume = true;
  open.opened_at = UnixMs(7);
  open.changed_behind = 300;
  open.probe = 301;
  open.probe_at = UnixMs(5'007);
  open.pause = Milliseconds(5'000);
  Meta meta;
  meta.state.breakers = {counting, open};
  expect_single("meta-breakers", codec::meta_key(), meta, codec::encode_meta, codec::decode_meta);
}

// A record with headers, of which the payload has so many bytes; where it is found, and a note.
void expect_held(const std::string& file, std::size_t payload_bytes, bool reference) {
  const std::string payload(payload_bytes, 'x');
  const std::vector<Header> headers = {{"reseq-seq", "7"}, {"trace", std::nullopt}};
  codec::InputRecord record{.role = Role::kRequests,
                            .partition = Partition(2),
                            .offset = Offset(127),
                            .timestamp = UnixMs(1'709'164'800'000),
                            .key = "doc-1",
                            .payload = payload,
                            .headers = headers,
                            .said = {},
                            .headers_left_out = 0};
  const std::string key = codec::held_key(1, "rank-1");
  Hold hold;
  hold.key = key;
  hold.entries = {{0, "due"}, {127, "doc-1"}};
  hold.note = "why";
  hold.bytes = 300;
  hold.reference = reference;
  Arena arena;
  std::vector<KeyedChange> rows;
  codec::append_held(hold, record, codec::KeyedHash(hash_key()), arena, rows);
  auto pinned = read_hex_file(file);
  ASSERT_EQ(rows.size() * 2, pinned.size());
  const std::vector<std::string> prefixes = {"", "piece "};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    expect_bytes(file, prefixes.at(i) + "key", rows[i].key);
    expect_bytes(file, prefixes.at(i) + "value", rows[i].value.value_or(""));
  }
  const auto decoded = codec::decode_held(pinned["key"], pinned["value"]);
  ASSERT_TRUE(std::holds_alternative<codec::HeldRow>(decoded)) << file;
  const auto& row = std::get<codec::HeldRow>(decoded);
  EXPECT_EQ(row.note, "why");
  EXPECT_EQ(row.offset, Offset(127));
  EXPECT_EQ(row.reference, reference);
  if (reference) return;
  const auto find = [&](std::string_view wanted) {
    return wanted == pinned["piece key"] ? std::optional<std::string_view>(pinned["piece value"]) : std::nullopt;
  };
  const auto read = codec::held_record(pinned["key"], row, find, arena);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->key, "doc-1");
  EXPECT_EQ(read->payload, payload);
  EXPECT_EQ(read->headers.size(), 2U);
}

TEST(Golden, HeldRecord) {
  expect_held("held", 7, false);
}

TEST(Golden, HeldRecordWithAPiece) {
  expect_held("held-piece", 4040, false);
}

TEST(Golden, HeldReference) {
  expect_held("held-reference", 7, true);
}

TEST(Golden, Task) {
  expect_single("task", codec::task_key(1, "rank-1"), codec::TaskRow{"D", "why"}, codec::encode_task,
                codec::decode_task);
}

TEST(Golden, Targets) {
  expect_single("targets", codec::target_table_key(), TargetTable({"search", "catalogue"}), codec::encode_targets,
                codec::decode_targets);
}

TEST(Golden, OrderedTargets) {
  const OrderedTargets ordered{TargetSet(2), TargetSet(4)};
  expect_single("targets-ordered", codec::target_table_key(), TargetTable({"search", "history", "audit"}, {}, ordered),
                codec::encode_targets, codec::decode_targets);
}

TEST(Golden, DocumentWithLanes) {
  Row row;
  row.requested = Requested{{Epoch(), number("7"), Revision()}, Offset(1'000'000), PayloadHash(7), TargetSet(6)};
  row.lanes.push_back({TargetNumber(1), 300, 2, {Epoch(), number("5"), Revision()}});
  row.lanes.push_back({TargetNumber(2), 300, 1, {Epoch(), number("7"), Revision()}});
  expect_row("row-lanes", "doc-1", row);
}

TEST(Golden, MetaOfLanes) {
  Meta meta;
  meta.capabilities = 8;
  meta.summary.counts[Count::kPlaces] = 3;
  meta.state.lane_number = 303;
  expect_single("meta-lanes", codec::meta_key(), meta, codec::encode_meta, codec::decode_meta);
}

TEST(Golden, MetaOfResultsThatAreHeld) {
  Meta meta;
  meta.capabilities = 8;
  meta.summary.counts[Count::kHeldRecords] = 2;
  meta.summary.counts[Count::kHeldBytes] = 1'000;
  meta.summary.counts[Count::kPlaces] = 3;
  meta.summary.counts[Count::kResultBytes] = 300;
  expect_single("meta-results", codec::meta_key(), meta, codec::encode_meta, codec::decode_meta);
}

codec::PlaceRow place(std::string_view sequence) {
  codec::PlaceRow place;
  place.target = TargetNumber(1);
  place.order = {Epoch(), number(sequence), Revision()};
  place.id = "doc-1";
  place.number = 301;
  place.request = Offset(1'000'000);
  place.bytes = 400;
  place.dispatched_at = UnixMs(1'709'164'800'000);
  return place;
}

void expect_place(const std::string& file, const codec::PlaceRow& place) {
  const std::string key = codec::place_key(3, codec::place_rank(place.target, 300, place.order));
  expect_single(file, key, place, codec::encode_place, codec::decode_place);
}

TEST(Golden, PlaceThatWaits) {
  codec::PlaceRow head = place("5");
  head.due = UnixMs(1'709'165'400'000);
  expect_place("place", head);
}

TEST(Golden, PlaceThatEndedWithoutAResult) {
  codec::PlaceRow ended = place("7");
  ended.ended = true;
  ended.total = true;
  ended.order.epoch = Epoch(2);
  ended.order.revision = Revision(1);
  ended.due = UnixMs();
  ended.reason = "failed";
  ended.attempts = 20;
  expect_place("place-ended", ended);
}

// Of results that are held, behind their record.
TEST(Golden, NoteOfAResult) {
  EXPECT_EQ(codec::encode_result_note({}), "");
  EXPECT_EQ(codec::encode_result_note({Op::kDelete, {}}), "\x01");
  const std::string observed("\x03\xe8\x03\0\0\0\0\0\0", 9);
  EXPECT_EQ(codec::encode_result_note({Op::kDelete, Version(1000)}), observed);
  EXPECT_EQ(codec::decode_result_note(observed), (codec::ResultNote{Op::kDelete, Version(1000)}));
}

TEST(Golden, IdentityRow) {
  const Identity identity{
      "shop", "kraft-1", 12, SequenceKind::kLsn, Partitioner::kCrc32, hash_key(), UnixMs(1'709'164'800'000), ""};
  expect_single("identity", codec::identity_key(), identity, codec::encode_identity, codec::decode_identity);
}

}  // namespace
}  // namespace reseq::golden
