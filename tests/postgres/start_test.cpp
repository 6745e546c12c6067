// reseq-sink-postgres before it writes: what it misses, refuses and warns of, and how it logs in. Kafka and PostgreSQL
// are real, and of their own.
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/patience.h"
#include "tests/postgres/scene.h"
#include "tests/recovery/kafka_tools.h"

namespace reseq::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr int kConfig = 78;  // EX_CONFIG

// The exit code and what it printed.
std::pair<int, std::string> run(const Scene& scene, const std::vector<std::string>& more) {
  TempDir folder;
  Process process(scene.command(more), folder.path() + "/log");
  const int code = process.wait(60'000);
  return {code, process.tail(20'000)};
}

TEST(PostgresSink, MissesTheRightToForgetDeletesBeforeItRuns) {
  Scene scene("forgets", {{"retention.ms", "86400000"}, {"segment.ms", "3600000"}});
  const std::string role = scene.make_writer("jsonb");
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

// Readers want it, and the sink does not need it.
TEST(PostgresSink, MakesTheViewAnewOrSaysThatItIsMissing) {
  Scene scene("view");
  const std::string role = scene.make_writer("bytea");  // which may not make it
  const std::vector<std::string> writer =
      kBytes + std::vector<std::string>{"--server", PostgresServer::shared().url(scene.database(), role)};
  const auto check = run(scene, writer + std::vector<std::string>{"--check"});
  EXPECT_EQ(check.first, 0);
  EXPECT_THAT(check.second,
              HasSubstr("good     to know: there is no view documents_live, so readers see deletes, too"));
  scene.release(100, 50);
  const auto lacks = scene.start("lacks", writer);
  ASSERT_TRUE(wait_until(kPatience, [&] { return scene.is_caught_up(); })) << lacks->tail();
  EXPECT_EQ(Scene::end(*lacks), 0) << lacks->tail();
  EXPECT_THAT(scene.log_of("lacks"), HasSubstr("view=documents_live is missing, and was not made ("));
  EXPECT_THAT(scene.log_of("lacks"), HasSubstr("who reads documents sees deletes, too. Run: CREATE OR REPLACE VIEW"));

  Session session(scene.url());
  const auto view = [&] { return session.cell("SELECT to_regclass('documents_live')::text"); };
  EXPECT_EQ(view(), "(null)");
  const auto makes = scene.start("makes", kBytes);
  EXPECT_TRUE(wait_until(kPatience, [&] { return view() == "documents_live"; })) << makes->tail();
  EXPECT_EQ(Scene::end(*makes), 0) << makes->tail();
  EXPECT_THAT(scene.log_of("makes"), Not(HasSubstr("view=documents_live")));
  EXPECT_THAT(run(scene, kBytes + std::vector<std::string>{"--check"}).second,
              HasSubstr("good     view documents_live exists\n"));
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

TEST(PostgresSink, LogsInWithThePasswordOfAFileOrOfTheEnvironment) {
  PostgresServer& server = PostgresServer::shared();
  Scene scene("login");
  const std::string user = scene.database() + "_user";
  server.ask_for_password(user, "correct-horse");
  const std::vector<std::string> check = {"--server", server.url(scene.database(), user), "--check"};
  const TempDir folder;
  const auto file_of = [&](const std::string& password) {
    std::ofstream(folder.path() + "/" + password) << password << "\n";
    return std::vector<std::string>{"--password-file", folder.path() + "/" + password};
  };
  const auto by_environment = [&](const std::string& password) {
    Process sink(std::vector<std::string>{"env", "PGPASSWORD=" + password} + scene.command(check),
                 folder.path() + "/log");
    const int code = sink.wait(30'000);
    return std::pair(code, sink.tail());
  };
  ASSERT_TRUE(wait_until(kPatience, [&] { return run(scene, check).first != 0; }))
      << "the server lets in whom it likes";
  for (const auto& [code, words] :
       {run(scene, check), run(scene, check + file_of("battery-staple")), by_environment("battery-staple")}) {
    EXPECT_NE(code, 0) << words;
    EXPECT_THAT(words, AnyOf(HasSubstr("no password supplied"), HasSubstr("password authentication failed")));
    EXPECT_THAT(words, Not(HasSubstr("battery-staple")));
  }
  for (const auto& [code, words] : {run(scene, check + file_of("correct-horse")), by_environment("correct-horse")}) {
    EXPECT_EQ(code, 0) << words;
    EXPECT_THAT(words, Not(HasSubstr("correct-horse")));
  }
}

TEST(PostgresSink, TakesPasswordsNotFromItsCommandLine) {
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
