// Workers that say what failed, at a resequencer with failures: what is tried again, what is given up, and how often it
// was said.
#include <algorithm>
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "consumers/stage/kafka_stage.h"
#include "docs/examples/failures/worker.h"
#include "tests/e2e/outputs.h"
#include "tests/e2e/patience.h"
#include "tests/stage/stages_with_leases.h"
#include "tests/support/broker.h"
#include "tests/support/good.h"

namespace reseq::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr int kLeaseMs = 60'000;
const std::string kRetries =
    "failures.mode = \"retry\"\nfailures.retries_max = 2\nfailures.backoff_ms = 200\nfailures.repeats_max = 2\n";

// The first attempt of "locked" cannot be done, and "crash" never; "down" says that it is not its fault.
const std::string kPicky =
    "while read -r line; do case $(jq -r .id <<<\"$line\") in "
    "locked) [[ $line = *reseq-attempt* ]] || { echo 'the index is locked' >&2; exit 75; };; "
    "crash) kill -SEGV $$;; "
    "down) jq -c '{ticket, command: \"fail\", failure_scope: \"universal\", error: \"refused\"}' <<<\"$line\"; "
    "continue;; "
    "esac; jq -c '{ticket, payload}' <<<\"$line\"; done";

class FailuresOfCommands : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(FailuresOfCommands, AreSaidOnceEachAndTriedAgainOrGivenUp) {
  StagesWithLeases stages(kLeaseMs, kRetries);
  std::vector<std::string> options = {"--on-error", "fail", "--workers", "2"};
  options.insert(options.end(), GetParam().begin(), GetParam().end());
  const auto stage = stages.start("stage", options, kPicky);
  for (const char* id : {"good", "locked", "crash", "down"}) stages.request(id);
  ASSERT_TRUE(wait_until(
      kPatience, [&] { return stages.releases() == 2 && stages.read("dead-letter", "reseq-reason").size() == 2; }))
      << stage->tail() << stages.log();
  stage->signal(SIGTERM);
  EXPECT_EQ(stage->wait(60'000), 0) << stage->tail();
  EXPECT_THAT(stages.read("dead-letter", "reseq-reason"), ElementsAre("failed", "failed"));
  EXPECT_THAT(stages.read("dead-letter", "reseq-error"), UnorderedElementsAre("signal SIGSEGV", "refused"));
  EXPECT_THAT(stages.read("dead-letter", "reseq-attempts"), UnorderedElementsAre("2", "3"));
  EXPECT_THAT(
      stages.read("commands", "reseq-error", "fail"),
      UnorderedElementsAre("the index is locked", "signal SIGSEGV", "signal SIGSEGV", "refused", "refused", "refused"));
  EXPECT_THAT(stages.read("commands", "reseq-failure", "fail"),
              UnorderedElementsAre("transient", "unknown", "unknown", "unknown", "unknown", "unknown"));
  EXPECT_THAT(stages.results(), UnorderedElementsAre("-", "2"));
  EXPECT_THAT(stage->tail(), HasSubstr("the index is locked\n")) << "standard error comes out as it was";
  EXPECT_THAT(stage->tail(), HasSubstr("id \"crash\""));
}

// The first attempt of each cannot be done; of "declined" it says that it has done nothing.
const std::string kPays =
    "while read -r line; do [[ $line = *reseq-attempt* ]] || case $(jq -r .id <<<\"$line\") in "
    "declined) jq -c '{ticket, command: \"fail\", failure: \"transient\", effect: \"none\"}' <<<\"$line\"; continue;; "
    "unsure) jq -c '{ticket, command: \"fail\", failure: \"transient\", error: \"no answer\"}' <<<\"$line\"; "
    "continue;; "
    "locked) exit 75;; "
    "esac; jq -c '{ticket, payload}' <<<\"$line\"; done";

// In front of the other targets.
const std::string kPotent = kRetries +
                            "dispatch.attempts = \"last\"\n"
                            "[[target]]\nname = \"payments\"\neffect = \"potent\"\n";

TEST_P(FailuresOfCommands, AreTriedAgainAtAPotentTargetOnlyWhereALineSaysThatNothingWasDone) {
  StagesWithLeases stages(kLeaseMs, kPotent);
  std::vector<std::string> options = {"--on-error", "fail", "--workers", "2"};
  options.insert(options.end(), GetParam().begin(), GetParam().end());
  const auto stage = stages.start("stage", options, kPays);
  for (const char* id : {"declined", "unsure", "locked"}) stages.request(id);
  ASSERT_TRUE(wait_until(kPatience,
                         [&] {
                           return stages.releases() == 3 && stages.read("dead-letter", "reseq-reason").size() == 2 &&
                                  stages.read("output.payments", "reseq-seq").size() == 1;
                         }))
      << stage->tail() << stages.log();
  stage->signal(SIGTERM);
  EXPECT_EQ(stage->wait(60'000), 0) << stage->tail();
  EXPECT_THAT(stages.read("dead-letter", "reseq-reason"), ElementsAre("effect_unknown", "effect_unknown"));
  EXPECT_THAT(stages.read("dead-letter", "reseq-error"), UnorderedElementsAre("no answer", "exit status 75"));
  EXPECT_THAT(stages.read("dead-letter", "reseq-targets"), ElementsAre("payments", "payments"));
  EXPECT_THAT(stages.read("commands", "reseq-effect", "fail"), UnorderedElementsAre("none", "-", "-"));
}

INSTANTIATE_TEST_SUITE_P(Modes, FailuresOfCommands,
                         testing::Values(std::vector<std::string>{}, std::vector<std::string>{"--commit", "receipt"},
                                         std::vector<std::string>{"--transactional"}),
                         [](const auto& named) {
                           return named.param.empty()       ? "AfterWork"
                                  : named.param.size() == 2 ? "OnReceipt"
                                                            : "Transactional";
                         });

// All that a reader of the dead letters has to know.
std::vector<std::string> letters(const ResequencerRun& run) {
  std::vector<std::string> found;
  read_all(run.connection(), run.topic("dead-letter"), [&](const kafka::PlainRecord& record) {
    std::string letter(record.key.value_or("(null)"));
    for (const char* name : {"reseq-targets", "reseq-attempts", "reseq-error"})
      for (const Header& header : record.headers)
        if (header.name == name) letter += " " + std::string(header.value.value_or("(null)"));
    found.push_back(letter);
  });
  return found;
}

std::vector<std::string> ids_at(const ResequencerRun& run, const std::string& target) {
  std::vector<std::string> ids;
  for (const Released& one : read_outputs(run.connection(), run.topic("output." + target))) ids.push_back(one.id);
  return ids;
}

// Asks for these documents, and has a handler do them until what shall hold does. False: it took too long.
bool work_off(const ResequencerRun& run, const std::vector<std::string>& ids, const stage::WorkHandler& handler,
              const std::function<bool()>& done) {
  const auto producer = good(kafka::PlainProducer::open(run.connection()));
  for (const std::string& id : ids)
    good(producer->send(run.topic("requests"), id, id, std::vector<Header>{{"reseq-seq", "1"}}));
  good(producer->flush(Milliseconds(30'000)));
  const auto stage = good(stage::open_kafka_stage({.connection = run.connection(),
                                                   .group = run.application_id() + ".stage",
                                                   .work_topic = run.topic("work"),
                                                   .commands_topic = run.topic("commands"),
                                                   .limits = {}}));
  const auto until = std::chrono::steady_clock::now() + kPatience;
  good(stage::run_stage(*stage, handler, [&] { return done() || std::chrono::steady_clock::now() > until; }));
  return done();
}

TEST(StageLibrary, SaysWhatFailedAsTheExampleOfThePageDoes) {
  ResequencerRun run(Broker::shared().bootstrap_servers(), unique_name("library"), {"search", "catalogue"},
                     "dispatch.mode = \"journal\"\n" + kRetries);
  const std::unique_ptr<Process> resequencer = run.start(1);
  ASSERT_TRUE(work_off(run, {"good", "locked", "pdf", "away", "crash"}, answer, [&] {
    return letters(run).size() == 3 && ids_at(run, "catalogue").size() == 2;
  })) << resequencer->tail();
  EXPECT_THAT(letters(run),
              UnorderedElementsAre("pdf search,catalogue 1 no PDF", "away search,catalogue 3 connection refused",
                                   "crash search,catalogue 2 nobody has thought of that"));
  EXPECT_THAT(ids_at(run, "catalogue"), UnorderedElementsAre("good", "locked"));
  std::ptrdiff_t results_for_search = 0;
  read_all(run.connection(), run.topic("commands"), [&](const kafka::PlainRecord& record) {
    const auto says = [&](std::string_view name, std::string_view value) {
      return std::any_of(record.headers.begin(), record.headers.end(),
                         [&](const Header& one) { return one.name == name && one.value == value; });
    };
    results_for_search += says("reseq-command", "sequence") && says("reseq-target", "search") ? 1 : 0;
  });
  EXPECT_EQ(results_for_search, 2) << "the second attempt of what was locked is for the catalogue alone";
}

TEST(StageLibrary, HasAPotentTargetTriedAgainOnlyWhereItSaysThatNothingWasDone) {
  ResequencerRun run(Broker::shared().bootstrap_servers(), unique_name("potent"), {"search"},
                     "dispatch.mode = \"journal\"\n" + kPotent);
  const std::unique_ptr<Process> resequencer = run.start(1);
  const auto pay = [](const stage::Work& work) -> std::vector<stage::StageResult> {
    if (!work.header("reseq-attempt").empty())
      return {{.target = "payments", .payload = "paid"}, {.target = "search", .payload = "paid"}};
    return {{.answer = stage::Answer::kFail,
             .failure = {.error = "no answer", .without_effect = work.payload == "declined"}}};
  };
  ASSERT_TRUE(work_off(run, {"declined", "unsure"}, pay, [&] {
    return ids_at(run, "search").size() == 2 && ids_at(run, "payments").size() == 1;
  })) << resequencer->tail();
  EXPECT_THAT(ids_at(run, "payments"), ElementsAre("declined"));
  EXPECT_THAT(letters(run), ElementsAre("unsure payments 1 no answer"));
}

}  // namespace
}  // namespace reseq::test
