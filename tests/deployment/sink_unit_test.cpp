// The units of sinks for servers under a real systemd, with everything that they take away from the process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/deployment/installed.h"
#include "tests/deployment/packages.h"
#include "tests/e2e/patience.h"
#include "tests/postgres/scene.h"

namespace reseq::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class SinkUnit : public testing::Test {
 protected:
  // A sink reads its options, and the password of its server, from a file that only root may read.
  void configure(const std::string& package, const std::string& file, const std::vector<std::string>& lines) {
    const Outcome installed = host_.install(package);
    ASSERT_EQ(installed.code, 0) << installed.text;
    std::string all = "umask 077;";
    for (const std::string& line : lines) all += " echo '" + line + "' >>/etc/resequencer/" + file + ";";
    ASSERT_EQ(host_.machine.shell(all).code, 0);
  }
  void configure_postgres(const Scene& scene) {
    PostgresServer& server = PostgresServer::shared();
    const std::string user = scene.database() + "_user";
    server.ask_for_password(user, "correct-horse");
    configure(packages().sink_postgres, "search.postgres",
              {"OPTIONS=--bootstrap-servers " + scene.connection().bootstrap_servers + " --topic " + scene.topic() +
                   " --payload bytea --server " + server.url(scene.database(), user),
               "PGPASSWORD=correct-horse"});
  }
  Outcome systemctl(Words command) {
    command.insert(command.begin(), {"systemctl", "--no-pager"});
    return host_.machine.run(command);
  }
  std::string property(const std::string& unit, const std::string& name) {
    std::string value = systemctl({"show", "--value", "--property=" + name, unit}).text;
    if (!value.empty()) value.pop_back();
    return value;
  }
  std::string journal(const std::string& unit) {
    return host_.machine.run({"journalctl", "--no-pager", "--output=cat", "-u", unit}).text;
  }
  void expect_confined(const std::string& unit) {
    const std::string status = host_.machine.content("/proc/" + property(unit, "MainPID") + "/status");
    EXPECT_THAT(status, HasSubstr("NoNewPrivs:\t1"));
    EXPECT_THAT(status, HasSubstr("Seccomp:\t2"));
    EXPECT_THAT(status, HasSubstr("CapBnd:\t0000000000000000"));
    EXPECT_THAT(status, Not(HasSubstr("Uid:\t0"))) << "it runs as root";
  }

  Installed host_{Init::kSystemd};
};

TEST_F(SinkUnit, OfPostgresWritesWithNothingButWhatItNeeds) {
  constexpr const char* kUnit = "reseq-sink-postgres@search";
  Scene scene("unit");
  configure_postgres(scene);
  ASSERT_EQ(systemctl({"enable", "--now", kUnit}).code, 0) << journal(kUnit);
  scene.release(500, 100);
  ASSERT_TRUE(wait_until(kPatience, [&] { return scene.is_caught_up(); })) << journal(kUnit);
  EXPECT_THAT(scene.differences(), IsEmpty());
  expect_confined(kUnit);
  EXPECT_EQ(systemctl({"stop", kUnit}).code, 0);
  EXPECT_EQ(property(kUnit, "Result"), "success");
  EXPECT_THAT(journal(kUnit), HasSubstr("server=\"postgresql host=127.0.0.1"));
  EXPECT_THAT(journal(kUnit), Not(HasSubstr("level=error")));
  EXPECT_THAT(journal(kUnit), Not(HasSubstr("correct-horse")));
}

