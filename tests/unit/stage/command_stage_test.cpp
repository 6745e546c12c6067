// A stage whose work is done by real commands, over a log in memory.
#include "consumers/command/command_stage.h"

#include <csignal>
#include <deque>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>

#include "tests/support/process.h"

namespace reseq::command {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr Partition kP0{0};

struct World {
  std::deque<stage::WorkRecord> work;
  std::size_t payload_bytes_max = SIZE_MAX;  // a larger result can never be sent
  std::vector<std::string> sent;             // target=payload
  std::vector<stage::Ticket> acknowledged;
  Offset committed = kNoOffset;
  bool assigned = false;
};

class ReaderInMemory : public stage::WorkReader {
 public:
  explicit ReaderInMemory(World& world) : world_(world) {}
  void listen(stage::AssignmentListener& listener) override { listener_ = &listener; }
  Result<std::optional<stage::WorkRecord>> poll(Milliseconds) override {
    if (!std::exchange(world_.assigned, true)) listener_->on_assigned(std::vector<Partition>{kP0});
    if (world_.work.empty()) return std::optional<stage::WorkRecord>();
    std::optional<stage::WorkRecord> next = std::move(world_.work.front());
    world_.work.pop_front();
    return next;
  }
  [[nodiscard]] std::vector<stage::NextOffset> positions() const override { return {}; }
  Result<> commit(std::span<const stage::NextOffset> offsets) override {
    world_.committed = offsets.front().next;
    return Done{};
  }
  void close() override {}

 private:
  World& world_;
  stage::AssignmentListener* listener_ = nullptr;
};

class SenderInMemory : public stage::ResultSender {
 public:
  explicit SenderInMemory(World& world) : world_(world) {}
  Result<> send(const stage::Ticket& ticket, std::optional<std::string_view>, std::optional<std::string_view> payload,
                std::span<const stage::OwnedHeader> headers) override {
    if (payload && payload->size() > world_.payload_bytes_max)
      return Error{.what_to_do = ErrorClass::kInvalid, .message = "too large"};
    const auto header = [&](std::string_view name) {
      const auto found = stage::last_header(headers, name);
      return found ? found->value_or("(null)") : "(none)";
    };
    const std::string command = header("reseq-command") == "sequence" ? "" : header("reseq-command") + " ";
    const std::string target = header("reseq-command") == "register" ? "reseq-targets" : "reseq-target";
    world_.sent.push_back(command + header(target) + "=" + std::string(payload.value_or("(null)")));
    world_.acknowledged.push_back(ticket);
    return Done{};
  }
  Result<std::vector<stage::Ticket>> acknowledged(Milliseconds) override {
    return std::exchange(world_.acknowledged, {});
  }
  [[nodiscard]] std::size_t held() const override { return 0; }
  [[nodiscard]] bool holds(const stage::Ticket&) const override { return false; }

 private:
  World& world_;
};

class CommandStageTest : public testing::Test {
 protected:
  // As the program does: a command that has ended is seen at the write.
  static void SetUpTestSuite() { std::signal(SIGPIPE, SIG_IGN); }
  void write_work(const std::string& payload, const std::string& targets = "search,catalogue") {
    const auto offset = static_cast<std::int64_t>(written_++);
    world_.work.push_back({kP0, Offset(offset), "id-" + std::to_string(offset), payload, {{"reseq-targets", targets}}});
  }
  // With a lease that goes on for so long; nobody renews it.
  void write_leased(const std::string& payload, std::int64_t ms) {
    write_work(payload, "search");
    const std::int64_t now = stage::wall_clock().value();
    world_.work.back().headers.push_back({"reseq-lease-until", std::to_string(now + ms)});
    world_.work.back().timestamp = UnixMs(now);
  }
  // Runs until everything written was committed, or an error; then in order to the end.
  Result<> run(std::vector<std::string> command, CommandOptions options = {}) {
    options.command = std::move(command);
    std::atomic<bool> stop = false;
    CommandStage stage(stage_, options, [&](const std::string& line) {
      reports_.push_back(line);
      stop = stop_at_report_;
      if (at_report_) std::exchange(at_report_, {})();
    });
    watch_ = [&] { stop = stop || world_.committed == Offset(static_cast<std::int64_t>(written_)); };
    Result<> ran = stage.run(stop);
    counts_ = stage.counts();
    return ran;
  }

  // Looks after the world whenever the stage asks for acknowledgements.
  class Sender : public SenderInMemory {
   public:
    explicit Sender(CommandStageTest& test) : SenderInMemory(test.world_), test_(test) {}
    Result<std::vector<stage::Ticket>> acknowledged(Milliseconds limit) override {
      if (test_.watch_) test_.watch_();
      return SenderInMemory::acknowledged(limit);
    }

   private:
    CommandStageTest& test_;
  };

  test::TempDir folder_;
  World world_;
  std::size_t written_ = 0;
  bool stop_at_report_ = false;
  std::function<void()> watch_;
  std::function<void()> at_report_;
  std::vector<std::string> reports_;
  CommandCounts counts_;
  stage::Stage stage_{std::make_unique<ReaderInMemory>(world_),
                      std::make_unique<Sender>(*this),
                      {.in_flight_max = 5'000, .commit_interval = std::chrono::milliseconds(0)}};
};

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
                           {.on_bad_line = OnBadLine::kSkip});
  EXPECT_TRUE(ran) << ran.error().message;
  EXPECT_THAT(reports_, ElementsAre(HasSubstr("needs 'payload', 'op', 'command' or 'done'"),
                                    HasSubstr("does not name this target"), HasSubstr("too large")));
  EXPECT_THAT(reports_[1], HasSubstr("passed over, of id \"id-1\", offset 1 of partition 0"));
  EXPECT_THAT(world_.sent, ElementsAre("search=good"));
  EXPECT_EQ(world_.committed, Offset(4));
  EXPECT_EQ(counts_.bad_lines, 3U);
  EXPECT_EQ(counts_.unanswered, 0U);
}

TEST_F(CommandStageTest, TakesTheFurtherLinesOfARecordBehindOneThatCannotBeUsed) {
  write_work("x");
  ASSERT_TRUE(run({"jq", "--unbuffered", "-c",
                   R"({ticket, payload, targets: ["foreign"], done: false}, {ticket, payload, targets: ["search"]})"},
                  {.on_bad_line = OnBadLine::kSkip}));
  EXPECT_THAT(reports_, ElementsAre(HasSubstr("does not name this target")));
  EXPECT_THAT(world_.sent, ElementsAre("search=x"));
}

TEST_F(CommandStageTest, LeavesARecordOpenWhenALineDoesNotTellWhichOne) {
  for (const char* payload : {"bad", "unknown", "good"}) write_work(payload, "search");
  CommandOptions options{.on_bad_line = OnBadLine::kSkip};
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
