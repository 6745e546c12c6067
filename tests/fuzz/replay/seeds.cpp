#include "seeds.h"

#include <map>

#include "base/arena.h"
#include "codec/held_rows.h"
#include "codec/keys.h"
#include "codec/row_frame.h"
#include "codec/rows.h"
#include "codec/sequence_text.h"
#include "config/print.h"
#include "config/settings.h"
#include "store/checkpoint_record.h"
#include "store/index_key.h"
#include "store/timer.h"
#include "tests/fuzz/fuzzed_record.h"

namespace reseq::fuzz {
namespace {

using Seeds = std::vector<Seed>;

std::string postponed() {
  return write_record(Role::kControl, SequenceKind::kU64,
                      {{"reseq-control", "dispatch-postpone"},
                       {"reseq-control-id", "r1"},
                       {"reseq-control-partition", "0"},
                       {"reseq-process-at", "1709164860000"}});
}

Seeds records() {
  const auto command = [](SequenceKind kind, std::string_view name, std::string_view seq) {
    return write_record(
        Role::kCommands, kind,
        {{"reseq-command", name}, {"reseq-seq", seq}, {"reseq-epoch", "0"}, {"reseq-target", "search"}});
  };
  return {
      {"request", write_record(Role::kRequests, SequenceKind::kU64, {{"reseq-seq", "7"}, {"traceparent", "00-1"}})},
      {"request-targets",
       write_record(Role::kRequests, SequenceKind::kLsn,
                    {{"reseq-seq", "16/B374D848"}, {"reseq-targets", "search,catalogue"}, {"reseq-op", "delete"}})},
      {"reprocess", write_record(Role::kRequests, SequenceKind::kTimestamp,
                                 {{"reseq-seq", "2024-02-29T12:00:00.5Z"}, {"reseq-reprocess", "true"}})},
      {"reset", write_record(Role::kRequests, SequenceKind::kU64,
                             {{"reseq-control", "reset"},
                              {"reseq-control-id", "r1"},
                              {"reseq-control-partition", "0"},
                              {"reseq-epoch", "2"}})},
      {"sequence", command(SequenceKind::kU64, "sequence", "17")},
      {"unregister", command(SequenceKind::kText, "unregister", "2024-a")},
      {"register", command(SequenceKind::kTimestamp, "register", "-1709164800000000000")},
      {"control", write_record(Role::kControl, SequenceKind::kU64, {{"reseq-control", "floor"}})},
      {"postpone", postponed()},
      {"forged", write_record(Role::kRequests, SequenceKind::kU64,
                              {{"reseq-seq", "7"},
                               {"reseq-seq", "x"},
                               {"reseq-version", "99"},
                               {"reseq-reason", "stale"},
                               {"reseq-key-omitted", "5"}})},
      {"wish", write_record(Role::kRequests, SequenceKind::kU64,
                            {{"reseq-seq", "7"},
                             {"reseq-priority", "255"},
                             {"reseq-process-at", "2024-02-29T12:00:00.5+01:00"},
                             {"reseq-expires-at", "1709251200000"}},
                            true)},
      {"wish-at-once",
       write_record(Role::kRequests, SequenceKind::kU64, {{"reseq-seq", "7"}, {"reseq-priority", "0"}})},
      {"attempt", write_record(Role::kCommands, SequenceKind::kU64,
                               {{"reseq-command", "sequence"},
                                {"reseq-seq", "7"},
                                {"reseq-target", "search"},
                                {"reseq-attempt", "2"},
                                {"reseq-lease-until", "1709251200000"},
                                {"reseq-priority", "copied"}},
                               true)},
      {"heartbeat",
       write_record(Role::kCommands, SequenceKind::kU64,
                    {{"reseq-command", "heartbeat"}, {"reseq-seq", "7"}, {"reseq-attempt", "4294967295"}}, true)},
      {"observed", write_record(Role::kCommands, SequenceKind::kU64,
                                {{"reseq-command", "sequence"},
                                 {"reseq-seq", "7"},
                                 {"reseq-target", "catalogue"},
                                 {"reseq-observed-version", "117653908421017601"},
                                 {"reseq-revision", "1"},
                                 {"reseq-id", "doc-1"}})},
  };
}

Seeds with_first(std::string_view bytes, const Seeds& seeds) {
  Seeds out;
  for (const Seed& seed : seeds) out.push_back({seed.name, std::string(bytes) + seed.input});
  return out;
}

Row full_row() {
  Row row;
  row.barrier = Order{Epoch(1), Sequence("5"), Revision()};
  row.groups.push_back({{Epoch(2), Sequence("2024-b"), Revision(3)}, true, TargetSet(1), TargetSet(2), TargetSet(4)});
  row.groups.push_back({{Epoch(1), Sequence("2024-a"), Revision()}, false, TargetSet(), TargetSet(9), TargetSet()});
  row.since.push_back({TargetSet(1), UnixMs(1'709'164'800'000)});
  row.last_version = Version(std::uint64_t{1'709'164'800'000} << 16 | 5);
  row.deadline = UnixMs(1'709'164'860'000);
  row.requested = Requested{row.groups[1].order, Offset(300), PayloadHash(0xFEDCBA9876543210), TargetSet(17),
                            Digest{0x1122334455667788, 0x99AABBCCDDEEFF00}};
  row.deletions.push_back({TargetNumber(3), row.groups[1].order, UnixMs(1'709'164'700'000)});
  row.meanwhile.push_back({TargetSet(8), UnixMs(1'709'164'700'000)});
  row.overtaken.push_back({TargetSet(8), row.groups[1].order, UnixMs(1'709'164'600'000)});
  row.extensions = std::string("\x02\x01?", 3);
  return row;
}

// Two orders wait, one of them again, one is under way, one is gone; or only the first waits.
Row row_with_journal(bool nothing_else) {
  JournalEntry entry;
  entry.order = {Epoch(2), Sequence("2024-c"), Revision()};
  entry.targets = TargetSet(3);
  entry.number = 7;
  entry.urgency = {5, UnixMs(1'709'164'800'000), UnixMs(1'709'164'860'000), UnixMs(1'709'164'900'000), UnixMs()};
  entry.request = {Offset(300), UnixMs(1'709'164'799'000), 0xFEDCBA9876543210, 300, 400};
  Row row;
  if (!nothing_else) {
    row = full_row();
    JournalEntry again = entry;
    again.order = row.groups[0].order;
    again.targets = TargetSet(1);
    again.attempt = 1;
    again.losses = 1;
    row.journal.push_back(again);
  }
  row.journal.push_back(entry);
  if (nothing_else) return row;
  entry.order = row.groups[0].order;
  entry.state = EntryState::kProcessing;
  entry.op = Op::kDelete;
  entry.targets = TargetSet(1);
  entry.attempt = 2;
  entry.lease_until = UnixMs(1'709'168'400'000);
  row.journal.push_back(entry);
  JournalEntry gone;
  gone.order = {Epoch(1), Sequence("9"), Revision()};
  gone.state = EntryState::kGone;
  gone.op = Op::kDelete;
  gone.for_all = true;
  row.journal.push_back(gone);
  return row;
}

// An encoded row without its checksum, which the target puts back.
template <typename Encode>
std::string unsealed(char choice, Encode encode) {
  std::string value;
  encode(value);
  return choice + value.substr(0, value.size() - codec::kChecksumBytes);
}

Meta meta_of_journal(Meta meta) {
  meta.capabilities = 2;
  meta.summary.counts[Count::kWaiting] = 2;
  meta.summary.counts[Count::kProcessing] = 1;
  meta.summary.priorities = {{5, 1, 0}, {100, 1, 300}};
  meta.state.journal_number = 300;
  meta.state.journal_answered = 5;
  return meta;
}

Seeds rows() {
  std::string key;
  codec::append_document_key("doc-1", codec::KeyedHash(HashKey()), key);
  Row minimal;
  minimal.groups.push_back({{Epoch(), *codec::parse_sequence(SequenceKind::kU64, "7"), Revision()},
                            false,
                            TargetSet(),
                            TargetSet(1),
                            TargetSet()});
  Row eight = minimal;
  eight.groups[0].order = {Epoch(1), Sequence("20240229"),
                           Revision(1)};  // near the sequences whose zeros are not written
  Meta meta;
  meta.state = {Version(1'709'164'800'000),
                Version(7),
                {Version(1), {{TargetNumber(3), Version(2)}}},
                Epoch(3),
                false,
                0,
                0,
                {},
                {}};
  meta.positions = {{Role::kRequests, Offset(128)}, {Role::kCommands, Offset(64)}};
  meta.ranges = {{Role::kRequests, Offset(100), Offset(127)}};
  meta.lineage = {{1, Offset(0)}, {2, Offset(200)}};
  meta.sweep_cursor = "D";
  Identity identity;
  identity.application_id = "shop";
  identity.cluster_id = "kraft-1";
  identity.partitions = 12;
  return {
      {"minimal", unsealed('\0', [&](std::string& out) { codec::encode_row(key, "doc-1", minimal, out); })},
      {"eight-bytes", unsealed('\0', [&](std::string& out) { codec::encode_row(key, "doc-1", eight, out); })},
      {"full", unsealed('\0', [&](std::string& out) { codec::encode_row(key, "doc-1", full_row(), out); })},
      {"journal",
       unsealed('\0', [&](std::string& out) { codec::encode_row(key, "doc-1", row_with_journal(false), out); })},
      {"waiting",
       unsealed('\0', [&](std::string& out) { codec::encode_row(key, "doc-1", row_with_journal(true), out); })},
      {"meta", unsealed('\1', [&](std::string& out) { codec::encode_meta(codec::meta_key(), meta, out); })},
      {"meta-journal",
       unsealed('\1', [&](std::string& out) { codec::encode_meta(codec::meta_key(), meta_of_journal(meta), out); })},
      {"identity",
       unsealed('\2', [&](std::string& out) { codec::encode_identity(codec::identity_key(), identity, out); })},
      {"targets",
       unsealed('\3',
                [](std::string& out) {
                  codec::encode_targets(codec::target_table_key(), TargetTable({"search", "catalogue"}), out);
                })},
  };
}

// A record of so many bytes that is held, as the first row of it.
std::string unsealed_first(std::size_t bytes, bool reference) {
  const std::string payload(bytes, 'p');
  const std::vector<Header> headers = {{"reseq-seq", "7"}, {"traceparent", std::nullopt}};
  codec::InputRecord record;
  record.offset = Offset(42);
  record.timestamp = UnixMs(1'709'164'800'000);
  record.key = "doc-1";
  record.payload = payload;
  record.headers = headers;
  const std::string key = codec::held_key(1, "rank");
  Hold hold;
  hold.key = key;
  hold.entries = {{1, "due at 5"}, {127, ""}};
  hold.note = "note";
  hold.reference = reference;
  Arena arena;
  std::vector<KeyedChange> rows;
  codec::append_held(hold, record, codec::KeyedHash(HashKey()), arena, rows);
  return std::string(rows.front().value->substr(0, rows.front().value->size() - codec::kChecksumBytes));
}

Seeds held() {
  using namespace std::string_literals;
  const std::string no_pieces(1, '\0');
  // The longest payload of one row: both lengths of it take a byte more.
  const std::size_t full = codec::kHeldValueBytes - codec::kChecksumBytes - 2 - unsealed_first(0, false).size();
  // A first row that was written again is short, so that its other bytes are a piece; they come first here.
  const std::string record = "\3\5doc-1\0\0payload"s;
  const std::string first = "\1\0\4note\0\0\x2B\0\0\0\x10\5"s + record.substr(0, 5);
  const std::string texts = Pieces::of("reseq-seq") + Pieces::of("7") + Pieces::of("traceparent") + Pieces::of("") +
                            Pieces::of("doc-1") + "\xFFp" + Pieces::of("note") + Pieces::of("due at 5");
  // A value for each of both headers, role, partition, offset, time, key, payload, two headers, an entry of index 7;
  // written again; the second row is swapped with the first.
  const std::string choices = "\1\0\0\0\0\0\0\0\0\0\0\x2A\0\0\0\0\0\0\0\1\1\1\2\1\7\1"s;
  return {{"one-row", '\0' + no_pieces + unsealed_first(7, false)},
          {"extension", '\0' + no_pieces + unsealed_first(7, false) + "\2\1?"},
          {"most-bytes", '\0' + no_pieces + "\1\0\4note\0\0\x2B\0\0\0\x80\x80\x80\x80\x08\0"s},
          {"reference", '\0' + no_pieces + unsealed_first(7, true)},
          {"with-piece", "\0\1"s + Pieces::of(record.substr(5)) + first},
          {"full-page", "\0\1\xE0p"s + unsealed_first(full + 148, false)},
          {"piece", "\1\1\4some"s},
          {"task", "\2\1\6cursor\4note"s},
          {"kept", '\3' + texts + choices + "\1\3\0"s},
          {"lost", '\3' + texts + choices + "\1\0"s}};
}

Seeds indexes() {
  using namespace std::string_literals;
  std::string timer;
  store::append_timer_key({UnixMs(1'709'164'800'000), codec::held_key(1, "rank")}, timer);
  std::string entry;
  const std::string row = codec::held_key(1, "rank");
  store::append_index_key({127, "due at 5", row}, entry);
  const auto two = [](std::string_view a, std::string_view b) {
    return "\7"s + Pieces::of(a) + Pieces::of("rank") + "\1\7" + Pieces::of(b) + Pieces::of("rank") + "\1";
  };
  return {{"timer", timer},
          {"entry", entry},
          {"two", two("due at 5", "due at 6")},
          {"beginning", two("9", "10")},
          {"row", two("", "a") + unsealed_first(7, false)}};
}

Seeds keys() {
  std::string key;
  codec::append_document_key(std::string("a\0b", 3), codec::KeyedHash(HashKey()), key);
  return {{"two-ids", Pieces::of("doc-1") + Pieces::of(std::string("doc-\0", 5))},
          {"long-ids", std::string("\xE4x\xFAy", 4)},
          {"a-key", key},
          {"meta", std::string(codec::meta_key())}};
}

Seeds sequences() {
  const auto seed = [](char kind, std::string_view a, std::string_view b) {
    return std::string(1, kind) + std::string("\x80\0\0\0\0\0\0\7", 8) + Pieces::of(a) + Pieces::of(b);
  };
  return {{"u64", seed(0, "18446744073709551615", "007")},
          {"timestamp", seed(1, "2262-04-11T23:47:16.854775807Z", "1677-09-21T00:12:43.145224192-00:00")},
          {"lsn", seed(2, "FFFFFFFF/0", "16/b374d848")},
          {"text", seed(3, "search,catalogue", "b")}};
}

Seeds state_notes() {
  store::CheckpointRecord checkpoint{{Offset(4711), {1, 2}, 3}, {{4, 5}, {}, {}}};
  checkpoint.summary.counts[Count::kLiveRows] = 6;
  checkpoint.summary.counts[Count::kWatermarks] = 7;
  const auto unsealed_record = [&] {
    const std::string record = store::encode_checkpoint(checkpoint);
    return '\0' + record.substr(0, record.size() - codec::kChecksumBytes);
  };
  const std::string record = unsealed_record();
  checkpoint.summary.counts[Count::kWaiting] = 3;
  const std::string with_counts = unsealed_record();
  checkpoint.summary.priorities = {{5, 1, 0}, {100, 2, 300}};
  return {{"checkpoint", record},
          {"counts", with_counts},
          {"priorities", unsealed_record()},
          {"clean", "\2" + Pieces::of("pages") + Pieces::of("1 %\n") + Pieces::of("1 %\n")},
          {"same-boot", "\2" + Pieces::of("pages") + Pieces::of("1 none\n") + Pieces::of("1 %\n")},
          {"no-copy", "\2" + Pieces::of("") + Pieces::of("1 %\n")},
          {"owner", "\3" + Pieces::of("1 %\n")},
          {"other-owner", "\3" + Pieces::of("1 application other cluster kraft-1\n")}};
}

Seeds configs() {
  config::Settings full;
  full.application_id = "shop";
  full.bootstrap_servers = "localhost:9092";
  full.targets = {{.name = "search", .topic = "", .order = "monotonic", .optional = false},
                  {.name = "catalogue", .topic = "found"}};
  full.routes = {
      {.id_prefix = "products/", .id_glob = "*.md", .header = "h", .header_value = "v", .targets = {"search"}}};
  full.kafka = {{"sasl.password", "planted"}, {"security.protocol", "SASL_SSL"}};
  return {{"full", config::print(full)},
          {"short", "application.id = \"a\"\nbootstrap.servers = 'b'\n[[target]]\nname = \"t\"\n"},
          {"dotted", "[application]\nid = \"a\"\n[kafka.sasl]\npassword = \"p\"\n"},
          {"wrong", "aplication.id = \"a\\u001b\"\n"}};
}

Seeds logs() {
  return {{"escape", "\x1B[31mred\r\nlevel=error forged=1"},
          {"quotes", "a \"quoted\" back\\slash"},
          {"bidi", "\xE2\x80\xAE txt.exe \xC2\x9B \xFF"},
          {"long", std::string(300, 'x')}};
}

Seeds lines() {
  Seeds out = with_first(std::string(1, '\0'), records());
  out.push_back({"pieces", "\5one\ntwo\n\nthree"});
  out.push_back(
      {"change", "\2{\"id\":\"a\",\"seq\":7,\"payload\":{\"x\":[1.50]},\"targets\":[\"search\"],\"epoch\":2}"});
  out.push_back({"delete", "\2{\"id_base64\":\"YQ==\",\"seq\":\"16/B3\",\"op\":\"delete\",\"payload\":null}"});
  out.push_back({"answer",
                 "\2{\"ticket\":\"7-1\",\"payload_base64\":\"YQ==\",\"done\":false,\"headers\":{\"h\":null},"
                 "\"headers_base64\":{\"b\":\"YQ==\"},\"command\":\"sequence\"}"});
  return out;
}

Seeds queries() {
  return {{"document", R"({"protocol":1,"query":"document","id":"book","timeout_ms":500})"},
          {"list", R"({"protocol":1,"query":"list","partition":3,"state":"overdue","id_prefix_base64":"YQ==",)"
                   R"("older_than_ms":1000,"documents_max":50,"cursor":"YQ=="})"},
          {"stats", R"({"protocol":1,"query":"stats"})"},
          {"two_ids", R"({"protocol":1,"query":"document","id":"book","id_base64":"YQ=="})"},
          {"newer", R"({"protocol":99,"query":"tree"})"}};
}

}  // namespace

std::vector<Seed> seeds_of(std::string_view target) {
  static const std::map<std::string_view, Seeds> kSeeds = {
      {"command", records()},    {"output", with_first("\xFE", records())},
      {"row", rows()},           {"key", keys()},
      {"held", held()},          {"index", indexes()},
      {"sequence", sequences()}, {"state_note", state_notes()},
      {"config", configs()},     {"log", logs()},
      {"line", lines()},         {"query", queries()},
  };
  const auto found = kSeeds.find(target);
  return found == kSeeds.end() ? Seeds() : found->second;
}

}  // namespace reseq::fuzz
