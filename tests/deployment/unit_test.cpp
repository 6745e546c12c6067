// The unit under a real systemd, with everything that it takes away from the process, on a real broker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/deployment/installed.h"
#include "tests/deployment/packages.h"
#include "tests/e2e/patience.h"
#include "tests/support/count_of.h"

namespace reseq::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::chrono::milliseconds kReadyLimit{60'000};
constexpr int kPartitions = 4;
constexpr const char* kShop = "resequencer@shop";

class Unit : public testing::Test {
 protected:
  Outcome systemctl(Words command) {
    command.insert(command.begin(), {"systemctl", "--no-pager"});
    return host_.machine.run(command);
  }
  std::string property(const std::string& name, const std::string& unit = kShop) {
    std::string value = systemctl({"show", "--value", "--property=" + name, unit}).text;
    if (!value.empty()) value.pop_back();
    return value;
  }
  std::string journal() { return host_.machine.run({"journalctl", "--no-pager", "--output=cat", "-u", kShop}).text; }
  // Lines of the journal that hold these words.
  int count(const std::string& words) { return lines_with(journal(), words); }
  // Told of by READY=1, or systemctl would not have come back.
  void start_shop() {
    const Outcome started = systemctl({"enable", "--now", kShop});
    ASSERT_EQ(started.code, 0) << started.text << journal();
    ASSERT_TRUE(wait_until(kReadyLimit, [&] { return count("takeover=born") == kPartitions; })) << journal();
  }

  Installed host_{Init::kSystemd};
};

TEST_F(Unit, RunsWithNothingButWhatItNeeds) {
  host_.configure_shop();
  ASSERT_EQ(host_.machine.shell("echo RESEQ_LOG_LEVEL=debug >>/etc/resequencer/shop.env").code, 0);
  start_shop();
  const std::string status = host_.machine.content("/proc/" + property("MainPID") + "/status");
  EXPECT_THAT(status, HasSubstr("NoNewPrivs:\t1"));
  EXPECT_THAT(status, HasSubstr("Seccomp:\t2"));
  EXPECT_THAT(status, HasSubstr("CapBnd:\t0000000000000000"));
  EXPECT_EQ(host_.machine.run({"stat", "--format=%U %a", "/var/lib/resequencer"}).text, "resequencer 700\n");
  EXPECT_EQ(systemctl({"stop", kShop}).code, 0);
  EXPECT_EQ(property("Result"), "success");
  EXPECT_THAT(journal(), HasSubstr("stop=clean"));
  EXPECT_THAT(journal(), HasSubstr("level=debug"));
  EXPECT_THAT(journal(), Not(HasSubstr("level=warning start=")));
  EXPECT_THAT(journal(), Not(HasSubstr("notify=failed")));
  EXPECT_THAT(journal(), Not(HasSubstr("level=error")));
}

class LongUnit : public Unit {};

TEST_F(LongUnit, GoesOnWithNewProgramsAndItsStateWhenThePackageIsUpgraded) {
  host_.configure_shop();
  start_shop();
  ASSERT_EQ(host_.machine.shell("echo '# changed here' >>/etc/resequencer/example.toml").code, 0);
  const std::string sums = "cd /etc/resequencer; sha256sum example.toml shop.toml; stat --format='%n %U %G %a' *.toml";
  const std::string before = host_.machine.shell(sums).text;
  const std::string pid = property("MainPID");

  const std::string newer = upgraded_package(packages().resequencer, "0.1.1", host_.machine.shared());
  const Outcome upgraded = host_.install(newer);
  EXPECT_EQ(upgraded.code, 0) << upgraded.text;
  EXPECT_EQ(host_.machine.run({"dpkg-query", "-W", "-f=${Version} ${db:Status-Status}", "resequencer"}).text,
            "0.1.1 installed");
  EXPECT_EQ(host_.machine.shell(sums).text, before);
  EXPECT_EQ(property("ActiveState"), "active");
  const std::string newer_pid = property("MainPID");
  EXPECT_NE(newer_pid, pid);
  EXPECT_TRUE(wait_until(kReadyLimit, [&] { return count("takeover=ready") == kPartitions; })) << journal();
  EXPECT_EQ(count("stop=clean"), 1);
  EXPECT_EQ(count("decision=rebuild"), kPartitions) << "not only at the first start: " << journal();

  const Outcome removed = host_.machine.run({"dpkg", "--purge", "resequencer"});
  EXPECT_EQ(removed.code, 0) << removed.text;
  EXPECT_EQ(count("stop=clean"), 2) << "removed without being stopped";
  EXPECT_EQ(host_.machine.content("/proc/" + newer_pid + "/status"), "");
  EXPECT_THAT(host_.machine.changed("reseq"), IsEmpty());
}

TEST_F(Unit, IsStartedAgainWhenItDiesAndShowsThatItIsAlive) {
  host_.configure_shop();
  ASSERT_EQ(host_.machine
                .shell("mkdir /etc/systemd/system/resequencer@shop.service.d; cd /etc/systemd/system/*@shop.service.d; "
                       "printf '[Service]\\nWatchdogSec=1\\nRestartSec=0\\n' >quick.conf; systemctl daemon-reload")
                .code,
            0);
  start_shop();
  const std::string pid = property("MainPID");
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  EXPECT_EQ(property("MainPID"), pid) << "ended by the watchdog: " << journal();
  ASSERT_EQ(systemctl({"kill", "--signal=KILL", kShop}).code, 0);
  EXPECT_TRUE(wait_until(kReadyLimit, [&] {
    return property("ActiveState") == "active" && property("MainPID") != pid;
  })) << journal();
  EXPECT_EQ(property("NRestarts"), "1");
  // It could see that the machine was not started anew, so that the copy on disk is as it was left.
  EXPECT_TRUE(wait_until(kReadyLimit, [&] { return count("decision=reuse reason=same_boot") == kPartitions; }))
      << journal();
}

TEST_F(Unit, IsNotStartedAgainWhenTheConfigurationIsWrong) {
  ASSERT_EQ(host_.machine.shell("echo 'nonsense = 1' >/etc/resequencer/shop.toml").code, 0);
  EXPECT_NE(systemctl({"start", kShop}).code, 0);
  EXPECT_EQ(property("ExecMainStatus"), "78");
  EXPECT_EQ(property("SubState"), "failed");
  EXPECT_THAT(journal(), HasSubstr("unknown key nonsense"));
}

}  // namespace
}  // namespace reseq::test
