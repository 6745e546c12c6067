// What becomes of documents whose command cannot do them: what it says itself, and with --on-error fail what its end,
// its silence and its wrong answers say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/stage/command_stage_run.h"

namespace reseq::command {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const CommandOptions kFails{.on_error = OnError::kFail};

// Goes on behind each document that it answers; `cases` are those of the others.
std::vector<std::string> loop_with(const std::string& cases) {
  return {
      "bash", "-c",
      "while read -r line; do case $line in " + cases + " esac; jq -c '{ticket, payload}' <<<\"$line\" || exit; done"};
}

class CommandFailures : public CommandStageTest {};

TEST_F(CommandFailures, AreSaidByTheCommandItself) {
  write_work("x");
  write_work("y");
  const Result<> ran = run({"jq", "--unbuffered", "-c",
                            R"(if .payload == "x" then
                                 {ticket, payload, targets: ["search"], done: false},
                                 {ticket, command: "fail", failure: "transient", error: "locked",
                                  targets: ["catalogue"]}
                               else {ticket, command: "fail", failure_scope: "universal", error: "down"} end)"});
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_THAT(world_.sent, ElementsAre("search=x"));
  EXPECT_THAT(world_.failures, ElementsAre("catalogue: transient document: locked", "*: unknown universal: down"));
  EXPECT_EQ(counts_.failed, 2U);
}

TEST_F(CommandFailures, SayThatNothingWasDoneOnlyWhereALineDoes) {
  for (const char* payload : {"refused", "refused here", "unsure", "locked", "crash"}) write_work(payload);
  const Result<> ran =
      run(loop_with("*'refused here'*) jq -c '{ticket, command: \"fail\", effect: \"none\", error: \"no\", "
                    "targets: [\"search\", \"catalogue\"]}' <<<\"$line\"; continue;; "
                    "*refused*) jq -c '{ticket, command: \"fail\", effect: \"none\", error: \"no\"}' <<<\"$line\"; "
                    "continue;; "
                    "*unsure*) jq -c '{ticket, command: \"fail\", error: \"hm\"}' <<<\"$line\"; continue;; "
                    "*locked*) exit 75;; *crash*) kill -SEGV $$;;"),
          kFails);
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_THAT(world_.failures,
              ElementsAre("*: unknown document, effect none: no", "search: unknown document, effect none: no",
                          "catalogue: unknown document, effect none: no", "*: unknown document: hm",
                          "*: transient document: exit status 75", "*: unknown document: signal SIGSEGV"));
}

TEST_F(CommandFailures, AreOfTheDocumentThatACommandDiedOfAndAnotherOneGoesOn) {
  for (const char* payload : {"good", "wrong", "locked", "crash", "silent", "good"}) write_work(payload, "search");
  const Result<> ran = run(loop_with("*wrong*) echo 'first' >&2; echo ' no PDF ' >&2; echo >&2; exit 3;; "
                                     "*locked*) exit 75;; *crash*) kill -SEGV $$;; *silent*) exit 0;;"),
                           kFails);
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_THAT(world_.failures, ElementsAre("*: unknown document: no PDF", "*: transient document: exit status 75",
                                           "*: unknown document: signal SIGSEGV",
                                           "*: unknown document: exit status 0 without an answer"));
  EXPECT_THAT(world_.sent, ElementsAre("search=good", "search=good"));
  EXPECT_EQ(world_.committed, Offset(6));
  EXPECT_EQ(counts_.failed, 4U);
  EXPECT_EQ(counts_.unanswered, 0U);
  ASSERT_EQ(reports_.size(), 4U);
  EXPECT_EQ(reports_[0], "id \"id-1\", offset 1 of partition 0 has failed: no PDF");
}

TEST_F(CommandFailures, DoNotSayWhatWasWrittenForAnEarlierDocument) {
  for (const char* payload : {"good", "wrong"}) write_work(payload, "search");
  ASSERT_TRUE(run(loop_with("*good*) echo 'a warning' >&2;; *wrong*) exit 3;;"), kFails));
  EXPECT_THAT(world_.failures, ElementsAre("*: unknown document: exit status 3"));
}

TEST_F(CommandFailures, AreForTheTargetsOfTheCommandAlone) {
  write_work("wrong");
  ASSERT_TRUE(run(loop_with("*wrong*) exit 3;;"), {.targets = {"search"}, .on_error = OnError::kFail}));
  EXPECT_THAT(world_.failures, ElementsAre("search: unknown document: exit status 3"));
}

TEST_F(CommandFailures, AreOfNoOtherDocumentThatWaits) {
  for (int i = 0; i < 41; ++i) write_work(i % 10 == 5 ? "wrong" : "good", "search");
  const Result<> ran = run(loop_with("*wrong*) exit 3;;"), {.copies = 2, .on_error = OnError::kFail});
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_EQ(world_.failures.size(), 4U);
  EXPECT_EQ(world_.sent.size(), 37U);
  EXPECT_EQ(world_.committed, Offset(41));
}

// It answers, and ends before it has read the next one.
TEST_F(CommandFailures, AreOfNoDocumentThatTheCommandHasNotRead) {
  for (int i = 0; i < 20; ++i) write_work("good", "search");
  const Result<> ran = run({"bash", "-c", "read -r line; jq -c '{ticket, payload}' <<<\"$line\""}, kFails);
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_THAT(world_.failures, IsEmpty());
  EXPECT_EQ(world_.sent.size(), 20U);
  EXPECT_THAT(reports_, IsEmpty()) << "that is how it works";
}

TEST_F(CommandFailures, AreOfALargeDocumentOfWhichTheCommandHasReadSome) {
  write_work(std::string(300'000, 'x'), "search");
  const Result<> ran = run({"bash", "-c", "head -c 100 >/dev/null; exit 4"}, kFails);
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_THAT(world_.failures, ElementsAre("*: unknown document: exit status 4"));
}

TEST_F(CommandFailures, AreOfNoDocumentWhenTheCommandCannotEvenBegin) {
  write_work("good", "search");
  const Result<> ran = run({"bash", "-c", "echo 'no such module' >&2; exit 3"}, kFails);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().message, "the command ended with exit code 3 before it had read anything");
  EXPECT_THAT(world_.failures, IsEmpty());
  EXPECT_LT(world_.committed, Offset(1));
}

TEST_F(CommandFailures, AreAnswersThatCannotBeUsed) {
  for (const char* payload : {"no JSON", "no ticket", "foreign", "large", "good"}) write_work(payload, "search");
  world_.payload_bytes_max = 20;
  const Result<> ran = run({"jq", "--unbuffered", "-c",
                            R"(if .payload == "no JSON" then "nonsense"
                               elif .payload == "no ticket" then {ticket: "?", payload}
                               elif .payload == "foreign" then {ticket, payload, targets: ["catalogue"]}
                               elif .payload == "large" then {ticket, payload: "more than twenty bytes"}
                               else {ticket, payload} end)"},
                           kFails);
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_THAT(world_.failures, ElementsAre(HasSubstr("*: unknown document: the command answered a line that cannot be "
                                                     "used: not a JSON object"),
                                           HasSubstr("no record with this ticket"),
                                           HasSubstr("names none of these targets"), HasSubstr("too large")));
  EXPECT_THAT(world_.sent, ElementsAre("search=good"));
  EXPECT_EQ(world_.committed, Offset(5));
  EXPECT_EQ(counts_.bad_lines, 0U);
}

// The next one has been given when they come.
TEST_F(CommandFailures, AreNotOfTheNextDocumentWhenFurtherLinesOfAWrongOneCome) {
  for (const char* payload : {"wrong", "good"}) write_work(payload, "search");
  const Result<> ran =
      run(loop_with("*wrong*) jq -c '{ticket, payload, done: false, unknown: 1}' <<<\"$line\"; sleep 0.3;;"), kFails);
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_THAT(world_.failures, ElementsAre(HasSubstr("unknown")));
  EXPECT_THAT(world_.sent, ElementsAre("search=good"));
}

TEST_F(CommandFailures, AreDocumentsThatAreNotAnsweredInTime) {
  for (const char* payload : {"hang", "good"}) write_work(payload, "search");
  const Result<> ran = run(loop_with("*hang*) sleep 1000;;"),
                           {.on_error = OnError::kFail, .answer_within = std::chrono::milliseconds(1'000)});
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_THAT(world_.failures, ElementsAre("*: unknown document: a command has not answered for 1 s"));
  EXPECT_THAT(world_.sent, ElementsAre("search=good"));
}

TEST_F(CommandFailures, AreNotSaidOfADocumentWhoseLeaseIsLost) {
  write_leased("hang", 600);
  ASSERT_TRUE(run(loop_with("*hang*) sleep 1000;;"), kFails));
  EXPECT_THAT(world_.failures, IsEmpty());
  EXPECT_EQ(counts_.given_up, 1U);
}

class CommandFailuresAtTheEnd : public CommandFailures {
 protected:
  // Whose command has read a document, and does that when its input ends.
  Result<> end_with(const std::string& what) {
    write_work("good", "search");
    stop_at_report_ = true;
    return run({"bash", "-c", "read -r line; cat; " + what},
               {.on_error = OnError::kFail, .silence = std::chrono::milliseconds(300)});
  }
};

TEST_F(CommandFailuresAtTheEnd, AreSaidByAnExitCode) {
  const Result<> ran = end_with("exit 3");
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_THAT(world_.failures, ElementsAre("*: unknown document: exit status 3"));
  EXPECT_EQ(world_.committed, Offset(1));
}

TEST_F(CommandFailuresAtTheEnd, AreNotSaidByASignalThatMayBeMeantForAll) {
  const Result<> ran = end_with("kill -TERM $$");
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_THAT(world_.failures, IsEmpty());
  EXPECT_EQ(counts_.unanswered, 1U);
  EXPECT_LT(world_.committed, Offset(1));
}

}  // namespace
}  // namespace reseq::command
