// Whoever is on call asks an application of three instances: every command, the wire of the admin topic, and HTTP.
#include <algorithm>
#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <regex>
#include <set>

#include "tests/admin/office.h"
#include "tests/e2e/patience.h"
#include "tests/support/source_path.h"

namespace reseq::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr int kDocuments = 60;  // `document-N`, of which the first half is released for both targets
constexpr int kWaiting = kDocuments / 2;

std::string id_of(int i) {
  return "document-" + std::to_string(100 + i);
}

class Asked : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    office_ = std::make_unique<Office>("registration_timeout_ms = 60000\nevents = \"all\"\n");
    for (int i = 0; i < kDocuments; ++i) office_->request(id_of(i), 1);
    office_->request(id_of(0), 5);  // newer
    for (int i = 0; i < kDocuments - kWaiting; ++i)
      for (const char* target : {"search", "catalogue"}) office_->result(id_of(i), i == 0 ? 5 : 1, target);
    office_->result(id_of(kDocuments - 1), 1, "search");  // one of two targets
    office_->garbage();
    office_->settle();
    office_->result(id_of(0), 1, "search");  // late
    office_->settle();
  }
  static void TearDownTestSuite() { office_.reset(); }

  static Office& office() { return *office_; }
  // Of `list`, all pages.
  static std::vector<std::string> listed(std::vector<std::string> options) {
    options.insert(options.begin(), "list");
    const json all = office().run_json(options);
    EXPECT_TRUE(all["complete"]);
    std::vector<std::string> ids;
    for (const json& document : all["documents"]) ids.push_back(document["id"]);
    std::sort(ids.begin(), ids.end());
    return ids;
  }
  static std::vector<std::string> ids(int begin, int end) {
    std::vector<std::string> all;
    for (int i = begin; i < end; ++i) all.push_back(id_of(i));
    return all;
  }

  static inline std::unique_ptr<Office> office_;
};

TEST_F(Asked, DescribesADocumentThatIsComplete) {
  const Printed printed = office().run({"describe", id_of(0)});
  EXPECT_EQ(printed.code, 0) << printed.text;
  EXPECT_THAT(printed.text, HasSubstr("state            completed\n"));
  EXPECT_THAT(printed.text, HasSubstr("order            5  served search,catalogue\n")) << printed.text;
  EXPECT_THAT(printed.text, HasSubstr("remembered until 20"));
}

TEST_F(Asked, DescribesADocumentThatWaitsForOneTarget) {
  const json all = office().run_json({"describe", id_of(kDocuments - 1)});
  EXPECT_TRUE(all["complete"]);
  ASSERT_EQ(all["partitions"].size(), 1U);
  const json document = all["partitions"][0]["documents"][0];
  EXPECT_EQ(document["state"], "live");
  EXPECT_EQ(document["groups"][0]["pending"], json::array({"catalogue"}));
  EXPECT_EQ(document["groups"][0]["served"], json::array({"search"}));
  EXPECT_EQ(document["waiting"][0]["targets"], json::array({"catalogue"}));
  EXPECT_FALSE(document["last_version"].get<std::string>().empty());
}

TEST_F(Asked, SaysThatADocumentIsNotKnown) {
  const Printed printed = office().run({"describe", "never seen"});
  EXPECT_EQ(printed.code, 78);
  EXPECT_THAT(printed.text, HasSubstr("document \"never seen\" is not known"));
}

TEST_F(Asked, TellsWhyADocumentIsInItsTargetsAsItIs) {
  const Printed printed = office().run({"why", id_of(0)});
  EXPECT_EQ(printed.code, 0) << printed.text;
  EXPECT_THAT(
      printed.text,
      HasSubstr("search got the release of 5, the newest for it\ncatalogue got the release of 5, the newest for it\n"));
  EXPECT_THAT(printed.text, testing::ContainsRegex("released +- +5 +5 +search +[0-9]+ +S1 +"));
  EXPECT_THAT(printed.text, testing::ContainsRegex("dropped +stale +1 +5 +search +- +S6 +.*commands [0-9]@[0-9]+\n"));
  const json waiting = office().run_json({"why", id_of(kDocuments - 1)});
  EXPECT_EQ(waiting["events"].size(), 2U);  // forwarded, and released for one of two targets
  EXPECT_EQ(waiting["events"][0]["event"]["target"], "search") << "the newest first";
  EXPECT_EQ(waiting["events"][1]["event"]["outcome"], "forwarded");
  EXPECT_THAT(office().run({"why", id_of(kDocuments - 1)}).text,
              testing::ContainsRegex("catalogue waits since 20.* for the result of 1, requested at offset "));
  EXPECT_EQ(office().run({"why", "never seen"}).code, 78);
}

