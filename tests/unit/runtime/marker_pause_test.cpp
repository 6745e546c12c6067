// The pause after a commit: how long it is, and what a worker makes of it.
#include "runtime/worker/marker_pause.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>

#include "runtime/worker/worker.h"
#include "simulated_application.h"

namespace reseq::runtime {
namespace {

using test::good;

// The pause after so many commits that took so long.
std::int64_t pause_after(int commits, std::int64_t took_ms) {
  MarkerPause pause;
  std::int64_t now = 1'000;
  for (int i = 0; i < commits; ++i, now += 50) pause.committed(Milliseconds(now), Milliseconds(now + took_ms));
  return pause.until().value() - (now - 50 + took_ms);
}

TEST(MarkerPause, IsAMultipleOfWhatCommitsTake) {
  EXPECT_EQ(pause_after(1'000, 0), 0);
  EXPECT_EQ(pause_after(1'000, 1), 3);
  EXPECT_EQ(pause_after(1'000, 5), 15);
}

TEST(MarkerPause, IsNeverLongerThanWhatItSaves) {
  EXPECT_EQ(pause_after(1'000, 500), kPutOff.value());
}

TEST(MarkerPause, IsHardlyMovedByOneSlowCommit) {
  EXPECT_LE(pause_after(1, 30), 6);
  EXPECT_LE(pause_after(1, 60'000), 6);
}

TEST(MarkerPause, IsHardlyOneWhenCommitsAreFastAgain) {
  MarkerPause pause;
  for (int i = 0; i < 200; ++i) pause.committed(Milliseconds(i), Milliseconds(i + (i < 100 ? 20 : 0)));
  EXPECT_LE(pause.until(), Milliseconds(200));
}

TEST(MarkerPause, CountsCommitsThatTakeAPartOfAMillisecond) {
  // The clock says 1 for one in two of them.
  MarkerPause pause;
  std::int64_t longest = 0;
  for (std::int64_t i = 0; i < 1'000; ++i) {
    pause.committed(Milliseconds(i * 50), Milliseconds(i * 50 + i % 2));
    longest = std::max(longest, pause.until().value() - (i * 50 + i % 2));
  }
  EXPECT_EQ(longest, 2);
}

class PausingWorker : public SimulatedApplication {
 protected:
  static constexpr std::int64_t kBatch = 4;

  PausingWorker() {
    broker.settings().commit_takes = Milliseconds(5);
    application.settings.batch_records_max = kBatch;
    for (int i = 0; i < 200; ++i) waited(1);
  }

  // So many requests, and what was waited from the last commit to the transaction with them.
  std::int64_t waited(std::int64_t requests) {
    const std::int64_t committed = clock.steady().value();
    const simulation::Place where{*broker.topic("app.requests"), Partition(0)};
    for (std::int64_t i = 0; i < requests; ++i)
      broker.append(where, {"id", "{}", {{"reseq-seq", std::to_string(++sequence_)}}, broker.now()});
    while (!worker.transaction()) good(worker.step());
    const std::int64_t until = clock.steady().value();
    while (worker.transaction()) {
      good(worker.step());
      broker.tick();
    }
    return until - committed;
  }

  Worker worker{application, *kafka, clock, shelf, [] { return HashKey{}; }};

 private:
  std::uint64_t sequence_ = 0;
};

TEST_F(PausingWorker, GathersUntilMarkersAreWritten) {
  for (int i = 0; i < 10; ++i) EXPECT_EQ(waited(kBatch - 1), 15);
}

TEST_F(PausingWorker, DoesNotLetAWholeBatchWait) {
  for (int i = 0; i < 10; ++i) EXPECT_EQ(waited(kBatch), 0);
}

TEST_F(PausingWorker, BeginsAtOnceLongAfterACommit) {
  time.advance(Milliseconds(15));
  EXPECT_EQ(waited(1), 0);
}

}  // namespace
}  // namespace reseq::runtime
