// The parts of a run: its processes, what they say about themselves, what the resequencer stopped.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

#include "config/settings.h"
#include "consumers/sqlite/document_store.h"
#include "demo/run/fleet.h"
#include "demo/run/instance_config.h"
#include "demo/run/outcomes.h"
#include "demo/run/progress_files.h"
#include "demo/run/progress_line.h"
#include "demo/run/search_hint.h"
#include "demo/run/skipped_changes.h"
#include "tests/unit/demo/repository.h"

namespace reseq::demo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

class FleetTest : public ::testing::Test {
 protected:
  Launch bash(const std::string& name, const std::string& script) {
    return {.name = name, .arguments = {"bash", "-c", script}, .log_file = folder_.path() + "/" + name + ".log"};
  }
  // check() until it fails, or ten seconds.
  Result<> wait_for_failure() {
    for (int i = 0; i < 1'000; ++i) {
      if (Result<> fine = fleet_.check(); !fine) return fine;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return Done{};
  }
  Repository folder_;
  volatile std::sig_atomic_t stop_ = 0;
  Fleet fleet_{stop_};
};

TEST_F(FleetTest, AProcessThatDiesEarlyFailsTheRunWithTheEndOfItsLog) {
  ASSERT_TRUE(fleet_.start(bash("well", "exec sleep 60")).ok());
  ASSERT_TRUE(fleet_.start(bash("ill", "echo the reason; exit 4")).ok());
  const Result<> failed = wait_for_failure();
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(failed.error().message, HasSubstr("ill ended with exit code 4"));
  EXPECT_THAT(failed.error().message, HasSubstr("  the reason\n"));
}

TEST_F(FleetTest, TellsOnlyTheProcessOfThatName) {
  ASSERT_TRUE(fleet_.start(bash("deaf", "exec sleep 60")).ok());
  ASSERT_TRUE(
      fleet_.start(bash("hears", "trap 'echo heard; exit 7' USR1; echo ready; while :; do sleep 0.01; done")).ok());
  for (int i = 0; i < 1'000 && std::ifstream(folder_.path() + "/hears.log").peek() == EOF; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  fleet_.tell("hears", SIGUSR1);
  const Result<> failed = wait_for_failure();
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(failed.error().message, HasSubstr("hears ended with exit code 7"));
}

TEST_F(FleetTest, EvenAGoodEndIsTooEarlyUnlessItIsAJob) {
  ASSERT_TRUE(fleet_.run(bash("job", "exit 0")).ok());
  EXPECT_TRUE(fleet_.check().ok());
  ASSERT_TRUE(fleet_.start(bash("service", "exit 0")).ok());
  EXPECT_FALSE(wait_for_failure().ok());
}

TEST_F(FleetTest, AJobThatFailsFailsTheRun) {
  EXPECT_FALSE(fleet_.run(bash("job", "exit 1")).ok());
}

TEST_F(FleetTest, ASignalEndsEveryWait) {
  stop_ = 1;
  const Result<> stopped = fleet_.run(bash("job", "exec sleep 60"));
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().message, "stopped by a signal");
}

TEST_F(FleetTest, ForgetsWhomItHasKilled) {
  ASSERT_TRUE(fleet_.start(bash("killed", "trap '' TERM; exec sleep 60")).ok());
  ASSERT_TRUE(fleet_.start(bash("lives", "exec sleep 60")).ok());
  fleet_.kill("killed");
  EXPECT_TRUE(fleet_.check().ok());
  ASSERT_TRUE(fleet_.start(bash("killed", "exit 3")).ok()) << "started again";
  EXPECT_THAT(wait_for_failure().error().message, HasSubstr("killed ended with exit code 3"));
}

TEST_F(FleetTest, StopsEverybody) {
  ASSERT_TRUE(fleet_.start(bash("a", "exec sleep 60")).ok());
  ASSERT_TRUE(fleet_.start(bash("b", "exec sleep 60")).ok());
  EXPECT_THAT(fleet_.stop_all(), ElementsAre());
}

class ProgressFilesTest : public ::testing::Test {
 protected:
  std::string written(const std::string& content) {
    const std::string path = folder_.path() + "/progress";
    std::ofstream(path) << content;
    return path;
  }

