// A stage whose work is done by real commands, over a log in memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "tests/unit/stage/command_stage_run.h"

namespace reseq::command {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST_F(CommandStageTest, SendsTheAnswerToAllTargetsOfTheRecord) {
  write_work(R"({"n":1})");
  write_work("text", "search");
  const Result<> ran = run({"jq", "--unbuffered", "-c", "{ticket, payload}"});
  EXPECT_TRUE(ran) << ran.error().message;
  EXPECT_THAT(world_.sent, UnorderedElementsAre(R"(search={"n":1})", R"(catalogue={"n":1})", "search=text"));
  EXPECT_EQ(counts_.records, 2U);
  EXPECT_EQ(counts_.unanswered, 0U);
}

TEST_F(CommandStageTest, TakesTheWorkLineBackWithAnotherPayload) {
  write_work(R"({"title":"kettle"})");
  ASSERT_TRUE(run({"jq", "--unbuffered", "-c", ".payload.title |= ascii_upcase"}));
  EXPECT_THAT(world_.sent, UnorderedElementsAre(R"(search={"title":"KETTLE"})", R"(catalogue={"title":"KETTLE"})"));
}

TEST_F(CommandStageTest, TakesSeveralLinesForARecord) {
  write_work("x");
  ASSERT_TRUE(run({"jq", "--unbuffered", "-c",
                   R"({ticket, payload: "for search", targets: ["search"], done: false},
                      {ticket, command: "register", targets: ["more"], done: false},
                      {ticket, command: "unregister", targets: ["catalogue"]})"}));
  EXPECT_THAT(world_.sent, ElementsAre("search=for search", "register more=(null)", "unregister catalogue=(null)"));
}

TEST_F(CommandStageTest, GivesACommandOnlyTheWorkOfItsTargets) {
  write_work("x", "catalogue");
  write_work("y", "search,catalogue");
  ASSERT_TRUE(run({"jq", "--unbuffered", "-c", "{ticket, payload}"}, {.targets = {"search"}}));
  EXPECT_THAT(world_.sent, ElementsAre("search=y"));
}

TEST_F(CommandStageTest, NeedsTargetsWhenTheRecordNamesNone) {
  world_.work.push_back({kP0, Offset(static_cast<std::int64_t>(written_++)), "id-0", "x", {}});
  const Result<> ran = run({"jq", "--unbuffered", "-c", "{ticket, payload}"});
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().message,
            "a record of `work` has no reseq-targets (offset 0 of partition 0): name the targets that the command "
            "answers for with --targets");
  EXPECT_THAT(world_.sent, IsEmpty());
  EXPECT_LT(world_.committed, Offset(1));
}

TEST_F(CommandStageTest, AnswersForItsTargetsWhenTheRecordNamesNone) {
  world_.work.push_back({kP0, Offset(static_cast<std::int64_t>(written_++)), "id-0", "x", {}});
  ASSERT_TRUE(run({"jq", "--unbuffered", "-c", "{ticket, payload}"}, {.targets = {"search", "catalogue"}}));
  EXPECT_THAT(world_.sent, ElementsAre("search=x", "catalogue=x"));
}

TEST_F(CommandStageTest, SharesTheWorkAmongItsCopies) {
  for (int i = 0; i < 20; ++i) write_work("x", "search");
  const std::string script =
      "while read -r line; do printf '%s\\n' \"$line\" | jq -c \"{ticket, payload: \\\"$$\\\"}\"; done";
  ASSERT_TRUE(run({"bash", "-c", script}, {.copies = 2}));
  EXPECT_EQ(std::set<std::string>(world_.sent.begin(), world_.sent.end()).size(), 2U);
}

// The command writes far more than a pipe holds before it reads on, and so do we.
TEST_F(CommandStageTest, DoesNotLockUpWhenAllPipesAreFull) {
  for (int i = 0; i < 300; ++i) write_work(std::string(5'000, 'x'), "search");
  ASSERT_TRUE(run({"jq", "--unbuffered", "-c", "{ticket, payload: (.payload + .payload)}"}, {.copies = 2}));
  EXPECT_EQ(world_.sent.size(), 300U);
}

TEST_F(CommandStageTest, TakesWhatABufferingCommandHoldsBackWhenItsInputEnds) {
  for (int i = 0; i < 3; ++i) write_work("x", "search");
  stop_at_report_ = true;
  ASSERT_TRUE(run({"jq", "-c", "{ticket, payload}"}, {.silence = std::chrono::milliseconds(50)}));
  EXPECT_EQ(world_.sent.size(), 3U);
  EXPECT_EQ(world_.committed, Offset(3));
  ASSERT_EQ(reports_.size(), 1U);
  EXPECT_THAT(reports_[0], HasSubstr("--unbuffered"));
}

TEST_F(CommandStageTest, StopsAtALineThatCannotBeUsedAndCommitsOnlyWhatWasAnswered) {
  for (const char* payload : {"good", "bad", "good"}) write_work(payload, "search");
  const Result<> ran =
      run({"jq", "--unbuffered", "-c", R"(if .payload == "bad" then "nonsense" else {ticket, payload} end)"});
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().message,
            R"(the command answered a line that cannot be used: not a JSON object: "\"nonsense\"")");
  EXPECT_EQ(world_.committed, Offset(1));
  EXPECT_EQ(counts_.bad_lines, 1U);
}

TEST_F(CommandStageTest, FinishesTheRecordOfALineThatCannotBeUsedWhenToldTo) {
  for (const char* payload : {"no result", "target", "large", "good"}) write_work(payload, "search");
  world_.payload_bytes_max = 20;
  const Result<> ran = run({"jq", "--unbuffered", "-c",
                            R"(if .payload == "no result" then {ticket}
                               elif .payload == "target" then {ticket, payload, targets: ["catalogue"]}
                               elif .payload == "large" then {ticket, payload: "more than twenty bytes"}
                               else {ticket, payload} end)"},
                           {.on_error = OnError::kSkip});
  EXPECT_TRUE(ran) << ran.error().message;
  EXPECT_THAT(reports_, ElementsAre(HasSubstr("needs 'payload', 'op', 'command' or 'done'"),
                                    HasSubstr("names none of these targets"), HasSubstr("too large")));
  EXPECT_THAT(reports_[1], HasSubstr("passed over, of id \"id-1\", offset 1 of partition 0"));
  EXPECT_THAT(world_.sent, ElementsAre("search=good"));
  EXPECT_EQ(world_.committed, Offset(4));
  EXPECT_EQ(counts_.bad_lines, 3U);
  EXPECT_EQ(counts_.unanswered, 0U);
}

TEST_F(CommandStageTest, TakesTheFurtherLinesOfARecordBehindOneThatCannotBeUsed) {
  write_work("x");
  world_.payload_bytes_max = 20;
  ASSERT_TRUE(run({"jq", "--unbuffered", "-c",
                   R"({ticket, payload: "more than twenty bytes", targets: ["catalogue"], done: false},
                      {ticket, payload, targets: ["search"]})"},
                  {.on_error = OnError::kSkip}));
  EXPECT_THAT(reports_, ElementsAre(HasSubstr("too large")));
  EXPECT_THAT(world_.sent, ElementsAre("search=x"));
}

TEST_F(CommandStageTest, LeavesOutWhatIsForTargetsThatAreDone) {
  write_work("x", "catalogue");
  const Result<> ran = run({"jq", "--unbuffered", "-c",
                            R"({ticket, payload: "done before", targets: ["search"], done: false},
                               {ticket, command: "fail", targets: ["search"], done: false},
                               {ticket, payload, targets: ["search", "catalogue"]})"});
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_THAT(world_.sent, ElementsAre("catalogue=x"));
  EXPECT_THAT(world_.failures, IsEmpty());
}

TEST_F(CommandStageTest, TakesResultsForTargetsThatItsCommandHasRegistered) {
  write_work("x", "search");
  ASSERT_TRUE(run({"jq", "--unbuffered", "-c",
                   R"({ticket, payload, done: false}, {ticket, command: "register", targets: ["more"], done: false},
                      {ticket, payload: "further", targets: ["more"]})"}));
  EXPECT_THAT(world_.sent, ElementsAre("search=x", "register more=(null)", "more=further"));
}

TEST_F(CommandStageTest, StopsAtAnswersThatAreForNoneOfTheTargets) {
  write_work("x", "search");
  const Result<> ran = run({"jq", "--unbuffered", "-c", R"({ticket, payload, targets: ["serach"]})"});
  ASSERT_FALSE(ran);
  EXPECT_THAT(ran.error().message, HasSubstr("the work line names none of these targets"));
  EXPECT_THAT(world_.sent, IsEmpty());
  EXPECT_LT(world_.committed, Offset(1));
}

TEST_F(CommandStageTest, LeavesARecordOpenWhenALineDoesNotTellWhichOne) {
  for (const char* payload : {"bad", "unknown", "good"}) write_work(payload, "search");
  CommandOptions options{.on_error = OnError::kSkip};
  options.command = {"jq", "--unbuffered", "-c",
                     R"(if .payload == "bad" then "nonsense"
                        elif .payload == "unknown" then {ticket: "x", payload}
                        else {ticket, payload} end)"};
  std::atomic<bool> stop = false;
  CommandStage stage(stage_, options, [&](const std::string& line) { reports_.push_back(line); });
  watch_ = [&] { stop = stop || world_.sent.size() == 1; };
  ASSERT_TRUE(stage.run(stop));
  EXPECT_THAT(reports_, ElementsAre(HasSubstr("not a JSON object"), HasSubstr("no record with this ticket")));
  EXPECT_EQ(stage.counts().unanswered, 2U);
  EXPECT_EQ(world_.committed, Offset(0)) << "the first record was not answered";
}

TEST_F(CommandStageTest, EndsWithItsCommand) {
  const std::vector<std::pair<std::string, std::string>> ends = {
      {"read line; exit 3", "the command ended with exit code 3"},
      {"read line; exit 0", "the command ended while there was work to do"},
      {"read line; kill -9 $$", "the command was killed by signal 9"},
      {"exec 0<&-; sleep 0.1; exit 4", "the command ended with exit code 4"},
      {"read line; printf '{\"ticket\":\"0-'; kill -9 $$", "the command was killed by signal 9"},
      {"read line; printf '{\"ticket\":\"0-'", "the command ended in the middle of a line"},
  };
  for (const auto& [script, message] : ends) {
    write_work("x");
    const Result<> ran = run({"bash", "-c", script});
    ASSERT_FALSE(ran) << script;
    EXPECT_EQ(ran.error().message, message) << script;
    EXPECT_LT(world_.committed, Offset(1));
    EXPECT_EQ(counts_.bad_lines, 0U);
  }
}

// One copy does not write any more, though it has not ended; the other one answers only after that was seen.
TEST_F(CommandStageTest, ServesTheOthersWhileACopyIsEnding) {
  for (int i = 0; i < 20; ++i) write_work("x", "search");
  const std::string script = "read -r line; if mkdir " + folder_.path() + "/first 2>/dev/null; then exec 1>&-; touch " +
                             folder_.path() + "/closed; exec cat >/dev/null; fi; while ! [ -e " + folder_.path() +
                             "/closed ]; do sleep 0.01; done; sleep 0.2; { echo \"$line\"; cat; } | "
                             "jq --unbuffered -c '{ticket, payload}'";
  CommandOptions options{.command = {"bash", "-c", script}, .copies = 2};
  std::atomic<bool> stop = false;
  CommandStage stage(stage_, options, [&](const std::string& line) { reports_.push_back(line); });
  watch_ = [&] { stop = stop || world_.sent.size() >= 5; };
  const Result<> ran = stage.run(stop);
  EXPECT_TRUE(ran) << ran.error().message;
  EXPECT_GE(world_.sent.size(), 5U);
  EXPECT_GT(stage.counts().unanswered, 0U);
  EXPECT_EQ(world_.sent.size() + stage.counts().unanswered, 20U);
}

TEST_F(CommandStageTest, SaysWhenThereIsNoSuchCommand) {
  const Result<> ran = run({"no-such-command-anywhere"});
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().message, "cannot start no-such-command-anywhere: No such file or directory");
}

TEST_F(CommandStageTest, EndsACommandThatIgnoresTheEndOfItsInput) {
  write_work("x", "search");
  const Result<> ran = run({"bash", "-c", "read -r line; jq -c '{ticket, payload}' <<<\"$line\"; sleep 1000"},
                           {.end_limit = std::chrono::milliseconds(100)});
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().message, "the command did not end when its input did");
  EXPECT_EQ(world_.committed, Offset(1));
}

constexpr std::int64_t kShortMs = 600;
constexpr std::int64_t kLongMs = 3'600'000;
// Answers nothing from a record on whose payload is "hang".
const std::vector<std::string> kHangs = {
    "bash", "-c",
    "while read -r line; do case $line in *hang*) sleep 1000;; esac; jq -c '{ticket, payload}' <<<$line; done"};

TEST_F(CommandStageTest, EndsACommandWhoseLeaseIsLostAndGoesOnWithAnother) {
  write_leased("hang", kShortMs);
  at_report_ = [&] { write_leased("fine", kLongMs); };
  const Result<> ran = run(kHangs);
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_THAT(world_.sent, ElementsAre("search=fine"));
  EXPECT_EQ(world_.committed, Offset(2)) << "the lease gives back the first one, not the log";
  EXPECT_EQ(counts_.given_up, 1U);
  ASSERT_EQ(reports_.size(), 1U);
  EXPECT_THAT(reports_[0], HasSubstr("the lease is lost: the command is ended, and others get id \"id-0\", offset 0"));
}

TEST_F(CommandStageTest, KillsACommandThatDoesNotHearSigtermBeforeItsLeaseEnds) {
  write_leased("hang", kShortMs);
  const std::string ready = folder_.path() + "/ready";
  const Result<> ran = run({"bash", "-c", "trap '' TERM; touch " + ready + "; " + kHangs[2]});
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_THAT(world_.sent, IsEmpty());
  EXPECT_EQ(counts_.given_up, 1U);
}

TEST_F(CommandStageTest, GivesUpAllThatACommandHadWhenItIsEnded) {
  write_leased("hang", kShortMs);
  for (int i = 0; i < 5; ++i) write_leased("behind it", kLongMs);
  ASSERT_TRUE(run(kHangs));
  EXPECT_THAT(world_.sent, IsEmpty());
  EXPECT_EQ(counts_.given_up, 6U);
  EXPECT_EQ(counts_.unanswered, 0U);
}

TEST_F(CommandStageTest, EndsWhenNothingWouldGiveBackWhatAnEndedCommandHad) {
  write_leased("hang", kShortMs);
  write_work("behind it", "search");
  const Result<> ran = run(kHangs);
  ASSERT_FALSE(ran);
  EXPECT_THAT(ran.error().message,
              HasSubstr("nothing but a new start gives back id \"id-1\", offset 1 of partition 0"));
  EXPECT_EQ(world_.committed, Offset(1));
}

TEST_F(CommandStageTest, LeavesTheOtherCommandsAlone) {
  write_leased("hang", kShortMs);
  write_leased("slow", kLongMs);
  const std::string script =
      "while read -r line; do case $line in *hang*) sleep 1000;; esac; sleep 1; jq -c '{ticket, payload}' <<<$line; "
      "done";
  ASSERT_TRUE(run({"bash", "-c", script}, {.copies = 2}));
  EXPECT_THAT(world_.sent, ElementsAre("search=slow"));
  EXPECT_EQ(counts_.given_up, 1U);
}

TEST_F(CommandStageTest, EndsACommandThatHangsForLongerThanItMay) {
  write_leased("hang", kLongMs);
  at_report_ = [&] { write_leased("fine", kLongMs); };
  const Result<> ran = run(kHangs, {.answer_within = std::chrono::milliseconds(1'000)});
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_THAT(world_.sent, ElementsAre("search=fine"));
  ASSERT_EQ(reports_.size(), 1U);
  EXPECT_THAT(reports_[0], HasSubstr("has not answered for 1 s and is ended"));
}

}  // namespace
}  // namespace reseq::command
