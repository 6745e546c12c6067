// The examples of docs/shell-pipelines.md, run as they stand there: requests, commands and outputs through a real
// resequencer.
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

#include "tests/e2e/patience.h"
#include "tests/e2e/resequencer_run.h"
#include "tests/support/broker.h"
#include "tests/support/source_path.h"

namespace reseq::test {
namespace {

using testing::IsEmpty;

struct Fence {
  std::string label;
  std::string text;
};

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<Fence> fences_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<Fence> fences;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```")) {
      inside = !inside;
      if (inside) fences.push_back({line.substr(3), ""});
    } else if (inside) {
      fences.back().text += line + "\n";
    }
  }
  return fences;
}

void replace_all(std::string& text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

class ShellPipelines : public testing::Test {
 protected:
  // The example with the names of this test. Commands are found beside the test program.
  std::unique_ptr<Process> start(std::string example) {
    replace_all(example, "127.0.0.1:9092", Broker::shared().bootstrap_servers());
    replace_all(example, "shop", run_.application_id());
    const std::string path = program("x").substr(0, program("x").size() - 2);
    const bool stays = example.starts_with("reseq-stage");
    return std::make_unique<Process>(
        std::vector<std::string>{"bash", "-c",
                                 "set -o pipefail; cd " + folder_.path() + "; PATH=" + path + ":$PATH; " +
                                     (stays ? "exec " + example : "{ " + example + "} >stdout")},
        folder_.path() + "/log");
  }
  std::string printed(const std::string& example) {
    const std::unique_ptr<Process> process = start(example);
    EXPECT_EQ(process->wait(60'000), 0) << process->tail();
    return read_file(folder_.path() + "/stdout");
  }
  void end_stage() {
    if (!stage_) return;
    stage_->signal(SIGTERM);
    EXPECT_EQ(stage_->wait(60'000), 0) << stage_->tail();
    stage_.reset();
  }

  TempDir folder_;
  ResequencerRun run_{Broker::shared().bootstrap_servers(), unique_name("shell"), {"search"}};
  std::unique_ptr<Process> stage_;
};

TEST_F(ShellPipelines, OfThePageDoWhatItSays) {
  const std::unique_ptr<Process> resequencer = run_.start(1);
  const std::vector<Fence> fences = fences_of(source_path("docs/shell-pipelines.md"));
  int outputs = 0;
  for (std::size_t i = 0; i < fences.size(); ++i) {
    const Fence& fence = fences[i];
    SCOPED_TRACE(fence.text);
    if (fence.label == "python" || fence.label == "bash") {
      std::ofstream(folder_.path() + (fence.label == "python" ? "/stage.py" : "/stage.sh")) << fence.text;
    } else if (fence.label == "text") {
      // Asked again until it is there: the results are on their way.
      std::string last;
      EXPECT_TRUE(wait_until(kPatience, [&] { return (last = printed(fences[i - 1].text)) == fence.text; }))
          << last << resequencer->tail() << (stage_ ? stage_->tail() : "");
      ++outputs;
    } else if (fence.text.starts_with("reseq-stage")) {
      end_stage();
      stage_ = start(fence.text);
    } else if (fence.text.find("reseq-produce") != std::string::npos) {
      EXPECT_THAT(printed(fence.text), IsEmpty());
    }
  }
  EXPECT_EQ(outputs, 3);
  end_stage();
}

TEST_F(ShellPipelines, PrintOnceInAGroupAndEndWithWhoeverReadsThem) {
  const std::unique_ptr<Process> resequencer = run_.start(1);
  stage_ = start("reseq-stage --bootstrap-servers 127.0.0.1:9092 --application-id shop -- jq --unbuffered -c .");
  // An id and a payload that are no UTF-8.
  printed(
      "printf '%s\\n' '{\"id_base64\":\"/wD+\",\"seq\":1,\"payload_base64\":\"/w==\"}' '{\"id\":\"b\",\"seq\":1,"
      "\"payload\":\"x\"}' | reseq-produce --bootstrap-servers 127.0.0.1:9092 --topic shop.requests ndjson\n");
  const std::string sink = "reseq-sink-ndjson --bootstrap-servers 127.0.0.1:9092 --topic shop.output.search ";
  const std::string shown = " | jq -c '[.id, .id_base64, .payload_base64 // .payload]' | sort\n";
  const std::string both = "[\"b\",null,\"x\"]\n[null,\"/wD+\",\"/w==\"]\n";
  std::string last;
  ASSERT_TRUE(wait_until(kPatience, [&] { return (last = printed(sink + "--until-end" + shown)) == both; }))
      << last << stage_->tail();
  EXPECT_EQ(printed(sink + "--until-end --group shop.printer" + shown), both);
  EXPECT_THAT(printed(sink + "--until-end --group shop.printer" + shown), IsEmpty());
  // Without --until-end it would follow for ever, but nobody reads on.
  EXPECT_EQ(printed(sink + "| head -n 1 | jq -r .op\n"), "upsert\n");
  end_stage();
}

}  // namespace
}  // namespace reseq::test