TEST_F(Asked, ListsWhatWaits) {
  EXPECT_EQ(listed({}), ids(kDocuments - kWaiting, kDocuments));
}

TEST_F(Asked, ListsAllOrThoseThatAreComplete) {
  EXPECT_EQ(listed({"--state", "any"}), ids(0, kDocuments));
  EXPECT_EQ(listed({"--state", "completed"}), ids(0, kDocuments - kWaiting));
}

TEST_F(Asked, ListsByTheBeginningOfTheIdAndByAge) {
  EXPECT_EQ(listed({"--prefix", "document-15"}), ids(50, 60));
  EXPECT_EQ(listed({"--older-than", "1h"}), std::vector<std::string>{});
  EXPECT_EQ(listed({"--older-than", "1ms"}).size(), static_cast<std::size_t>(kWaiting));
}

TEST_F(Asked, ListsWhatWaitsForATarget) {
  EXPECT_EQ(listed({"--target", "catalogue"}), ids(kDocuments - kWaiting, kDocuments));
  EXPECT_EQ(listed({"--target", "search"}), ids(kDocuments - kWaiting, kDocuments - 1));
  EXPECT_EQ(listed({"--target", "catalogue", "--state", "overdue"}), std::vector<std::string>{});
  const std::string for_search = std::to_string(kWaiting - 1);
  EXPECT_FALSE(office().run_json({"list", "--target", "search", "--max", for_search})["more"]);
  EXPECT_TRUE(office().run_json({"list", "--target", "search", "--max", "5"})["more"]);
}

TEST_F(Asked, ListsNothingForATargetThatNothingCanWaitFor) {
  for (const char* state : {"any", "completed"})
    EXPECT_EQ(office().run({"list", "--target", "search", "--state", state}).code, 64) << state;
  const Printed unknown = office().run({"list", "--target", "serach"});
  EXPECT_EQ(unknown.code, 78);
  EXPECT_THAT(unknown.text, HasSubstr("there is no target \"serach\": there are search, catalogue"));
}

TEST_F(Asked, ListsNoMoreThanAsked) {
  const json all = office().run_json({"list", "--state", "any", "--max", "7"});
  EXPECT_EQ(all["documents"].size(), 7U);
  EXPECT_TRUE(all["more"]);
  EXPECT_FALSE(office().run_json({"list", "--max", std::to_string(kWaiting)})["more"]);
}

TEST_F(Asked, ListsATableForPeople) {
  const Printed printed = office().run({"list", "--prefix", id_of(kDocuments - 1), "-o", "wide"});
  EXPECT_EQ(printed.code, 0) << printed.text;
  EXPECT_THAT(printed.text, HasSubstr("PARTITION  ID"));
  EXPECT_THAT(printed.text, HasSubstr(id_of(kDocuments - 1) + "  live   1      catalogue"));
}

TEST_F(Asked, TellsAgainAndAgainWhatPartitionsDo) {
  const std::regex table("20[0-9-]+T[0-9:.]+Z\nPARTITION  INSTANCE .*\n(?:[0-3] +[123] +running .*\n){4}");
  const auto tables = [&](const std::string& text) {
    return std::distance(std::sregex_iterator(text.begin(), text.end(), table), std::sregex_iterator());
  };
  const Printed printed =
      office().run_until({"stats", "--watch"}, [&](const std::string& text) { return tables(text) >= 2; });
  EXPECT_GE(tables(printed.text), 2) << printed.text;
  EXPECT_EQ(printed.code, 128 + SIGINT);
}

