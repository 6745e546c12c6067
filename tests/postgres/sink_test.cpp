// reseq-sink-postgres on a real Kafka and a real PostgreSQL, both of their own: what is in the table in the end, while
// the server and the sink are killed, stopped, refused and given rows that cannot be stored.
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <thread>

#include "tests/e2e/http_get.h"
#include "tests/e2e/outputs.h"
#include "tests/e2e/patience.h"
#include "tests/postgres/scene.h"
#include "tests/support/broker.h"
#include "tests/support/change_streams.h"
#include "tests/support/free_port.h"
#include "tests/support/pause.h"
#include "tests/support/quickstart_run.h"
#include "tests/support/second_instance.h"

namespace reseq::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::chrono::milliseconds kKillsPatience{120'000};
constexpr std::chrono::milliseconds kSession{6'000};  // of the sinks here
constexpr std::chrono::milliseconds kBetweenKills{2'000};

// Notes each record that is offered to the table, in its transaction: what is rolled back was not offered. Not those
// that are older than what was just released, which may have the version of another one.
void note_offers(const Scene& scene) {
  (void)scene.make_writer("bytea");
  Session(scene.url())
      .script(
          "CREATE TABLE offered (id text, version bigint); "
          "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS "
          "'BEGIN INSERT INTO offered VALUES (NEW.id, NEW.version); RETURN NEW; END'; "
          "CREATE TRIGGER note BEFORE INSERT ON documents FOR EACH ROW "
          "WHEN (NEW.payload IS DISTINCT FROM 'late'::bytea) EXECUTE FUNCTION note()");
}

TEST(PostgresSink, IsRightAtTheEndAndWritesNothingTwiceWhateverIsKilled) {
  constexpr int kKills = 5;
  PostgresServer& server = PostgresServer::shared();
  Scene scene("kills");
  note_offers(scene);
  const std::vector<std::string> small = kBytes + std::vector<std::string>{"--batch-records", "200"};
  // The first one keeps its partitions when it is started again at once; those of the other one go around.
  std::map<std::string, std::vector<std::string>> how = {{"a", small + std::vector<std::string>{"--instance-id", "a"}},
                                                         {"b", small}};
  std::map<std::string, std::unique_ptr<Process>> sinks;
  for (const auto& [name, options] : how) sinks[name] = scene.start(name, options);
  scene.release(3'000, 400);
  std::int64_t seen = 0;
  for (int kill = 0; kill < kKills; ++kill) {
    ASSERT_TRUE(wait_until(kKillsPatience, [&] { return scene.written() > seen; })) << sinks["a"]->tail();
    server.kill();
    scene.release(1'000, 400);
    server.start();
    seen = scene.written();
    ASSERT_TRUE(wait_until(kKillsPatience, [&] { return scene.written() > seen; })) << sinks["b"]->tail();
    const std::string name = kill % 2 == 0 ? "a" : "b";
    sinks[name]->signal(SIGKILL);
    EXPECT_EQ(sinks[name]->wait(10'000), 128 + SIGKILL);
    scene.release(1'000, 400);
    seen = scene.written();
    sinks[name] = scene.start(name, how[name]);
  }
  EXPECT_TRUE(wait_until(kKillsPatience, [&] { return scene.is_caught_up(); }))
      << sinks["a"]->tail() << sinks["b"]->tail();
  for (auto& [name, sink] : sinks) EXPECT_EQ(Scene::end(*sink), 0) << sink->tail();
  EXPECT_THAT(scene.differences(), IsEmpty());
  EXPECT_EQ(scene.lag_of_group(), 0) << "the group is told, too, for those who look at lags";
  Session session(scene.url());
  EXPECT_GT(std::stoi(session.cell("SELECT count(*)::text FROM offered")), 5'000);
  EXPECT_THAT(session.list("SELECT id || ' ' || version FROM offered GROUP BY id, version HAVING count(*) > 1"),
              IsEmpty());
}

// The quickstart compares the table with the commit, blob by blob.
void hold_commit(const std::filesystem::path& bundle) {
  PostgresServer& server = PostgresServer::shared();
  const std::string url = server.make_database(unique_name("bundle"));
  QuickstartRun run(bundle, {"--sink", "postgres", "--processes", "2"}, {{"RESEQ_POSTGRES_URL", url}});
  ASSERT_TRUE(wait_until(kKillsPatience, [&] { return run.is_sending(); })) << run.log();
  // With its name it has its partitions again as soon as it is back.
  SecondInstance second(run.command_of_sink("reseq-sink-postgres"));
  for (int kill = 0; kill < 5; ++kill) {
    std::this_thread::sleep_for(kBetweenKills);
    ASSERT_TRUE(wait_until(kKillsPatience, [&] { return second.is_at_work(); })) << second.log();
    ASSERT_TRUE(run.is_sending()) << "it ended before kill " << kill << "\n" << run.log();
    server.kill();
    server.start();
    second.kill_and_start();
  }
  second.stop();  // the first one goes on with its partitions when its session is over, and tells how far it is
  EXPECT_EQ(run.wait(), 0) << run.log();
  const auto search = nlohmann::json::parse(run.report()).at("targets").at("search").at("with_resequencer");
  EXPECT_GT(search.at("documents"), 0);
  EXPECT_EQ(search.at("equal"), search.at("documents"));
}

TEST(PostgresSink, HoldsTheCommitOfABundleThoughItsServerAndOneOfTwoInstancesAreKilled) {
  RESEQ_CHANGE_STREAM(bundle, "rustsec-advisory-db.bundle");
  hold_commit(bundle);
}

TEST(LongPostgresSink, HoldsTheCommitOfALargerBundleThoughItsServerAndOneOfTwoInstancesAreKilled) {
  RESEQ_CHANGE_STREAM(bundle, "mobility-database-catalogs.bundle");
  hold_commit(bundle);
}

TEST(PostgresSink, ChangesNothingWhenTheWholeTopicComesAgain) {
  Scene scene("replay");
  scene.release(2'000, 300);
  const auto first = scene.start("first", kBytes);
  ASSERT_TRUE(wait_until(kPatience, [&] { return scene.is_caught_up(); })) << first->tail();
  EXPECT_EQ(Scene::end(*first), 0) << first->tail();
  const auto rows = scene.rows();
  EXPECT_THAT(scene.differences(), IsEmpty());

  // Positions of the group, which has none: everything is read again.
  const std::string group = scene.group() + ".again";
  const auto again =
      scene.start("again", kBytes + std::vector<std::string>{"--delivery", "at_least_once", "--group", group});
  const auto is_read = [&] {
    const auto admin = kafka::Admin::open(scene.connection());
    const auto lag = admin.value()->lag(group, scene.topic(), Milliseconds(10'000));
    return lag && lag.value() == 0;
  };
  ASSERT_TRUE(wait_until(kPatience, is_read)) << again->tail();
  EXPECT_EQ(Scene::end(*again), 0) << again->tail();
  EXPECT_EQ(scene.rows(), rows);
}

TEST(PostgresSink, ChangesNothingWhenItWakesAfterItsSession) {
  Scene scene("zombie");
  scene.release(6'000, 500);
  const std::vector<std::string> slow =
      kBytes + std::vector<std::string>{"--batch-records", "20", "--connections", "1"};
  const auto zombie = scene.start("zombie", slow);
  ASSERT_TRUE(wait_until(kPatience, [&] { return scene.written() > 0; })) << zombie->tail();
  ASSERT_TRUE(pause_process(zombie->pid()));
  const auto stopped_at = std::chrono::steady_clock::now();
  EXPECT_FALSE(scene.is_caught_up()) << "it was stopped in the middle of its work";
  const auto heir = scene.start("heir", kBytes);
  ASSERT_TRUE(wait_until(kPatience, [&] { return scene.is_caught_up(); })) << heir->tail();
  const auto rows = scene.rows();
  EXPECT_THAT(scene.differences(), IsEmpty());
  ASSERT_TRUE(wait_until(kPatience, [&] { return std::chrono::steady_clock::now() - stopped_at > kSession * 1.2; }));

  zombie->signal(SIGCONT);
  // It finds out, joins again and gets partitions again.
  const auto came_back = [&] {
    const std::string log = scene.log_of("zombie");
    const std::size_t found_out = log.find("reading=again why=stood-still");
    return found_out != std::string::npos && log.find("group=assigned", found_out) != std::string::npos;
  };
  EXPECT_TRUE(wait_until(kPatience, came_back)) << zombie->tail();
  EXPECT_EQ(Scene::end(*zombie), 0) << zombie->tail();
  EXPECT_EQ(Scene::end(*heir), 0) << heir->tail();
  EXPECT_EQ(scene.rows(), rows);
}

TEST(PostgresSink, MakesADeadLetterOfAPoisonRowAndStoresItsNeighbours) {
  Scene scene("poison");
  for (std::uint64_t i = 1; i <= 50; ++i)
    scene.write("document-" + std::to_string(i), i, i == 25 ? "{not json" : "{\"n\":" + std::to_string(i) + "}");
  scene.write("malformed", 0, "{}");
  scene.flush();
  const auto sink = scene.start("sink");
  ASSERT_TRUE(wait_until(kPatience, [&] { return scene.is_caught_up(); })) << sink->tail();
  EXPECT_EQ(Scene::end(*sink), 0) << sink->tail();
  Session session(scene.url());
  EXPECT_EQ(session.cell("SELECT count(*)::text FROM documents_live"), "49");
  EXPECT_EQ(session.cell("SELECT sum((payload->>'n')::int)::text FROM documents_live"),
            std::to_string(50 * 51 / 2 - 25));
  SinkLetters letters = read_sink_letters(scene.connection(), scene.topic());
  EXPECT_EQ(letters.size(), 2U);
  EXPECT_EQ(letters["document-25"]["reseq-reason"], "refused_by_server");
  EXPECT_EQ(letters["document-25"]["reseq-source-topic"], scene.topic());
  EXPECT_THAT(letters["document-25"]["reseq-sink-words"], HasSubstr("invalid input syntax for type json"));
  EXPECT_EQ(letters["malformed"]["reseq-reason"], "malformed");
  EXPECT_EQ(letters["malformed"]["reseq-sink-words"], "no reseq-version");
}

TEST(PostgresSink, StoresAnOlderChangeWhenTheNewestOfItsBatchIsRefused) {
  Scene scene("refused-newest");
  scene.write("a", 1, "{\"n\":1}");
  scene.write("a", 2, "{\"n\":2}");
  scene.write("a", 3, "{not json");
  scene.write("b", 4, "{\"n\":4}");
  scene.flush();
  const auto sink = scene.start("sink", {"--batch-ms", "5000"});
  ASSERT_TRUE(wait_until(kPatience, [&] { return scene.is_caught_up(); })) << sink->tail();
  EXPECT_EQ(Scene::end(*sink), 0) << sink->tail();
  EXPECT_THAT(Session(scene.url()).list("SELECT id || ' ' || version FROM documents ORDER BY id"),
              ElementsAre("a 2", "b 4"));
  EXPECT_EQ(read_sink_letters(scene.connection(), scene.topic()).size(), 1U);
}

TEST(PostgresSink, WaitsForRightsAndTellsSo) {
  Scene scene("rights");
  const std::string role = scene.make_writer("bytea");
  Session session(scene.url());
  const int port = free_port();
  const auto sink = scene.start(
      "sink", kBytes + std::vector<std::string>{"--server", PostgresServer::shared().url(scene.database(), role),
                                                "--http-listen", "127.0.0.1:" + std::to_string(port)});
  scene.release(100, 50);
  ASSERT_TRUE(wait_until(kPatience, [&] { return scene.is_caught_up(); })) << sink->tail();
  EXPECT_EQ(get(port, "/livez").first, 200);
  EXPECT_TRUE(wait_until(kPatience, [&] { return get(port, "/readyz").first == 200; }));
  session.script("REVOKE UPDATE ON documents FROM \"" + role + "\"");
  scene.release(100, 50);
  EXPECT_TRUE(wait_until(kPatience, [&] {
    return get(port, "/readyz").second.find("server refuses: permission denied for table documents") == 0;
  })) << sink->tail();
  EXPECT_THAT(get(port, "/metrics").second, HasSubstr("reseq_sink_server_refuses 1"));
  EXPECT_EQ(get(port, "/livez").first, 200);
  session.script("GRANT UPDATE ON documents TO \"" + role + "\"");
  EXPECT_TRUE(wait_until(kPatience, [&] { return scene.is_caught_up(); })) << sink->tail();
  EXPECT_TRUE(wait_until(kPatience, [&] { return get(port, "/readyz").first == 200; }));
  EXPECT_THAT(get(port, "/metrics").second, HasSubstr("reseq_sink_lag_records{partition=\"0\"}"));

  // Also what it asks when the group gives it partitions.
  session.script("REVOKE SELECT ON documents_positions FROM \"" + role + "\"");
  const auto other = scene.start("other", kBytes);
  EXPECT_TRUE(wait_until(kPatience, [&] {
    return get(port, "/readyz").second.find("server refuses: permission denied for table documents_positions") == 0;
  })) << sink->tail();
  session.script("GRANT SELECT ON documents_positions TO \"" + role + "\"");
  scene.release(100, 50);
  EXPECT_TRUE(wait_until(kPatience, [&] { return scene.is_caught_up(); })) << sink->tail();
  EXPECT_EQ(Scene::end(*other), 0) << other->tail();
  EXPECT_EQ(Scene::end(*sink), 0) << sink->tail();
  EXPECT_THAT(scene.differences(), IsEmpty());
}

TEST(PostgresSink, TellsHowFarItIsWhileItCatchesUp) {
  constexpr int kBehind = 12'000;  // records; from 10,000 on it is told
  Scene scene("behind");
  scene.release(200, 100);
  const auto first = scene.start("first", kBytes);
  ASSERT_TRUE(wait_until(kPatience, [&] { return scene.is_caught_up(); })) << first->tail();
  EXPECT_EQ(Scene::end(*first), 0) << first->tail();
  EXPECT_THAT(scene.log_of("first"), Not(HasSubstr("catching_up=")));
  Session owner(scene.url());
  owner.script(
      "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.05); RETURN NEW; END';"
      "CREATE TRIGGER slow BEFORE INSERT ON documents FOR EACH ROW EXECUTE FUNCTION slow()");
  scene.release(kBehind, 500);
  const auto sink = scene.start("sink", kBytes + std::vector<std::string>{"--batch-records", "20"});
  const auto tells = [&](const char* words) {
    return wait_until(kPatience, [&] { return scene.log_of("sink").find(words) != std::string::npos; });
  };
  EXPECT_TRUE(tells(" catching_up=begun left=1")) << sink->tail();
  const std::regex how_far(" catching_up=[0-9]+% left=1[0-9]{4} rate=[0-9]+/s");
  EXPECT_TRUE(wait_until(kPatience, [&] { return std::regex_search(scene.log_of("sink"), how_far); })) << sink->tail();
  owner.script("DROP TRIGGER slow ON documents");
  EXPECT_TRUE(tells(" catching_up=done records=")) << sink->tail();
  EXPECT_EQ(Scene::end(*sink), 0) << sink->tail();
}

TEST(PostgresSink, TellsThatItsServerIsGoneThoughItHasNothingToWrite) {
  PostgresServer& server = PostgresServer::shared();
  Scene scene("idle");
  const int port = free_port();
  const auto sink =
      scene.start("sink", kBytes + std::vector<std::string>{"--http-listen", "127.0.0.1:" + std::to_string(port)});
  scene.release(10, 5);
  ASSERT_TRUE(wait_until(kPatience, [&] { return scene.is_caught_up(); })) << sink->tail();
  EXPECT_TRUE(wait_until(kPatience, [&] { return get(port, "/readyz").first == 200; }));
  server.kill();
  EXPECT_TRUE(wait_until(kPatience, [&] { return get(port, "/readyz").first == 503; })) << sink->tail();
  EXPECT_THAT(get(port, "/metrics").second, HasSubstr("reseq_sink_server_up 0"));
  server.start();
  EXPECT_TRUE(wait_until(kPatience, [&] { return get(port, "/readyz").first == 200; })) << sink->tail();
  Session(scene.url()).script("ALTER TABLE documents RENAME TO others");
  EXPECT_TRUE(wait_until(kPatience, [&] {
    return get(port, "/readyz").second.find("table documents is not there any more") != std::string::npos;
  })) << get(port, "/readyz").second;
  EXPECT_EQ(Scene::end(*sink), 0) << sink->tail();
}

}  // namespace
}  // namespace reseq::test
