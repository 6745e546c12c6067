// reseq-sink-postgres on a real Kafka and a real PostgreSQL, both of their own: what is in the table in the end, while
// the server and the sink are killed, stopped, refused and given rows that cannot be stored.
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "codec/header_names.h"
#include "tests/e2e/outputs.h"
#include "tests/e2e/patience.h"
#include "tests/postgres/scene.h"
#include "tests/recovery/kafka_tools.h"
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
constexpr int kConfig = 78;  // EX_CONFIG

const std::vector<std::string> kBytes = {"--payload", "bytea"};

std::vector<std::string> operator+(std::vector<std::string> some, const std::vector<std::string>& more) {
  some.insert(some.end(), more.begin(), more.end());
  return some;
}

TEST(PostgresSink, IsRightAtTheEndWhateverIsKilled) {
  constexpr int kKills = 5;
  PostgresServer& server = PostgresServer::shared();
  Scene scene("kills");
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
    ASSERT_TRUE(run.is_sending()) << "it ended before kill " << kill << "\n" << run.log();
    server.kill();
    server.start();
    second.kill_and_start();
  }
  EXPECT_GT(second.times_at_work(), 0) << second.log();
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

struct Letter {
  std::string id;
  std::map<std::string, std::string> headers;
};

std::vector<Letter> letters_of(const Scene& scene) {
  std::vector<Letter> letters;
  read_all(scene.connection(), scene.topic() + ".dead-letter", [&](const kafka::PlainRecord& record) {
    Letter& letter = letters.emplace_back();
    letter.id = record.key.value_or("");
    for (const Header& header : record.headers) letter.headers[std::string(header.name)] = header.value.value_or("");
  });
  return letters;
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
  std::vector<Letter> letters = letters_of(scene);
  ASSERT_EQ(letters.size(), 2U);
  std::sort(letters.begin(), letters.end(), [](const Letter& a, const Letter& b) { return a.id < b.id; });
  EXPECT_EQ(letters[0].id, "document-25");
  EXPECT_EQ(letters[0].headers["reseq-reason"], "refused_by_server");
  EXPECT_EQ(letters[0].headers["reseq-source-topic"], scene.topic());
  EXPECT_THAT(letters[0].headers["reseq-sink-words"], HasSubstr("invalid input syntax for type json"));
  EXPECT_EQ(letters[1].headers["reseq-reason"], "malformed");
  EXPECT_EQ(letters[1].headers["reseq-sink-words"], "no reseq-version");
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
  EXPECT_EQ(letters_of(scene).size(), 1U);
}

// Tables of the owner, and a role that may read and write them and nothing else; its name.
std::string make_writer(const Scene& scene, const std::string& payload_type) {
  const std::string role = scene.database() + "-writer";
  Session(scene.url())
      .script(
          "CREATE TABLE documents (id text PRIMARY KEY, version bigint NOT NULL, deleted boolean NOT NULL, payload " +
          payload_type +
          "); CREATE TABLE documents_positions (topic text, partition integer, next bigint NOT NULL, "
          "PRIMARY KEY (topic, partition)); CREATE ROLE \"" +
          role + "\" LOGIN; GRANT SELECT, INSERT, UPDATE ON documents, documents_positions TO \"" + role + "\"");
  return role;
}

