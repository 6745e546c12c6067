// Producers, stages, sinks and an observer without a configuration log in with what a file or the environment says.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sysexits.h>

#include "tests/e2e/patience.h"
#include "tests/security/guarded_application.h"
#include "tests/support/broker.h"

namespace reseq::test {
namespace {

using kafka::Operation;
using kafka::Resource;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::chrono::milliseconds kChainLimit{60'000};
constexpr std::chrono::seconds kAtOnce{20};  // and not when a question of 30 s has timed out
constexpr const char* kPassword = "correct-horse";

class ProgramLogin : public GuardedApplication {
 protected:
  enum class By { kFile, kEnvironment };

  void SetUp() override {
    make_topics();
    for (const auto& [role, operation] :
         std::vector<std::pair<const char*, Operation>>{{"requests", Operation::kWrite},
                                                        {"requests", Operation::kRead},
                                                        {"work", Operation::kRead},
                                                        {"commands", Operation::kWrite},
                                                        {"commands", Operation::kRead},
                                                        {"commands", Operation::kDescribeConfigs},
                                                        {"output.search", Operation::kRead}})
      broker.grant({Resource::kTopic, shop.topic(role), operation});
    // A sink that prints all of it has no group, and its client is named for librdkafka like the program.
    for (const std::string& name : {group(), std::string("reseq-sink-ndjson")})
      broker.grant({Resource::kGroup, name, Operation::kRead});
  }

  // For the producer.
  void request(const std::string& sequence) const {
    std::ofstream(shop.path("one.ndjson")) << R"({"id":"book","seq":)" << sequence << R"(,"payload":{"title":"a"}})"
                                           << "\n";
  }
  [[nodiscard]] std::string group() const { return shop.application_id() + ".stage"; }

  // A program of ours with its login; `by` decides where that comes from.
  [[nodiscard]] std::vector<std::string> with_login(By by, const std::string& password, std::vector<std::string> argv) {
    const std::vector<std::pair<std::string, std::string>> login = {
        {"security.protocol", "sasl_ssl"},
        {"ssl.ca.location", broker.certificates().authority()},
        {"sasl.mechanism", "PLAIN"},
        {"sasl.username", "reseq"},
        {"sasl.password", password}};
    std::vector<std::string> whole = {"env"};
    std::ofstream file(shop.path("login.properties"));
    for (const auto& [name, value] : login) {
      if (by == By::kFile) {
        file << name << "=" << value << "\n";
        continue;
      }
      std::string variable = "RESEQ_KAFKA_" + name;
      for (char& c : variable) c = c == '.' ? '_' : static_cast<char>(std::toupper(c));
      whole.push_back(variable + "=" + value);
    }
    argv[0] = program(argv[0]);
    whole.insert(whole.end(), argv.begin(), argv.end());
    if (by == By::kEnvironment) return whole;
    // In front of the command of a stage.
    const auto behind = std::find(whole.begin(), whole.end(), "--");
    whole.insert(behind, {"--property-file", shop.path("login.properties")});
    return whole;
  }

  [[nodiscard]] std::vector<std::string> command(const std::string& name) const {
    const std::string servers = broker.address("login");
    if (name == "reseq-produce")
      return {name,     "--bootstrap-servers",  servers, "--topic", shop.topic("requests"),
              "ndjson", shop.path("one.ndjson")};
    if (name == "reseq-stage")
      return {name, "--bootstrap-servers", servers, "--application-id", shop.application_id(), "--", "cat"};
    if (name == "reseq-demo-pipeline")
      return {name,         "--bootstrap-servers",  servers,   "--work", shop.topic("work"),
              "--commands", shop.topic("commands"), "--group", group(),  "--workers",
              "1"};
    if (name == "resequencer")
      return {name,
              "observe",
              "--bootstrap-servers",
              servers,
              "--input-topic",
              shop.topic("requests"),
              "--output-topic",
              shop.topic("commands"),
              "--sequence",
              "header:reseq-seq",
              "--from",
              "beginning",
              "--for",
              "0s",
              "--state-dir",
              shop.path("observed-" + std::to_string(++observers_))};
    std::vector<std::string> sink = {name, "--bootstrap-servers", servers, "--topic", shop.topic("output.search")};
    if (name == "reseq-sink-ndjson") sink.emplace_back("--until-end");
    if (name == "reseq-sink-sqlite") sink.insert(sink.end(), {"--database", shop.path("search.db")});
    // Kafka is asked first: nobody is at those.
    if (name == "reseq-sink-postgres") sink.insert(sink.end(), {"--server", "postgresql://owner@127.0.0.1:1/shop"});
    if (name == "reseq-sink-opensearch") sink.insert(sink.end(), {"--url", "http://127.0.0.1:1", "--index", "search"});
    if (name == "reseq-sink-files") sink.insert(sink.end(), {"--directory", shop.path("catalogue")});
    return sink;
  }

  std::unique_ptr<Process> start(const std::string& name, By by, const std::string& password = kPassword) {
    return std::make_unique<Process>(with_login(by, password, command(name)), shop.path(name + ".log"));
  }
  Ran run(const std::string& name, By by, const std::string& password = kPassword) {
    return finished(with_login(by, password, command(name)), name);
  }
  Ran finished(const std::vector<std::string>& argv, const std::string& name) {
    std::filesystem::remove(shop.path(name + ".log"));
    Process process(argv, shop.path(name + ".log"));
    const int code = process.wait(kStepLimitMs);
    std::string text = process.tail();
    while (text.ends_with('\n')) text.pop_back();
    return {code, text, text.substr(text.rfind('\n') + 1)};
  }

 private:
  mutable int observers_ = 0;
};

// One document from a producer to a sink: each program of the chain has the same login.
TEST_F(ProgramLogin, CarriesADocumentFromAProducerToASinkByFileAndByEnvironment) {
  const auto resequencer = shop.start_and_wait();
  for (const By by : {By::kFile, By::kEnvironment}) {
    SCOPED_TRACE(by == By::kFile ? "file" : "environment");
    const std::string sequence = by == By::kFile ? "1" : "2";
    request(sequence);
    const Ran produced = run("reseq-produce", by);
    EXPECT_EQ(produced.code, EX_OK) << produced.text;
    const auto stage = start(by == By::kFile ? "reseq-stage" : "reseq-demo-pipeline", by);
    Ran sunk;
    EXPECT_TRUE(wait_until(kChainLimit,
                           [&] {
                             sunk = run("reseq-sink-ndjson", by);
                             return sunk.text.find("\"seq\":\"" + sequence + "\"") != std::string::npos;
                           }))
        << sunk.text << stage->tail() << resequencer->tail();
    EXPECT_EQ(sunk.code, EX_OK) << sunk.text;
    stage->signal(SIGTERM);
    EXPECT_EQ(stage->wait(kStepLimitMs), EX_OK) << stage->tail();
  }
  for (const By by : {By::kFile, By::kEnvironment}) {
    const Ran observed = run("resequencer", by);
    EXPECT_EQ(observed.code, EX_OK) << observed.text;
    EXPECT_THAT(observed.text, HasSubstr("in order              2"));
  }
}

TEST_F(ProgramLogin, ThatIsWrongIsToldByEachProgramAtOnceAndWithoutThePassword) {
  request("1");
  for (const char* name :
       {"reseq-produce", "reseq-stage", "reseq-demo-pipeline", "reseq-sink-ndjson", "reseq-sink-sqlite",
        "reseq-sink-files", "reseq-sink-postgres", "reseq-sink-opensearch", "resequencer"})
    for (const By by : {By::kFile, By::kEnvironment}) {
      const auto begun = std::chrono::steady_clock::now();
      const Ran refused = run(name, by, "battery-staple");
      EXPECT_EQ(refused.code, EX_CONFIG) << name << ": " << refused.text;
      EXPECT_LT(std::chrono::steady_clock::now() - begun, kAtOnce) << name;
      EXPECT_THAT(refused.last_line, AllOf(StartsWith(std::string(name) + ": "),
                                           HasSubstr("Authentication failed: Invalid username or password")))
          << refused.text;
      EXPECT_THAT(refused.text, Not(HasSubstr("battery-staple"))) << name;
    }
}

// Whoever tries the demo on a Kafka of his own has a login there. This certificate may do everything.
TEST(LongProgramLogin, OfTheDemoIsTakenFromTheEnvironmentByAllThatItStarts) {
  GuardedBroker& broker = GuardedBroker::shared();
  const auto client = broker.certificates().issue("client", "DNS:client");
  const TempDir folder;
  const std::string repository = folder.path() + "/shop";
  Process commit({"sh", "-c",
                  "git init -q \"$1\" && cd \"$1\" && git config user.email a@example.org && git config user.name a && "
                  "for i in 1 2 3; do echo $i > file && git add file && git commit -q -m $i; done",
                  "sh", repository},
                 folder.path() + "/git.log");
  ASSERT_EQ(commit.wait(kStepLimitMs), 0) << commit.tail();
  for (const bool with_key : {true, false}) {
    std::vector<std::string> argv = {"env",
                                     "RESEQ_KAFKA_SECURITY_PROTOCOL=ssl",
                                     "RESEQ_KAFKA_SSL_CA_LOCATION=" + broker.certificates().authority(),
                                     "RESEQ_KAFKA_SSL_CERTIFICATE_LOCATION=" + client.certificate,
                                     "RESEQ_KAFKA_SSL_KEY_LOCATION=" + client.key,
                                     program("reseq-demo"),
                                     "--repo",
                                     repository,
                                     "--bootstrap-servers",
                                     broker.address("mtls"),
                                     "--application-id",
                                     unique_name("demo"),
                                     "--work-folder",
                                     folder.path()};
    if (!with_key) argv.erase(argv.begin() + 3, argv.begin() + 5);
    Process demo(argv, folder.path() + "/demo.log");
    EXPECT_EQ(demo.wait(2 * kStepLimitMs), with_key ? EX_OK : EX_SOFTWARE) << demo.tail();
    EXPECT_THAT(demo.tail(), HasSubstr(with_key ? "Both targets equal commit" : "client certificate"));
  }
}

// A file for all clients of a machine has secrets; a command line is seen by everybody.
TEST_F(ProgramLogin, IsTakenFromNoCommandLine) {
  std::vector<std::string> observe = command("resequencer");
  observe.insert(observe.end(), {"--kafka", "sasl.password=battery-staple"});
  const Ran refused = finished(with_login(By::kFile, kPassword, observe), "resequencer");
  EXPECT_EQ(refused.code, EX_CONFIG) << refused.text;
  EXPECT_THAT(refused.last_line, AllOf(StartsWith("resequencer: --kafka sasl.password: "),
                                       HasSubstr("put it into a file for --property-file"),
                                       HasSubstr("RESEQ_KAFKA_SASL_PASSWORD"), Not(HasSubstr("battery-staple"))));
}

}  // namespace
}  // namespace reseq::test
