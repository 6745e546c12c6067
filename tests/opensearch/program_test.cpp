// The program reseq-sink-opensearch between a topic and a real OpenSearch: right document by document, whoever is
// killed.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <thread>

#include "tests/e2e/http_get.h"
#include "tests/e2e/outputs.h"
#include "tests/e2e/patience.h"
#include "tests/opensearch/output_topic.h"
#include "tests/support/change_streams.h"
#include "tests/support/free_port.h"
#include "tests/support/pause.h"
#include "tests/support/quickstart_run.h"
#include "tests/support/second_instance.h"

namespace reseq::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int kConfigError = 78;
constexpr int kUsageError = 64;
constexpr std::chrono::seconds kStartPatience{120};
constexpr std::chrono::milliseconds kBetweenKills{1'000};
constexpr std::chrono::seconds kBackOffAtMost{12};
constexpr std::chrono::milliseconds kSession{6'000};  // of the sinks here
constexpr std::chrono::seconds kSweepPatience{150};

// Some records, a kill of one instance while it writes them, and of the server.
void kill_them(OutputTopic& topic, SearchServer& server, int rounds, int records, int documents) {
  std::unique_ptr<Process> steady = topic.start("steady");
  std::unique_ptr<Process> victim = topic.start("victim-0");
  for (int round = 1; round <= rounds; ++round) {
    const std::string name = "victim-" + std::to_string(round - 1);
    ASSERT_TRUE(wait_until(kPatience, [&] {
      return std::regex_search(topic.log_of(name), std::regex("group=assigned partitions=[1-9]"));
    })) << topic.log_of(name);
    const auto unread = [&] { return topic.lag(topic.group()).value_or(0); };
    topic.release(records, documents);
    const std::int64_t behind = unread();
    ASSERT_TRUE(wait_until(kPatience, [&] { return unread() < behind || behind == 0; })) << topic.log_of(name);
    victim->signal(SIGKILL);
    (void)OutputTopic::wait(*victim);
    victim = topic.start("victim-" + std::to_string(round));
    topic.release(records, documents);
    server.kill();
    server.start_again();
  }
  EXPECT_EQ(topic.wait_until_read(topic.group()), "") << topic.log_of("steady");
  EXPECT_THAT(topic.differences(), IsEmpty());
  EXPECT_EQ(OutputTopic::end(*steady), 0) << topic.log_of("steady");
  EXPECT_EQ(OutputTopic::end(*victim), 0);
}

// The quickstart compares what the alias shows with the commit, blob by blob. The fewer workers, the longer it takes.
void hold_commit(const std::filesystem::path& bundle, int kills, const std::string& workers) {
  SearchServer server;
  QuickstartRun run(bundle, {"--sink", "opensearch", "--processes", "2", "--workers", workers},
                    {{"RESEQ_OPENSEARCH_URL", server.url()}});
  (void)wait_until(kStartPatience, [&] { return run.is_sending(); });
  SecondInstance second(run.command_of_sink("reseq-sink-opensearch"));
  for (int kill = 1; kill <= kills; ++kill) {
    std::this_thread::sleep_for(kBetweenKills);
    ASSERT_TRUE(wait_until(kPatience, [&] { return second.is_at_work(); })) << second.log();
    ASSERT_TRUE(run.is_sending()) << "it ended before kill " << kill << "\n" << run.log();
    server.kill();
    server.start_again();
    second.kill_and_start();
    // A sink waits ever longer for a server that is away, up to ten seconds; it has to meet it alive, if only for that
    // the run does not give up. Unless nothing is left to write.
    (void)wait_until(kBackOffAtMost, [&] { return server.is_written_to(); });
  }
  second.stop();  // the first one goes on with its partitions when its session is over, and tells how far it is
  EXPECT_EQ(run.wait(), 0) << run.log();
  const auto search = nlohmann::json::parse(run.report()).at("targets").at("search").at("with_resequencer");
  EXPECT_GT(search.at("documents"), 0);
  EXPECT_EQ(search.at("equal"), search.at("documents"));
}

// A delete that was released twice, with one version, has the time of either.
std::map<std::string, nlohmann::json> without_times(std::map<std::string, nlohmann::json> stored) {
  for (auto& [id, document] : stored) document.erase("reseq_deleted_at");
  return stored;
}

// Nothing of the index changes when a group without positions reads everything once more.
void replay(OutputTopic& topic) {
  const auto before = without_times(topic.stored());
  const std::string group = topic.group() + ".again";
  std::unique_ptr<Process> sink = topic.start("replay", {"--group", group});
  EXPECT_EQ(topic.wait_until_read(group), "") << topic.log_of("replay");
  EXPECT_EQ(OutputTopic::end(*sink), 0);
  EXPECT_TRUE(without_times(topic.stored()) == before) << "the replay changed something";
  EXPECT_THAT(topic.differences(), IsEmpty());
}

TEST(Program, IsRightWhenServerAndInstancesAreKilledAndWhenAllIsReplayed) {
  SearchServer& server = SearchServer::shared();
  OutputTopic topic("killed", server);
  kill_them(topic, server, 2, 3'000, 1'000);
  replay(topic);
  EXPECT_EQ(topic.dead_letters(), 0U);
}

// It has older results in memory, and a request on its way, when somebody else has written newer ones.
TEST(Program, ChangesNothingWhenItWakesAfterItsSession) {
  OutputTopic topic("zombie", SearchServer::shared());
  topic.release(6'000, 500);
  const std::int64_t all = topic.lag(topic.group() + ".none").value_or(0);
  const auto zombie =
      topic.start("zombie", {"--batch-records", "20", "--connections", "1", "--in-flight-batches", "1"});
  // It tells the group once a second how far it is.
  const auto at_work = [&] { return topic.lag(topic.group()).value_or(all) < all; };
  ASSERT_TRUE(wait_until(kPatience, at_work)) << topic.log_of("zombie");
  ASSERT_TRUE(pause_process(zombie->pid()));
  const auto stopped_at = std::chrono::steady_clock::now();
  EXPECT_GT(topic.lag(topic.group()).value_or(0), 0) << "it was stopped in the middle of its work";
  topic.release(1'000, 500);
  const auto heir = topic.start("heir");
  ASSERT_EQ(topic.wait_until_read(topic.group()), "") << topic.log_of("heir");
  EXPECT_THAT(topic.differences(), IsEmpty());
  const auto before = without_times(topic.stored());
  ASSERT_TRUE(wait_until(kPatience, [&] { return std::chrono::steady_clock::now() - stopped_at > kSession * 1.2; }));

  zombie->signal(SIGCONT);
  // It finds out, joins again and gets partitions again.
  const auto came_back = [&] {
    const std::string log = topic.log_of("zombie");
    const std::size_t found_out = log.find("reading=again why=stood-still");
    return found_out != std::string::npos && log.find("group=assigned", found_out) != std::string::npos;
  };
  EXPECT_TRUE(wait_until(kPatience, came_back)) << topic.log_of("zombie");
  EXPECT_EQ(OutputTopic::end(*zombie), 0) << topic.log_of("zombie");
  EXPECT_EQ(OutputTopic::end(*heir), 0) << topic.log_of("heir");
  EXPECT_TRUE(without_times(topic.stored()) == before) << "it changed something";
  EXPECT_EQ(topic.dead_letters(), 0U);
}

TEST(LongProgram, HoldsTheCommitOfABundleThoughItsServerAndOneOfTwoInstancesAreKilledFiveTimes) {
  RESEQ_CHANGE_STREAM(rustsec, "rustsec-advisory-db.bundle");
  RESEQ_CHANGE_STREAM(mobility, "mobility-database-catalogs.bundle");
  hold_commit(rustsec, 5, "2");  // with more of them it is over before its server has come back five times
  hold_commit(mobility, 5, "8");
}

TEST(LongProgram, IsRightWhenServerAndInstancesAreKilledFiveTimes) {
  SearchServer& server = SearchServer::shared();
  OutputTopic topic("killed-often", server);
  kill_them(topic, server, 5, 20'000, 10'000);
  replay(topic);
  EXPECT_EQ(topic.dead_letters(), 0U);
}

// About once a minute.
TEST(LongProgram, RemovesTombstonesThatAreOldWhileItWritesOthers) {
  OutputTopic topic("swept", SearchServer::shared(), {{"retention.ms", "1000"}, {"segment.ms", "1000"}});
  topic.release(3'000, 500);
  const auto tombstones = [&] {
    const auto stored = topic.stored();
    return std::count_if(stored.begin(), stored.end(),
                         [](const auto& one) { return one.second.value("reseq_deleted", false); });
  };
  std::unique_ptr<Process> sink = topic.start("sink", {"--tombstone-retention", "5s"});
  ASSERT_EQ(topic.wait_until_read(topic.group()), "") << topic.log_of("sink");
  const auto before = tombstones();
  ASSERT_GT(before, 0);
  std::uint64_t other = 0;
  ASSERT_TRUE(wait_until(kSweepPatience, [&] {
    topic.write("other", ++other, R"({"n":1})");
    topic.flush();
    return topic.log_of("sink").find("tombstones_removed=") != std::string::npos;
  })) << topic.log_of("sink");
  EXPECT_EQ(tombstones(), 0);
  ASSERT_EQ(topic.wait_until_read(topic.group()), "") << topic.log_of("sink");
  EXPECT_THAT(topic.differences(), IsEmpty());
  EXPECT_EQ(OutputTopic::end(*sink), 0) << topic.log_of("sink");
}

TEST(Program, MakesDeadLettersOfWhatCannotBeStored) {
  OutputTopic topic("poison", SearchServer::shared());
  for (std::uint64_t i = 1; i <= 100; ++i) {
    topic.write("good-" + std::to_string(i), i, R"({"n":1})");
    if (i % 20 == 0) topic.write_poison("bad-" + std::to_string(i), i, R"({"n":"no number"})");
  }
  topic.write_poison("no-json", 1'000, "{\"n\":1}\n{\"delete\":{\"_id\":\"good-1\"}}");
  topic.write_poison("no-version", 0, "{}");
  topic.flush();
  const TempDir folder;
  const std::string body = folder.path() + "/body.json";
  std::ofstream(body) << R"({"mappings":{"properties":{"n":{"type":"long"}}}})";
  std::unique_ptr<Process> sink = topic.start("sink", {"--index-body", body});
  ASSERT_EQ(topic.wait_until_read(topic.group()), "") << topic.log_of("sink");
  EXPECT_THAT(topic.differences(), IsEmpty());
  EXPECT_EQ(OutputTopic::end(*sink), 0);
  EXPECT_EQ(topic.dead_letters(), 7U);
  SinkLetters letters = read_sink_letters(topic.connection(), topic.topic());
  EXPECT_EQ(letters.size(), 7U);
  EXPECT_EQ(letters["bad-20"]["reseq-reason"], "refused_by_server");
  EXPECT_THAT(letters["bad-20"]["reseq-sink-words"], HasSubstr("failed to parse field [n] of type [long]"));
  EXPECT_EQ(letters["no-json"]["reseq-reason"], "refused_by_server");
  EXPECT_THAT(letters["no-json"]["reseq-sink-words"], HasSubstr("JSON"));
  EXPECT_EQ(letters["no-version"]["reseq-reason"], "malformed");
  EXPECT_EQ(letters["no-version"]["reseq-sink-words"], "no reseq-version");
}

TEST(Program, ChecksWhatItNeedsAndChangesNothing) {
  SearchServer& server = SearchServer::shared();
  OutputTopic topic("check", server);
  std::unique_ptr<Process> check = topic.start("check", {"--check"});
  EXPECT_EQ(OutputTopic::wait(*check), 0) << topic.log_of("check");
  EXPECT_THAT(topic.log_of("check"), HasSubstr("is opensearch 2.19.1"));
  EXPECT_THAT(topic.log_of("check"), HasSubstr("is not there yet: it is made at the start"));
  EXPECT_EQ(server.ask("GET", "/" + topic.index() + "-v1")["status"], 404);
  (void)server.good("PUT", "/" + topic.index());
  check = topic.start("taken", {"--check"});
  EXPECT_EQ(OutputTopic::wait(*check), kConfigError);
  EXPECT_THAT(topic.log_of("taken"), HasSubstr("there is an index with the name " + topic.index()));
  std::unique_ptr<Process> run = topic.start("run");
  EXPECT_EQ(OutputTopic::wait(*run), kConfigError);
  EXPECT_THAT(topic.log_of("run"), HasSubstr("there is an index with the name " + topic.index()));
}

TEST(Program, DoesNotMakeAnIndexAnewBehindThePositionsOfItsGroup) {
  SearchServer& server = SearchServer::shared();
  OutputTopic topic("gone", server);
  topic.release(200, 50);
  std::unique_ptr<Process> run = topic.start("first");
  ASSERT_EQ(topic.wait_until_read(topic.group()), "") << topic.log_of("first");
  EXPECT_EQ(OutputTopic::end(*run), 0);
  (void)server.good("DELETE", "/" + topic.index() + "-v1");
  for (const std::vector<std::string>& how : {std::vector<std::string>{}, {"--check"}}) {
    run = topic.start("gone", how);
    EXPECT_EQ(OutputTopic::wait(*run), kConfigError);
    EXPECT_THAT(topic.log_of("gone"), HasSubstr("restore it, or begin anew"));
    EXPECT_THAT(topic.log_of("gone"), HasSubstr("--reset-offsets --to-earliest"));
    EXPECT_EQ(server.ask("GET", "/" + topic.index() + "-v1")["status"], 404);
  }
  const std::string group = topic.group() + ".anew";
  run = topic.start("anew", {"--group", group});
  EXPECT_EQ(topic.wait_until_read(group), "") << topic.log_of("anew");
  EXPECT_EQ(OutputTopic::end(*run), 0);
  EXPECT_THAT(topic.differences(), IsEmpty());
}

TEST(Program, TellsThatItsIndexWasEmptiedBehindThePositionsOfItsGroup) {
  const std::string told = "reading=behind_an_empty_place";
  SearchServer& server = SearchServer::shared();
  OutputTopic topic("emptied", server);
  for (const std::string name : {"first", "again"}) {
    topic.release(100, 50);
    std::unique_ptr<Process> run = topic.start(name);
    ASSERT_EQ(topic.wait_until_read(topic.group()), "") << topic.log_of(name);
    EXPECT_EQ(OutputTopic::end(*run), 0);
    EXPECT_THAT(topic.log_of(name), Not(HasSubstr(told)));
  }
  // As somebody makes it who restores its shape alone.
  const std::string index = topic.index() + "-v1";
  const nlohmann::json was = server.good("GET", "/" + index)[index];
  (void)server.good("DELETE", "/" + index);
  (void)server.good("PUT", "/" + index,
                    nlohmann::json{{"aliases", was["aliases"]}, {"mappings", was["mappings"]}}.dump());
  std::unique_ptr<Process> run = topic.start("emptied");
  EXPECT_TRUE(wait_until(kPatience, [&] { return topic.log_of("emptied").find(told) != std::string::npos; }))
      << topic.log_of("emptied");
  EXPECT_THAT(topic.log_of("emptied"), HasSubstr("--reset-offsets --to-earliest"));
  EXPECT_EQ(OutputTopic::end(*run), 0);
}

TEST(Program, TellsWhoProbesItThatItsServerIsGoneAndThatItIsBack) {
  SearchServer& server = SearchServer::shared();
  OutputTopic topic("probed", server);
  topic.release(100, 50);
  const int port = free_port();
  const auto sink = topic.start("sink", {"--http-listen", "127.0.0.1:" + std::to_string(port)});
  ASSERT_EQ(topic.wait_until_read(topic.group()), "") << topic.log_of("sink");
  EXPECT_TRUE(wait_until(kPatience, [&] { return get(port, "/readyz").first == 200; })) << get(port, "/readyz").second;
  EXPECT_THAT(get(port, "/metrics").second, HasSubstr("reseq_sink_server_up 1\n"));
  EXPECT_TRUE(wait_until(kPatience, [&] {
    return get(port, "/metrics").second.find("reseq_sink_lag_records{partition=\"0\"} 0\n") != std::string::npos;
  })) << get(port, "/metrics").second;

  server.kill();
  topic.release(100, 50);
  EXPECT_TRUE(wait_until(kPatience, [&] { return get(port, "/readyz").first == 503; })) << topic.log_of("sink");
  EXPECT_THAT(get(port, "/readyz").second, HasSubstr("server away"));
  EXPECT_THAT(get(port, "/metrics").second, HasSubstr("reseq_sink_server_up 0\n"));
  EXPECT_EQ(get(port, "/livez").first, 200) << "a new start would not help";

  server.start_again();
  EXPECT_EQ(topic.wait_until_read(topic.group()), "") << topic.log_of("sink");
  EXPECT_TRUE(wait_until(kPatience, [&] { return get(port, "/readyz").first == 200; })) << get(port, "/readyz").second;
  EXPECT_THAT(get(port, "/metrics").second, HasSubstr("reseq_sink_server_up 1\n"));
  EXPECT_THAT(topic.differences(), IsEmpty());
  EXPECT_EQ(OutputTopic::end(*sink), 0) << topic.log_of("sink");
  EXPECT_THAT(topic.log_of("sink"),
              HasSubstr("server=away seconds=0 nothing is lost, it goes on when it answers again"));
  EXPECT_THAT(topic.log_of("sink"), HasSubstr("server=good seconds="));
}

TEST(Program, AsksTheTopicHowLongDeletesHaveToBeRemembered) {
  OutputTopic topic("retention", SearchServer::shared(), {{"retention.ms", "86400000"}, {"segment.ms", "3600000"}});
  std::unique_ptr<Process> run = topic.start("too-short", {"--tombstone-retention", "25h"});
  EXPECT_EQ(OutputTopic::wait(*run), kConfigError);
  EXPECT_THAT(topic.log_of("too-short"), HasSubstr("keeps records for 90000 s"));
  run = topic.start("long-enough", {"--tombstone-retention", "2d", "--check"});
  EXPECT_EQ(OutputTopic::wait(*run), 0) << topic.log_of("long-enough");
}

TEST(Program, RefusesWhatCannotBeRightOnTheCommandLine) {
  OutputTopic topic("usage", SearchServer::shared());
  std::unique_ptr<Process> run = topic.start("update", {"--write-method", "update"});
  EXPECT_EQ(OutputTopic::wait(*run), kUsageError);
  EXPECT_THAT(topic.log_of("update"), HasSubstr("partial updates have no version"));
  run = topic.start("login", {"--user", "me"});
  EXPECT_EQ(OutputTopic::wait(*run), kConfigError);
  EXPECT_THAT(topic.log_of("login"), HasSubstr("RESEQ_OPENSEARCH_PASSWORD"));
}

}  // namespace
}  // namespace reseq::test
