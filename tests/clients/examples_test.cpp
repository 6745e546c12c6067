// What the pages about the wire show is run as it stands there, or is a piece of a file that is run.
#include <algorithm>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <sstream>

#include "tests/clients/application.h"
#include "tests/clients/fences.h"
#include "tests/clients/steps.h"
#include "tests/support/count_of.h"
#include "tests/support/source_path.h"

namespace reseq::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kReference = "schemas/wire.md";
constexpr const char* kGuide = "docs/wire.md";
constexpr const char* kPartitioner = " -X partitioner=murmur2_random";

// The kcat commands of the reference in their order: a fence is one, or several with an empty line in between.
std::vector<std::string> kcat_examples() {
  std::vector<std::string> examples;
  for (const Fence& fence : fences_of(source_file(kReference))) {
    if (fence.label != "sh") continue;
    examples.emplace_back();
    for (const std::string& line : lines_of(fence.text)) {
      if (line.empty()) {
        examples.emplace_back();
      } else {
        examples.back() += line + "\n";
      }
    }
  }
  return examples;
}

class KcatExamples : public testing::Test {
 protected:
  // Runs the one example that contains `what`, then reads its events.
  void run(const std::string& what, const std::string& events) {
    SCOPED_TRACE(what);
    std::string found;
    for (std::string& example : examples_) {
      if (example.find(what) == std::string::npos) continue;
      ASSERT_THAT(found, IsEmpty()) << "two examples";
      found.swap(example);
    }
    ASSERT_FALSE(found.empty()) << "no example";
    const Transcript shell = application_.run_script(found);
    EXPECT_EQ(shell.exit_code, 0) << shell.text();
    expect_reads(Client::kPython, events);  // which goes on where it was
  }

  void expect_reads(Client client, const std::string& reads) {
    EXPECT_THAT(differences(reads, application_.play(client, reads)), IsEmpty()) << application_.log();
  }

  Application application_;
  std::vector<std::string> examples_ = kcat_examples();  // an example that was run is empty
};

TEST_F(KcatExamples, OfTheReferenceDoWhatItSays) {
  const std::string event = "read events products/4711 *\"outcome\":";
  const std::string reset = "read events (null) {\"kind\":\"reset\"*\n";
  run("command=register", event + "\"registered\"*\n");
  run("# an update", event + "\"forwarded\"*\n");
  run("command=sequence", event + "\"released\"*\n");
  run("command=unregister", event + "\"removed\"*\n");
  run("# once more", event + "\"forwarded\"*\n");
  run("# a delete", event + "\"forwarded\"*\n");
  run("control=reset", reset + reset + reset + reset);
  // Where nothing waits.
  run("# live traffic", event + "\"dead_lettered\",\"reason\":\"unsupported_header\"*\n");
  run("command=heartbeat", event + "\"dropped\",\"reason\":\"no_change\"*\n");
  run("command=fail", event + "\"dead_lettered\",\"reason\":\"unsupported_header\"*\n");
  run("control=floor", "read events floor *\"reason\":\"unknown_control\"*\n");
  expect_reads(Client::kKcat,
               R"(read work products/4711 {"price":12} reseq-seq=17 reseq-epoch=0 reseq-targets=search,catalogue
read work products/4711 {"price":12} reseq-seq=17 reseq-targets=search reseq-epoch=0 reseq-revision=1
read work products/4711 (null) reseq-seq=18 reseq-epoch=0 reseq-targets=search,catalogue reseq-op=delete
read output.search products/4711 {"title":"Kettle"} reseq-seq=17 reseq-epoch=0 reseq-target=search reseq-version=*
index products/4711 {"title":"Kettle"}
)");
  for (const std::string& example : examples_) {
    if (example.empty()) continue;
    const Transcript dead_letters = application_.run_script(example);
    EXPECT_THAT(dead_letters.text(), HasSubstr("floor reseq-control=floor")) << example;
    EXPECT_THAT(dead_letters.text(), HasSubstr("reseq-reason=unknown_control")) << example;
  }
}