TEST_F(Asked, TellsWhatPartitionsDo) {
  const json all = office().run_json({"stats"});
  EXPECT_TRUE(all["complete"]);
  ASSERT_EQ(all["partitions"].size(), static_cast<std::size_t>(Office::kPartitions));
  int live = 0;
  int completed = 0;
  int stale = 0;
  int missing_sequence = 0;
  for (const json& part : all["partitions"]) {
    EXPECT_EQ(part["state"], "running");
    EXPECT_EQ(part["inputs"]["requests"].value("lag", 0), 0);
    live += part["documents"]["live"].get<int>();
    completed += part["documents"]["completed"].get<int>();
    stale += part["outcomes"].value("/dropped/stale"_json_pointer, 0);
    missing_sequence += part["outcomes"].value("/dead_lettered/missing_sequence"_json_pointer, 0);
  }
  EXPECT_EQ(live, kWaiting);
  EXPECT_EQ(completed, kDocuments - kWaiting);
  EXPECT_EQ(stale, 1);
  EXPECT_EQ(missing_sequence, 1);
  json targets;  // counted in turn
  const auto waiting_for = [&](std::size_t i) { return targets[i].value("waiting", -1); };
  EXPECT_TRUE(wait_until(kPatience, [&] {
    targets = office().run_json({"stats"})["targets"];
    return targets.size() == 2 && waiting_for(0) == kWaiting - 1 && waiting_for(1) == kWaiting;
  })) << targets;
  EXPECT_EQ(targets[0]["target"], "search");
  EXPECT_EQ(targets[0]["released"], kDocuments - kWaiting + 1);
  EXPECT_EQ(targets[1]["released"], kDocuments - kWaiting);
  const Printed printed = office().run({"stats", "-o", "wide"});
  EXPECT_THAT(printed.text, testing::ContainsRegex("\nTARGET +WAITING .*\nsearch +[0-9]+ +0 +20"));
  EXPECT_EQ(printed.code, 0) << printed.text;
  EXPECT_THAT(printed.text, HasSubstr("FORWARDED/S"));
}

TEST_F(Asked, TellsWhoHasWhich) {
  const Printed printed = office().run({"topology"});
  EXPECT_EQ(printed.code, 0) << printed.text;
  EXPECT_THAT(printed.text, HasSubstr("INSTANCE  HOST"));
  const json all = office().run_json({"topology"});
  std::set<std::string> instances;
  for (const json& part : all["partitions"]) {
    instances.insert(part["instance"]);
    const auto owned = office().fleet().partitions_of(std::stoi(part["instance"].get<std::string>()));
    EXPECT_THAT(owned, testing::Contains(part["partition"].get<int>()));
  }
  EXPECT_EQ(instances.size(), static_cast<std::size_t>(Office::kInstances));
}

TEST_F(Asked, ShowsTheConfigurationOfEachInstance) {
  const json all = office().run_json({"config", "running"});
  ASSERT_EQ(all.size(), static_cast<std::size_t>(Office::kInstances));
  EXPECT_THAT(all["2"].get<std::string>(), HasSubstr("registration_timeout_ms = 60000"));
}