 private:
  Repository folder_;
};

TEST_F(ProgressFilesTest, TheLastWholeLineCounts) {
  const auto progress = source_progress(
      written("{\"sent\":1,\"total\":null}\n{\"sent\":5,\"skipped\":2,\"total\":9,\"done\":false}\n{\"sent\":7,\"sk"));
  ASSERT_TRUE(progress);
  EXPECT_EQ(progress->sent, 5U);
  EXPECT_EQ(progress->skipped, 2U);
  EXPECT_EQ(progress->total, 9U);
}

TEST_F(ProgressFilesTest, ThereIsNothingToReadBeforeTheFirstLine) {
  EXPECT_FALSE(source_progress(written("")));
  EXPECT_FALSE(source_progress(written("{\"sent\":")));
  EXPECT_FALSE(sink_progress("/no/such/file"));
}

TEST_F(ProgressFilesTest, ReadsPositionsAndWorkers) {
  const auto sink = sink_progress(written("{\"records\":3,\"positions\":{\"0\":17,\"2\":4}}\n"));
  EXPECT_THAT(sink->positions, ElementsAre(Pair(Partition(0), Offset(17)), Pair(Partition(2), Offset(4))));
  const auto idle = pipeline_progress(written("{\"records\":[0,0],\"partitions\":[16,0],\"results\":0}\n"));
  EXPECT_FALSE(idle->every_worker_has_partitions());
  const auto ready = pipeline_progress(written("{\"records\":[4,0],\"partitions\":[8,8],\"results\":5}\n"));
  EXPECT_TRUE(ready->every_worker_has_partitions());
  EXPECT_THAT(ready->records, ElementsAre(4U, 0U));
}

TEST_F(ProgressFilesTest, NamesTheChangesThatASourceSkipped) {
  const std::string log =
      written("kafka level=4\nreseq-produce: skipped commit 9 large: 17 MiB\nreseq-produce: done\n");
  EXPECT_THAT(skipped_changes(log), ElementsAre("commit 9 large: 17 MiB"));
  EXPECT_THAT(skipped_changes("/no/such/file"), ElementsAre());
}

TEST(Outcomes, CountsWhatWasStoppedByInputAndReason) {
  Outcomes outcomes;
  const auto event = [&](const char* outcome, const char* reason, const char* topic, const std::string& more = "") {
    count_event(std::string(R"({"kind":"outcome","id":"x","outcome":")") + outcome + R"(","reason":")" + reason + "\"" +
                    more + R"(,"source":{"topic":")" + topic + R"(","partition":0,"offset":1}})",
                "a.requests", outcomes);
  };
  const std::string search = R"(,"target":"search")", catalogue = R"(,"target":"catalogue")";
  event("dropped", "superseded", "a.requests");
  event("dropped", "superseded", "a.requests");
  event("dropped", "superseded", "a.commands", search);
  event("dropped", "stale", "a.commands", catalogue);
  event("dropped", "stale", "a.commands", catalogue);
  event("dead_lettered", "missing_target", "a.commands");
  count_event(R"({"kind":"outcome","outcome":"released","source":{"topic":"a.commands"}})", "a.requests", outcomes);
  count_event(R"({"kind":"overdue","id":"x"})", "a.requests", outcomes);
  EXPECT_THAT(outcomes.requests, ElementsAre(Pair("superseded", 2U)));
  EXPECT_THAT(outcomes.results, ElementsAre(Pair("", ElementsAre(Pair("missing_target", 1U))),
                                            Pair("catalogue", ElementsAre(Pair("stale", 2U))),
                                            Pair("search", ElementsAre(Pair("superseded", 1U)))));
  EXPECT_EQ(outcomes.unreadable, 0U);
  count_event(R"({"kind":"outcome","id":"x","outcome":"dropped","reason":"superseded","order":{}})", "a.requests",
              outcomes);
  EXPECT_THAT(outcomes.requests, ElementsAre(Pair("superseded", 3U))) << "it waited";
  EXPECT_EQ(outcomes.leases_lost, 0U);
  count_event(R"({"kind":"lease_lost","id":"x","outcome":"waiting"})", "a.requests", outcomes);
  EXPECT_EQ(outcomes.leases_lost, 1U);
  count_event("no json", "a.requests", outcomes);
  count_event(R"({"outcome":"dropped","reason":"stale"})", "a.requests", outcomes);
  EXPECT_EQ(outcomes.unreadable, 2U);
}

TEST(InstanceConfig, IsAConfigurationOfTheResequencer) {
  Settings settings;
  settings.application_id = "demo-1";
  settings.bootstrap_servers = "127.0.0.1:9092";
  settings.workers = 20;
  const auto parsed = config::parse(instance_config(settings, "2"), "test");
  ASSERT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message);
  EXPECT_EQ(parsed.value().application_id, "demo-1");
  EXPECT_EQ(parsed.value().instance_id, "2");
  EXPECT_EQ(parsed.value().bootstrap_servers, "127.0.0.1:9092");
  EXPECT_EQ(parsed.value().init_partitions, 4);
  EXPECT_EQ(parsed.value().init_work_partitions, 40);
  EXPECT_EQ(parsed.value().intake, "inline");
  ASSERT_EQ(parsed.value().targets.size(), 2U);
  EXPECT_EQ(parsed.value().targets[0].name, "search");
  EXPECT_EQ(parsed.value().targets[1].name, "catalogue");
}

