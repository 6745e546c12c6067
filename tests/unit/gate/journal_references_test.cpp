// What a journal holds by its place in `requests`, while that cannot be read.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "codec/keys.h"
#include "codec/rows.h"
#include "journal_by_places.h"

namespace reseq::runtime::troubled {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

class JournalReferences : public JournalByPlaces {
 protected:
  explicit JournalReferences(std::int64_t held_bytes_max = 0) : JournalByPlaces(held_bytes_max) { begin(); }
  // In a second: they are held by reference until then.
  void request_later(const std::string& payload, const std::string& priority = "100", std::int64_t ms = 1'000) {
    const std::string date = std::to_string(clock.now().value() + ms);
    append("requests", payload, {{"reseq-seq", "1"}, {"reseq-process-at", date}, {"reseq-priority", priority}},
           payload);
  }
  // How often something was put off.
  std::size_t retry_dates() {
    std::size_t dates = 0;
    for (const auto& row : records("changelog"))
      if (row.key == codec::meta_key())
        dates += std::get<Meta>(codec::decode_meta(codec::meta_key(), row.payload.value())).unreadable.size();
    return dates;
  }
};

TEST_F(JournalReferences, ThatIsDamagedHoldsNobodyBack) {
  for (const char* id : {"a", "b", "c"}) request_later(id);
  trouble.damaged = {{Offset(1), 1'000'000}};
  run(5'000);
  EXPECT_THAT(committed("work"), UnorderedElementsAre("a", "c"));
  EXPECT_EQ(held_now(), 1U);
  trouble.damaged.clear();
  run(10'000);
  EXPECT_THAT(committed("work"), UnorderedElementsAre("a", "c", "b"));
  EXPECT_EQ(records("dead-letter").size(), 0U);
}

TEST_F(JournalReferences, LeaveWhenTheirLogCanBeReadAgainAndNotBefore) {
  for (const char* id : {"a", "b", "c"}) request_later(id);
  trouble.silent = {Partition(0)};
  run(60'000);
  EXPECT_THAT(committed("work"), ElementsAre());
  EXPECT_GT(retry_dates(), 0U) << "they are not put off";
  trouble.silent.clear();
  run(20'000);
  EXPECT_THAT(committed("work"), UnorderedElementsAre("a", "b", "c"));
}

TEST_F(JournalReferences, KeepTheirOrderWhenNothingComesForAWhile) {
  request_later("b", "20");
  request_later("a", "10");
  request_later("c", "30");
  trouble.silent = {Partition(0)};
  run(9'000);
  EXPECT_EQ(retry_dates(), 0U);
  trouble.silent.clear();
  run(20'000);
  EXPECT_THAT(committed("work"), ElementsAre("a", "b", "c"));
}

// Each is tried again every five seconds: not in every batch.
TEST_F(JournalReferences, ThatCannotBeReadAreNotTriedWithoutAPause) {
  for (const char* id : {"a", "b", "c"}) request_later(id);
  trouble.silent = {Partition(0)};
  run(60'000);
  EXPECT_GT(retry_dates(), 3U);
  EXPECT_LE(retry_dates(), 12U * 3);
}

// Between two records that are wanted is a damaged one that nobody wants: the second can be read very well.
TEST_F(JournalReferences, ThatCanBeReadAreNotPutOffForADamagedRecordThatNobodyWants) {
  request_later("a", "50");
  append("requests", "x", {{"reseq-seq", "1"}}, "x");  // leaves at once
  request_later("c", "60");
  request_later("d", "70");
  trouble.damaged = {{Offset(1), 1'000'000}};
  run(20'000);
  EXPECT_EQ(retry_dates(), 0U) << "something that can be read was put off";
  EXPECT_THAT(committed("work"), ElementsAre("x", "a", "c", "d"));
}

// What was put off was superseded, and so never read.
TEST_F(JournalReferences, AreNotPutOffAtOnceForAnOutageLongAgo) {
  request_later("a");
  trouble.silent = {Partition(0)};
  for (int i = 0; i < 100'000 && retry_dates() == 0; ++i) step();
  const std::size_t before = retry_dates();
  EXPECT_EQ(before, 1U);
  append("requests", "a", {{"reseq-seq", "2"}}, "a2");  // takes its place, and leaves at once
  run(1'000);
  EXPECT_THAT(committed("work"), ElementsAre("a2"));
  EXPECT_EQ(held_now(), 0U);
  trouble.silent.clear();
  run(600'000);
  request_later("b", "20");
  request_later("c", "30");
  run(900);
  trouble.silent = {Partition(0)};
  run(2'500);  // two seconds of silence, not ten
  trouble.silent.clear();
  run(30'000);
  EXPECT_EQ(retry_dates(), before) << "put off after two seconds";
  EXPECT_THAT(committed("work"), ElementsAre("a2", "b", "c"));
}

TEST_F(JournalReferences, DoNotHoldBackWhatIsMoreUrgentWhileTheyAreRead) {
  for (const char* id : {"a", "b", "c"}) request_later(id);
  trouble.silent = {Partition(0)};
  for (int i = 0; i < 10'000 && !worker->tasks().front()->references().waits(); ++i) step();
  ASSERT_TRUE(worker->tasks().front()->references().waits());
  append("requests", "urgent", {{"reseq-seq", "1"}, {"reseq-priority", "1"}}, "urgent");
  run(200);
  EXPECT_THAT(committed("work"), ElementsAre("urgent"));
}

class JournalWithOneBody : public JournalReferences {
 protected:
  JournalWithOneBody() : JournalReferences(250) {}
};

TEST_F(JournalWithOneBody, LeavesWhenItsDateComesWhileOthersAreReadAgain) {
  request_later("body", "1", 1'500);
  run(100);
  for (const char* id : {"a", "b", "c"}) request_later(id, "100", 900);
  trouble.silent = {Partition(0)};
  run(1'300);
  EXPECT_THAT(committed("work"), ElementsAre());
  ASSERT_TRUE(worker->tasks().front()->references().waits()) << "nobody is read again";
  run(200);
  EXPECT_THAT(committed("work"), ElementsAre("body"));
  trouble.silent.clear();
  run(20'000);
  EXPECT_THAT(committed("work"), UnorderedElementsAre("body", "a", "b", "c"));
}

}  // namespace
}  // namespace reseq::runtime::troubled