TEST_F(Asked, AnswersEachRequestAsTheSchemaSays) {
  // All that the tests of this program ask and are answered, whoever ran before, and one of each kind.
  for (const char* query : {"stats", "topology", "config", "list"})
    office().ask("{\"protocol\":1,\"query\":\"" + std::string(query) + "\"}", {{"reseq-correlation-id", "schema"}});
  office().ask(R"({"protocol":1,"query":"document","id":")" + id_of(0) + "\"}", {{"reseq-correlation-id", "schema"}});
  // Three instances tell stats, topology and config; each partition is listed; one has the document.
  EXPECT_EQ(office().replies("schema", 14).size(), 14U);
  for (const char* role : {"admin.requests", "admin.replies"}) {
    const std::string file = office().path(role);
    const auto payloads = office().payloads(role);
    std::ofstream out(file);
    for (const std::string& payload : payloads)
      if (payload.find("malformed on purpose") == std::string::npos) out << payload << "\n";
    out.close();
    const std::string said = office().path("validated");
    Process validate({"/usr/bin/python3", source_path("tests/admin/validate.py"),
                      source_path(std::string("schemas/") + role + ".schema.json"), file},
                     said);
    EXPECT_EQ(validate.wait(30'000), 0) << validate.tail();
  }
}

TEST_F(Asked, RefusesWhatItCannotReadWithAReason) {
  office().ask("malformed on purpose", {{"reseq-correlation-id", "bad"}});
  const auto bad = office().replies("bad", Office::kInstances);
  ASSERT_EQ(bad.size(), static_cast<std::size_t>(Office::kInstances));
  for (const json& reply : bad) EXPECT_EQ(reply["refused"]["reason"], "malformed_request");
  office().ask(R"({"protocol":1,"query":"list","partition":99})", {{"reseq-correlation-id", "far"}});
  const auto far = office().replies("far", Office::kInstances);
  ASSERT_FALSE(far.empty());
  EXPECT_EQ(far.front()["refused"]["reason"], "no_such_partition");
}

TEST_F(Asked, TellsWhoForgotToSayHowToAnswer) {
  const auto details = [](const std::string& correlation_id) {
    std::vector<std::string> all;
    for (const auto& reply : office().replies(correlation_id, Office::kInstances))
      all.push_back(reply.at("refused").at("reason").get<std::string>() + ": " +
                    reply.at("refused").at("detail").get<std::string>());
    return all;
  };
  const std::size_t before = office().payloads("admin.requests").size();
  office().ask(R"({"protocol":1,"query":"stats"})", {});
  office().ask(R"({"protocol":1,"query":"stats"})", {{"reseq-correlation-id", std::string(129, 'x')}});
  for (std::size_t i = before; i < before + 2; ++i)
    EXPECT_THAT(details("0/" + std::to_string(i)),
                testing::AllOf(testing::SizeIs(Office::kInstances),
                               testing::Each(testing::HasSubstr("malformed_request: reseq-correlation-id must be"))));
}

TEST_F(Asked, WritesToNoTopicThatAClientMayNotName) {
  const auto commands = office().payloads("commands").size();
  const std::string topic = office().application().topic("commands");
  office().ask(R"({"protocol":1,"query":"stats"})",
               {{"reseq-correlation-id", "elsewhere"}, {"reseq-reply-topic", topic}});
  // One that does not exist is the client's trouble alone: who asks next is answered.
  const std::string nowhere = office().application().topic("admin.replies.nowhere");
  office().ask(R"({"protocol":1,"query":"stats"})",
               {{"reseq-correlation-id", "nowhere"}, {"reseq-reply-topic", nowhere}});
  office().ask(R"({"protocol":1,"query":"stats"})", {{"reseq-correlation-id", "after"}});
  EXPECT_EQ(office().replies("after", Office::kInstances).size(), static_cast<std::size_t>(Office::kInstances));
  EXPECT_EQ(office().payloads("commands").size(), commands);
  // He is told where all replies go.
  for (const char* refused : {"elsewhere", "nowhere"}) {
    const auto told = office().replies(refused, Office::kInstances);
    ASSERT_EQ(told.size(), static_cast<std::size_t>(Office::kInstances)) << refused;
    for (const json& reply : told)
      EXPECT_THAT(reply["refused"]["detail"].get<std::string>(), HasSubstr("reseq-reply-topic must be"));
  }
}

TEST_F(Asked, ExportsMetricsThatPromtoolFindsClean) {
  for (int instance = 1; instance <= Office::kInstances; ++instance) {
    const Office::Got got = office().get(instance, "/metrics");
    ASSERT_EQ(got.status, 200);
    EXPECT_THAT(got.body, HasSubstr("reseq_build_info"));
    EXPECT_THAT(got.body, Not(HasSubstr("document-1")));
    const std::string file = office().path("metrics");
    std::ofstream(file) << got.body;
    const std::string output = office().path("promtool-" + std::to_string(instance));
    Process promtool({"sh", "-c", "promtool check metrics <" + file}, output);
    EXPECT_EQ(promtool.wait(30'000), 0) << promtool.tail();
    EXPECT_EQ(promtool.tail(), "");
  }
}

TEST_F(Asked, TellsProbesThatItIsAliveAndReady) {
  EXPECT_EQ(office().get(1, "/livez").body, "ok\n");
  const Office::Got ready = office().get(1, "/readyz?verbose");
  EXPECT_EQ(ready.status, 200) << ready.body;
  EXPECT_THAT(ready.body, HasSubstr("ok  worker 0 is a member of the group\n"));
  EXPECT_THAT(ready.body, HasSubstr(" running\n"));
}

// The last test: it ends an instance.
TEST_F(Asked, AnswersRightWhilePartitionsMove) {
  const auto expected = ids(0, kDocuments);
  const auto ask_all = [&](int times) {
    for (int i = 0; i < times; ++i) {
      EXPECT_EQ(listed({"--state", "any"}), expected);
      const json described = office().run_json({"describe", id_of(0)});
      EXPECT_EQ(described["partitions"][0]["documents"][0]["groups"][0]["order"]["seq"], "5");
    }
  };
  office().fleet().process(2).signal(SIGTERM);
  ask_all(3);
  office().fleet().kill(3);
  ask_all(3);
  office().fleet().start(3);
  ask_all(3);
}

}  // namespace
}  // namespace reseq::test