TEST(InstanceConfig, SwitchesTheJournalOnWhereTheDemoIsAboutIt) {
  Settings settings;
  settings.application_id = "demo-1";
  settings.bootstrap_servers = "127.0.0.1:9092";
  settings.dispatch = "immediate";
  EXPECT_EQ(config::parse(instance_config(settings, "1"), "test").value().dispatch_mode, "immediate");
  settings.dispatch = "journal";
  const auto parsed = config::parse(instance_config(settings, "1"), "test");
  ASSERT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message);
  EXPECT_EQ(parsed.value().dispatch_mode, "journal");
  EXPECT_EQ(parsed.value().dispatch_in_flight_max, 50);
  EXPECT_EQ(parsed.value().dispatch_lease_ms, 6'000);
  EXPECT_FALSE(settings.unchecked_too());
}

TEST(InstanceConfig, WithIntakeTapThereIsAPartitionOfRequestsForEveryWorker) {
  Settings settings;
  settings.application_id = "demo-1";
  settings.bootstrap_servers = "127.0.0.1:9092";
  settings.intake = "tap";
  for (const auto& [workers, partitions] : {std::pair(20, 20), std::pair(1, 4)}) {
    settings.workers = static_cast<std::uint64_t>(workers);
    const auto parsed = config::parse(instance_config(settings, "1"), "test");
    ASSERT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message);
    EXPECT_EQ(parsed.value().intake, "tap");
    EXPECT_EQ(parsed.value().init_partitions, partitions);
  }
}

TEST(ProgressLine, ShowsShareAndTimeLeftAndNeverSaysDone) {
  const std::string half = progress_text(50, 100, std::chrono::seconds(10), "sending");
  EXPECT_THAT(half, HasSubstr(" 50%"));
  EXPECT_THAT(half, HasSubstr("about 10 s left"));
  EXPECT_THAT(progress_text(200, 100, std::chrono::seconds(10), "waiting"), HasSubstr(" 99%"));
  EXPECT_EQ(progress_text(0, 0, std::chrono::seconds(0), "starting"), "starting");
}

TEST(SearchHint, NamesACommandThatFindsSomething) {
  Repository folder;
  const std::string file = folder.path() + "/it's.db";
  {
    auto store = sqlite::DocumentStore::open(file, {.topic = "t"}).value();
    ASSERT_TRUE(store->begin().ok());
    for (std::uint64_t i = 1; i <= 30; ++i) {
      const std::string id = "d" + std::to_string(i);
      const std::string payload = "common words" + std::string(i == 7 ? " needle" : "");
      ASSERT_TRUE(store->apply({.id = id, .version = Version(i), .payload = payload}).ok());
    }
    ASSERT_TRUE(store->commit().ok());
  }
  const std::string word = word_to_search(file).value();
  EXPECT_EQ(word, "needle");
  const Result<std::string> found = output_of({"bash", "-c", search_command(file, word)});
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found.value(), "d7|common words [needle]\n");
}

}  // namespace
}  // namespace reseq::demo
