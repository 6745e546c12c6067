// How reseq-stage ends, and what is committed then.
#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "tests/e2e/patience.h"
#include "tests/stage/topics.h"

namespace reseq::test {
namespace {

using testing::HasSubstr;

constexpr int kSoftware = 70;  // EX_SOFTWARE

pid_t child_of(pid_t parent) {
  std::ifstream file("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children");
  pid_t child = 0;
  file >> child;
  return child;
}

TEST(StageProgram, EndsAtAWrongLineAndTheRecordComesAgain) {
  Topics topics("wrong-line");
  topics.write("a", "text");
  topics.flush();
  const auto wrong =
      topics.start("wrong", {"--transactional"}, {"jq", "--unbuffered", "-c", "{ticket: \"?\", payload}"});
  EXPECT_EQ(wrong->wait(60'000), kDataError);
  EXPECT_THAT(wrong->tail(), HasSubstr("no record with this ticket waits for an answer"));
  EXPECT_THAT(wrong->tail(), HasSubstr("1 records were not answered"));
  const auto right = topics.start("right", {"--transactional"}, kEcho);
  EXPECT_TRUE(wait_until(kPatience, [&] { return topics.results().size() == 1; })) << right->tail();
  right->signal(SIGTERM);
  EXPECT_EQ(right->wait(30'000), 0) << right->tail();
}

TEST(StageProgram, EndsWithItsCommandAndCommitsOnlyWhatWasAnswered) {
  Topics topics("killed-command");
  // The second record is not answered.
  const auto stage = topics.start("stage", {"--transactional"},
                                  {"jq", "--unbuffered", "-c", "select(.payload != \"never\") | {ticket, payload}"});
  topics.write("a", "text");
  topics.flush();
  ASSERT_TRUE(wait_until(kPatience, [&] { return topics.results().size() == 1; })) << stage->tail();
  topics.write("b", "never");
  topics.flush();
  const pid_t command = child_of(stage->pid());
  ASSERT_GT(command, 0);
  ::kill(command, SIGKILL);
  EXPECT_EQ(stage->wait(60'000), kSoftware);
  EXPECT_THAT(stage->tail(), HasSubstr("reseq-stage: the command was killed by signal 9"));
  EXPECT_EQ(topics.results().size(), 1U);
  EXPECT_EQ(topics.lag(), 1) << "the second record is to be read again";
}

TEST(StageProgram, EndsWhenAnotherOneHasItsInstanceId) {
  Topics topics("same-instance");
  const auto first = topics.start("first", {"--transactional", "--instance-id", "7"}, kEcho);
  topics.write("a", "text");
  topics.flush();
  ASSERT_TRUE(wait_until(kPatience, [&] { return topics.results().size() == 1; })) << first->tail();
  const auto second = topics.start("second", {"--transactional", "--instance-id", "7"}, kEcho);
  EXPECT_EQ(first->wait(60'000), kSoftware);
  EXPECT_THAT(first->tail(), HasSubstr("another stage has the same group and instance id"));
  topics.write("b", "text");
  topics.flush();
  EXPECT_TRUE(wait_until(kPatience, [&] { return topics.results().size() == 2; })) << second->tail();
}

TEST(StageProgram, TakesTheAnswersOnTheirWayAtSigterm) {
  Topics topics("sigterm");
  topics.write("a", "text");
  topics.flush();
  const std::string marker = topics.folder() + "/got";
  // Answers only when its input ends.
  const auto stage = topics.start(
      "stage", {},
      {"bash", "-c", "read -r line; touch " + marker + "; read -r more; jq -c '{ticket, payload}' <<<\"$line\""});
  ASSERT_TRUE(wait_until(kPatience, [&] { return std::ifstream(marker).good(); })) << stage->tail();
  stage->signal(SIGTERM);
  EXPECT_EQ(stage->wait(60'000), 0) << stage->tail();
  EXPECT_EQ(topics.results().size(), 1U);
  EXPECT_EQ(topics.lag(), 0);
}

// More results than one transaction takes, all of them at the end.
TEST(StageProgram, CommitsAllThatWasAnsweredAtTheEnd) {
  constexpr std::size_t kRecords = 12;
  constexpr int kResults = 1'000;
  Topics topics("much-at-the-end");
  for (std::size_t i = 0; i < kRecords; ++i) topics.write("document-" + std::to_string(i), "text");
  topics.flush();
  const std::string marker = topics.folder() + "/got";
  const std::string script =
      "import sys,json\ntickets=[]\nfor line in sys.stdin:\n"
      "  tickets.append(json.loads(line)['ticket'])\n"
      "  if len(tickets) == 12: open('" +
      marker +
      "', 'w')\n"
      "for ticket in tickets:\n  for n in range(1, 1001):\n"
      "    print(json.dumps({'ticket': ticket, 'payload': n, 'done': n == 1000}))";
  const auto stage = topics.start("stage", {"--transactional"}, {"python3", "-c", script});
  ASSERT_TRUE(wait_until(kPatience, [&] { return std::ifstream(marker).good(); })) << stage->tail();
  stage->signal(SIGTERM);
  EXPECT_EQ(stage->wait(60'000), 0) << stage->tail();
  const std::map<std::string, int> results = topics.results();
  EXPECT_EQ(results.size(), kRecords);
  for (const auto& [id, times] : results) EXPECT_EQ(times, kResults) << id;
  EXPECT_EQ(topics.lag(), 0);
}

}  // namespace
}  // namespace reseq::test