TEST_F(KcatExamples, AreMisroutedWithoutThePartitioner) {
  const std::string example = examples_.at(0);
  const std::string without = replaced(example, kPartitioner, "");
  ASSERT_NE(without, example);
  EXPECT_EQ(application_.run_script(without).exit_code, 0);
  expect_reads(Client::kPython, "read events products/4711 *\"reason\":\"misrouted\"*\n");
}

// Lines without their indentation: a page may show a piece of a function.
std::string flush_left(const std::string& text) {
  std::string flat = "\n";
  for (const std::string& line : lines_of(text)) {
    const std::size_t start = line.find_first_not_of(' ');
    flat += (start == std::string::npos ? "" : line.substr(start)) + "\n";
  }
  return flat;
}

// The rows of the page's tables of records, one text of steps for each table: its first cell is the word of the step.
std::vector<std::string> tables_of_steps(const std::string& page) {
  std::vector<std::string> tables;
  bool inside = false;
  for (const std::string& line : lines_of(page)) {
    const bool step = line.starts_with("| send |") || line.starts_with("| read |") || line.starts_with("| index |");
    if (step && !inside) tables.emplace_back();
    inside = step;
    if (!step) continue;
    std::istringstream cells(line);
    std::string words;
    for (std::string word; cells >> word;) {
      if (word == "|") continue;
      if (word.size() > 1 && word.front() == '`' && word.back() == '`') word = word.substr(1, word.size() - 2);
      words += (words.empty() ? "" : " ") + word;
    }
    tables.back() += words + "\n";
  }
  return tables;
}

TEST(GuideToTheWire, TablesOfRecordsAreSentAndReadAsTheyStand) {
  const std::vector<std::string> tables = tables_of_steps(source_file(kGuide));
  EXPECT_THAT(tables, testing::SizeIs(2));
  for (const std::string& steps : tables) {
    Application application;
    EXPECT_THAT(differences(steps, application.play(Client::kPython, steps)), IsEmpty()) << application.log();
  }
}

TEST(GuideToTheWire, QuotesFilesThatAreRun) {
  const std::map<std::string, std::vector<std::string>> sources_of = {
      {"sh", {kReference}},
      {"bash", {"docs/examples/clients/client.sh"}},
      {"python", {"docs/examples/clients/client.py", "docs/examples/clients/worker.py"}},
      {"java", {"docs/examples/clients/Client.java"}}};
  std::map<std::string, int> quotes;
  for (const Fence& fence : fences_of(source_file(kGuide))) {
    ASSERT_TRUE(sources_of.contains(fence.label)) << kGuide << ":" << fence.line << ": " << fence.label;
    ++quotes[fence.label];
    const std::vector<std::string>& sources = sources_of.at(fence.label);
    const bool quoted = std::any_of(sources.begin(), sources.end(), [&](const std::string& source) {
      return flush_left(source_file(source)).find(flush_left(fence.text)) != std::string::npos;
    });
    EXPECT_TRUE(quoted) << kGuide << ":" << fence.line << " is not in " << sources.back();
  }
  EXPECT_EQ(quotes.size(), sources_of.size());
}

std::string without_comments(const std::string& text) {
  std::string code;
  for (const std::string& line : lines_of(text))
    if (!line.starts_with('#')) code += line + "\n";
  return code;
}

// As ours do. Java's clients have no such setting, because they always do.
TEST(Examples, SendSmallRequestsAtOnceFromEachClientOfLibrdkafka) {
  int clients = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source_path("docs/examples"))) {
    const std::string file = std::filesystem::relative(entry.path(), source_path("")).string();
    const bool shell = file.ends_with(".sh");
    if (!shell && !file.ends_with(".py")) continue;
    const std::string code = without_comments(source_file(file));
    const int configured = count_of(code, shell ? "kcat -" : "\"bootstrap.servers\"");
    EXPECT_EQ(count_of(code, "socket.nagle.disable"), configured) << file;
    clients += configured;
  }
  EXPECT_GT(clients, 0);
}

}  // namespace
}  // namespace reseq::test
