// What a partition says while it waits for an answer that no broker gives (docs/recovery.md). The other waits are shown
// with real brokers (tests/recovery).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "changelog/restorer.h"
#include "runtime/partition_task.h"
#include "simulated_application.h"
#include "tests/support/log_lines.h"

namespace reseq::runtime {
namespace {

using simulation::Call;
using simulation::Fault;
using test::good;
using testing::HasSubstr;

constexpr Milliseconds kAMinute{60'000};

class Waits : public SimulatedApplication {
 protected:
  Waits() {
    consumer = good(kafka->consumer(application.topics.of(Role::kRequests)));
    reader = good(kafka->log_reader());
    restorer = std::make_unique<changelog::Restorer>(*reader, application.topics.of(Role::kChangelog),
                                                     changelog::MemoryLimit{1'000, 1'000'000});
  }

  // Up to the step in which it asks the question.
  void step_to(Phase phase) {
    for (int i = 0; i < 100 && task.phase() != phase; ++i) {
      if (task.phase() == Phase::kRestore) (void)restorer->step(100, Milliseconds(0));
      task.step(*consumer, *restorer);
      ticks(1);
    }
    ASSERT_EQ(task.phase(), phase);
  }
  // What it says when it was refused for a while; then it gets an answer and goes on.
  std::string refused(Call call) {
    const test::LogLines log;
    time.advance(kAMinute);
    broker.faults().order(call, Fault::kRetriable);
    const Phase before = task.phase();
    task.step(*consumer, *restorer);
    EXPECT_EQ(task.phase(), before);
    task.step(*consumer, *restorer);
    EXPECT_NE(task.phase(), before) << "it goes on by itself";
    return log.text();
  }

  PartitionTask task{application, clock, shelf, Partition(0)};
  std::unique_ptr<kafka::Consumer> consumer;
  std::unique_ptr<kafka::LogReader> reader;
  std::unique_ptr<changelog::Restorer> restorer;
};

TEST_F(Waits, ForTheFirstOffsetsOfItsInputsAtItsBirth) {
  step_to(Phase::kCompare);
  EXPECT_THAT(refused(Call::kOffsets), HasSubstr("partition=0 takeover=compare waiting=first_offsets seconds=60 "));
}

TEST_F(Waits, ToReadTheChangelogOn) {
  step_to(Phase::kHighWatermark);
  EXPECT_THAT(refused(Call::kAssign), HasSubstr("takeover=high_watermark waiting=changelog_read seconds=60 "));
}

}  // namespace
}  // namespace reseq::runtime
