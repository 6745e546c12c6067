#include "codec/row_kinds.h"

#include <gtest/gtest.h>
#include <set>
#include <string>
#include <utility>

#include "codec/place_row.h"
#include "codec/task_row.h"
#include "held_samples.h"
#include "model/partition_state.h"

namespace reseq::codec {
namespace {

using namespace std::string_literals;

TEST(RowKinds, HaveOneLineEach) {
  std::set<std::pair<char, char>> seen;
  for (const RowKind& kind : kRowKinds)
    EXPECT_TRUE(seen.emplace(static_cast<char>(kind.type), kind.realm).second) << kind.name;
}

TEST(RowKinds, AreFoundByTheirKey) {
  EXPECT_EQ(row_kind_of(meta_key())->name, "meta");
  EXPECT_EQ(row_kind_of(target_table_key())->name, "target table");
  EXPECT_EQ(row_kind_of(identity_key())->name, "identity");
  EXPECT_EQ(row_kind_of("D\0\0id\0\0"s)->name, "document");
  EXPECT_EQ(row_kind_of(held_key(1, "rank"))->name, "held record");
  EXPECT_EQ(row_kind_of(piece_key(held_key(1, "rank"), 1))->name, "held piece");
  EXPECT_EQ(row_kind_of(task_key(1, "rank"))->name, "task");
  EXPECT_EQ(row_kind_of(place_key(1, "rank"))->name, "place");
  EXPECT_EQ(&kDocumentRows, row_kind_of("D\0\0id\0\0"s));
}

TEST(RowKinds, OfNewerVersionsAreNotKnown) {
  for (const char type : {'C', 'G', 'Q', 'd', 'h', '\0'}) EXPECT_EQ(row_kind_of(type + "\0\0id\0\0"s), nullptr) << type;
  for (const char type : {'D', 'H', 'P', 'X', 'L'})
    for (const char realm : {'\1', '\2'}) EXPECT_EQ(row_kind_of(type + std::string(1, realm) + "\0id\0\0"s), nullptr);
  EXPECT_EQ(row_kind_of(""), nullptr);
  EXPECT_EQ(row_kind_of("D"), nullptr);
}

TEST(RowKinds, SayWhatTheirRowsCountAs) {
  Row row;
  std::string value;
  encode_row("D\0\0id\0\0"s, "id", row, value);
  Counts counts;
  counts.add(row_kind_of("D\0\0id\0\0"s)->counted(value));
  EXPECT_EQ(counts[Count::kWatermarks], 1U);
  EXPECT_EQ(counts[Count::kLiveRows], 0U);
  counts.subtract(row_kind_of("D\0\0id\0\0"s)->counted(value));
  EXPECT_EQ(counts, Counts());

  std::string meta;
  encode_meta(meta_key(), Meta(), meta);
  counts.add(row_kind_of(meta_key())->counted(meta));
  EXPECT_EQ(counts, Counts());
  EXPECT_EQ(timer_of(meta_key(), meta), std::nullopt);
}

// What a held record counts as, and its pieces, and a task: none has a timer.
TEST(RowKinds, CountWhatIsHeldAndTasks) {
  const Held held(SampleRecord::request().payload(std::string(9000, 'x')).view());
  ASSERT_EQ(held.rows.size(), 3U);
  const std::string task = task_key(1, "rank");
  Counts counts;
  for (const auto& [key, value] : held.rows) {
    EXPECT_TRUE(row_kind_of(key)->held);
    EXPECT_EQ(row_kind_of(key)->check(key, value), std::nullopt);
    EXPECT_NE(row_kind_of(key)->check(key, value + "x"), std::nullopt);
    EXPECT_EQ(timer_of(key, value), std::nullopt);
    counts.add(row_kind_of(key)->counted(value));
  }
  EXPECT_EQ(counts[Count::kHeldRecords], 1U);
  EXPECT_EQ(counts[Count::kHeldPieces], 2U);
  EXPECT_EQ(counts.rows(), 3U);
  std::string value;
  encode_task(task, {"cursor", "note"}, value);
  EXPECT_FALSE(row_kind_of(task)->held);
  EXPECT_EQ(row_kind_of(task)->check(task, value), std::nullopt);
  counts.add(row_kind_of(task)->counted(value));
  EXPECT_EQ(counts[Count::kTasks], 1U);
  counts[Count::kHeldBytes] = 17;
  EXPECT_EQ(counts.rows(), 4U) << "bytes are no rows";
}

TEST(RowKinds, CountBytesOfResultsThatWaitInLanesApart) {
  Counts counts;
  count_held(held_key(kLanesGate, "rank"), 0, 100, counts);
  count_held(piece_key(held_key(kLanesGate, "rank"), 1), 0, 20, counts);
  count_held(held_key(kLanesGate + 1, "rank"), 0, 7, counts);
  EXPECT_EQ(counts[Count::kHeldBytes], 127U);
  EXPECT_EQ(counts[Count::kResultBytes], 120U);
  count_held(held_key(kLanesGate, "rank"), 100, 0, counts);
  EXPECT_EQ(counts[Count::kHeldBytes], 27U);
  EXPECT_EQ(counts[Count::kResultBytes], 20U);
  EXPECT_EQ(counts.rows(), 0U) << "bytes are no rows";
}

TEST(RowKinds, WithIndexEntriesSayThem) {
  const Held held(SampleRecord::request().view());
  for (const RowKind& kind : kRowKinds) {
    const bool always = kind.type == KeyType::kHeld || kind.type == KeyType::kPlace;
    EXPECT_EQ(kind.entries != nullptr, always || kind.type == KeyType::kDocument) << kind.name;
    EXPECT_EQ(may_have_entries(kind, held.rows.at(held.key)), always) << kind.name;
  }
  std::vector<std::pair<std::uint8_t, std::string>> entries;
  row_kind_of(held.key)->entries(
      held.rows.at(held.key), [&](std::uint8_t index, std::string_view bytes) { entries.emplace_back(index, bytes); });
  EXPECT_EQ(entries, entries_of(held.rows.at(held.key)));
  EXPECT_EQ(entries.size(), 3U);
}

TEST(RowKinds, LookAtADocumentWhoseDeadlineIsBefore1970AtOnce) {
  Row row;
  row.groups.push_back({{Epoch(), Sequence("1"), Revision()}, true, TargetSet(1), TargetSet(), TargetSet()});
  const std::string key = document_key("a");
  for (const std::int64_t deadline : {std::int64_t{-1}, INT64_MIN, std::int64_t{1}}) {
    row.deadline = UnixMs(deadline);
    std::string value;
    encode_row(key, "a", row, value);
    EXPECT_EQ(timer_of(key, value), std::max(UnixMs(deadline), UnixMs(0)));
  }
}

TEST(RowKinds, CheckTheirRows) {
  std::string meta;
  encode_meta(meta_key(), Meta(), meta);
  EXPECT_EQ(row_kind_of(meta_key())->check(meta_key(), meta), std::nullopt);
  EXPECT_NE(row_kind_of(identity_key())->check(identity_key(), meta), std::nullopt);
  meta.back() = static_cast<char>(meta.back() ^ 1);
  EXPECT_NE(row_kind_of(meta_key())->check(meta_key(), meta), std::nullopt);
}

}  // namespace
}  // namespace reseq::codec
