// What a journal holds by its place in `requests` becomes a body before retention takes its record.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "codec/held_rows.h"
#include "codec/keys.h"
#include "codec/rows.h"
#include "engine/journal/journal_batch.h"
#include "journal_by_places.h"

namespace reseq::runtime::troubled {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr std::int64_t kRetentionMs = 20'000;
constexpr std::int64_t kWaitMs = 100'000;  // many times the retention

class JournalAgeing : public JournalByPlaces {
 protected:
  explicit JournalAgeing(std::int64_t retention_ms = kRetentionMs) {
    broker.facts(*broker.topic("app.requests")).retention_ms = retention_ms;
    application.delete_retention = Milliseconds(600'000);  // no heartbeats
    test::good(application.ask(*kafka, simulation::kLimit));
    application.delete_retention = Milliseconds(600'000);
    begin();
  }
  static std::string payload_of(const std::string& id, std::size_t bytes) { return id + std::string(bytes, 'x'); }
  void request_later(const std::string& id, std::size_t bytes = 0) {
    const std::string date = std::to_string(clock.now().value() + kWaitMs);
    append("requests", id, {{"reseq-seq", "1"}, {"trace", "7"}, {"reseq-process-at", date}}, payload_of(id, bytes));
  }
  // What was written until now is gone.
  void trim() { broker.trim({*broker.topic("app.requests"), Partition(0)}, log("requests").high_watermark()); }
  // Of what is held, by the last rows of the changelog.
  std::vector<std::string> by_place() {
    std::map<std::string, std::string> rows;
    for (const auto& row : records("changelog")) rows[row.key.value()] = row.payload.value_or("");
    std::vector<std::string> ids;
    for (const auto& [key, value] : rows) {
      const auto decoded = codec::decode_held(key, value);
      const auto* held = std::get_if<codec::HeldRow>(&decoded);
      if (held != nullptr && held->reference) ids.emplace_back(held->note);
    }
    return ids;
  }
  // Batches of which a turn of the age did something, and could not read something.
  std::pair<std::size_t, std::size_t> turns() {
    std::pair<std::size_t, std::size_t> turns;
    for (const auto& row : records("changelog")) {
      if (row.key != codec::meta_key()) continue;
      const auto meta = std::get<Meta>(codec::decode_meta(codec::meta_key(), row.payload.value()));
      for (const AgendaDone& done : meta.agenda) turns.first += done.kind == engine::kAgeTurn ? 1U : 0U;
      turns.second += meta.unreadable.empty() ? 0U : 1U;
    }
    return turns;
  }
};

TEST_F(JournalAgeing, IsAtHalfOfTheRetentionAndNotBefore) {
  request_later("a");
  run(kRetentionMs / 2 - 1'000);
  EXPECT_THAT(by_place(), ElementsAre("a"));
  run(2'000);
  EXPECT_THAT(by_place(), IsEmpty());
  EXPECT_EQ(held_now(), 1U);
}

TEST_F(JournalAgeing, LeavesNothingThatRetentionCouldTake) {
  request_later("a");
  request_later("b", 10'000);  // of several rows
  run(kRetentionMs);
  trim();
  run(kWaitMs);
  EXPECT_EQ(committed("work"), (std::vector<std::string>{payload_of("a", 0), payload_of("b", 10'000)}));
  for (const auto& record : records("work"))
    EXPECT_THAT(record.headers, testing::Contains(testing::Field(&simulation::StoredHeader::name, "trace")));
  EXPECT_EQ(records("dead-letter").size(), 0U);
  EXPECT_EQ(held_now(), 0U);
  EXPECT_EQ(worker->tasks()[0]->store().summary().counts[Count::kHeldPieces], 0U) << "pieces are left";
  EXPECT_EQ(worker->tasks()[0]->store().summary().counts[Count::kHeldBytes], 0U);
}

TEST_F(JournalAgeing, GoesOnWhereAnotherProcessTakesOver) {
  request_later("a", 10'000);
  run(1'000);
  worker.reset();
  begin();
  EXPECT_THAT(by_place(), ElementsAre("a"));
  run(kRetentionMs);
  EXPECT_THAT(by_place(), IsEmpty());
  trim();
  worker.reset();
  begin();
  run(kWaitMs);
  EXPECT_THAT(committed("work"), ElementsAre(payload_of("a", 10'000)));
}

TEST_F(JournalAgeing, GoesOnWhileThePartitionIsPaused) {
  request_later("a");
  run(1'000);
  append("control", "", {{"reseq-control", "pause"}, {"reseq-control-id", "1"}, {"reseq-control-partition", "0"}}, "");
  run(kRetentionMs);
  ASSERT_TRUE(worker->tasks().front()->paused());
  EXPECT_THAT(by_place(), IsEmpty());
}

TEST_F(JournalAgeing, TakesAllOfThemHoweverFewFitIntoABatch) {
  application.settings.batch_bytes_max = 3'000;
  std::vector<std::string> all;
  for (int i = 0; i < 40; ++i) {
    all.push_back(payload_of(id_in(Partition(0), i), 1'000));
    request_later(id_in(Partition(0), i), 1'000);
  }
  run(kRetentionMs);
  EXPECT_THAT(by_place(), IsEmpty());
  EXPECT_EQ(worker->tasks().front()->references().bytes(), 0U) << "records are kept behind what needed them";
  trim();
  run(kWaitMs);
  EXPECT_THAT(committed("work"), testing::UnorderedElementsAreArray(all));
}

TEST_F(JournalAgeing, PassesOverWhatIsDamagedAndTriesItAgain) {
  for (const char* id : {"a", "b", "c"}) request_later(id);
  trouble.damaged = {{Offset(1), 1'000'000}};
  run(kRetentionMs);
  EXPECT_THAT(by_place(), ElementsAre("b"));
  EXPECT_EQ(turns().second, 1U) << "it is tried without a pause";
  trouble.damaged.clear();
  run(60'000);
  EXPECT_THAT(by_place(), IsEmpty());
}

TEST_F(JournalAgeing, WaitsForALogOfWhichNothingComes) {
  for (const char* id : {"a", "b", "c"}) request_later(id);
  trouble.silent = {Partition(0)};
  run(60'000);
  EXPECT_THAT(by_place(), UnorderedElementsAre("a", "b", "c"));
  EXPECT_LE(turns().first, 2U) << "it is tried without a pause";
  trouble.silent.clear();
  run(kWaitMs);
  EXPECT_THAT(committed("work"), UnorderedElementsAre("a", "b", "c"));
}

// It may be superseded by then.
TEST_F(JournalAgeing, LeavesWhatIsGoneToItsDispatch) {
  for (const char* id : {"a", "b"}) request_later(id);
  run(1'000);
  trim();
  run(kRetentionMs);
  EXPECT_THAT(by_place(), UnorderedElementsAre("a", "b"));
  EXPECT_EQ(turns().first, 1U) << "it is tried without a pause";
  EXPECT_EQ(records("dead-letter").size(), 0U);
  append("requests", "a", {{"reseq-seq", "2"}}, "newer");
  run(kWaitMs);
  EXPECT_THAT(committed("work"), ElementsAre("newer"));
  EXPECT_EQ(records("dead-letter").size(), 1U);
  EXPECT_EQ(worker->totals().body_gone, 1U);
}

class JournalWithoutRetention : public JournalAgeing {
 protected:
  JournalWithoutRetention() : JournalAgeing(-1) {}
};

TEST_F(JournalWithoutRetention, KeepsWhatItHoldsByPlace) {
  request_later("a");
  run(kWaitMs - 1'000);
  EXPECT_THAT(by_place(), ElementsAre("a"));
  EXPECT_EQ(turns().first, 0U);
}

}  // namespace
}  // namespace reseq::runtime::troubled
