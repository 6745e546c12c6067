// A pipeline that knows nothing of the resequencer: what was broken in it is what the report says, exactly.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <map>
#include <random>

#include "tests/clients/fences.h"
#include "tests/e2e/fleet.h"
#include "tests/e2e/patience.h"
#include "tests/shadow/pipeline.h"
#include "tests/unit/observe/trace.h"

namespace reseq::test {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

constexpr std::int64_t kStart = 1'700'000'000'000;

const std::vector<std::string> kWhatIsThere = {"--from", "beginning", "--for", "0s", "-o", "json"};

json observed(Pipeline& pipeline, std::vector<std::string> more = kWhatIsThere) {
  const Pipeline::Ran ran = pipeline.observe(more);
  EXPECT_EQ(ran.code, 0) << ran.error;
  return ran.code == 0 ? ran.json() : json();
}

std::vector<std::string> must(const json& report) {
  std::vector<std::string> codes;
  for (const json& advice : report["advice"])
    if (advice["level"] == "must") codes.push_back(advice["code"]);
  return codes;
}

std::string value_of(const json& report, const std::string& setting) {
  for (const json& advice : report["advice"])
    if (advice.value("setting", "") == setting) return advice.value("value", "");
  return "";
}

void expect_counts(const json& report, const Reference& wanted) {
  EXPECT_EQ(report["results"]["in_order"], wanted.in_order);
  EXPECT_EQ(report["results"]["out_of_order"], wanted.out_of_order);
  EXPECT_EQ(report["results"]["duplicates"], wanted.duplicates);
  EXPECT_EQ(report["would_have_stopped"]["stale_writes"], wanted.out_of_order);
}

// Requests 1 .. kVersions of each document; results are delayed, repeated and lost.
std::vector<Event> scrambled(std::uint64_t seed, int documents, int versions) {
  std::mt19937_64 random(seed);
  std::vector<Event> all;
  for (int v = 1; v <= versions; ++v)
    for (int d = 0; d < documents; ++d) {
      const std::string id = "order-" + std::to_string(d);
      const std::int64_t at = kStart + (v * documents + d) * 10;
      all.push_back({true, id, static_cast<std::uint64_t>(v), at});
      for (std::uint64_t copies = random() % 10 == 0 ? 2 : random() % 15 == 0 ? 0 : 1; copies > 0; --copies)
        all.push_back({false, id, static_cast<std::uint64_t>(v), at + 1 + static_cast<std::int64_t>(random() % 3000)});
    }
  std::stable_sort(all.begin(), all.end(), [](const Event& a, const Event& b) { return a.at_ms < b.at_ms; });
  return all;
}

void write(Pipeline& pipeline, const std::vector<Event>& events, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i)
    if (events[i].is_request)
      pipeline.order(events[i].id, events[i].sequence, events[i].at_ms);
    else
      pipeline.indexed(events[i].id, events[i].sequence, events[i].at_ms);
  pipeline.flush();
}

TEST(Foreign, ReportSaysExactlyWhatWasBroken) {
  Pipeline pipeline(3, 3);
  const auto events = scrambled(1, 40, 25);
  write(pipeline, events, 0, events.size());
  const std::string before = broker_facts(pipeline.connection());
  const json report = observed(pipeline);
  EXPECT_EQ(broker_facts(pipeline.connection()), before);
  const Reference wanted(events);
  EXPECT_GT(wanted.out_of_order, 100U);
  EXPECT_GT(wanted.duplicates, 10U);
  expect_counts(report, wanted);
  EXPECT_EQ(report["requests"]["registered"], 1000);
  EXPECT_EQ(report["unregistered_by_timestamps"], 0);
  EXPECT_EQ(report["reorder_distance"]["max"], wanted.distance_max);
  EXPECT_EQ(report["lateness_ms"]["count"], wanted.out_of_order);
  EXPECT_EQ(report["input"]["left"], 0);
  EXPECT_EQ(report["worst"].size(), 20U);
  for (const json& one : report["worst"]) EXPECT_EQ(one["stale_writes"], wanted.stale.at(one["id"]));
  EXPECT_TRUE(must(report).empty()) << report["advice"];
  EXPECT_EQ(value_of(report, "partitioner"), "murmur2");
}

