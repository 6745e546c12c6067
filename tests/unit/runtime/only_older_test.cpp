// A worker reports the documents that got nothing but older requests for some minutes, and forgets them as soon as one
// gets through.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "runtime/desk/admin_replies.h"
#include "runtime/desk/metrics_text.h"
#include "runtime/worker/worker.h"
#include "simulated_application.h"

namespace reseq::runtime {
namespace {

using test::good;

constexpr std::size_t kDocuments = 60;
constexpr std::int64_t kStepMs = 100;

class OnlyOlder : public SimulatedApplication {
 protected:
  OnlyOlder() {
    application.delete_retention = Milliseconds(604'800'000);  // no heartbeats
    while (worker.tasks().empty() || worker.tasks().front()->phase() != Phase::kRunning) run(kStepMs);
    request_all(100);
  }

  void run(std::int64_t ms) {
    for (std::int64_t passed = 0; passed < ms; passed += kStepMs) {
      good(worker.step());
      ticks(1, kStepMs);
    }
  }
  void request_all(std::uint64_t sequence) {
    for (std::size_t i = 0; i < kDocuments; ++i)
      broker.append({*broker.topic("app.requests"), Partition(0)}, {"document-" + std::to_string(i),
                                                                    std::to_string(sequence),
                                                                    {{"reseq-seq", std::to_string(sequence)}},
                                                                    broker.now()});
    run(1'000);
  }
  [[nodiscard]] std::size_t reported() const { return worker.report().partitions.front().only_older; }

  Worker worker{application, *kafka, clock, shelf, [] { return HashKey{}; }};
};

TEST_F(OnlyOlder, AreReportedWhenTheyHaveGotNothingElseForTwoMinutes) {
  request_all(1);
  ASSERT_EQ(worker.totals().older_requests, kDocuments);
  EXPECT_EQ(reported(), 0U) << "as soon as one came";
  run(60'000);
  request_all(2);
  EXPECT_EQ(reported(), 0U) << "after a minute";
  run(OlderRequests::kCountAfter.value() - 60'000);
  EXPECT_EQ(reported(), kDocuments);
  Board board(1);
  board.publish(worker.report());
  EXPECT_THAT(metrics_text(application, board.look(), clock.steady()),
              testing::HasSubstr("reseq_documents_only_older_requests{partition=\"0\"} 60\n"));
  EXPECT_EQ(stats_reply(application, board.look(), clock.now())["partitions"][0]["documents"]["only_older_requests"],
            60);
  request_all(101);
  EXPECT_EQ(reported(), 0U) << "when newer ones come";
}

TEST_F(OnlyOlder, AreNoneWhereOldChangesAreSentAgainAndTheirNewestOnesFollow) {
  for (std::uint64_t sequence = 80; sequence <= 100; ++sequence) request_all(sequence);
  ASSERT_EQ(worker.totals().older_requests, 20 * kDocuments);
  for (int minute = 0; minute < 5; ++minute) {
    EXPECT_EQ(reported(), 0U);
    run(60'000);
  }
}

}  // namespace
}  // namespace reseq::runtime
