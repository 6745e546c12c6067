// docker-compose.yml and the Dockerfile, without a container engine: both are valid for the tools that know their
// languages, the packages are installed by the script that the image is built with, and every program of ours is
// started as its service says, with the brokers of the test.
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <sysexits.h>
#include <thread>

#include "tests/deployment/machine.h"
#include "tests/deployment/packages.h"
#include "tests/e2e/patience.h"
#include "tests/support/broker.h"
#include "tests/support/source_path.h"

namespace reseq::test {
namespace {

using testing::HasSubstr;

constexpr std::chrono::milliseconds kArrivalLimit{180'000};
// Each look starts a row of programs, and what is looked at needs the processor.
constexpr std::chrono::milliseconds kBetweenLooks{500};
constexpr int kArrived = 20;
constexpr int kStopLimitMs = 30'000;
constexpr int kInstallLimitMs = 120'000;
constexpr const char* kUser = "900:900";  // USER of the Dockerfile

// Where script/deps has put the tools that Debian does not have.
std::string checker(const std::string& name) {
  static const std::string kFolder = [] {
    std::string printed = run_here({source_path("script/deps"), "checkers"}, kInstallLimitMs).text;
    if (!printed.empty()) printed.pop_back();
    return printed.substr(printed.find_last_of('\n') + 1);
  }();
  return kFolder + "/" + name;
}

Outcome validate(const std::string& compose_file) {
  return run_here({checker("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", compose_file});
}

std::string content_of(const std::string& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

// The file with one text in place of another.
std::string changed_copy(const TempDir& folder, const std::string& file, const std::string& from,
                         const std::string& to) {
  std::string text = content_of(source_path(file));
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  std::ofstream(folder.path() + "/" + file) << text;
  return folder.path() + "/" + file;
}

TEST(ComposeFile, IsValidForTheSchemaOfItsSpecification) {
  const Outcome valid = validate(source_path("docker-compose.yml"));
  EXPECT_EQ(valid.code, 0) << valid.text;
  const TempDir folder;
  const Outcome wrong = validate(changed_copy(folder, "docker-compose.yml", "healthcheck:", "health_check:"));
  EXPECT_EQ(wrong.code, 1) << wrong.text;
  EXPECT_THAT(wrong.text, HasSubstr("health_check"));
}

TEST(Dockerfile, IsCleanForItsLinter) {
  const Outcome clean = run_here({checker("hadolint"), source_path("Dockerfile")});
  EXPECT_EQ(clean.code, 0) << clean.text;
  const TempDir folder;
  const Outcome wrong = run_here({checker("hadolint"), changed_copy(folder, "Dockerfile", "debian:13-slim", "debian")});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.text, HasSubstr("DL3006"));
}

// What its steps call is what these tests run, so nothing is done in an image that is done nowhere else.
TEST(Dockerfile, RunsOnlyScriptsThatAreTestedHere) {
  std::istringstream lines(std::regex_replace(content_of(source_path("Dockerfile")), std::regex("\\\\\n *"), ""));
  int steps = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("RUN ")) continue;
    ++steps;
    const std::string step = std::regex_replace(line.substr(4), std::regex("--mount=[^ ]* "), "");
    EXPECT_TRUE(step == "script/package" || step.starts_with("/source/deploy/docker/install /source/build/package/"))
        << step;
    EXPECT_EQ(step.find_first_of(";&|"), std::string::npos) << step;
  }
  EXPECT_EQ(steps, 3);
}

// The services, with anchors and merges resolved.
nlohmann::json services() {
  const Outcome told = run_here({checker("python"), "-c",
                                 "import json, sys, ruamel.yaml\n"
                                 "print(json.dumps(ruamel.yaml.YAML(typ='safe').load(open(sys.argv[1]))['services']))",
                                 source_path("docker-compose.yml")});
  EXPECT_EQ(told.code, 0) << told.text;
  return nlohmann::json::parse(told.text, nullptr, false);
}

// What is published is for the machine that Compose runs on; the page comes to the container from its gateway.
TEST(ComposeFile, PublishesOnLoopbackOnlyAndThePageToTheGateway) {
  const nlohmann::json all = services();
  for (const auto& [name, service] : all.items())
    for (const std::string& port : service.value("ports", Words{})) EXPECT_TRUE(port.starts_with("127.0.0.1:")) << name;
  const nlohmann::json& one = all.at("resequencer");
  EXPECT_EQ(one.value("ports", Words{}), Words{"127.0.0.1:9464:9464"});
  EXPECT_EQ(one.at("environment").at("RESEQ_HTTP_PAGE_GATEWAY"), "true");
}

class Containers : public testing::Test {
 protected:
  void SetUp() override {
    services_ = services();
    const Outcome installed =
        machine_.run({source_path("deploy/docker/install"), packages().resequencer, packages().demo});
    ASSERT_EQ(installed.code, 0) << installed.text;
  }

