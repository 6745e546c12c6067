// What a gate holds by reference: its record is read again when it is let through, and leaves as it came.
#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "codec/rows.h"
#include "gated.h"
#include "latest_gate.h"
#include "store/batch_view.h"

namespace reseq::runtime {
namespace {

using simulation::StoredHeader;
using simulation::StoredRecord;

constexpr Milliseconds kWait{1'000};
constexpr std::int64_t kBytesMax = 20'000;

gate::WindowGate::Settings by_reference(std::int32_t partitions) {
  return {.window = kWait, .every = 1, .drained_max = 100, .partitions = partitions, .reference_above = 0};
}
const gate::WindowGate kReferences(by_reference(1));

std::optional<std::string> header_of(const StoredRecord& record, const std::string& name) {
  for (const StoredHeader& header : record.headers)
    if (header.name == name) return header.value;
  return std::nullopt;
}

class References : public Gated<1> {
 protected:
  References() : References(kReferences) {}
  explicit References(const engine::Gate& gate) : Gated(gate) {
    application.settings.batch_bytes_max = kBytesMax;
    start();
  }
  const PartitionTask& task() { return *worker->tasks().front(); }
  void hold(int requests, std::size_t bytes = 1'000) {
    for (int i = 0; i < requests; ++i) request(id_in(Partition(0), i), 1, payload(i, bytes));
    decide(static_cast<std::uint64_t>(requests));
    ASSERT_EQ(held_now(), static_cast<std::uint64_t>(requests));
  }
  static std::string payload(int i, std::size_t bytes) { return std::string(bytes, 'x') + std::to_string(i); }
  // What is due leaves, unless it cannot.
  void wait(std::int64_t windows = 3) {
    for (const std::int64_t until = clock.now().value() + windows * kWait.value(); clock.now().value() < until;) step();
  }
  // Of the last batch of the partition.
  Meta last_meta() {
    const auto rows = records("changelog");
    const auto meta = codec::decode_meta(codec::meta_key(), rows.back().payload.value());
    return std::get<Meta>(meta);
  }
};

TEST_F(References, LeaveAsTheirRecordsCame) {
  append("requests", "a", {{"reseq-seq", "1"}, {"trace", "7"}, {"trace", "8"}, {"empty", std::nullopt}}, "{}");
  append("requests", "b", {{"reseq-seq", "1"}, {"reseq-op", "delete"}}, "gone");
  decide(2);
  ASSERT_EQ(held_now(), 2U);
  EXPECT_TRUE(committed("work").empty());
  wait();
  const auto work = records("work");
  ASSERT_EQ(work.size(), 2U);
  EXPECT_EQ(work[0].key, "a");
  EXPECT_EQ(work[0].payload, "{}");
  EXPECT_EQ(header_of(work[0], "reseq-seq"), "1");
  const auto traces = std::count_if(work[0].headers.begin(), work[0].headers.end(),
                                    [](const StoredHeader& header) { return header.name == "trace"; });
  EXPECT_EQ(traces, 2) << "a header that stands twice came back once";
  EXPECT_EQ(work[1].key, "b");
  EXPECT_EQ(header_of(work[1], "reseq-op"), "delete");
  EXPECT_EQ(held_now(), 0U);
  EXPECT_FALSE(worker->tasks().front()->references().waits());
  EXPECT_EQ(worker->tasks().front()->references().bytes(), 0U) << "records are kept behind what let them through";
}

TEST_F(References, KeepNoBody) {
  request("a", 1, std::string(100'000, 'x'));
  decide(1);
  const Counts counts = task().store().summary().counts;
  EXPECT_LT(counts[Count::kHeldBytes], 500U);
  EXPECT_EQ(counts[Count::kHeldPieces], 0U);
  wait();
  EXPECT_EQ(committed("work"), std::vector<std::string>{std::string(100'000, 'x')});
}

// Far apart, and among others that left at once.
TEST_F(References, LeaveInTheOrderOfTheirRequestsHoweverManyThereAre) {
  std::vector<std::string> wanted;
  for (int i = 0; i < 300; ++i) wanted.push_back(payload(i, 1'000));
  hold(300);
  wait(10);
  EXPECT_EQ(committed("work"), wanted);
}

TEST_F(References, ThatAreGoneAreADeadLetterAndNobodyWaitsForThemAnyMore) {
  request("a", 1, "first");
  request("b", 1, "second");
  decide(2);
  broker.trim({*broker.topic("app.requests"), Partition(0)}, Offset(1));
  wait();
  EXPECT_EQ(committed("work"), std::vector<std::string>{"second"}) << "its neighbour is none of its business";
  const auto letters = records("dead-letter");
  ASSERT_EQ(letters.size(), 1U);
  EXPECT_EQ(letters[0].key, "a");
  EXPECT_EQ(letters[0].payload, std::nullopt);
  EXPECT_EQ(header_of(letters[0], "reseq-reason"), "body_gone");
  EXPECT_EQ(header_of(letters[0], "reseq-source-offset"), "0");
  EXPECT_TRUE(header_of(letters[0], "reseq-payload-omitted").has_value()) << "sent again it would delete the document";
  const store::BatchView view(task().store());
  const auto row = view.find("a").row;
  ASSERT_TRUE(row.has_value());
  EXPECT_TRUE(row->completed()) << "it waits for a result that nobody works for";
  EXPECT_EQ(held_now(), 0U);
}

// The batch is decided again by that, whoever does it and whenever.
TEST_F(References, ThatAreGoneAreNamedByTheMetaRow) {
  hold(1);
  broker.trim({*broker.topic("app.requests"), Partition(0)}, Offset(1));
  std::vector<Offset> gone;
  const std::int64_t until = clock.now().value() + 3 * kWait.value();
  while (clock.now().value() < until && gone.empty()) {
    step();
    gone = last_meta().gone;
  }
  EXPECT_EQ(gone, std::vector<Offset>{Offset(0)});
}

TEST_F(References, AreReadAgainByTheNextOwner) {
  hold(3);
  worker.reset();  // killed
  start();
  ASSERT_EQ(held_now(), 3U);
  wait();
  EXPECT_EQ(committed("work").size(), 3U);
  EXPECT_EQ(held_now(), 0U);
}

// Who has it again shortly must not find that it was given up.
TEST_F(References, WaitWhileTheirTopicCannotBeRead) {
  hold(3);
  for (int i = 0; i < 400; ++i) broker.faults().order(simulation::Call::kPoll, simulation::Fault::kRetriable);
  wait(5);
  EXPECT_EQ(committed("work").size(), 3U);
  EXPECT_TRUE(committed("dead-letter").empty());
}

TEST_F(References, OfAPausedPartitionWait) {
  hold(3);
  append("control", "", {{"reseq-control", "pause"}, {"reseq-control-id", "1"}, {"reseq-control-partition", "0"}},
         "{}");
  for (int i = 0; i < 1'000 && !task().paused(); ++i) step();
  wait();
  EXPECT_TRUE(committed("work").empty());
  append("control", "", {{"reseq-control", "resume"}, {"reseq-control-id", "2"}, {"reseq-control-partition", "0"}},
         "{}");
  wait();
  EXPECT_EQ(committed("work").size(), 3U);
}

// A turn has room for as many as a batch; more are not read ahead of it.
TEST_F(References, AreReadOnlyAsFarAsTheyCanLeave) {
  hold(100, 5'000);
  std::uint64_t most = 0;
  const std::int64_t until = clock.now().value() + 3 * kWait.value();
  while (clock.now().value() < until) {
    step();
    most = std::max(most, worker->tasks().front()->references().bytes());
  }
  EXPECT_EQ(committed("work").size(), 100U);
  EXPECT_GT(most, 5'000U);
  EXPECT_LE(most, static_cast<std::uint64_t>(kBytesMax));
}

// One that is larger than what a batch has room for leaves alone.
TEST_F(References, LeaveHoweverLargeTheyAre) {
  hold(3, 50'000);
  wait(5);
  EXPECT_EQ(committed("work").size(), 3U);
}

constexpr std::int32_t kEight = 8;
const gate::WindowGate kReferencesOfMany(by_reference(kEight));

class ReferencesOfMany : public Gated<kEight> {
 protected:
  ReferencesOfMany() : Gated(kReferencesOfMany) { application.settings.batch_bytes_max = kBytesMax; }
};

TEST_F(ReferencesOfMany, AreReadForAllPartitionsWithinOneBound) {
  start();
  constexpr int kEach = 20;
  for (int p = 0; p < kEight; ++p)
    for (int i = 0; i < kEach; ++i) request(id_in(Partition(p), i), 1, std::string(5'000, 'x'), Partition(p));
  decide(kEight * kEach);
  std::uint64_t most = 0;
  const std::int64_t until = clock.now().value() + 20 * kWait.value();
  std::uint64_t held = 1;
  while (clock.now().value() < until && held > 0) {
    step();
    std::uint64_t read = 0;
    held = 0;
    for (std::size_t p = 0; p < kEight; ++p) {
      read += worker->tasks()[p]->references().read_bytes();
      held += held_now(p);
    }
    most = std::max(most, read);
  }
  EXPECT_EQ(held, 0U) << "something waits for ever";
  EXPECT_LE(most, static_cast<std::uint64_t>(2 * kBytesMax)) << "a round, and the first of it whatever it takes";
  for (std::int32_t p = 0; p < kEight; ++p) EXPECT_EQ(committed("work", Partition(p)).size(), std::size_t{kEach});
}

// Two kinds that both need records, each behind its own order.
class BothEnds final : public gate::LatestGate {
 public:
  BothEnds() : LatestGate(kWait.value()) {}
  static constexpr std::array<engine::AgendaKind, 2> kEnds = {{{200, "first", {}}, {201, "last", {}}}};
  [[nodiscard]] std::span<const engine::AgendaKind> agenda() const override { return kEnds; }
  [[nodiscard]] std::optional<Hold> holds(const engine::Leaving& leaving, Arena& arena) const override {
    auto hold = LatestGate::holds(leaving, arena);
    hold->reference = true;
    return hold;
  }
  void take(engine::Turn& turn, engine::GateBatch& batch) const override {
    std::vector<std::string> keys = due(turn, batch);
    if (turn.kind() == 201) std::reverse(keys.begin(), keys.end());
    for (const std::string& key : keys) {
      const auto row = batch.rows().find(key);
      if (row && !take_one(key, *row, turn, batch)) return;
    }
  }
};
const BothEnds kBothEnds;

class ReferencesOfTwoKinds : public References {
 protected:
  ReferencesOfTwoKinds() : References(kBothEnds) {}
};

TEST_F(ReferencesOfTwoKinds, DoNotTakeTheirRecordsFromEachOther) {
  hold(30, 5'000);
  wait(5);
  EXPECT_EQ(committed("work").size(), 30U);
  EXPECT_EQ(held_now(), 0U);
}

// In its place is another record: it is not the one that was held.
TEST(ReferencedRecords, OfWhichAnotherRecordIsInTheLogAreGone) {
  const codec::KeyedHash hash{HashKey()};
  codec::HeldRow held;
  held.reference = true;
  held.offset = Offset(7);
  held.hash = hash.of_input("a", "first");
  ReferencedRecords records;
  records.want({{held.offset, held.hash, 100}}, {1});
  EXPECT_EQ(records.find(held), engine::References::Found::kUnread);
  EXPECT_TRUE(records.waits(1));
  EXPECT_FALSE(records.waits(2)) << "a kind that lacks nothing is kept waiting";
  kafka::Record other;
  other.offset = Offset(7);
  other.key = "a";
  other.payload = "second";
  EXPECT_TRUE(records.read(other, hash));
  EXPECT_EQ(records.find(held), engine::References::Found::kGone);
  EXPECT_FALSE(records.waits(1));
}

TEST(ReferencedRecords, ThatAreWantedAgainAreNotReadTwice) {
  const codec::KeyedHash hash{HashKey()};
  ReferencedRecords records;
  const std::uint64_t of_a = hash.of_input("a", "first");
  records.want({{Offset(7), of_a, 100}, {Offset(9), 1, 100}}, {1});
  kafka::Record read;
  read.offset = Offset(7);
  read.key = "a";
  read.payload = "first";
  EXPECT_TRUE(records.read(read, hash));
  records.want({{Offset(7), of_a, 100}, {Offset(8), 1, 100}}, {1});
  EXPECT_EQ(records.next(), Offset(8));
  EXPECT_EQ(records.at(Offset(7)).payload, "first");
  EXPECT_EQ(records.bytes(), 200U) << "what is not needed any more is kept";
}

}  // namespace
}  // namespace reseq::runtime
