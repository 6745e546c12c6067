// What may go wrong with what waits, and the bounds of what leaves: disks, sizes, backlogs, versions.
#include <fstream>
#include <gtest/gtest.h>

#include "gated.h"
#include "latest_gate.h"

namespace reseq::runtime {
namespace {

using gate::LatestGate;
using test::good;

const gate::WindowGate kAll({.window = Milliseconds(60'000), .every = 1, .drained_max = 1000, .partitions = 1});

class HeldPiece : public Gated<1> {
 protected:
  HeldPiece() : Gated(kAll) { application.settings.checkpoint_rows_max = 1; }
};

TEST_F(HeldPiece, OfWhichABitFlipsOnDiskIsAFaultOfTheState) {
  start();
  request(id_in(Partition(0)), 1, std::string(20'000, 'z'));
  decide(1);
  ASSERT_EQ(held_now(), 1U);
  for (int i = 0; i < 1000 && worker->tasks()[0]->store().dirty_rows() > 0; ++i) step();
  ASSERT_EQ(worker->tasks()[0]->store().dirty_rows(), 0U);
  const std::string path = worker->tasks()[0]->store().folder() + "/data.mdb";
  std::ifstream in(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  std::fstream out(path, std::ios::binary | std::ios::in | std::ios::out);
  const std::string piece(4000, 'z');
  int damaged = 0;
  // not in the first piece, which is in the row itself
  for (std::size_t at = bytes.find(piece); at != std::string::npos; at = bytes.find(piece, at + piece.size())) {
    if (at < 64 || bytes.substr(at - 64, 64).find("document") != std::string::npos) continue;
    out.seekp(static_cast<std::streamoff>(at + 3000));
    out.put('y');
    ++damaged;
  }
  ASSERT_TRUE(out.flush());
  ASSERT_GT(damaged, 0);
  for (int i = 0; i < 200; ++i) {
    ticks(1, 500);
    step();
  }
  EXPECT_EQ(worker->totals().rebuilds[static_cast<std::size_t>(Rebuild::kFault)], 1U);
  EXPECT_EQ(committed("work").size(), 1U);
}

constexpr std::int32_t kMany = 8;
const gate::WindowGate kAllOfMany(
    {.window = Milliseconds(60'000), .every = 1, .drained_max = 1000, .partitions = kMany});

class Budget : public Gated<kMany> {
 protected:
  Budget() : Gated(kAllOfMany) { application.settings.batch_bytes_max = 100'000; }
};

TEST_F(Budget, OfATransactionIsSharedByItsPartitions) {
  start();
  std::uint64_t inputs = 0;
  for (std::int32_t p = 0; p < kMany; ++p)
    for (int n = 0; n < 9; ++n, ++inputs) request(id_in(Partition(p), n), 1, std::string(10'000, 'x'), Partition(p));
  decide(inputs);
  std::uint64_t most = 0;
  std::uint64_t before = 0;
  std::uint64_t transactions = worker->totals().transactions;
  for (int i = 0; i < 3000; ++i) {
    ticks(1, 50);
    step();
    if (worker->totals().transactions == transactions) continue;
    transactions = worker->totals().transactions;
    const std::uint64_t now = worker->totals().outputs[application.topics.of(Role::kWork).value()];
    most = std::max(most, now - before);
    before = now;
  }
  EXPECT_EQ(before, inputs);
  EXPECT_LE(most * 10'000, 100'000U + 10'000U * kMany);
}

class Smaller : public Gated<1> {
 protected:
  Smaller() : Gated(kAll) {}
};

TEST_F(Smaller, WorkTakesNoLongerWhatIsHeld) {
  start();
  request(id_in(Partition(0)), 1, std::string(50'000, 'z'));
  request(id_in(Partition(0), 1), 1, "small");
  decide(2);
  ASSERT_EQ(held_now(), 2U);
  broker.facts(*broker.topic("app.work")).max_message_bytes = 10'000;
  good(application.ask(*kafka, simulation::kLimit));
  worker.reset();
  worker = std::make_unique<Worker>(application, *kafka, clock, shelf, [] { return HashKey{}; });
  for (int i = 0; i < 3000; ++i) {
    ticks(1, 50);
    step();
  }
  ASSERT_EQ(worker->tasks().size(), 1U);
  EXPECT_EQ(worker->tasks()[0]->phase(), Phase::kRunning) << worker->tasks()[0]->parked_reason();
  EXPECT_EQ(committed("work").size(), 1U) << "the small one";
  EXPECT_EQ(committed("dead-letter").size(), 1U) << "as it would have been without a gate";
}

TEST_F(Smaller, OfWhichNothingIsLeftAnyVersionOpensTheState) {
  start();
  request(id_in(Partition(0)), 1, "z");
  decide(1);
  for (int i = 0; i < 3000 && held_now() > 0; ++i) {
    ticks(1, 50);
    step();
  }
  ASSERT_EQ(held_now(), 0U) << "nothing waits any more";
  worker.reset();
  application.gate = nullptr;
  worker = std::make_unique<Worker>(application, *kafka, clock, shelf, [] { return HashKey{}; });
  for (int i = 0; i < 500; ++i) {
    const auto stepped = worker->step();
    ticks(1);
    if (stepped) continue;
    FAIL() << "nothing of the gate is in the state: " << stepped.error().message;
  }
}

const LatestGate kSoon(1);

class Backlog : public Gated<1> {
 protected:
  Backlog() : Gated(kSoon) { application.settings.batch_bytes_max = 100'000; }
};

TEST_F(Backlog, OfInputsDoesNotStarveWhatIsDue) {
  constexpr int kRequests = 3000;
  for (int n = 0; n < kRequests; ++n) request(id_in(Partition(0), n), 1, std::string(10'000, 'x'));
  worker = std::make_unique<Worker>(application, *kafka, clock, shelf, [] { return HashKey{}; });
  std::uint64_t most = 0;
  for (int i = 0; i < 100'000 && worker->totals().inputs < kRequests; ++i) {
    step();
    if (all_running()) most = std::max(most, held_now());
  }
  const std::uint64_t held_in_all = kRequests;
  EXPECT_LT(most, held_in_all / 4) << "all were due a millisecond after they came";
}

// A key that is taken would hide what stands there.
class LatestDeathTest : public Gated<1> {
 protected:
  LatestDeathTest() : Gated(kHour) {}
  static inline const LatestGate kHour{3'600'000};
};

TEST_F(LatestDeathTest, TwoRecordsUnderOneKeyAreABugOfTheGate) {
  start();
  request("document-0", 1, "a");
  request("document-0", 2, "b");
  EXPECT_DEATH(decide(2), "two records are held under one key");
}

TEST_F(LatestDeathTest, ARecordUnderAKeyThatIsTakenIsABugOfTheGate) {
  start();
  request("document-0", 1, "a");
  decide(1);
  request("document-0", 2, "b");
  EXPECT_DEATH(decide(2), "a held record came or went in another way");
}

}  // namespace
}  // namespace reseq::runtime
