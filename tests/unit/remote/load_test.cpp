// How records become a load: bounds, the newest of a document, what is malformed, offsets.
#include "consumers/remote/load.h"

#include <gtest/gtest.h>

#include "tests/unit/remote/records.h"

namespace reseq::remote {
namespace {

using std::chrono::milliseconds;

TEST(Load, WritesOnlyTheNewestOfADocument) {
  LoadBuilder builder = builder_at(10);
  builder.add(record_of({10, "a", "5", "old"}));
  builder.add(record_of({11, "b", "6", "other"}));
  builder.add(record_of({12, "a", "7", "new"}));
  builder.add(record_of({13, "a", "6", "older"}));
  const auto load = builder.take();
  ASSERT_EQ(load->batch.writes.size(), 2U);
  EXPECT_EQ(load->batch.writes[0].change.id, "a");
  EXPECT_EQ(load->batch.writes[0].change.payload, "new");
  EXPECT_EQ(load->batch.writes[0].offset, Offset(12));
  EXPECT_EQ(load->batch.writes[1].change.payload, "other");
  EXPECT_EQ(load->counts.records, 4U);
  EXPECT_EQ(load->counts.outrun, 2U);
}

TEST(Load, WritesTheLastOfADocumentWithoutVersions) {
  LoadBuilder builder = builder_at(0, sink::Check::kOff);
  for (const char* payload : {"first", "second"}) {
    kafka::PlainRecord record = record_of({payload[0] == 'f' ? 0 : 1, "a", "", payload});
    record.headers.push_back({"reseq-command", "sequence"});
    builder.add(std::move(record));
  }
  const auto load = builder.take();
  ASSERT_EQ(load->batch.writes.size(), 1U);
  EXPECT_EQ(load->batch.writes[0].change.payload, "second");
}

TEST(Load, KeepsViewsWhileItGrows) {
  LoadBuilder builder = builder_at(0);
  for (int i = 0; i < 1'000; ++i)
    builder.add(record_of({i, "id-" + std::to_string(i), std::to_string(i + 1), "payload-" + std::to_string(i)}));
  const auto load = builder.take();
  for (std::size_t i = 0; i < 1'000; ++i) {
    EXPECT_EQ(load->batch.writes[i].change.payload, "payload-" + std::to_string(i));
    ASSERT_EQ(load->batch.writes[i].headers.size(), 1U);
    EXPECT_EQ(load->batch.writes[i].headers[0].value, std::to_string(i + 1));
  }
}

TEST(Load, KeepsMalformedRecordsAsideAndPassesThem) {
  LoadBuilder builder = builder_at(4);
  builder.add(record_of({4, "a", "", "no version"}));
  builder.add(record_of({7, "b", "9", "good"}));
  const auto load = builder.take();
  ASSERT_EQ(load->letters.size(), 1U);
  EXPECT_TRUE(load->letters[0].malformed);
  EXPECT_EQ(load->letters[0].words, "no reseq-version");
  EXPECT_EQ(load->letters[0].record->offset, Offset(4));
  EXPECT_EQ(load->batch.first, Offset(4));
  EXPECT_EQ(load->batch.next, Offset(8));
}

TEST(Load, CountsControlRecordsAtTheEnd) {
  LoadBuilder builder = builder_at(4);
  builder.add(record_of({4, "a", "1"}));
  builder.reached(Offset(6));
  builder.reached(Offset(5));
  EXPECT_EQ(builder.next(), Offset(6));
}

TEST(Load, IsFullByRecordsAndByBytesAndDueByTime) {
  LoadBuilder builder = builder_at(0);
  builder.add(record_of({0, "a", "1", std::string(10'000, 'x')}));
  EXPECT_FALSE(builder.is_full({.records_max = 2, .bytes_max = 20'000}));
  EXPECT_TRUE(builder.is_full({.records_max = 1, .bytes_max = 20'000}));
  EXPECT_TRUE(builder.is_full({.records_max = 2, .bytes_max = 10'000}));
  EXPECT_GT(builder.due_at({.time_max = milliseconds(60'000)}), Clock::now());
  EXPECT_LE(builder.due_at({.time_max = milliseconds(0)}), Clock::now());
}

TEST(Load, GivesBackWhatWasOutrunNewestFirst) {
  for (const bool versions : {true, false}) {
    LoadBuilder builder = builder_at(0, versions ? sink::Check::kVersions : sink::Check::kOff);
    std::int64_t offset = 0;
    const auto add = [&](const char* id, const char* version) {
      kafka::PlainRecord record = record_of({offset++, id, version});
      record.headers.push_back({"reseq-command", "sequence"});
      builder.add(std::move(record));
    };
    for (const char* version : {"2", "5", "3", "4"}) add("a", version);
    add("b", "9");
    add("b", "8");
    const auto load = builder.take();
    EXPECT_EQ(load->counts.outrun, 4U);
    std::vector<std::int64_t> offsets;
    for (int i = 0; i < 4; ++i)
      for (const Write& write : take_outrun(*load, {"a", "c"})) offsets.push_back(write.offset.value());
    EXPECT_EQ(offsets, versions ? (std::vector<std::int64_t>{3, 2, 0}) : (std::vector<std::int64_t>{2, 1, 0}));
    EXPECT_EQ(load->counts.outrun, 1U);
  }
}

}  // namespace
}  // namespace reseq::remote
