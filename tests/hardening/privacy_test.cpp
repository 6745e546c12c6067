// What the program keeps to itself: passwords in no output and no log, the process's memory in no file, and outside
// text in no form that a terminal or a parser of logs would obey.
#include "cli/privacy.h"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/e2e/patience.h"
#include "tests/operator/operator.h"
#include "tests/support/broker.h"

namespace reseq::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::chrono::milliseconds kLimit{60'000};
constexpr const char* kNobody = "127.0.0.1:1";  // where nothing listens

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(Memory, IsKeptOutOfCoreFilesAndFilesAreForThisUserAlone) {
  const auto is_private = [] {
    cli::keep_private();
    rlimit core{1, 1};
    const bool no_core = ::getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_cur == 0 && core.rlim_max == 0;
    std::exit(no_core && ::prctl(PR_GET_DUMPABLE) == 0 && ::umask(0) == 077 ? 0 : 1);
  };
  EXPECT_EXIT(is_private(), testing::ExitedWithCode(0), "");
}

TEST(Memory, OfARunningResequencerLeavesNoCore) {
  Operator shop(kNobody);
  const auto process = shop.start();
  const std::string limits = "/proc/" + std::to_string(process->pid()) + "/limits";
  const auto has_no_core = [&] {
    const std::string text = content_of(limits);
    const std::size_t at = text.find("Max core file size");
    return at != std::string::npos && text.substr(at, text.find('\n', at) - at).find(" 0  ") != std::string::npos;
  };
  EXPECT_TRUE(wait_until(kLimit, has_no_core)) << content_of(limits);
}

// Names of librdkafka's properties and values that must not appear anywhere.
const std::vector<std::pair<std::string, std::string>> kPlanted = {
    {"sasl.password", "planted-one-c2VjcmV0"},
    {"ssl.key.password", "planted-two-c2VjcmV0"},
    {"ssl.keystore.password", "planted-three-c2VjcmV0"},
    {"sasl.oauthbearer.config", "planted-four-c2VjcmV0"},
};
constexpr const char* kFromEnvironment = "planted-five-c2VjcmV0";

class Secrets : public testing::Test {
 protected:
  Secrets() {
    shop_.keys = "log_level = \"debug\"\n";
    shop_.tables += "[kafka]\nsasl.username = \"shown-user\"\n";
    for (const auto& [name, value] : kPlanted) shop_.tables += "\"" + name + "\" = \"" + value + "\"\n";
    shop_.environment = {std::string("RESEQ_KAFKA_SASL_PASSWORD=") + kFromEnvironment};
  }
  static void expect_none_in(const std::string& text) {
    EXPECT_THAT(text, Not(HasSubstr(kFromEnvironment)));
    for (const auto& [name, value] : kPlanted) EXPECT_THAT(text, Not(HasSubstr(value))) << name;
  }

