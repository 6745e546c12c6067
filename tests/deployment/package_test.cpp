// The Debian package, where no systemd runs: what it brings, what removing leaves and purging does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/deployment/installed.h"
#include "tests/deployment/packages.h"
#include "tests/support/source_path.h"

namespace reseq::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(LongPackage, HasTheSameBytesWhenItIsBuiltAgain) {
  const Packages& built = packages();
  const Outcome before = run_here({"sha256sum", built.resequencer, built.demo});
  const Outcome again = run_here({source_path("script/package")}, 120'000);
  ASSERT_EQ(again.code, 0) << again.text;
  EXPECT_EQ(run_here({"sha256sum", built.resequencer, built.demo}).text, before.text);
}

TEST(Package, DependsOnTheLibrariesOfItsPrograms) {
  const std::string depends = run_here({"dpkg-deb", "--field", packages().resequencer, "Depends"}).text;
  for (const char* package : {"adduser", "libc6 (>= ", "libfmt9", "liblmdb0", "librdkafka1 (>= ", "libspdlog1.10",
                              "libsqlite3-0", "libstdc++6", "libxxhash0"})
    EXPECT_THAT(depends, HasSubstr(package));
  for (const char* package : {"libpq", "libcurl", "libsimdjson"}) EXPECT_THAT(depends, Not(HasSubstr(package)));
  EXPECT_THAT(run_here({"dpkg-deb", "--field", packages().sink_postgres, "Depends"}).text, HasSubstr("libpq5 (>= "));
  const std::string of_opensearch = run_here({"dpkg-deb", "--field", packages().sink_opensearch, "Depends"}).text;
  for (const char* package : {"libcurl4 (>= ", "libsimdjson14"}) EXPECT_THAT(of_opensearch, HasSubstr(package));
}

TEST(Package, BringsProgramsThatRun) {
  Installed host(Init::kNone);
  EXPECT_EQ(host.run_as_user({"resequencer", "--version"}).text, "resequencer 0.1.0\n");
  for (const char* name :
       {"resequencer", "reseq-produce", "reseq-stage", "reseq-sink-sqlite", "reseq-sink-files", "reseq-sink-ndjson"}) {
    const Outcome help = host.run_as_user({std::string("/usr/bin/") + name, "--help"});
    EXPECT_EQ(help.code, 0) << name << help.text;
    EXPECT_THAT(help.text, HasSubstr("Usage")) << name;
  }
  EXPECT_EQ(host.machine.run({"stat", "--format=%U:%G %a", "/var/lib/resequencer"}).text,
            "resequencer:resequencer 700\n");
}

TEST(Package, BringsAUnitThatIsRightAndExposesLittle) {
  Installed host(Init::kNone);
  const Outcome verified = host.machine.run({"systemd-analyze", "verify", "resequencer@example.service"});
  EXPECT_EQ(verified.code, 0);
  EXPECT_EQ(verified.text, "");
  const Outcome security = host.machine.run(
      {"systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=15", "resequencer@example.service"});
  EXPECT_EQ(security.code, 0) << security.text;
}

TEST(Package, OfASinkBringsItsProgramAndAUnitThatExposesLittle) {
  Installed host(Init::kNone);
  for (const std::string& package : {packages().sink_postgres, packages().sink_opensearch}) {
    const Outcome unpacked = host.machine.run({"dpkg", "--unpack", "--force-depends", package});
    ASSERT_EQ(unpacked.code, 0) << unpacked.text;
  }
  for (const char* unit : {"reseq-sink-postgres@search.service", "reseq-sink-opensearch@search.service"}) {
    const Outcome verified = host.machine.run({"systemd-analyze", "verify", unit});
    EXPECT_EQ(verified.code, 0) << verified.text;
    const Outcome security =
        host.machine.run({"systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=15", unit});
    EXPECT_EQ(security.code, 0) << security.text;
  }
}

TEST(LongPackage, KeepsConfigurationAndStateWhenItIsRemovedAndNothingWhenItIsPurged) {
  Installed host(Init::kNone);
  ASSERT_EQ(host.machine
                .shell("cp /etc/resequencer/example.toml /etc/resequencer/shop.toml; "
                       "touch /var/lib/resequencer/state")
                .code,
            0);
  const Outcome removed = host.machine.run({"dpkg", "--remove", "resequencer"});
  EXPECT_EQ(removed.code, 0) << removed.text;
  EXPECT_NE(host.machine.run({"sh", "-c", "command -v resequencer"}).code, 0);
  EXPECT_EQ(host.machine.run({"ls", "/etc/resequencer", "/var/lib/resequencer"}).text,
            "/etc/resequencer:\nexample.toml\nshop.toml\n\n/var/lib/resequencer:\nstate\n");

  const Outcome purged = host.machine.run({"dpkg", "--purge", "resequencer"});
  EXPECT_EQ(purged.code, 0) << purged.text;
  EXPECT_THAT(purged.text, HasSubstr("removing configuration and state"));
  EXPECT_THAT(host.machine.changed("reseq"), IsEmpty());
  EXPECT_THAT(host.machine.content("/etc/passwd") + host.machine.content("/etc/group"), Not(HasSubstr("resequencer")));
  EXPECT_NE(host.machine.run({"dpkg-query", "-W", "resequencer"}).code, 0);
}

TEST(LongPackage, IsPurgedInOneStep) {
  Installed host(Init::kNone);
  const Outcome purged = host.machine.run({"dpkg", "--purge", "resequencer"});
  EXPECT_EQ(purged.code, 0) << purged.text;
  EXPECT_THAT(host.machine.changed("reseq"), IsEmpty());
}

}  // namespace
}  // namespace reseq::test
