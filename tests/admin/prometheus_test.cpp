// What is made for Prometheus works with it: a real one scrapes three instances, is asked every query of the dashboard,
// and evaluates the alerts.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <iterator>
#include <regex>
#include <sstream>
#include <sysexits.h>

#include "tests/admin/office.h"
#include "tests/e2e/patience.h"
#include "tests/support/free_port.h"
#include "tests/support/source_path.h"

namespace reseq::test {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kScrapedLimit{60'000};
const std::string kDeploy = source_path("deploy/");

class Prometheus {
 public:
  explicit Prometheus(Office& office) : port_(free_port()) {
    std::ofstream config(office.path("prometheus.yml"));
    config << "global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [\"" << kDeploy
           << "prometheus/alerts.yml\"]\nscrape_configs:\n  - job_name: resequencer\n    static_configs:\n"
           << "      - targets: [";
    for (int i = 1; i <= Office::kInstances; ++i) config << "\"127.0.0.1:" << office.http_port(i) << "\", ";
    config << "]\n";
    config.close();
    process_ = std::make_unique<Process>(
        std::vector<std::string>{"prometheus", "--config.file=" + office.path("prometheus.yml"),
                                 "--storage.tsdb.path=" + office.path("prometheus"),
                                 "--web.listen-address=127.0.0.1:" + std::to_string(port_)},
        office.path("prometheus.log"));
  }
  ~Prometheus() {
    process_->signal(SIGTERM);
    process_->wait(10'000);
  }
  Prometheus(const Prometheus&) = delete;
  Prometheus& operator=(const Prometheus&) = delete;

  // Of its API; null when it does not answer.
  json get(const std::string& path, const httplib::Params& params = {}) {
    httplib::Client client("127.0.0.1", port_);
    const auto got = client.Get(path, params, httplib::Headers());
    return got ? json::parse(got->body, nullptr, false) : json();
  }
  json query(const std::string& expression) { return get("/api/v1/query", {{"query", expression}}); }
  [[nodiscard]] std::string tail() const { return process_->tail(); }

 private:
  int port_;
  std::unique_ptr<Process> process_;
};

std::string with(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

int run(const std::vector<std::string>& argv, const std::string& output) {
  Process process(argv, output);
  const int code = process.wait(60'000);
  if (code != 0) ADD_FAILURE() << process.tail();
  return code;
}

TEST(Alerts, FireWhenSomethingIsWrongAndOnlyThen) {
  const TempDir folder;
  for (const std::string rules : {"alerts", "sink_alerts"}) {
    const std::string file = kDeploy + "prometheus/" + rules;
    EXPECT_EQ(run({"promtool", "check", "rules", file + ".yml"}, folder.path() + "/check"), 0);
    EXPECT_EQ(run({"promtool", "test", "rules", file + "_test.yml"}, folder.path() + "/test"), 0);
  }
  EXPECT_EQ(run({"promtool", "check", "config", kDeploy + "prometheus/prometheus.yml"}, folder.path() + "/config"), 0);
}

// `resequencer list --state overdue` of a description, with a number where a label will be: {"list", "--state", ...}.
std::vector<std::vector<std::string>> commands_named_in(const std::string& rules) {
  std::ifstream file(rules);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  text = std::regex_replace(text, std::regex("\\{\\{[^}]*\\}\\}"), "0");
  static const std::regex command("`resequencer\\s+([^`]+)`");
  std::vector<std::vector<std::string>> all;
  for (std::sregex_iterator found(text.begin(), text.end(), command), end; found != end; ++found) {
    std::istringstream words((*found)[1]);
    all.emplace_back(std::istream_iterator<std::string>(words), std::istream_iterator<std::string>());
  }
  return all;
}

TEST(Alerts, NameCommandsAndOptionsThatThereAre) {
  const TempDir folder;
  const auto resequencer = [&](std::vector<std::string> argv, const std::string& output) {
    argv.insert(argv.begin(), program("resequencer"));
    Process process(argv, folder.path() + "/" + output);
    const int code = process.wait(60'000);
    return Printed{code, process.tail(100'000)};
  };
  int commands = 0;
  for (const auto& rules : std::filesystem::directory_iterator(kDeploy + "prometheus"))
    for (std::vector<std::string> argv : commands_named_in(rules.path())) {
      const std::string name = std::to_string(++commands);
      const auto option =
          std::find_if(argv.begin(), argv.end(), [](const auto& word) { return word.starts_with("-"); });
      std::vector<std::string> asks_for_help(argv.begin(), option);
      asks_for_help.emplace_back("--help");
      const Printed help = resequencer(asks_for_help, "help" + name);
      for (auto word = option; word != argv.end(); ++word) {
        if (word->starts_with("-")) {
          EXPECT_THAT(help.text, testing::HasSubstr("\n  " + *word + " ")) << rules.path() << ": " << argv.front();
        }
      }
      // In front of the options: behind one that lacks its value it would be taken for that.
      argv.insert(option, {"--config", folder.path() + "/none.toml"});
      const Printed printed = resequencer(argv, "run" + name);
      if (printed.code != EX_CONFIG) {  // else it was understood as far as to look for the file
        EXPECT_THAT(printed.text, testing::HasSubstr(" is required")) << rules.path() << ": " << argv.front();
      }
    }
  EXPECT_GE(commands, 7);
}

TEST(Dashboard, HasAnAnswerForEachOfItsQueries) {
  Office office("");
  Prometheus prometheus(office);
  for (int i = 0; i < 30; ++i) {
    const std::string id = "document-" + std::to_string(i);
    office.request(id, 1);
    office.request(id, 2);
    office.result(id, 2, "search");
    office.result(id, 1, "search");  // too late
  }
  office.garbage();
  office.settle();
  const bool scraped = wait_until(kScrapedLimit, [&] {
    const json up = prometheus.query(
        "min(count_over_time(reseq_records_in_total{role=\"commands\"}[10s])) >= 4 and "
        "count(up{job=\"resequencer\"} == 1) == 3");
    return up.is_object() && !up.value("/data/result"_json_pointer, json::array()).empty();
  });
  ASSERT_TRUE(scraped) << prometheus.tail();
  std::ifstream file(kDeploy + "grafana/dashboards/resequencer.json");
  const json dashboard = json::parse(file);
  int queries = 0;
  for (const json& panel : dashboard["panels"])
    for (const json& target : panel["targets"]) {
      std::string expression = with(target["expr"], "$__rate_interval", "10s");
      expression = with(expression, "$instance", ".*");
      const json answer = prometheus.query(expression);
      EXPECT_EQ(answer["status"], "success") << expression << "\n" << answer;
      EXPECT_FALSE(answer.value("/data/result"_json_pointer, json::array()).empty()) << expression;
      ++queries;
    }
  EXPECT_GT(queries, 20);
  const json rules = prometheus.get("/api/v1/rules");
  int alerts = 0;
  for (const json& group : rules["data"]["groups"])
    for (const json& rule : group["rules"]) {
      EXPECT_EQ(rule["health"], "ok") << rule;
      EXPECT_NE(rule["state"], "firing") << rule;
      ++alerts;
    }
  EXPECT_EQ(alerts, 25);
}

}  // namespace
}  // namespace reseq::test