TEST(PostgresSink, WaitsForRightsAndTellsSo) {
  Scene scene("rights");
  const std::string role = make_writer(scene, "bytea");
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

// The exit code and what it printed.
std::pair<int, std::string> run(const Scene& scene, const std::vector<std::string>& more) {
  TempDir folder;
  Process process(scene.command(more), folder.path() + "/log");
  const int code = process.wait(60'000);
  return {code, process.tail(20'000)};
}

TEST(PostgresSink, MissesTheRightToForgetDeletesBeforeItRuns) {
  Scene scene("forgets", {{"retention.ms", "86400000"}, {"segment.ms", "3600000"}});
  const std::string role = make_writer(scene, "jsonb");
  const std::vector<std::string> check = {"--check", "--forget-deletes-after-days", "30", "--server",
                                          PostgresServer::shared().url(scene.database(), role)};
  const auto missing = run(scene, check);
  EXPECT_EQ(missing.first, kConfig);
  const std::string grant = "GRANT DELETE ON \"documents\" TO \"" + role + "\"";
  EXPECT_THAT(missing.second, HasSubstr("missing  old deletes may be removed from table documents\n"));
  EXPECT_THAT(missing.second, HasSubstr("run: " + grant));
  Session(scene.url()).script(grant);
  EXPECT_THAT(run(scene, check).second, HasSubstr("good     old deletes may be removed from table documents\n"));
}

TEST(PostgresSink, SaysWhatIsMissingBeforeItRuns) {
  Scene scene("check");
  const auto may_make = run(scene, {"--check"});
  EXPECT_EQ(may_make.first, 0) << may_make.second;
  EXPECT_THAT(may_make.second, HasSubstr("good     table documents does not exist yet, and is made at the start"));
  EXPECT_THAT(may_make.second, HasSubstr("good     may read as group " + scene.group()));

  const auto missing = run(scene, {"--check", "--create", "off"});
  EXPECT_EQ(missing.first, kConfig);
  EXPECT_THAT(missing.second, HasSubstr("missing  table documents exists"));
  EXPECT_THAT(missing.second, HasSubstr("CREATE TABLE IF NOT EXISTS \"documents\""));

  Session(scene.url()).script("CREATE TABLE documents (id text PRIMARY KEY, version bigint, deleted boolean)");
  const auto column = run(scene, {"--check", "--delivery", "at_least_once"});
  EXPECT_EQ(column.first, kConfig);
  EXPECT_THAT(column.second, HasSubstr("table documents has no column payload"));

  const auto schema = run(scene, {"--check", "--table", "nowhere.documents"});
  EXPECT_EQ(schema.first, kConfig);
  EXPECT_THAT(schema.second, HasSubstr("missing  table nowhere.documents exists, or may be made\n"));
  EXPECT_THAT(schema.second, HasSubstr("its schema does not exist"));

  const auto topic = run(scene, {"--check", "--topic", "no-such-topic"});
  EXPECT_EQ(topic.first, kConfig);
  EXPECT_THAT(topic.second, HasSubstr("missing  topic no-such-topic exists"));

  const auto server = run(scene, {"--check", "--server", "postgresql://owner@127.0.0.1:1/shop"});
  EXPECT_EQ(server.first, kConfig);
  EXPECT_THAT(server.second, HasSubstr("missing  the server answers"));
}

TEST(PostgresSink, RefusesToStartWithoutItsTopicOfDeadLetters) {
  Scene scene("no-letters");
  const auto refused = run(scene, {"--dead-letter-topic", "no-such-topic"});
  EXPECT_EQ(refused.first, kConfig);
  EXPECT_THAT(refused.second, HasSubstr("the topic of dead letters, no-such-topic"));
  EXPECT_THAT(refused.second, HasSubstr("--dead-letters skip"));
}

TEST(PostgresSink, SaysThatWhatItsGroupHasForgottenMayBeMissing) {
  Scene scene("forgot");
  scene.release(100, 50);
  const std::vector<std::string> group = kBytes + std::vector<std::string>{"--delivery", "at_least_once"};
  const auto first = scene.start("first", group);
  ASSERT_TRUE(wait_until(kPatience, [&] { return scene.lag_of_group() == 0; })) << first->tail();
  EXPECT_EQ(Scene::end(*first), 0) << first->tail();
  const std::string told = "reading=first_records_are_gone partitions=1 to_do=\"no position is known of them";
  EXPECT_THAT(scene.log_of("first"), Not(HasSubstr("first_records_are_gone")));
  // Positions that are known make good that the first records are gone.
  const KafkaTools tools(scene.connection().bootstrap_servers);
  tools.delete_records({{scene.topic(), 0}});
  const auto again = scene.start("again", group);
  scene.release(100, 50);
  ASSERT_TRUE(wait_until(kPatience, [&] { return scene.lag_of_group() == 0; })) << again->tail();
  EXPECT_EQ(Scene::end(*again), 0) << again->tail();
  EXPECT_THAT(scene.log_of("again"), Not(HasSubstr("first_records_are_gone")));
  tools.delete_group(scene.group());
  const auto forgot = scene.start("forgot", group);
  EXPECT_TRUE(wait_until(kPatience, [&] { return scene.log_of("forgot").find(told) != std::string::npos; }))
      << forgot->tail();
  EXPECT_EQ(Scene::end(*forgot), 0) << forgot->tail();
}

TEST(PostgresSink, DoesNotMakeATableAnewBehindThePositionsOfItsGroup) {
  Scene scene("gone");
  scene.release(100, 50);
  const std::vector<std::string> group = kBytes + std::vector<std::string>{"--delivery", "at_least_once"};
  const auto first = scene.start("first", group);
  ASSERT_TRUE(wait_until(kPatience, [&] { return scene.lag_of_group() == 0; })) << first->tail();
  EXPECT_EQ(Scene::end(*first), 0) << first->tail();
  Session session(scene.url());
  session.script("DROP TABLE documents CASCADE");
  for (const auto& how : {group, group + std::vector<std::string>{"--check"}}) {
    const auto refused = run(scene, how);
    EXPECT_EQ(refused.first, kConfig);
    EXPECT_THAT(refused.second, HasSubstr("restore it, or begin anew"));
    EXPECT_THAT(refused.second, HasSubstr("--group " + scene.group() + " --topic " + scene.topic() +
                                          " --reset-offsets --to-earliest --execute"));
    EXPECT_EQ(session.cell("SELECT to_regclass('documents')::text"), "(null)");
  }
  const auto anew = scene.start("anew", group + std::vector<std::string>{"--group", scene.group() + ".anew"});
  EXPECT_TRUE(wait_until(kPatience, [&] {
    try {
      return scene.differences().empty();
    } catch (const std::exception&) {
      return false;  // no table yet
    }
  })) << anew->tail();
  EXPECT_EQ(Scene::end(*anew), 0) << anew->tail();
}

// Positions of the group, and those beside the table; a table that was emptied, and one that was made anew.
TEST(PostgresSink, TellsThatItsTableWasEmptiedOrMadeAnewBehindItsPositions) {
  const std::string told = "reading=behind_an_empty_place";
  const std::map<std::string, std::string> way_out = {
      {"at_least_once", "--reset-offsets --to-earliest --execute"},
      {"exactly_once", "delete the rows of topic"},
  };
  for (const auto& [delivery, words] : way_out) {
    Scene scene("emptied-" + delivery.substr(0, 2));
    const std::vector<std::string> how = kBytes + std::vector<std::string>{"--delivery", delivery};
    for (const std::string name : {"first", "again"}) {
      scene.release(100, 50);
      const auto sink = scene.start(name, how);
      ASSERT_TRUE(wait_until(kPatience, [&] { return scene.lag_of_group() == 0; })) << sink->tail();
      EXPECT_EQ(Scene::end(*sink), 0) << sink->tail();
      EXPECT_THAT(scene.log_of(name), Not(HasSubstr(told))) << delivery;
    }
    Session session(scene.url());
    session.script("TRUNCATE documents");
    for (const std::string name : {"emptied", "anew"}) {
      const auto sink = scene.start(name, how);
      EXPECT_TRUE(wait_until(kPatience, [&] { return scene.log_of(name).find(told) != std::string::npos; }))
          << sink->tail();
      EXPECT_THAT(scene.log_of(name), HasSubstr(words));
      EXPECT_EQ(Scene::end(*sink), 0) << sink->tail();
      session.script(
          "CREATE TABLE made (LIKE documents INCLUDING ALL); DROP TABLE documents CASCADE; "
          "ALTER TABLE made RENAME TO documents");
    }
    if (delivery == "exactly_once") session.script("DELETE FROM documents_positions");
    const auto right = scene.start("right", how + std::vector<std::string>{"--group", scene.group() + ".anew"});
    EXPECT_TRUE(wait_until(kPatience, [&] { return scene.differences().empty(); })) << right->tail();
    EXPECT_EQ(Scene::end(*right), 0) << right->tail();
    EXPECT_THAT(scene.log_of("right"), Not(HasSubstr(told)));
  }
}

TEST(PostgresSink, ForgetsNoDeleteWhileAnOlderResultCanCome) {
  Scene scene("forgetting");  // whose topic keeps all records
  const auto refused = run(scene, {"--forget-deletes-after-days", "30", "--check"});
  EXPECT_EQ(refused.first, kConfig);
  EXPECT_THAT(refused.second, HasSubstr("but the output topic keeps records for ever: "));
  EXPECT_THAT(refused.second, HasSubstr("Let --forget-deletes-after-days be more, or 0"));
}

TEST(PostgresSink, TakesPasswordsFromFilesAndNotFromItsCommandLine) {
  Scene scene("secrets");
  const auto on_line = run(scene, {"--server", "postgresql://owner:secret-word@127.0.0.1/shop"});
  EXPECT_EQ(on_line.first, kConfig);
  EXPECT_THAT(on_line.second, HasSubstr("--password-file"));
  EXPECT_THAT(on_line.second, Not(HasSubstr("secret-word")));
  const auto of_key = run(scene, {"--server", "postgresql://owner@127.0.0.1/shop?sslpassword=secret-word"});
  EXPECT_EQ(of_key.first, kConfig);
  EXPECT_THAT(of_key.second, HasSubstr("sslpassword"));
  EXPECT_THAT(of_key.second, Not(HasSubstr("secret-word")));
  const auto property = run(scene, {"--property", "sasl.password=secret-word"});
  EXPECT_EQ(property.first, kConfig);
  EXPECT_THAT(property.second, HasSubstr("--property-file"));
  EXPECT_THAT(property.second, Not(HasSubstr("secret-word")));
}

}  // namespace
}  // namespace reseq::test
