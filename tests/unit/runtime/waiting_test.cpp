// What a partition says while it waits for an answer that no broker gives (docs/recovery.md). The other waits are shown
// with real brokers (tests/recovery).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "changelog/restorer.h"
#include "runtime/takeover/parking.h"
#include "runtime/takeover/takeover.h"
#include "runtime/takeover/takeover_questions.h"
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

  void read() { good(restorer->step(100, Milliseconds(0))); }
  // Up to the question.
  void step_to(TakeoverQuestion question) {
    for (int i = 0; i < 100 && takeover.question() != question; ++i) {
      read();
      questions.ask({&takeover}, *consumer, *restorer);
      ticks(1);
      takeover.step(*restorer);
    }
    ASSERT_EQ(takeover.question(), question);
  }
  // What it says when it was refused for a while; then it gets an answer and goes on.
  std::string refused(Call call) {
    const test::LogLines log;
    time.advance(kAMinute);
    broker.faults().order(call, Fault::kRetriable);
    const TakeoverQuestion before = takeover.question();
    questions.ask({&takeover}, *consumer, *restorer);
    EXPECT_EQ(takeover.question(), TakeoverQuestion::kNone) << "it asks again, but not at once";
    time.advance(Milliseconds(1'000));
    EXPECT_EQ(takeover.question(), before);
    questions.ask({&takeover}, *consumer, *restorer);
    EXPECT_NE(takeover.question(), before) << "it goes on by itself";
    return log.text();
  }

  Parking parking{clock, Partition(0)};
  Takeover takeover{application, clock, shelf, parking, Partition(0)};
  TakeoverQuestions questions{application, clock};
  std::unique_ptr<kafka::Consumer> consumer;
  std::unique_ptr<kafka::LogReader> reader;
  std::unique_ptr<changelog::Restorer> restorer;
};

TEST_F(Waits, ForTheFirstOffsetsOfItsInputsAtItsBirth) {
  step_to(TakeoverQuestion::kFirstOffsets);
  EXPECT_THAT(refused(Call::kOffsets), HasSubstr("partition=0 takeover=compare waiting=first_offsets seconds=60 "));
}

TEST_F(Waits, ForTheEndsOfItsChangelog) {
  step_to(TakeoverQuestion::kChangelogEnds);
  EXPECT_THAT(refused(Call::kOffsets), HasSubstr("takeover=high_watermark waiting=changelog_ends seconds=60 "));
}

TEST_F(Waits, ToReadTheChangelogOn) {
  step_to(TakeoverQuestion::kChangelogEnds);
  questions.ask({&takeover}, *consumer, *restorer);
  ASSERT_EQ(takeover.phase(), Phase::kRestore);
  const test::LogLines log;
  time.advance(kAMinute);
  takeover.restore_failed({Partition(0), changelog::Restorer::Trouble::kPassing, {ErrorClass::kRetriable, 0, "gone"}},
                          *restorer);
  EXPECT_THAT(log.text(), HasSubstr("takeover=restore waiting=changelog_read seconds=60 detail=\"gone\""));
  EXPECT_EQ(takeover.question(), TakeoverQuestion::kNone) << "it asks again, but not at once";
  time.advance(Milliseconds(1'000));
  EXPECT_EQ(takeover.question(), TakeoverQuestion::kOffsets) << "it goes on by itself";
}

}  // namespace
}  // namespace reseq::runtime
