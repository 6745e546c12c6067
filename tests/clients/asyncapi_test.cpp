// schemas/asyncapi.json: it is an AsyncAPI 3 document, it says what the reference says, and all its messages are met on
// a real broker, where nothing else is.
#include <chrono>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "tests/clients/application.h"
#include "tests/clients/fences.h"
#include "tests/support/broker.h"
#include "tests/support/source_path.h"

namespace reseq::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAreArray;

constexpr const char* kDocument = "schemas/asyncapi.json";

json document() {
  return json::parse(source_file(kDocument));
}

std::string in_an_hour() {
  const auto date = std::chrono::system_clock::now() + std::chrono::hours(1);
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(date.time_since_epoch()).count());
}

// What the checker finds, a line each. It comes from Maven Central: script/deps says where it is.
std::vector<std::string> problems_of(const json& checked) {
  const Transcript checkers = run_program({source_path("script/deps"), "checkers"});
  EXPECT_EQ(checkers.exit_code, 0) << checkers.text();
  if (checkers.lines.empty()) return {"no checkers"};
  const TempDir folder;
  std::ofstream(folder.path() + "/document.json") << checked.dump();
  const Transcript found = run_program({"java", "-cp", checkers.lines.back() + "/../jars/*",
                                        source_path("tests/clients/Asyncapi.java"), folder.path() + "/document.json"});
  EXPECT_EQ(found.exit_code, 0) << found.text();
  return found.lines;
}

TEST(AsyncApi, DocumentIsOne) {
  EXPECT_THAT(problems_of(document()), IsEmpty());
}

TEST(AsyncApi, CheckerFindsWhatIsWrong) {
  json wrong = document();
  wrong["info"].erase("version");
  wrong["operations"]["sendWork"]["action"] = "write";
  wrong["operations"]["sendEvents"]["channel"]["$ref"] = "#/channels/nobody";
  wrong["channels"]["work"]["adress"] = "shop.work";
  wrong["components"]["messages"]["work"]["traits"][0]["$ref"] = "#/components/messageTraits/nobody";
  EXPECT_THAT(problems_of(wrong),
              testing::UnorderedElementsAre(HasSubstr("`version`"), HasSubstr("[sendWork]"), HasSubstr("[sendEvents]"),
                                            HasSubstr("`adress`"), HasSubstr("Message trait references")));
}

std::string place_of_dead_letter(Application& application, const std::string& reason) {
  const Transcript list = application.run_command({"dead-letter", "list", "--reason", reason, "-o", "json"});
  const json letters = json::parse(list.text());
  return letters.at("dead_letters").at(0).at("place");
}

// Every header of the reference but those that are refused, and those of the queries.
TEST(AsyncApi, NamesTheHeadersOfTheReference) {
  std::string text = source_file("schemas/wire.md");
  // What sinks write is read by people, and by no part of the application.
  const std::size_t sinks = text.find("### Dead letters of sinks");
  ASSERT_NE(sinks, std::string::npos);
  text.erase(sinks, text.find("\n## ", sinks) - sinks);
  const std::regex name("`(reseq-[a-z]+(?:-[a-z]+)*)");
  std::set<std::string> reference = {"reseq-correlation-id", "reseq-reply-topic"};
  for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at) reference.insert((*at)[1]);
  const std::size_t from = text.find("**Reserved.**");
  const std::string reserved = text.substr(from, text.find("\n\n", from) - from);
  for (std::sregex_iterator at(reserved.begin(), reserved.end(), name), end; at != end; ++at) reference.erase((*at)[1]);
  reference.insert("reseq-control");  // whose other `reseq-control-...` are the reserved ones

  std::set<std::string> described;
  const json checked = document();
  for (const auto& [message, said] : checked["components"]["messages"].items()) {
    if (!said.contains("headers")) continue;
    for (const auto& [header, schema] : said["headers"]["properties"].items())
      if (header.starts_with("reseq-")) described.insert(header);
  }
  EXPECT_THAT(described, UnorderedElementsAreArray(reference));
}

// An application with a strict target; one document that it waits for is skipped. What its records are described as.
std::string described_with_a_strict_target() {
  Application application(
      "init.work_partitions = 1\ninit.output_partitions = 1\n"
      "[[target]]\nname = \"audit\"\norder = \"strict\"\n");
  const std::string edit = "send requests products/1 edit reseq-seq=1\nread events products/1 *forwarded*\n";
  EXPECT_EQ(application.play(Client::kPython, edit).exit_code, 0) << application.log();
  const Transcript done = application.run_command({"skip", "products/1", "--target", "audit"});
  EXPECT_EQ(done.exit_code, 0) << done.text();
  const Transcript checked = application.described_by(source_path(kDocument));
  EXPECT_EQ(checked.exit_code, 0);
  return checked.text();
}

// The contract of the clients and one operation of each kind leave records of all messages behind.
TEST(AsyncApi, RecordsAreAsDescribed) {
  Application application;
  const std::string steps = source_file("tests/clients/contract.txt");
  ASSERT_EQ(application.play(Client::kPython, steps).exit_code, 0) << application.log();
  const std::vector<std::vector<std::string>> commands = {
      {"describe", "products/4"},
      {"pause", "--partition", "0", "--dry-run"},
      {"resume", "--target", "search", "--dry-run"},
      {"raise-version-floor", "1000", "--partition", "0", "--expect-floor", "0", "--dry-run"},
      {"release", place_of_dead_letter(application, "unregistered_target"), "--dry-run"},
      {"expire", "products/4", "--expect-seq", "1", "--expect-epoch", "2"},
      {"dispatch", "now", "products/4", "--target", "search", "--dry-run"},
      {"dispatch", "postpone", "products/4", "--until", in_an_hour(), "--expect-seq", "1", "--expect-epoch", "2"},
  };
  for (const std::vector<std::string>& command : commands) {
    const Transcript done = application.run_command(command);
    EXPECT_EQ(done.exit_code, 0) << command[0] << ": " << done.text();
  }
  const Transcript checked = application.described_by(source_path(kDocument));
  EXPECT_EQ(checked.exit_code, 0);
  const std::string records = checked.text() + described_with_a_strict_target();
  EXPECT_THAT(records, Not(HasSubstr("wrong:")));
  const json channels = document()["channels"];
  for (const auto& [channel, said] : channels.items())
    for (const auto& [message, reference] : said["messages"].items())
      if (message != "heartbeat" && message != "fail") {  // refused where nothing waits
        EXPECT_THAT(records, HasSubstr(channel + "." + message + " ")) << "no record of it";
      }
}

}  // namespace
}  // namespace reseq::test
