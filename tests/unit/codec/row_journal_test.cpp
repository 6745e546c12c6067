// Rows with a journal: what is read of them without decoding, and those that nobody would write.
#include "codec/row_journal.h"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/big_endian.h"
#include "codec/row_frame.h"
#include "row_generators.h"

namespace reseq::codec {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kJournaledId = "a";

std::string journaled(const Row& row) {
  std::string value;
  encode_row(document_key(kJournaledId), kJournaledId, row, value);
  return value;
}

std::vector<std::uint64_t> leases_of(std::string_view value) {
  std::vector<std::uint64_t> leases;
  each_document_entry(value, [&](std::uint8_t index, std::string_view bytes) {
    EXPECT_EQ(index, kLeaseIndex);
    EXPECT_EQ(bytes.size(), 8U);
    leases.push_back(read_big_endian(bytes));
  });
  return leases;
}

JournalEntry journal_entry(EntryState state, std::string_view sequence, std::uint8_t priority = 100) {
  JournalEntry entry;
  entry.order.sequence = Sequence(sequence);
  entry.state = state;
  entry.targets = TargetSet(1);
  entry.number = 7;
  entry.urgency = {priority, UnixMs(500), UnixMs(500), UnixMs(), UnixMs()};
  entry.attempt = state == EntryState::kProcessing ? 1 : 0;
  entry.request = {Offset(9), UnixMs(499), 0x0123456789ABCDEF, 300, 400};
  return entry;
}

// Targets 0 and 1 wait for "s": under way with a lease, and again; for "t" and "u" nothing was dispatched yet.
Row journal_row() {
  Row row;
  row.groups.push_back({{Epoch(), Sequence("s"), Revision()}, true, TargetSet(3), TargetSet(), TargetSet()});
  JournalEntry again = journal_entry(EntryState::kWaiting, "s");
  again.targets = TargetSet(2);
  again.attempt = 1;
  row.journal.push_back(again);
  row.journal.push_back(journal_entry(EntryState::kWaiting, "t", 50));
  row.journal.push_back(journal_entry(EntryState::kWaiting, "u", 255));
  JournalEntry under_way = journal_entry(EntryState::kProcessing, "s", 0);
  under_way.lease_until = UnixMs(1000);
  row.journal.push_back(under_way);
  JournalEntry gone = journal_entry(EntryState::kGone, "r");
  gone.op = Op::kDelete;
  gone.for_all = true;
  gone.targets = TargetSet();
  gone.number = 0;
  row.journal.push_back(gone);
  return row;
}

JournalEntry& entry_at(Row& row, std::size_t i) {
  return row.journal.begin()[i];
}
constexpr std::size_t kAgain = 0, kFirst = 1, kSecond = 2, kUnderWay = 3, kGoneDelete = 4;

RC_GTEST_PROP(RowJournal, IsReadWithoutItsRowAsItIsReadWithIt, ()) {
  const std::string id = any_id();
  Row row = any_row();
  row.journal.clear();
  add_any_journal(row);
  std::string value;
  encode_row(document_key(id), id, row, value);
  DocumentPriorities expected;
  std::optional<std::int64_t> lease_until;
  for (const JournalEntry& entry : row.journal) {
    std::optional<std::uint8_t> none;
    auto& most = entry.state == EntryState::kWaiting ? expected.waiting
                 : entry.takes_room()                ? expected.processing
                                                     : none;
    most = std::min(most.value_or(255), entry.urgency.priority);
    const std::int64_t lease = entry.lease_until.value();
    if (lease != 0) lease_until = std::min(lease_until.value_or(lease), lease);
  }
  RC_ASSERT(has_journal(value) == !row.journal.empty());
  RC_ASSERT(priorities_of(value) == expected);
  const std::vector<std::uint64_t> leases = leases_of(value);
  RC_ASSERT(leases.size() == (lease_until ? 1U : 0U));
  if (lease_until) RC_ASSERT(leases.front() == static_cast<std::uint64_t>(*lease_until));
  Counts counts;
  counts.add(count_document(value));
  RC_ASSERT(counts[Count::kLiveRows] == (row.live() ? 1U : 0U));
  RC_ASSERT(counts[Count::kWatermarks] == (row.live() ? 0U : 1U));
  RC_ASSERT(counts[Count::kWaiting] == (row.waits() ? 1U : 0U));
  RC_ASSERT(counts[Count::kProcessing] == (row.processing() ? 1U : 0U));
  const bool has_timer = !row.completed() && row.deadline != UnixMs() && !row.overdue;
  RC_ASSERT(timer_of(value) == (has_timer ? std::optional(std::max(row.deadline, UnixMs())) : std::nullopt));
}

TEST(RowJournal, SaysTheMostUrgentOfEachAndTheFirstLease) {
  Row row = journal_row();
  EXPECT_EQ(priorities_of(journaled(row)), (DocumentPriorities{50, 0}));
  EXPECT_THAT(leases_of(journaled(row)), ElementsAre(1000));
  row.journal.push_back(entry_at(row, kUnderWay));
  row.journal.push_back(entry_at(row, kUnderWay));
  entry_at(row, 5).lease_until = UnixMs(999);
  entry_at(row, 6).lease_until = UnixMs();
  EXPECT_THAT(leases_of(journaled(row)), ElementsAre(999));
  row.journal.erase_if([](const JournalEntry& entry) { return entry.state != EntryState::kGone; });
  EXPECT_EQ(priorities_of(journaled(row)), DocumentPriorities());
  EXPECT_THAT(leases_of(journaled(row)), IsEmpty());
  EXPECT_TRUE(has_journal(journaled(row)));
}

TEST(RowJournal, OfBytesThatAreNoRowIsNoneOrAny) {
  const std::string value = journaled(journal_row());
  for (std::size_t size = 0; size < value.size(); ++size) {
    (void)priorities_of(std::string_view(value).substr(0, size));
    (void)leases_of(value.substr(0, size));
  }
  EXPECT_FALSE(has_journal("\x01\x80"));
  EXPECT_FALSE(has_journal(""));
}

TEST(RowJournal, MakesARowLiveWhileAnOrderWaitsAndGivesItNoTimer) {
  Row row;
  row.journal.push_back(journal_entry(EntryState::kGone, "t"));
  row.deadline = UnixMs(5);
  EXPECT_TRUE(is_watermark(journaled(row)));
  EXPECT_EQ(timer_of(journaled(row)), std::nullopt);
  row.deadline = UnixMs();
  row.journal = {journal_entry(EntryState::kWaiting, "t")};
  EXPECT_FALSE(is_watermark(journaled(row)));
  EXPECT_EQ(timer_of(journaled(row)), std::nullopt);
  Row pending = journal_row();
  pending.deadline = UnixMs(5);
  EXPECT_FALSE(is_watermark(journaled(pending)));
  EXPECT_EQ(timer_of(journaled(pending)), UnixMs(5)) << "of the dispatch that is pending";
}

TEST(RowJournal, IsRefusedWithAnyBitFlippedAndAtAnyOtherLength) {
  const std::string key = document_key(kJournaledId);
  const std::string value = journaled(journal_row());
  ASSERT_TRUE(std::holds_alternative<DocumentRow>(decode_row(key, value)));
  for (std::size_t bit = 0; bit < value.size() * 8; ++bit) {
    std::string flipped = value;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_TRUE(std::holds_alternative<RowError>(decode_row(key, flipped))) << "bit " << bit;
  }
  for (std::size_t size = 0; size < value.size(); ++size)
    EXPECT_TRUE(std::holds_alternative<RowError>(decode_row(key, value.substr(0, size)))) << size;
}

TEST(RowJournal, LeavesTheRestOfARowAsItWas) {
  Row row = journal_row();
  row.extensions = std::string("\x02\x01?\x0a\x01!", 6);
  const std::string with = journaled(row);
  row.journal.clear();
  const std::string without = journaled(row);
  EXPECT_EQ(without.substr(0, 2), std::string("\x01\x01", 2));
  EXPECT_EQ(with.substr(0, 3), std::string("\x01\x81\x08", 3)) << "a flag that an older version refuses";
  const std::string body = without.substr(2, without.size() - 2 - kChecksumBytes - 6);
  EXPECT_EQ(with.substr(3, body.size() + 3), body + std::string("\x02\x01?", 3));
  EXPECT_EQ(with[3 + body.size() + 3], 9) << "a tag that an older version refuses";
  EXPECT_EQ(with.substr(with.size() - kChecksumBytes - 3, 3), std::string("\x0a\x01!", 3));
}

// The row of an "s" that targets 0 and 1 wait for, with these bytes as extensions, sealed.
Decoded<DocumentRow> decoded_with(const std::string& extensions, const std::string& flags = "\x81\x08") {
  std::string value = "\x01" + flags + std::string("\x01\x01s\x03\x03", 5) + extensions;
  ByteWriter writer(value);
  seal(document_key(kJournaledId), "", 0, writer);
  return decode_row(document_key(kJournaledId), value);
}

std::optional<RowError> refusal_with(const std::string& extensions, const std::string& flags = "\x81\x08") {
  const auto decoded = decoded_with(extensions, flags);
  const auto* error = std::get_if<RowError>(&decoded);
  return error == nullptr ? std::nullopt : std::optional(*error);
}

std::string journal_bytes(const Row& row) {
  std::string bytes;
  ByteWriter writer(bytes);
  write_journal(row, writer);
  writer.finish();
  return bytes;
}

std::string as_extension(const std::string& bytes, char tag = 9) {
  std::string out(1, tag);
  ByteWriter writer(out);
  writer.bytes(bytes);
  writer.finish();
  return out;
}

TEST(ForgedJournal, TheHonestOneIsRead) {
  const auto decoded = decoded_with(as_extension(journal_bytes(journal_row())));
  ASSERT_TRUE(std::holds_alternative<DocumentRow>(decoded));
  EXPECT_EQ(std::get<DocumentRow>(decoded).row, journal_row());
}

struct Forgery {
  const char* what;
  std::function<void(Row&)> forge;
};
const std::vector<Forgery> kForgeries = {
    {"waits for no target", [](Row& row) { entry_at(row, kFirst).targets = TargetSet(); }},
    {"is under way for no target", [](Row& row) { entry_at(row, kUnderWay).targets = TargetSet(); }},
    {"a gone upsert without targets", [](Row& row) { entry_at(row, kGoneDelete).for_all = false; }},
    {"an upsert for all", [](Row& row) { entry_at(row, kFirst).for_all = true; }},
    {"a gone upsert for all", [](Row& row) { entry_at(row, kGoneDelete).op = Op::kUpsert; }},
    {"waits with number 0", [](Row& row) { entry_at(row, kFirst).number = 0; }},
    {"is under way with number 0", [](Row& row) { entry_at(row, kUnderWay).number = 0; }},
    {"to be processed before it came", [](Row& row) { entry_at(row, kFirst).urgency.process_at = UnixMs(499); }},
    {"consolidated under way", [](Row& row) { entry_at(row, kUnderWay).urgency.consolidate_until = UnixMs(1); }},
    {"consolidated when it is gone",
     [](Row& row) { entry_at(row, kGoneDelete).urgency.consolidate_until = UnixMs(1); }},
    {"consolidated before 1970", [](Row& row) { entry_at(row, kFirst).urgency.consolidate_until = UnixMs(-1); }},
    {"tried again while it is under way", [](Row& row) { entry_at(row, kUnderWay).retry_at = UnixMs(1); }},
    {"tried again when it is gone", [](Row& row) { entry_at(row, kGoneDelete).retry_at = UnixMs(1); }},
    {"tried again before 1970", [](Row& row) { entry_at(row, kFirst).retry_at = UnixMs(-1); }},
    {"dispatched before 1970", [](Row& row) { entry_at(row, kUnderWay).dispatched_at = UnixMs(-1); }},
    {"waits with a lease", [](Row& row) { entry_at(row, kFirst).lease_until = UnixMs(1); }},
    {"gone with a lease", [](Row& row) { entry_at(row, kGoneDelete).lease_until = UnixMs(1); }},
    {"a lease before 1970", [](Row& row) { entry_at(row, kUnderWay).lease_until = UnixMs(-1); }},
    {"under way for what is not pending", [](Row& row) { entry_at(row, kUnderWay).targets = TargetSet(5); }},
    {"under way at an order that is not known",
     [](Row& row) { entry_at(row, kUnderWay).order.sequence = Sequence("x"); }},
    {"waits again for what waits for something newer",
     [](Row& row) {
       entry_at(row, kAgain).order.sequence = Sequence("a");
       entry_at(row, kAgain).targets = TargetSet(1);
     }},
    {"those that wait fall", [](Row& row) { std::swap(entry_at(row, kFirst), entry_at(row, kSecond)); }},
    {"one that waits behind one under way",
     [](Row& row) { std::swap(entry_at(row, kSecond), entry_at(row, kUnderWay)); }},
    {"one that waits behind one that is gone",
     [](Row& row) { row.journal.push_back(journal_entry(EntryState::kWaiting, "v")); }},
};

// Of one that waits again: what ended is not, what stayed behind is.
TEST(RowJournal, WantsNothingThatHasEnded) {
  Row row = journal_row();
  JournalEntry& again = entry_at(row, kAgain);
  again.targets = TargetSet(15);
  row.groups.front().removed = TargetSet(4);
  EXPECT_EQ(row.wanted(again), TargetSet(11)) << "one is removed, one stayed behind";
  EXPECT_EQ(row.wanted(entry_at(row, kUnderWay)), TargetSet(1));
  row.barrier = Order{Epoch(1), {}, {}};
  EXPECT_EQ(row.wanted(again), TargetSet()) << "below a barrier";
}

TEST(ForgedJournal, ThatBreaksAnInvariantIsRefused) {
  for (const auto& [what, forge] : kForgeries) {
    Row row = journal_row();
    forge(row);
    EXPECT_EQ(refusal_with(as_extension(journal_bytes(row))), RowError::kInvalid) << what;
  }
}

TEST(ForgedJournalDeathTest, ThatBreaksAnInvariantIsNotWritten) {
  for (const auto& [what, forge] : kForgeries) {
    Row row = journal_row();
    forge(row);
    EXPECT_DEATH((void)journaled(row), "invariants") << what;
  }
  Row overdue;
  overdue.journal.push_back(journal_entry(EntryState::kWaiting, "t"));
  overdue.deadline = UnixMs(5);
  EXPECT_DEATH((void)journaled(overdue), "invariants") << "a deadline of nothing that is pending";
}

TEST(ForgedJournal, OfARowThatOnlyWaitsAndHasADeadlineIsRefused) {
  Row row;
  row.journal.push_back(journal_entry(EntryState::kWaiting, "t"));
  for (const char deadline : {'\0', '\5'}) {
    const std::string flags = deadline == '\0' ? "\x81\x08" : "\xa1\x08";
    std::string value = "\x01" + flags + std::string(1, '\0');
    if (deadline != '\0') value += deadline;
    value += as_extension(journal_bytes(row));
    ByteWriter writer(value);
    seal(document_key(kJournaledId), "", 0, writer);
    const auto decoded = decode_row(document_key(kJournaledId), value);
    EXPECT_EQ(std::holds_alternative<DocumentRow>(decoded), deadline == '\0');
  }
}

TEST(ForgedJournal, ThatItsFlagsDoNotSayIsRefused) {
  const std::string extension = as_extension(journal_bytes(journal_row()));
  EXPECT_EQ(refusal_with(extension), std::nullopt);
  EXPECT_EQ(refusal_with(extension, "\x01"), RowError::kInvalid) << "no flag";
  EXPECT_EQ(refusal_with(extension, std::string("\x80\x08", 2)), RowError::kInvalid) << "not live";
  EXPECT_EQ(refusal_with(""), RowError::kInvalid) << "a flag, and no journal";
  EXPECT_EQ(refusal_with(as_extension("")), RowError::kInvalid) << "nothing";
  EXPECT_EQ(refusal_with(as_extension(std::string(1, '\0'))), RowError::kInvalid) << "a head without entries";
  EXPECT_EQ(refusal_with(extension + extension), RowError::kInvalid) << "twice";
  EXPECT_EQ(refusal_with(std::string("\x0a\x00", 2) + extension), RowError::kInvalid) << "out of order";
  EXPECT_EQ(refusal_with(extension + std::string("\x0b\x00", 2)), RowError::kUnknownMandatory) << "of a later version";
}

TEST(ForgedJournal, WhoseHeadLiesIsRefused) {
  const std::string bytes = journal_bytes(journal_row());
  ASSERT_EQ(bytes.substr(0, 5), std::string("\x07\x32\x00\xe8\x07", 5));
  const std::string entries = bytes.substr(5);
  const auto refused = [&](std::string_view head) { return refusal_with(as_extension(std::string(head) + entries)); };
  using namespace std::string_view_literals;
  EXPECT_EQ(refused("\x07\x32\x00\xe8\x07"sv), std::nullopt);
  EXPECT_EQ(refused("\x07\x33\x00\xe8\x07"sv), RowError::kInvalid) << "another priority";
  EXPECT_EQ(refused("\x07\x32\x01\xe8\x07"sv), RowError::kInvalid) << "another priority under way";
  EXPECT_EQ(refused("\x07\x32\x00\xe9\x07"sv), RowError::kInvalid) << "another lease";
  EXPECT_EQ(refused("\x07\x32\x00\x00"sv), RowError::kInvalid) << "no lease, but its bit";
  EXPECT_EQ(refused("\x03\x32\x00"sv), RowError::kInvalid) << "no lease";
  EXPECT_EQ(refused("\x05\x32\xe8\x07"sv), RowError::kInvalid) << "nothing under way";
  EXPECT_EQ(refused("\x06\x00\xe8\x07"sv), RowError::kInvalid) << "nothing waits";
  EXPECT_EQ(refused("\x0f\x32\x00\xe8\x07"sv), RowError::kInvalid) << "a bit that nobody knows";
}

TEST(ForgedJournal, WithPartsThatShouldBeAbsentIsRefused) {
  using namespace std::string_literals;
  const auto refused = [&](const std::string& state, const std::string& parts, const std::string& head = "\x01\x64"s) {
    const std::string entry = state + "\x01t\x01\x07\x64\x05"s + parts + "\x0a\x05\1\2\3\4\5\6\7\x08\x09\x0a"s;
    return refusal_with(as_extension(head + entry));
  };
  EXPECT_EQ(refused("\0"s, ""), std::nullopt);
  EXPECT_EQ(refused("\x10"s, "\x06"s), std::nullopt);
  EXPECT_EQ(refused("\x10"s, "\x05"s), RowError::kInvalid) << "processed when inserted";
  EXPECT_EQ(refused("\x20"s, "\x06"s), std::nullopt);
  EXPECT_EQ(refused("\x20"s, "\0"s), RowError::kInvalid) << "expires never";
  EXPECT_EQ(refused("\x40"s, "\0\1\0\0\0"s), std::nullopt);
  EXPECT_EQ(refused("\x40"s, "\0\0\0\6\0"s), std::nullopt);
  EXPECT_EQ(refused("\x40"s, "\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\0"s), RowError::kInvalid)
      << "tried again before 1970";
  EXPECT_EQ(refused("\x40"s, "\0\0\0\0\0"s), RowError::kInvalid) << "never tried";
  EXPECT_EQ(refused("\x40"s, "\0\x80\x80\x80\x80\x10\0\0\0"s), RowError::kInvalid) << "too often";
  EXPECT_EQ(refused("\x80"s, "\0\0"s), RowError::kInvalid) << "without a lease";
  EXPECT_EQ(refused("\2"s, "", "\0"s), std::nullopt);
  EXPECT_EQ(refused("\3"s, "\6"s), std::nullopt);
  EXPECT_EQ(refused("\3"s, "\0"s), RowError::kInvalid) << "not consolidated";
  EXPECT_EQ(refused("\3"s, "\6"s, "\0"s), RowError::kInvalid) << "it waits";
  EXPECT_EQ(refused("\0"s, "\0"s), RowError::kInvalid) << "a byte more";
}

}  // namespace
}  // namespace reseq::codec
