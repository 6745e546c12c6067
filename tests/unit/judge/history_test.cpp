// What comes out of a history is what went in, whatever is null, empty, doubled or large.
#include "tests/judge/history.h"

#include <gtest/gtest.h>
#include <string>

namespace reseq::judge {
namespace {

const Place kPlace{3, Partition(1)};

Record plain(std::int64_t offset) {
  Record record;
  record.offset = Offset(offset);
  return record;
}

TEST(History, GivesBackWhatIsNullAndWhatIsEmpty) {
  History history;
  Record record = plain(7);
  record.timestamp = UnixMs(1'700'000'000'123);
  record.headers = {{"a", std::nullopt}, {"b", ""}, {"a", "last"}};
  history.add(kPlace, record);
  record.offset = Offset(8);
  record.key = "";
  record.payload = "";
  history.add(kPlace, record);

  const Record null = history.log(kPlace)[0];
  EXPECT_EQ(null.offset, Offset(7));
  EXPECT_EQ(null.timestamp, UnixMs(1'700'000'000'123));
  EXPECT_FALSE(null.key);
  EXPECT_FALSE(null.payload);
  ASSERT_EQ(null.headers.size(), 3U);
  EXPECT_EQ(null.headers[0].name, "a");
  EXPECT_FALSE(null.headers[0].value);
  EXPECT_EQ(null.headers[1].value, "");
  EXPECT_EQ(header_of(null, "a"), "last");
  const Record empty = history.log(kPlace)[1];
  EXPECT_EQ(empty.key, "");
  EXPECT_EQ(empty.payload, "");
  EXPECT_NE(fingerprint(null), fingerprint(empty));
}

TEST(History, KeepsALargePayloadOnce) {
  History history;
  for (std::int64_t offset = 0; offset < 3; ++offset) {
    const std::string payload(100'000, offset < 2 ? 'x' : 'y');
    Record record = plain(offset);
    record.payload = payload;
    history.add(kPlace, record);
  }
  const History::Log& log = history.log(kPlace);
  EXPECT_EQ(log[0].payload, std::string(100'000, 'x'));
  EXPECT_EQ(log[0].payload->data(), log[1].payload->data());
  EXPECT_EQ(log[2].payload, std::string(100'000, 'y'));
}

TEST(History, FindsWhereALogGoesOnBehindAHole) {
  History history;
  for (const std::int64_t offset : {2, 3, 9}) history.add(kPlace, plain(offset));
  const History::Log& log = history.log(kPlace);
  EXPECT_EQ(log.at_or_behind(Offset(0)), 0U);
  EXPECT_EQ(log.at_or_behind(Offset(3)), 1U);
  EXPECT_EQ(log.at_or_behind(Offset(4)), 2U);
  EXPECT_EQ(log.at_or_behind(Offset(10)), 3U);
  EXPECT_TRUE(history.log({0, Partition(0)}).empty());
  EXPECT_EQ(history.records(), 3U);
}

TEST(History, TellsRecordsApartByEverythingButTheOffset) {
  Record record = plain(1);
  record.key = "a";
  record.payload = "bc";
  const Digest same = fingerprint(record);
  record.offset = Offset(2);
  EXPECT_EQ(fingerprint(record), same);
  record.key = "ab";
  record.payload = "c";
  EXPECT_NE(fingerprint(record), same);
  record.key = "a";
  record.payload = "bc";
  record.timestamp = UnixMs(1);
  EXPECT_NE(fingerprint(record), same);
  record.timestamp = UnixMs(0);
  record.headers = {{"h", "v"}};
  EXPECT_NE(fingerprint(record), same);
}

}  // namespace
}  // namespace reseq::judge