// The first thing that the README asks somebody to do.
TEST(Foreign, CommandOfTheReadmeTellsWhatIsWrongNow) {
  Pipeline pipeline(3, 3);
  const std::int64_t now =
      std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  for (const std::uint64_t version : {1U, 2U}) pipeline.order("shoe", version, now - 5'000);
  for (const std::uint64_t version : {2U, 1U}) pipeline.indexed("shoe", version, now - 1'000);
  pipeline.flush();
  std::string command;
  for (const Fence& fence : fences_of(source_file("README.md")))
    if (fence.text.starts_with("resequencer observe ")) command = fence.text;
  ASSERT_NE(command, "");
  const std::vector<std::pair<std::string, std::string>> of_this_test = {
      {"resequencer observe", "cd " + pipeline.path("") + " && " + program("resequencer") + " observe"},
      {"127.0.0.1:9092", pipeline.connection().bootstrap_servers},
      {"orders.indexed", pipeline.output()},
      {"--input-topic orders ", "--input-topic " + pipeline.input() + " "},
      {"--for 10m", "--for 3s"}};
  for (const auto& [theirs, ours] : of_this_test) {
    ASSERT_NE(command.find(theirs), std::string::npos) << theirs;
    command = replaced(command, theirs, ours);
  }
  const Pipeline::Ran ran = pipeline.run({"sh", "-c", command});
  EXPECT_EQ(ran.code, 0) << ran.error;
  EXPECT_THAT(ran.text, ContainsRegex("stale writes +1 "));
  EXPECT_THAT(ran.text, HasSubstr("shoe"));
}

// Throws when a line is not whole.
std::map<std::string, std::string> listed_in(const std::string& file) {
  std::map<std::string, std::string> wrong;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const json one = json::parse(line);
    wrong[one.at("id")] = one.at("wrong");
  }
  return wrong;
}

TEST(Foreign, ListsWhatIsWrongNowWhileItGoesOn) {
  Pipeline pipeline(3, 3);
  const std::string file = pipeline.path("wrong.ndjson");
  using Wrong = std::map<std::string, std::string>;
  Wrong many;
  for (int i = 0; i < 500; ++i) {
    const std::string id = "lost-" + std::to_string(i);
    pipeline.order(id, 1, kStart + i);
    many[id] = "missing";
  }
  pipeline.flush();
  const auto observer = pipeline.start({"--from", "beginning", "--wrong-file", file});
  EXPECT_TRUE(wait_until(kPatience, [&] { return listed_in(file) == many; })) << observer->tail();
  EXPECT_FALSE(std::filesystem::exists(file + ".part"));
  for (const auto& [id, wrong] : many) pipeline.indexed(id, 1, kStart + 1'000);
  for (const std::uint64_t version : {2U, 1U}) {
    pipeline.order("old", 3 - version, kStart + 2'000);
    pipeline.indexed("old", version, kStart + 3'000 - static_cast<int>(version));
  }
  pipeline.flush();
  EXPECT_TRUE(wait_until(kPatience, [&] { return listed_in(file) == Wrong{{"old", "overwritten"}}; }));
  json report;
  EXPECT_TRUE(wait_until(kPatience, [&] {
    report = pipeline.report({"-o", "json"}).json();
    return report.contains("wrong_now") && report["wrong_now"]["missing"] == 0;
  })) << report;
  EXPECT_EQ(report["state"], "running");
  EXPECT_EQ(report["wrong_now"], (json{{"overwritten", 1}, {"missing", 0}, {"file", file}}));
  // At the end it is as new as the end.
  pipeline.indexed("old", 2, kStart + 4'000);
  pipeline.flush();
  EXPECT_TRUE(wait_until(kPatience, [&] {
    return pipeline.report({"-o", "json"}).json()["results"]["duplicates"] == 1;
  }));
  observer->signal(SIGTERM);
  EXPECT_EQ(observer->wait(kEndLimitMs), 0) << observer->tail();
  EXPECT_TRUE(listed_in(file).empty());
}

// An earlier list stays until the file can be written again.
TEST(Foreign, GoesOnWhenItsListCannotBeWrittenForAWhile) {
  Pipeline pipeline(1, 1);
  const std::string folder = pipeline.path("lists");
  std::filesystem::create_directory(folder);
  pipeline.order("lost", 1, kStart);
  pipeline.flush();
  const auto observer = pipeline.start({"--from", "beginning", "--wrong-file", folder + "/wrong.ndjson"});
  ASSERT_TRUE(wait_until(kPatience, [&] { return listed_in(folder + "/wrong.ndjson").size() == 1; }));
  std::filesystem::rename(folder, folder + " away");
  pipeline.order("lost too", 1, kStart);
  pipeline.flush();
  EXPECT_TRUE(wait_until(kPatience, [&] { return observer->tail().find("observe=not_listed") != std::string::npos; }));
  std::filesystem::rename(folder + " away", folder);
  EXPECT_TRUE(wait_until(kPatience, [&] { return listed_in(folder + "/wrong.ndjson").size() == 2; }))
      << observer->tail();
  observer->signal(SIGTERM);
  EXPECT_EQ(observer->wait(kEndLimitMs), 0) << observer->tail();
}

TEST(Foreign, ListsWhatIsWrongNowInAFileThatIsWholeOrNotThere) {
  Pipeline pipeline(3, 3);
  const std::string file = pipeline.path("wrong.ndjson");
  std::vector<std::string> with_file = kWhatIsThere;
  with_file.insert(with_file.end(), {"--wrong-file", file});
  for (const char* id : {"right", "old", "lost"})
    for (const std::uint64_t version : {1U, 2U}) pipeline.order(id, version, kStart + static_cast<int>(version));
  pipeline.indexed("right", 1, kStart + 10);
  pipeline.indexed("right", 2, kStart + 20);
  pipeline.indexed("old", 2, kStart + 30);
  pipeline.indexed("old", 1, kStart + 40);
  pipeline.indexed("lost", 1, kStart + 50);
  pipeline.flush();
  const auto listed = [&] { return listed_in(file); };
  json report = observed(pipeline, with_file);
  EXPECT_EQ(listed(), (std::map<std::string, std::string>{{"old", "overwritten"}, {"lost", "missing"}}));
  EXPECT_EQ(report["wrong_now"], (json{{"overwritten", 1}, {"missing", 1}, {"file", file}}));
  EXPECT_EQ(std::filesystem::status(file).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_FALSE(std::filesystem::exists(file + ".part"));
  // Mended; the next start goes on.
  pipeline.indexed("old", 2, kStart + 60);
  pipeline.indexed("lost", 2, kStart + 70);
  pipeline.flush();
  report = observed(pipeline, with_file);
  EXPECT_TRUE(listed().empty());
  EXPECT_EQ(report["wrong_now"]["overwritten"], 0);
  // What was counted without a list cannot be listed later.
  EXPECT_THAT(pipeline.observe(kWhatIsThere).error, HasSubstr("in another way"));
  with_file.back() = pipeline.path("no/such/folder");
  EXPECT_THAT(pipeline.observe(with_file).error, HasSubstr("observe.wrong_file"));
}

// Known by hand: what a request was when its result was written.
TEST(Foreign, ReportFollowsTheTimestampsWhereTwoTopicsMeet) {
  Pipeline pipeline(3, 3);
  pipeline.order("a", 1, kStart);
  pipeline.order("a", 2, kStart + 1000);
  pipeline.order("a", 3, kStart + 5000);
  pipeline.indexed("a", 1, kStart + 900);   // the newest then
  pipeline.indexed("a", 2, kStart + 6000);  // 3 was there already
  pipeline.indexed("a", 3, kStart + 7000);
  pipeline.indexed("a", 1, kStart + 9000);  // stale
  pipeline.indexed("b", 5, kStart + 500);   // its request comes later, by a clock that differs
  pipeline.order("b", 5, kStart + 2500);
  pipeline.indexed("c", 1, kStart + 100);  // never requested
  pipeline.flush();
  const json report = observed(pipeline);
  EXPECT_EQ(report["results"]["in_order"], 5);
  EXPECT_EQ(report["results"]["out_of_order"], 1);
  EXPECT_EQ(report["would_have_stopped"]["superseded_by_timestamps"], 1);
  EXPECT_EQ(report["unregistered_by_timestamps"], 1);
  EXPECT_EQ(report["lateness_ms"]["max"], 2000);
  EXPECT_EQ(report["reorder_distance"]["max"], 2);
  EXPECT_EQ(report["answer_ms"]["max"], 2000);
  EXPECT_EQ(must(report), std::vector<std::string>{"unregistered"});
}

TEST(Foreign, GarbageIsCountedExplainedAndHarmsNothing) {
  Pipeline pipeline(3, 3);
  pipeline.order("a", 1, kStart);
  pipeline.send(pipeline.input(), "a", {}, kStart + 1);
  pipeline.send(pipeline.input(), "a", {{"version", "one"}}, kStart + 2);
  pipeline.send(pipeline.input(), std::nullopt, {{"version", "1"}}, kStart + 3);
  pipeline.send(pipeline.input(), std::string(5000, 'x'), {{"version", "1"}}, kStart + 4);
  pipeline.send(pipeline.output(), "a", {{"version", std::nullopt}}, kStart + 5);
  pipeline.send(pipeline.output(), "", {{"version", "1"}}, kStart + 6);
  pipeline.send(pipeline.output(), "a", {{"version", "18446744073709551616"}}, kStart + 7);
  pipeline.indexed("a", 1, kStart + 8);
  pipeline.flush();
  const json report = observed(pipeline);
  EXPECT_EQ(report["requests"]["refused"],
            (json{{"missing_sequence", 1}, {"malformed_sequence", 1}, {"missing_id", 1}, {"id_too_long", 1}}));
  EXPECT_EQ(report["results"]["refused"], (json{{"missing_sequence", 1}, {"empty_id", 1}, {"malformed_sequence", 1}}));
  EXPECT_EQ(report["results"]["in_order"], 1);
  EXPECT_EQ(report["requests"]["registered"], 1);
  EXPECT_THAT(must(report), testing::IsSupersetOf({"sequence_missing_input", "sequence_missing_output",
                                                   "sequence_malformed", "id_missing"}));
}

TEST(Foreign, IdsAndTargetsMayBeInHeaders) {
  Pipeline pipeline(3, 2);
  for (int i = 0; i < 30; ++i) {
    const std::string id = "doc-" + std::to_string(i);
    pipeline.send(pipeline.input(), "any", {{"version", "2"}, {"doc", id}}, kStart + i);
    for (const char* target : {"search", "lake"})
      for (const char* version : {"2", "1"})
        pipeline.send(pipeline.output(), std::nullopt, {{"v", version}, {"id", id}, {"to", target}}, kStart + 100 + i,
                      Partition(i % 2));
  }
  pipeline.flush();
  std::vector<std::string> more = {"--output-id", "header:id", "--output-sequence", "header:v",
                                   "--target",    "header:to", "--targets",         "search,lake"};
  more.insert(more.end(), kWhatIsThere.begin(), kWhatIsThere.end());
  // The id of the input is set twice by the command line of the test: the last one counts for none, so it is refused.
  const Pipeline::Ran twice = pipeline.observe({"--id", "header:doc", "--for", "0s"});
  EXPECT_EQ(twice.code, 64) << twice.error;
  std::vector<std::string> argv = {program("resequencer"),
                                   "observe",
                                   "--bootstrap-servers",
                                   pipeline.connection().bootstrap_servers,
                                   "--input-topic",
                                   pipeline.input(),
                                   "--output-topic",
                                   pipeline.output(),
                                   "--id",
                                   "header:doc",
                                   "--sequence",
                                   "header:version",
                                   "--state-dir",
                                   pipeline.path("headers")};
  argv.insert(argv.end(), more.begin(), more.end());
  const Pipeline::Ran ran = pipeline.run(argv);
  ASSERT_EQ(ran.code, 0) << ran.error;
  const json report = ran.json();
  EXPECT_EQ(report["results"]["in_order"], 60);
  EXPECT_EQ(report["results"]["out_of_order"], 60);
  EXPECT_EQ(report["unregistered_by_timestamps"], 0);
  EXPECT_EQ(report["documents"]["answered"], 30);
  EXPECT_THAT(must(report), testing::IsSupersetOf({"key_missing", "co_partitioning", "misrouted"}));
}

TEST(Foreign, ARestartGoesOnWhereItWas) {
  Pipeline pipeline(3, 3);
  const auto events = scrambled(2, 30, 20);
  const std::size_t third = events.size() / 3;
  write(pipeline, events, 0, third);
  (void)observed(pipeline);
  write(pipeline, events, third, 2 * third);
  {
    // Killed while it runs, perhaps before it saved what it read last.
    const auto running = pipeline.start({"--from", "beginning"});
    EXPECT_TRUE(wait_until(kPatience, [&] {
      const auto told = pipeline.report({"-o", "json"});
      return told.code == 0 && told.json()["state"] == "running" &&
             told.json()["input"]["records"].get<std::size_t>() + told.json()["output"]["records"].get<std::size_t>() ==
                 2 * third;
    })) << running->tail();
    EXPECT_EQ(pipeline.observe(kWhatIsThere).code, 69) << "a second observer in the same folder";
    running->signal(SIGKILL);
    EXPECT_EQ(running->wait(kEndLimitMs), 128 + SIGKILL);
  }
  EXPECT_EQ(pipeline.report({"-o", "json"}).json()["state"], "killed");
  write(pipeline, events, 2 * third, events.size());
  const json report = observed(pipeline);
  expect_counts(report, Reference(events));
  EXPECT_EQ(report["requests"]["total"], 600);
  EXPECT_EQ(pipeline.report({"-o", "json"}).json(), report);
  EXPECT_EQ(report["state"], "stopped");

  const Pipeline::Ran other = pipeline.observe({"--sequence-kind", "text", "--for", "0s"});
  EXPECT_NE(other.code, 0) << other.text;
  const json anew = observed(pipeline, {"--anew", "--from", "end", "--for", "0s", "-o", "json"});
  EXPECT_EQ(anew["results"]["total"], 0);
}

TEST(Foreign, RunsUntilItIsToldToEndAndShowsMetrics) {
  Pipeline pipeline(3, 3);
  pipeline.order("old", 1, kStart);
  pipeline.flush();
  const auto running = pipeline.start({"--http-listen", "127.0.0.1:0"});  // from the end
  EXPECT_TRUE(wait_until(kPatience, [&] { return running->tail().find("http=open") != std::string::npos; }));
  const std::string log = running->tail();
  const auto port = field(log.substr(log.find("http=open")), "port");
  ASSERT_TRUE(port) << log;
  const auto events = scrambled(3, 10, 10);
  write(pipeline, events, 0, events.size());
  const Reference wanted(events);
  httplib::Client client("127.0.0.1", std::stoi(*port));
  std::string metrics;
  EXPECT_TRUE(wait_until(kPatience, [&] {
    const auto got = client.Get("/metrics");
    metrics = got ? got->body : "";
    return metrics.find("reseq_observed_results_total{order=\"out_of_order\"} " + std::to_string(wanted.out_of_order) +
                        "\n") != std::string::npos;
  })) << metrics;
  running->signal(SIGINT);
  EXPECT_EQ(running->wait(kEndLimitMs), 0) << running->tail();
  EXPECT_THAT(running->tail(100'000), HasSubstr("Results, compared with the results before them"));
  const json report = pipeline.report({"-o", "json"}).json();
  expect_counts(report, wanted);
  EXPECT_EQ(report["requests"]["total"], 100);
  EXPECT_THAT(pipeline.report().text, AllOf(HasSubstr("stale writes"), HasSubstr("What an observer cannot know")));
}

TEST(Foreign, CommandLineSaysWhatIsWrong) {
  Pipeline pipeline(1, 1);
  const std::string servers = pipeline.connection().bootstrap_servers;
  const std::string none = pipeline.path("none");
  const auto run = [&](std::vector<std::string> more) {
    std::vector<std::string> argv = {
        program("resequencer"), "observe",        "--bootstrap-servers", servers, "--state-dir", none, "--for", "0s",
        "--output-topic",       pipeline.output()};
    argv.insert(argv.end(), more.begin(), more.end());
    return pipeline.run(argv);
  };
  EXPECT_THAT(run({"--input-topic", pipeline.input()}).error, HasSubstr("--sequence is missing"));
  EXPECT_THAT(run({"--input-topic", pipeline.input(), "--sequence", "version"}).error,
              HasSubstr("must be key or header:NAME"));
  EXPECT_THAT(run({"--input-topic", "no-such-topic", "--sequence", "header:v"}).error,
              HasSubstr("an observer creates nothing"));
  EXPECT_EQ(broker_facts(pipeline.connection()).find("no-such-topic"), std::string::npos);
  const auto nothing = pipeline.report();
  EXPECT_EQ(nothing.code, 78);
  EXPECT_THAT(nothing.error, HasSubstr("no report in"));
}

}  // namespace
}  // namespace reseq::test
