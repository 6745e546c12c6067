#include "runtime/worker/report.h"

#include <gtest/gtest.h>

#include "runtime/desk/health.h"

namespace reseq::runtime {
namespace {

WorkerReport report_at(std::int64_t steady_ms, Offset read, Offset end) {
  WorkerReport report;
  report.steady = Milliseconds(steady_ms);
  report.connected = report.member = true;
  PartitionReport partition;
  partition.phase = Phase::kRunning;
  partition.inputs[0].read = partition.inputs[0].decided = read;
  partition.inputs[0].end = end;
  report.partitions.push_back(partition);
  return report;
}

std::optional<Milliseconds> stalled_since(const Board& board) {
  return board.look().front().now->partitions.front().inputs[0].stalled_since;
}

TEST(Board, HasNothingBeforeSomebodyTells) {
  EXPECT_TRUE(Board(3).look().empty());
}

TEST(Board, TellsSinceWhenReadingStandsStillBelowTheEnd) {
  Board board(1);
  board.publish(report_at(1000, Offset(5), Offset(9)));
  EXPECT_FALSE(stalled_since(board));
  board.publish(report_at(1500, Offset(5), Offset(9)));
  EXPECT_EQ(stalled_since(board), Milliseconds(1000));
  board.publish(report_at(2000, Offset(5), Offset(12)));
  EXPECT_EQ(stalled_since(board), Milliseconds(1000));
  board.publish(report_at(2500, Offset(6), Offset(12)));
  EXPECT_FALSE(stalled_since(board));
}

TEST(Board, SeesNoStandstillAtTheEndOfALog) {
  Board board(1);
  board.publish(report_at(1000, Offset(5), Offset(5)));
  board.publish(report_at(1500, Offset(5), Offset(5)));
  board.publish(report_at(2000, Offset(5), Offset(6)));  // has only just been written
  EXPECT_FALSE(stalled_since(board));
}

TEST(Board, SeesNoStandstillBetweenTwoReportsThatWereAskedFor) {
  Board board(1);
  board.publish(report_at(1000, Offset(4), Offset(9)));
  board.publish(report_at(1500, Offset(5), Offset(9)));
  board.publish(report_at(1501, Offset(5), Offset(9)));
  EXPECT_FALSE(stalled_since(board)) << "nothing need have been read in a millisecond";
  board.publish(report_at(2000, Offset(5), Offset(9)));
  EXPECT_EQ(stalled_since(board), Milliseconds(1500));
  board.publish(report_at(2001, Offset(5), Offset(9)));
  EXPECT_EQ(stalled_since(board), Milliseconds(1500));
  board.publish(report_at(2002, Offset(6), Offset(9)));
  EXPECT_FALSE(stalled_since(board));
}

TEST(Board, KnowsWhenAllWorkersHaveAnswered) {
  Board board(3);
  const std::uint64_t question = board.ask();
  EXPECT_TRUE(board.answered(question)) << "nobody has begun";
  WorkerReport one = report_at(0, Offset(0), Offset(0));
  WorkerReport other = one;
  other.worker = 2;
  board.publish(one);
  board.publish(other);
  EXPECT_FALSE(board.answered(question));
  one.answers = board.asked();
  board.publish(one);
  EXPECT_FALSE(board.answered(question));
  other.answers = board.asked();
  board.publish(other);
  EXPECT_TRUE(board.answered(question));
  EXPECT_FALSE(board.answered(board.ask()));
}

TEST(Board, KeepsAnOlderReportToTellRatesFrom) {
  Board board(1);
  for (std::int64_t ms = 0; ms <= 20'000; ms += 500) {
    board.publish(report_at(ms, Offset(0), Offset(0)));
    const Board::Seen seen = board.look().front();
    ASSERT_EQ(seen.now->steady.value(), ms);
    ASSERT_NE(seen.before, nullptr);
    const std::int64_t window = ms - seen.before->steady.value();
    EXPECT_LE(window, 2 * Board::kWindow.value()) << ms;
    if (ms < 2 * Board::kWindow.value()) continue;
    EXPECT_GE(window, Board::kWindow.value()) << ms;
  }
}

TEST(Health, IsReadyWhenEveryWorkerHasItsPartitionsRunning) {
  Board board(2);
  board.publish(report_at(0, Offset(0), Offset(0)));
  EXPECT_FALSE(readiness(board.look(), 2).good);
  WorkerReport second = report_at(0, Offset(0), Offset(0));
  second.worker = 1;
  board.publish(second);
  EXPECT_TRUE(readiness(board.look(), 2).good);
}

TEST(Health, NamesWhatIsNotReady) {
  const auto told = [](const WorkerReport& report) {
    Board board(1);
    board.publish(report);
    const Health health = readiness(board.look(), 1);
    EXPECT_FALSE(health.good);
    return health.lines;
  };
  WorkerReport report = report_at(0, Offset(0), Offset(0));
  report.partitions.front().phase = Phase::kRestore;
  report.partitions.front().restore = changelog::Progress{Offset(0), Offset(10), Offset(25), 10, false};
  EXPECT_EQ(told(report), "ok  worker 0 is a member of the group\nno  partition 0 restore 15 offsets left\n");
  report.partitions.front().restore.reset();
  report.partitions.front().phase = Phase::kParked;
  report.partitions.front().parked = "identity";
  EXPECT_EQ(told(report), "ok  worker 0 is a member of the group\nno  partition 0 parked identity\n");
  report.partitions.clear();
  report.member = false;
  EXPECT_EQ(told(report), "no  worker 0 waits for the group\n");
  report.connected = false;
  EXPECT_EQ(told(report), "no  worker 0 waits for brokers\n");
  report.connected = report.member = report.clock_frozen = true;
  EXPECT_EQ(told(report), "ok  worker 0 is a member of the group\nno  worker 0 does not believe the clock\n");
}

TEST(Health, IsAliveWhileWorkersTellOfThemselves) {
  Board board(1);
  board.publish(report_at(1000, Offset(0), Offset(0)));
  EXPECT_TRUE(liveness(board.look(), Milliseconds(60'999), Milliseconds(60'000)).good);
  EXPECT_FALSE(liveness(board.look(), Milliseconds(61'000), Milliseconds(60'000)).good);
}

TEST(Health, IsAliveWhileALongStepGoesOn) {
  Board board(1);
  board.publish(report_at(1000, Offset(0), Offset(0)));
  board.moves(0, Milliseconds(50'000));
  EXPECT_TRUE(liveness(board.look(), Milliseconds(109'999), Milliseconds(60'000)).good);
  EXPECT_FALSE(liveness(board.look(), Milliseconds(110'000), Milliseconds(60'000)).good);
}

TEST(Health, IsAliveBeforeAnyWorkerHasBegun) {
  EXPECT_TRUE(liveness({}, Milliseconds(100'000), Milliseconds(60'000)).good);
}

}  // namespace
}  // namespace reseq::runtime