  Operator shop_{Broker::shared().bootstrap_servers()};
};

TEST_F(Secrets, AreNotInTheConfigurationThatIsPrinted) {
  const Ran printed = shop_.run({"config", "print"});
  EXPECT_EQ(printed.code, 0) << printed.text;
  EXPECT_THAT(printed.text, HasSubstr("shown-user"));
  EXPECT_THAT(printed.text, HasSubstr("********"));
  expect_none_in(printed.text);
}

TEST_F(Secrets, AreInNoOutputAndNoDebugLineOfAnySubcommand) {
  shop_.tables += "debug = \"all\"\n";
  const Ran made = shop_.run({"init"});
  EXPECT_EQ(made.code, 0) << made.last_line;
  expect_none_in(made.text);
  expect_none_in(shop_.run({"check"}).text);

  const auto process = shop_.start_and_wait();
  const std::string proc = "/proc/" + std::to_string(process->pid());
  expect_none_in(content_of(proc + "/cmdline"));
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(30'000), 0);
  EXPECT_THAT(shop_.log(), HasSubstr("sasl.password = ")) << "librdkafka's list of properties is not in the log";
  expect_none_in(shop_.log());
}

TEST_F(Secrets, AreNotInTheErrorOfALoginThatFails) {
  shop_.tables += "security.protocol = \"sasl_plaintext\"\nsasl.mechanism = \"PLAIN\"\ndebug = \"security,broker\"\n";
  const Ran checked = shop_.run({"check", "--skip-state"});
  EXPECT_NE(checked.code, 0);
  expect_none_in(checked.text);
}

TEST(Headers, ThatAreTooManyMakeADeadLetter) {
  Operator shop(Broker::shared().bootstrap_servers());
  ASSERT_EQ(shop.run({"init"}).code, 0);
  const auto process = shop.start_and_wait();
  shop.send("requests", "many", std::vector<Header>(100'001, {"h", "v"}));
  shop.send("requests", "few", {{"reseq-seq", "1"}});
  EXPECT_TRUE(wait_until(kLimit, [&] { return shop.log().find("forwarded=1") != std::string::npos; })) << shop.log();
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(30'000), 0);
  EXPECT_THAT(shop.log(), HasSubstr("dead_lettered=1"));
}

void expect_printable(const std::string& text) {
  const auto obeyed = std::find_if(text.begin(), text.end(), [](char c) { return c != '\n' && (c < ' ' || c > '~'); });
  EXPECT_EQ(obeyed, text.end()) << "near: " << text.substr(static_cast<std::size_t>(obeyed - text.begin()), 80);
}

// Red, a bell, a new line that looks like one of ours, right-to-left, a C1 control, no UTF-8.
constexpr const char* kHostile = "\x1B[31m\a\r\nlevel=error forged=1 \xE2\x80\xAE\xC2\x9B\xFF";
constexpr const char* kHostileToml = R"(\u001b[31m\u0007\r\nlevel=error forged=1 \u202e\u009b)";

TEST(OutsideText, OfRecordsNeverReachesATerminalAsItIs) {
  Operator shop(Broker::shared().bootstrap_servers());
  shop.keys = "log_level = \"debug\"\nevents = \"all\"\non_missing = \"stop\"\n";
  ASSERT_EQ(shop.run({"init"}).code, 0);
  const auto process = shop.start_and_wait();
  const std::string id = std::string("id") + kHostile;
  shop.send("requests", id, {{"reseq-seq", "1"}, {kHostile, kHostile}}, kHostile);
  shop.send("requests", id, {{"reseq-seq", kHostile}, {"reseq-targets", kHostile}});
  shop.send("commands", id, {{"reseq-command", kHostile}});
  shop.send("commands", id, {{"reseq-command", "sequence"}, {"reseq-op", kHostile}});  // without a sequence: it stops
  EXPECT_NE(process->wait(60'000), -1) << "it did not stop at a result without a sequence";
  expect_printable(shop.log());
}

TEST(OutsideText, OfSettingsAndNamesOfBrokersNeverReachesATerminalAsItIs) {
  Operator shop(std::string("evil") + kHostileToml + ".invalid:9092");
  shop.keys = "log_level = \"debug\"\n";
  shop.instance = std::string("1") + kHostileToml;
  const auto process = shop.start();
  ASSERT_TRUE(wait_until(kLimit, [&] { return shop.log().find("evil") != std::string::npos; })) << shop.log();
  expect_printable(shop.log());
  expect_printable(shop.run({"check"}, 90'000).text);
  shop.keys = "[target\\u001b]\n";
  expect_printable(shop.run({"check"}).text);
  shop.keys = std::string("\"") + kHostileToml + "\" = 1\n";
  const Ran wrong = shop.run({"check"});
  EXPECT_EQ(wrong.code, 78);
  EXPECT_THAT(wrong.text, HasSubstr("unknown key"));
  expect_printable(wrong.text);
}

}  // namespace
}  // namespace reseq::test
