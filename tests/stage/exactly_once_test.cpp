// What a stage leaves in `commands` when it is killed in the middle: with transactions each result once, without them
// some of them twice.
#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/patience.h"
#include "tests/stage/topics.h"

namespace reseq::test {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kKillsPatience{120'000};

std::string document(int number) {
  return "document-" + std::to_string(number);
}

int more_than_once(const std::map<std::string, int>& results) {
  int count = 0;
  for (const auto& [id, times] : results) count += times > 1 ? 1 : 0;
  return count;
}

// The lag can only be asked for when the group has a coordinator, and while no offset is unstable.
bool all_committed(const Topics& topics) {
  try {
    return topics.lag() == 0;
  } catch (const std::exception&) {
    return false;
  }
}

TEST(TransactionalStage, LeavesEachResultOnceWhateverIsKilled) {
  constexpr int kDocuments = 2'000;
  constexpr int kKills = 5;
  Topics topics("exactly-once");
  for (int i = 0; i < kDocuments; ++i) topics.write(document(i), "text");
  topics.flush();
  const auto start = [&](const std::string& name) {
    // Slow enough to be killed in the middle.
    const std::string script =
        "import sys,json,time\nfor l in sys.stdin:\n  time.sleep(0.002)\n"
        "  print(json.dumps({'ticket': json.loads(l)['ticket'], 'payload': 'x'}), flush=True)";
    return topics.start(name, {"--transactional", "--instance-id", name, "--in-flight", "200"},
                        {"python3", "-c", script});
  };
  std::map<std::string, std::unique_ptr<Process>> stages;
  stages["a"] = start("a");
  std::int64_t seen = 0;
  for (int kill = 0; kill < kKills; ++kill) {
    const std::int64_t next = seen + kDocuments / (kKills + 2);
    ASSERT_TRUE(wait_until(kKillsPatience, [&] { return (seen = topics.progress()) >= next; })) << stages["a"]->tail();
    // The second one joins in the middle of the work of the first one: a rebalance.
    const std::string name = kill % 2 == 0 ? "a" : "b";
    if (kill == 0) stages["b"] = start("b");
    stages[name]->signal(SIGKILL);
    EXPECT_EQ(stages[name]->wait(10'000), 128 + SIGKILL);
    stages[name] = start(name);
  }
  ASSERT_TRUE(wait_until(kKillsPatience, [&] { return all_committed(topics); }))
      << stages["a"]->tail() << stages["b"]->tail();
  for (auto& [name, stage] : stages) {
    stage->signal(SIGTERM);
    EXPECT_EQ(stage->wait(60'000), 0) << stage->tail();
  }
  const std::map<std::string, int> results = topics.results();
  EXPECT_EQ(results.size(), kDocuments);
  EXPECT_EQ(more_than_once(results), 0);
}

// One record is not answered before the process is killed, so no offset behind it can be committed. What was answered
// stands in `commands` all the same, unless it waits for the transaction of that offset.
struct Unlucky {
  Topics topics;
  std::vector<std::string> options;
  std::unique_ptr<Process> stage;

  Unlucky(const std::string& what, std::vector<std::string> with) : topics(what), options(std::move(with)) {
    for (int i = 0; i < 100; ++i) topics.write(document(i), i == 0 ? "slow" : "text");
    topics.flush();
    start();
  }
  void start() {
    const std::string answer = "'.payload as $text | select($text != \"slow\" or $ready != \"\") | {ticket, payload}'";
    stage = topics.start(
        "stage", options,
        {"bash", "-c",
         "exec jq --unbuffered -c --arg ready \"$(ls " + topics.folder() + "/ready 2>/dev/null)\" " + answer});
  }
  // The partition of the slow record has others behind it; how many results must there be at least?
  [[nodiscard]] bool waits() const { return topics.results().size() >= 60; }
};

TEST(AtLeastOnceStage, RepeatsResultsInTheSameSituation) {
  Unlucky plain("at-least-once", {});
  Unlucky transactional("transactional", {"--transactional"});
  ASSERT_TRUE(wait_until(kKillsPatience, [&] { return plain.topics.results().size() == 99; })) << plain.stage->tail();
  ASSERT_TRUE(wait_until(kKillsPatience, [&] { return transactional.waits(); })) << transactional.stage->tail();
  EXPECT_LT(transactional.topics.results().size(), 99U) << "what is behind the slow record waits for it";
  for (Unlucky* one : {&plain, &transactional}) {
    one->stage->signal(SIGKILL);
    (void)one->stage->wait(10'000);
    std::ofstream(one->topics.folder() + "/ready") << "yes";
    one->start();
  }
  for (Unlucky* one : {&plain, &transactional})
    ASSERT_TRUE(wait_until(kKillsPatience, [&] { return all_committed(one->topics); })) << one->stage->tail();
  EXPECT_EQ(plain.topics.results().size(), 100U);
  EXPECT_EQ(transactional.topics.results().size(), 100U);
  EXPECT_GT(more_than_once(plain.topics.results()), 0);
  EXPECT_EQ(more_than_once(transactional.topics.results()), 0);
}

}  // namespace
}  // namespace reseq::test