TEST_F(SinkUnit, OfPostgresGoesOnWithTheNewProgramAndIsStoppedBeforeItIsRemoved) {
  constexpr const char* kUnit = "reseq-sink-postgres@search";
  Scene scene("upgrade");
  configure_postgres(scene);
  ASSERT_EQ(systemctl({"enable", "--now", kUnit}).code, 0) << journal(kUnit);
  scene.release(500, 100);
  ASSERT_TRUE(wait_until(kPatience, [&] { return scene.is_caught_up(); })) << journal(kUnit);
  const std::string pid = property(kUnit, "MainPID");
  // What an operator may have done: secrets in the folder, closed to others, and an instance that cannot start again.
  const Outcome done = host_.machine.shell(
      "cd /etc/resequencer; touch search.password; chmod 0750 .; cp search.postgres other.postgres; "
      "systemctl start reseq-sink-postgres@other; rm other.postgres");
  ASSERT_EQ(done.code, 0) << done.text;

  const Outcome upgraded = host_.install(upgraded_package(packages().sink_postgres, "0.1.1", host_.machine.shared()));
  EXPECT_EQ(upgraded.code, 0) << upgraded.text;
  EXPECT_EQ(host_.machine.shell("stat --format=%a /etc/resequencer").text, "750\n");
  EXPECT_EQ(property(kUnit, "ActiveState"), "active") << journal(kUnit);
  const std::string newer_pid = property(kUnit, "MainPID");
  EXPECT_NE(newer_pid, pid);
  scene.release(500, 100);
  EXPECT_TRUE(wait_until(kPatience, [&] { return scene.is_caught_up(); })) << journal(kUnit);
  EXPECT_THAT(scene.differences(), IsEmpty());

  const Outcome without_main = host_.machine.run({"dpkg", "--purge", "resequencer"});
  EXPECT_EQ(without_main.code, 0) << without_main.text;
  EXPECT_EQ(host_.machine.shell("ls /etc/resequencer").text, "search.password\nsearch.postgres\n")
      << "they belong to a package that stays";
  ASSERT_EQ(host_.machine.shell("rm /etc/resequencer/search.password").code, 0);
  const Outcome removed = host_.machine.run({"dpkg", "--purge", "resequencer-sink-postgres"});
  EXPECT_EQ(removed.code, 0) << removed.text;
  EXPECT_EQ(host_.machine.content("/proc/" + newer_pid + "/status"), "") << "removed without being stopped";
  EXPECT_THAT(host_.machine.changed("reseq"), IsEmpty());
}

TEST_F(SinkUnit, OfOpensearchRunsWithNothingButWhatItNeedsWhileItsServerIsAway) {
  constexpr const char* kUnit = "reseq-sink-opensearch@search";
  const Scene scene("unit");
  configure(packages().sink_opensearch, "search.opensearch",
            {"OPTIONS=--bootstrap-servers " + scene.connection().bootstrap_servers + " --topic " + scene.topic() +
                 " --index shop --user sink --url http://localhost:1",
             "RESEQ_OPENSEARCH_PASSWORD=correct-horse"});
  ASSERT_EQ(systemctl({"enable", "--now", kUnit}).code, 0) << journal(kUnit);
  EXPECT_TRUE(wait_until(kPatience, [&] { return journal(kUnit).find("server=away") != std::string::npos; }))
      << journal(kUnit);
  EXPECT_THAT(journal(kUnit), HasSubstr("onnect")) << "what libcurl says of a port where nobody is";
  EXPECT_EQ(property(kUnit, "ActiveState"), "active");
  EXPECT_EQ(property(kUnit, "NRestarts"), "0") << journal(kUnit);
  expect_confined(kUnit);
  EXPECT_EQ(systemctl({"stop", kUnit}).code, 0);
  EXPECT_EQ(property(kUnit, "Result"), "success") << journal(kUnit);
  EXPECT_THAT(journal(kUnit), Not(HasSubstr("correct-horse")));
  const Outcome removed = host_.machine.run({"dpkg", "--purge", "resequencer-sink-opensearch"});
  EXPECT_EQ(removed.code, 0) << removed.text;
  EXPECT_EQ(host_.machine.shell("ls /etc/resequencer").text, "example.toml\n");
}

}  // namespace
}  // namespace reseq::test