  // What the engine would start. The topics of the example get the name of this application.
  [[nodiscard]] Words command(const std::string& service) const {
    const nlohmann::json& one = services_.at(service);
    Words all = one.value("entrypoint", Words{"resequencer"});  // ENTRYPOINT of the Dockerfile
    for (std::string word : one.value("command", Words{})) {
      if (word.starts_with("example.")) word.replace(0, std::string("example").size(), application_);
      all.push_back(word);
    }
    return all;
  }
  // The brokers are those of the test, and nothing listens where other machines or tests would meet it.
  [[nodiscard]] Words environment(const std::string& service) const {
    std::map<std::string, std::string> all = services_.at(service).at("environment");
    EXPECT_TRUE(all.contains("RESEQ_BOOTSTRAP_SERVERS")) << service;
    all["RESEQ_BOOTSTRAP_SERVERS"] = Broker::shared().bootstrap_servers();
    all["RESEQ_APPLICATION_ID"] = application_;
    all["RESEQ_HTTP_LISTEN"] = "";
    Words words;
    for (const auto& [name, value] : all) words.push_back(name + "=" + value);
    return words;
  }
  std::unique_ptr<Process> start(const std::string& service) {
    return machine_.start(command(service), kUser, environment(service), log(service));
  }
  // The number that a command prints.
  int count(const Words& command) { return std::atoi(machine_.run(command, kUser).text.c_str()); }
  [[nodiscard]] static std::string told_by(const std::map<std::string, std::unique_ptr<Process>>& running) {
    std::string all;
    for (const auto& [name, process] : running) all += "\n== " + name + "\n" + process->tail();
    return all;
  }
  [[nodiscard]] std::string log(const std::string& service) const { return machine_.shared() + "/" + service + ".log"; }

  Machine machine_{Init::kNone};
  nlohmann::json services_;
  std::string application_ = unique_name("compose");
};

TEST_F(Containers, CarryRequestsThroughThePipelineIntoBothSinks) {
  const Outcome made = machine_.run(command("init"), kUser, environment("init"));
  ASSERT_EQ(made.code, 0) << made.text;
  std::map<std::string, std::unique_ptr<Process>> running;
  for (const auto& [name, service] : services_.items()) {
    if (!service.at("image").get<std::string>().starts_with("resequencer") || name == "init") continue;
    EXPECT_EQ(service.at("depends_on").at("init").at("condition"), "service_completed_successfully") << name;
    running[name] = start(name);
  }
  EXPECT_EQ(running.size(), 5U);
  int found = 0;
  int filed = 0;
  EXPECT_TRUE(wait_until(
      kArrivalLimit,
      [&] {
        std::this_thread::sleep_for(kBetweenLooks);
        found = count({"sqlite3", "-readonly", "/var/lib/resequencer/search.db", "select count(*) from documents"});
        filed = count({"sh", "-c", "find /var/lib/resequencer/catalogue/documents -type f | wc -l"});
        return found > kArrived && filed > kArrived;
      }))
      << found << " in the search, " << filed << " in the catalogue" << told_by(running);
  for (const auto& [name, process] : running) {
    EXPECT_TRUE(process->running()) << name << " has ended: " << process->tail();
    process->signal(SIGTERM);
    // The producer says that it had more to send.
    EXPECT_EQ(process->wait(kStopLimitMs), name == "producer" ? EX_TEMPFAIL : EX_OK) << name << ": " << process->tail();
  }
}

}  // namespace
}  // namespace reseq::test
