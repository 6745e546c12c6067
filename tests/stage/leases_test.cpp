// Stages at a resequencer with a journal: what becomes of a document whose worker works for long, dies or stands still.
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

#include "tests/e2e/patience.h"
#include "tests/stage/stages_with_leases.h"
#include "tests/stage/topics.h"
#include "tests/support/pause.h"

namespace reseq::test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr std::chrono::milliseconds kQuiet{3'000};
const std::vector<std::string> kOnReceipt = {"--commit", "receipt"};

class LongWork : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(LongWork, IsDoneOnceWhileHeartbeatsRenewItsLease) {
  StagesWithLeases stages(2'000);
  const auto stage = stages.start("stage", GetParam(), stages.takes("7", "begun"));
  stages.request("a");
  ASSERT_TRUE(stages.released()) << stage->tail() << stages.log();
  EXPECT_THAT(stages.read("work", "reseq-attempt"), ElementsAre("-"));
  EXPECT_THAT(stages.results(), ElementsAre("-"));
  EXPECT_GE(stages.read("commands", "reseq-seq", "heartbeat").size(), 5U);
  stage->signal(SIGTERM);
  EXPECT_EQ(stage->wait(60'000), 0) << stage->tail();
}

INSTANTIATE_TEST_SUITE_P(Modes, LongWork,
                         testing::Values(std::vector<std::string>{}, kOnReceipt,
                                         std::vector<std::string>{"--transactional"}),
                         [](const auto& named) {
                           return named.param.empty()         ? "AfterWork"
                                  : named.param == kOnReceipt ? "OnReceipt"
                                                              : "Transactional";
                         });

// Nobody reads the first attempt once more, because it is committed: only the lease gives it back.
TEST(DeadWorker, CommittedOnReceiptAndItsDocumentIsWithAnotherAsTheSecondAttempt) {
  StagesWithLeases stages(12'000);
  const auto dies = stages.start("dies", kOnReceipt, stages.takes("1000", "dies"));
  stages.request("a");
  ASSERT_TRUE(stages.has_begun("dies")) << dies->tail() << stages.log();
  dies->signal(SIGKILL);
  EXPECT_EQ(dies->wait(10'000), 128 + SIGKILL);
  const auto other = stages.start("other", kOnReceipt, stages.takes("0", "other"));
  ASSERT_TRUE(stages.released()) << other->tail() << stages.log();
  std::this_thread::sleep_for(kQuiet);
  EXPECT_THAT(stages.read("work", "reseq-attempt"), ElementsAre("-", "2"));
  EXPECT_THAT(stages.results(), ElementsAre("2"));
  EXPECT_LE(stages.runs("dies") + stages.runs("other"), 2) << "what died, and the next attempt";
  EXPECT_EQ(stages.releases(), 1U);
}

// Its record is read once more, but it has been somebody else's for long.
TEST(DeadWorker, CommitsAfterTheWorkAndItsDocumentIsReleasedOnceByALaterAttempt) {
  StagesWithLeases stages(2'000);
  const auto dies = stages.start("dies", {}, stages.takes("1000", "dies"));
  stages.request("a");
  ASSERT_TRUE(stages.has_begun("dies")) << dies->tail() << stages.log();
  dies->signal(SIGKILL);
  EXPECT_EQ(dies->wait(10'000), 128 + SIGKILL);
  const auto other = stages.start("other", {}, stages.takes("0", "other"));
  ASSERT_TRUE(stages.released()) << other->tail() << stages.log();
  std::this_thread::sleep_for(kQuiet);
  EXPECT_THAT(stages.results(), SizeIs(1));
  EXPECT_THAT(stages.results(), Each(testing::Ne("-")));
  EXPECT_LE(stages.runs("dies") + stages.runs("other"), 3) << "what died, what was read once more, the next attempt";
  EXPECT_EQ(stages.releases(), 1U);
}

// A worker that stands still does not know that its lease is over. Meanwhile the first command has answered, the second
// one works on.
class PausedWorker : public testing::TestWithParam<const char*> {};

TEST_P(PausedWorker, SendsNothingWhenItGoesOn) {
  StagesWithLeases stages(2'000);
  const auto paused = stages.start("paused", {}, stages.takes(GetParam(), "paused"));
  stages.request("a");
  ASSERT_TRUE(stages.has_begun("paused")) << paused->tail() << stages.log();
  ASSERT_TRUE(pause_process(paused->pid()));
  const auto other = stages.start("other", {}, stages.takes("0", "other"));
  ASSERT_TRUE(stages.released()) << other->tail() << stages.log();
  paused->signal(SIGCONT);
  if (std::string_view(GetParam()) == "1000") {
    EXPECT_TRUE(wait_until(kPatience, [&] { return paused->tail().find("the lease is lost") != std::string::npos; }))
        << paused->tail();
  }
  std::this_thread::sleep_for(kQuiet);
  EXPECT_THAT(stages.results(), SizeIs(1));
  EXPECT_THAT(stages.results(), Each(testing::Ne("-")));
  EXPECT_EQ(stages.releases(), 1U);
  paused->signal(SIGTERM);
  EXPECT_EQ(paused->wait(60'000), 0) << paused->tail();
}

INSTANTIATE_TEST_SUITE_P(Commands, PausedWorker, testing::Values("4", "1000"),
                         [](const auto& named) { return std::string("Takes") + named.param; });

TEST(HangingCommand, IsEndedAndTheDocumentComesAgainWhenItsLeaseIsOver) {
  StagesWithLeases stages(2'000);
  const auto stage = stages.start("stage", {"--answer-within-s", "3"},
                                  "while read -r line; do [[ $line = *'\"reseq-attempt\"'* ]] || sleep 1000; jq -c "
                                  "'{ticket, payload}' <<<$line; done");
  stages.request("a");
  ASSERT_TRUE(stages.released()) << stage->tail() << stages.log();
  EXPECT_THAT(stages.read("work", "reseq-attempt"), ElementsAre("-", "2"));
  EXPECT_THAT(stages.results(), ElementsAre("2"));
  EXPECT_THAT(stage->tail(), HasSubstr("has not answered for 3 s and is ended"));
}

TEST(CommitOnReceipt, RefusesWorkThatHasNoLease) {
  Topics topics("no-lease");
  topics.write("a", "text");
  topics.flush();
  const auto stage = topics.start("stage", kOnReceipt, kEcho);
  EXPECT_EQ(stage->wait(60'000), 70) << "EX_SOFTWARE";
  EXPECT_THAT(stage->tail(), HasSubstr("has no lease"));
  EXPECT_EQ(topics.lag(), 1);
}

TEST(CommitOnReceipt, IsRefusedWithTransactions) {
  Topics topics("both");
  const auto stage = topics.start("stage", {"--commit", "receipt", "--transactional"}, kEcho);
  EXPECT_EQ(stage->wait(60'000), 78) << "EX_CONFIG";
  EXPECT_THAT(stage->tail(), HasSubstr("a transactional stage commits after the work"));
}

}  // namespace
}  // namespace reseq::test
