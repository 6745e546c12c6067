#include "observe/merged_log.h"

#include <deque>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tests/support/good.h"

namespace reseq::test {
namespace {

using observe::MergedLog;
using observe::Stream;
using State = MergedLog::State;

// Logs in memory: timestamps of records at offsets 0, 1, 2, ...
class Logs final : public kafka::Bystander {
 public:
  explicit Logs(std::vector<std::vector<std::int64_t>> times) : times_(std::move(times)), next_(times_.size(), 0) {}
  Result<kafka::LogPolled> poll(std::size_t place, Milliseconds) override {
    if (silent) return kafka::LogPolled(kafka::Nothing{});
    const std::size_t at = next_[place];
    if (at == times_[place].size())
      return kafka::LogPolled(kafka::EndOfLog{{}, Offset(static_cast<std::int64_t>(at) + 1)});  // behind a marker
    ++next_[place];
    kafka::Record record;
    record.offset = Offset(static_cast<std::int64_t>(at));
    record.timestamp = UnixMs(times_[place][at]);
    return kafka::LogPolled(std::move(record));
  }
  bool silent = false;

 private:
  std::vector<std::vector<std::int64_t>> times_;
  std::vector<std::size_t> next_;
};

const std::vector<Stream> kThree = {{Role::kRequests, Partition(0), Offset(0)},
                                    {Role::kCommands, Partition(0), Offset(0)},
                                    {Role::kCommands, Partition(1), Offset(0)}};

// "stream:time" of what is taken until the round is over.
std::string all_of(MergedLog& log, std::optional<UnixMs> only = std::nullopt) {
  std::string text;
  observe::Taken taken;
  while (good(log.take(only, Milliseconds(0), taken)) == State::kTaken)
    text += std::to_string(taken.stream) + ":" + std::to_string(taken.timestamp.value()) + " ";
  return text;
}

TEST(MergedLog, GoesByTimeAndTakesTheInputFirst) {
  Logs logs({{10, 20, 0, 40}, {10, 15, 35}, {5, 40}});
  MergedLog log(logs, kThree);
  log.read_to({Offset(4), Offset(3), Offset(2)});
  EXPECT_EQ(all_of(log), "2:5 0:10 1:10 1:15 0:20 0:20 1:35 0:40 2:40 ");
  EXPECT_EQ(log.left(Role::kRequests) + log.left(Role::kCommands), 0);
}

TEST(MergedLog, EndsARoundAtItsEndsAndGoesOnInTheNext) {
  Logs logs({{1, 2, 3}, {1, 2, 3}, {}});
  MergedLog log(logs, kThree);
  log.read_to({Offset(2), Offset(1), Offset(0)});
  EXPECT_EQ(all_of(log), "0:1 1:1 0:2 ");
  log.read_to({Offset(4), Offset(4), Offset(1)});  // ends behind transaction markers
  EXPECT_EQ(all_of(log), "1:2 0:3 1:3 ");
  EXPECT_EQ(log.position(0), Offset(4));
}

TEST(MergedLog, StandsWhereItTookNotWhereItFetched) {
  Logs logs({{1, 2}, {7}, {8}});
  MergedLog log(logs, kThree);
  log.read_to({Offset(2), Offset(1), Offset(1)});
  observe::Taken taken;
  ASSERT_EQ(good(log.take(std::nullopt, Milliseconds(0), taken)), State::kTaken);
  EXPECT_EQ(log.position(0), Offset(1));
  EXPECT_EQ(log.position(1), Offset(0));  // its record is held
  EXPECT_EQ(log.left(Role::kCommands), 2);
}

TEST(MergedLog, ReadsRequestsAheadAsFarAsAsked) {
  Logs logs({{10, 20, 30}, {1}, {1}});
  MergedLog log(logs, kThree);
  log.read_to({Offset(3), Offset(1), Offset(1)});
  EXPECT_EQ(all_of(log, UnixMs(20)), "0:10 0:20 ");
  EXPECT_EQ(all_of(log), "1:1 2:1 0:30 ");
}

TEST(MergedLog, WaitsForAPartitionThatHasNotDelivered) {
  Logs logs({{1}, {1}, {1}});
  logs.silent = true;
  MergedLog log(logs, kThree);
  log.read_to({Offset(1), Offset(1), Offset(1)});
  observe::Taken taken;
  EXPECT_EQ(good(log.take(std::nullopt, Milliseconds(0), taken)), State::kWaiting);
  logs.silent = false;
  EXPECT_EQ(all_of(log), "0:1 1:1 2:1 ");
}

}  // namespace
}  // namespace reseq::test
