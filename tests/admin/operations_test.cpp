// Whoever is on call changes something in a running application of three instances: control records, dead letters that
// are sent again or released, requests that are written once more.
#include <algorithm>
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>

#include "tests/admin/office.h"
#include "tests/e2e/outputs.h"
#include "tests/e2e/patience.h"

namespace reseq::test {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;

struct Output {
  std::uint64_t version = 0;
  std::map<std::string, std::string> headers;
};

class Operated : public testing::Test {
 protected:
  static void SetUpTestSuite() { office_ = std::make_unique<Office>("events = \"all\"\nprofile = \"cloudevents\"\n"); }
  static void TearDownTestSuite() { office_.reset(); }
  static Office& office() { return *office_; }

  // Records of a document in a topic, oldest first.
  static std::vector<Output> records(const std::string& role, const std::string& id) {
    std::vector<Output> found;
    read_all(office().application().connection(), office().application().topic(role),
             [&](const kafka::PlainRecord& record) {
               if (record.key != id) return;
               Output output;
               for (const Header& header : record.headers)
                 output.headers[std::string(header.name)] = header.value.value_or("");
               if (output.headers.contains("reseq-version"))
                 output.version = std::stoull(output.headers["reseq-version"]);
               found.push_back(std::move(output));
             });
    return found;
  }
  static json described(const std::string& id) {
    return office().run_json({"describe", id})["partitions"][0]["documents"][0];
  }
  // Place of the one dead letter that a document has.
  static std::string place_of(const std::string& id) {
    const Printed printed = office().run_alone({"dead-letter", "list", "--prefix", id, "-o", "json"});
    const json letters = json::parse(printed.text)["dead_letters"];
    EXPECT_EQ(letters.size(), 1U) << printed.text;
    return letters.empty() ? "0:0" : letters[0]["place"].get<std::string>();
  }
  // The second one can be read, and is a dead letter: another edit under the same number.
  static void number_twice(const std::string& id) {
    office().request(id, 1);
    office().send("requests", id, {{"reseq-seq", "1"}, {"reseq-op", "delete"}});
    office().settle();
  }
  // What the events topic tells of operations with this id.
  static std::vector<json> audit(const std::string& control_id) {
    std::vector<json> found;
    for (const std::string& payload : office().payloads("events"))
      if (const json event = json::parse(payload); event.value("control_id", "").starts_with(control_id + " "))
        found.push_back(event);
    return found;
  }

  static inline std::unique_ptr<Office> office_;
};

TEST_F(Operated, ExpiresWhatNobodyWillDeliver) {
  office().request("stuck", 4);
  office().settle();
  Printed printed = office().run({"expire", "stuck", "--dry-run", "--control-id", "dry"});
  EXPECT_EQ(printed.code, 0) << printed.text;
  EXPECT_THAT(printed.text, HasSubstr("expire stuck: would be applied, newest request 4\n"));
  EXPECT_EQ(described("stuck")["state"], "live");
  ASSERT_EQ(audit("dry").size(), 1U);
  EXPECT_EQ(audit("dry")[0]["dry_run"], true);

  printed = office().run({"expire", "stuck", "--expect-seq", "3"});
  EXPECT_EQ(printed.code, 78);
  EXPECT_THAT(printed.text, HasSubstr("expire was refused in partition"));
  printed = office().run({"expire", "stuck", "--expect-seq", "4", "--target", "search"});
  EXPECT_EQ(printed.code, 0) << printed.text;
  EXPECT_EQ(described("stuck")["groups"][0]["pending"], json::array({"catalogue"}));

  printed = office().run({"expire", "stuck", "--control-id", "ticket 17"});
  EXPECT_EQ(printed.code, 0) << printed.text;
  EXPECT_THAT(printed.text, HasSubstr("expire stuck: applied, newest request 4\n"));
  EXPECT_EQ(described("stuck")["state"], "completed");
  ASSERT_EQ(audit("ticket 17").size(), 1U);
  EXPECT_EQ(audit("ticket 17")[0]["operation"], "expire");
  EXPECT_THAT(office().run({"expire", "stuck"}).text, HasSubstr("dropped, no_change"));
  EXPECT_EQ(office().run({"expire", "never seen"}).code, 78);

  office().result("stuck", 4, "search");  // nobody waits for it any more
  office().request("stuck", 5);
  office().result("stuck", 5, "catalogue");
  office().settle();
  EXPECT_TRUE(records("output.search", "stuck").empty());
  EXPECT_EQ(records("output.catalogue", "stuck").size(), 1U);
}

TEST_F(Operated, ReleasesADeadLetteredResultUnlessANewerOneIsKnown) {
  // With what a pipeline copies from work, which no operation may say.
  office().send("commands", "orphan",
                {{"reseq-command", "sequence"},
                 {"reseq-seq", "7"},
                 {"reseq-target", "search"},
                 {"reseq-attempt", "2"},
                 {"reseq-lease-until", "9"},
                 {"reseq-priority", "3"}});
  office().result("overtaken", 7, "search");
  office().settle();
  const std::string place = place_of("orphan");
  Printed printed = office().run({"release", place});
  EXPECT_EQ(printed.code, 78) << "a newer result may have gone out and be forgotten";
  EXPECT_THAT(printed.text, HasSubstr("(unregistered): no request as new as this result is known"));
  EXPECT_EQ(office().run({"release", place, "--unknown", "--dry-run"}).code, 0);
  EXPECT_TRUE(records("output.search", "orphan").empty());
  printed = office().run({"release", place, "--unknown"});
  EXPECT_EQ(printed.code, 0) << printed.text;
  EXPECT_THAT(printed.text, testing::ContainsRegex("release orphan for search: released, version [0-9]+"));
  const std::vector<Output> outputs = records("output.search", "orphan");
  ASSERT_EQ(outputs.size(), 1U);
  for (const auto& [name, value] : outputs[0].headers)
    EXPECT_THAT((std::set<std::string>{"reseq-version", "reseq-target", "reseq-seq", "ce_subject", "ce_sequence"}),
                Contains(name))
        << value;
  printed = office().run({"release", place});
  EXPECT_EQ(printed.code, 0) << "it is out already";
  EXPECT_THAT(printed.text, HasSubstr("duplicate"));
  EXPECT_EQ(records("output.search", "orphan").size(), 1U);

  const std::string late = place_of("overtaken");
  office().request("overtaken", 6);
  office().settle();
  EXPECT_THAT(office().run({"release", late}).text, HasSubstr("(unregistered): no request as new"))
      << "requests below it would be stopped";
  office().request("overtaken", 8);
  office().settle();
  printed = office().run({"release", late});
  EXPECT_EQ(printed.code, 78);
  EXPECT_THAT(printed.text, HasSubstr("superseded"));
  EXPECT_TRUE(records("output.search", "overtaken").empty());
  EXPECT_EQ(office().run({"release", "0:999999"}).code, 78);
}

TEST_F(Operated, SendsDeadLettersAgainWhichThenHaveToMatch) {
  office().result("early", 3, "search");
  office().result("early", 2, "catalogue");
  office().settle();
  Printed printed = office().run_alone({"dead-letter", "list", "--reason", "unregistered", "--prefix", "early"});
  EXPECT_EQ(printed.code, 0) << printed.text;
  EXPECT_THAT(printed.text, testing::ContainsRegex("[0-9]:[0-9]+ +20.*Z +unregistered +early +"));
  office().request("early", 3);
  office().send("control", "early", {{"reseq-control", "no such operation"}});
  office().settle();
  const std::string of_control = "it came from " + office().application().topic("control");  // and is left out
  EXPECT_TRUE(wait_until(std::chrono::seconds(60), [&] {
    printed = office().run_alone({"dead-letter", "redrive", "--all", "--prefix", "early", "--dry-run"});
    return printed.text.find(of_control) != std::string::npos;
  })) << printed.text;
  EXPECT_EQ(printed.code, 0) << printed.text;
  EXPECT_THAT(printed.text, HasSubstr("would go to " + office().application().topic("commands")));
  printed = office().run_alone(
      {"dead-letter", "redrive", "--all", "--prefix", "early", "--reason", "unregistered", "--dry-run", "-o", "json"});
  const json told = json::parse(printed.text);
  EXPECT_EQ(told["dry_run"], true);
  ASSERT_EQ(told["dead_letters"].size(), 2U);
  EXPECT_EQ(told["dead_letters"][0]["id"], "early");
  EXPECT_TRUE(records("output.search", "early").empty());
  printed = office().run_alone({"dead-letter", "redrive", "--all", "--prefix", "early"});
  EXPECT_EQ(printed.code, 0) << printed.text;
  office().settle();
  ASSERT_EQ(records("output.search", "early").size(), 1U);
  EXPECT_FALSE(records("output.search", "early")[0].headers.contains("reseq-reason"));
  EXPECT_TRUE(records("output.catalogue", "early").empty()) << "an old result has won";
  EXPECT_EQ(office().run_alone({"dead-letter", "redrive"}).code, 78);
}

TEST_F(Operated, DoesNotSendAgainWhatCannotBeReadOrHasAnUnknownTarget) {
  office().send("requests", "unreadable-seq", {{"reseq-seq", "one"}});
  office().send("requests", "unreadable-target", {{"reseq-seq", "1"}, {"reseq-targets", "nowhere"}});
  office().result("unreadable-result", 1, "nowhere");
  office().settle();
  const std::string result = place_of("unreadable-result");
  EXPECT_THAT(office().run({"release", result}).text, HasSubstr("there is no target \"nowhere\": there are"));
  EXPECT_THAT(office().run({"release", result, "--dry-run"}).text,
              HasSubstr("there is no target \"nowhere\": there are"));
  Printed printed = office().run_alone({"dead-letter", "redrive", place_of("unreadable-seq")});
  EXPECT_EQ(printed.code, 78);
  EXPECT_THAT(printed.text, HasSubstr("it would be a dead letter again (malformed_sequence); send it anew, repaired"));
  printed = office().run_alone({"dead-letter", "redrive", "--all", "--prefix", "unreadable"});
  EXPECT_EQ(printed.code, 0);
  EXPECT_THAT(printed.text, HasSubstr("it would be a dead letter again (unknown_target)"));
  office().settle();
  EXPECT_EQ(records("dead-letter", "unreadable-seq").size(), 1U);
  EXPECT_EQ(records("dead-letter", "unreadable-target").size(), 1U);
  EXPECT_EQ(records("dead-letter", "unreadable-result").size(), 1U);
}

TEST_F(Operated, KeepsTheEpochOfARequestThatIsSentAgain) {
  number_twice("reused");
  EXPECT_EQ(office().run_alone({"dead-letter", "redrive", place_of("reused")}).code, 0);
  office().settle();
  const std::vector<Output> letters = records("dead-letter", "reused");
  ASSERT_EQ(letters.size(), 2U);
  EXPECT_FALSE(letters[0].headers.contains("reseq-epoch"));
  EXPECT_EQ(letters[1].headers.at("reseq-epoch"), "0") << "a RESET may be on its way";
}

TEST_F(Operated, ShowsADeadLetterWithItsHeaders) {
  office().result("to be seen", 3, "search");
  office().settle();
  const Printed printed = office().run_alone({"dead-letter", "show", place_of("to be seen")});
  EXPECT_EQ(printed.code, 0) << printed.text;
  EXPECT_THAT(printed.text, HasSubstr("id       to be seen\nreason   unregistered\nsource   "));
  EXPECT_THAT(printed.text, HasSubstr("header   reseq-seq = 3\n"));
  EXPECT_THAT(printed.text, HasSubstr("payload  2 bytes: {}\n"));
}

TEST_F(Operated, RaisesTheVersionFloorOfATarget) {
  const std::uint64_t floor = std::uint64_t{1} << 60U;
  office().request("below", 1);
  office().result("below", 1, "catalogue");
  office().settle();
  EXPECT_LT(records("output.catalogue", "below").at(0).version, floor);
  const std::string text = std::to_string(floor);
  EXPECT_EQ(office().run({"raise-version-floor", text, "--target", "catalogue", "--expect-floor", "5"}).code, 78);
  Printed printed = office().run({"raise-version-floor", text, "--target", "catalogue", "--expect-floor", "0"});
  EXPECT_EQ(printed.code, 0) << printed.text;
  for (int p = 0; p < Office::kPartitions; ++p)
    EXPECT_THAT(printed.text,
                HasSubstr("partition " + std::to_string(p) + ": raise-version-floor for catalogue: applied"));
  EXPECT_THAT(office().run({"raise-version-floor", text, "--target", "catalogue"}).text, HasSubstr("no_change"));
  EXPECT_THAT(office().run({"raise-version-floor", "9223372036854775807"}).text, HasSubstr("version_exhausted"));
  EXPECT_EQ(office().run({"raise-version-floor", text, "--target", "nobody"}).code, 78);
  office().request("above", 1);
  office().result("above", 1, "catalogue");
  office().settle();
  EXPECT_GT(records("output.catalogue", "above").at(0).version, floor);
}

TEST_F(Operated, PausesPartitionsAlsoForTheirNextOwner) {
  EXPECT_EQ(office().run({"pause"}).code, 78) << "of which partition?";
  office().request("held", 1);
  office().settle();
  Printed printed = office().run({"pause", "--all"});
  EXPECT_EQ(printed.code, 0) << printed.text;
  EXPECT_THAT(office().run({"pause", "--partition", "2"}).text, HasSubstr("partition 2: pause: dropped, no_change"));
  for (int i = 0; i < 20; ++i) office().request("paused-" + std::to_string(i), 1);
  office().fleet().process(1).signal(SIGKILL);
  (void)office().fleet().process(1).wait(10'000);
  office().fleet().start(1);
  ASSERT_TRUE(wait_until(std::chrono::seconds(60), [&] {
    office().fleet().look();
    return office().fleet().settled(Office::kPartitions);
  }));
  const json stats = office().run_json({"stats"});
  const json& parts = stats["partitions"];
  EXPECT_EQ(parts.size(), Office::kPartitions) << stats;
  EXPECT_TRUE(std::all_of(parts.begin(), parts.end(), [](const json& part) { return part.value("paused", false); }))
      << stats;
  EXPECT_THAT(office().run({"stats"}).text, testing::ContainsRegex("2 +[0-9] +paused( +[-0-9]+){3} +[^ ]+ +- +"))
      << "lag";
  printed = office().run({"expire", "paused-1"});
  EXPECT_EQ(printed.code, 78) << "an operation has to get through";
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(records("work", "paused-" + std::to_string(i)).empty());
  EXPECT_THAT(office().run({"describe", "held"}).text, testing::ContainsRegex("partition +[0-9], .*, paused\n"));
  EXPECT_THAT(office().run({"why", "held"}).text, testing::ContainsRegex("partition ([0-9]) is paused: nothing is"));
  EXPECT_THAT(office().run({"reprocess", "held", "--dry-run"}).text, HasSubstr("; its partition is paused\n"));
  EXPECT_THAT(office().run({"describe", "paused-3"}).text,
              testing::ContainsRegex("partition [0-9] is paused, and what"));
  printed = office().run({"reprocess", "held"});
  EXPECT_EQ(printed.code, 69);
  EXPECT_THAT(printed.text, testing::ContainsRegex("is written again, and decided when partition [0-9] is resumed"));
  printed = office().run({"resume", "--all"});
  EXPECT_EQ(printed.code, 0) << printed.text;
  office().settle();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(records("work", "paused-" + std::to_string(i)).size(), 1U);
  EXPECT_EQ(records("work", "held").size(), 2U) << "the request again was decided too";
}

TEST_F(Operated, TellsInStatsWhatAnOperationHasTold) {
  const auto is_paused = [] {
    const json all = office().run_json({"stats"});
    for (const json& part : all["partitions"])
      if (part["partition"] == 1) return part.value("paused", false);
    ADD_FAILURE() << "nobody has partition 1";
    return false;
  };
  for (int i = 0; i < 8; ++i) {
    ASSERT_EQ(office().run({"pause", "--partition", "1"}).code, 0);
    EXPECT_TRUE(is_paused()) << i;
    ASSERT_EQ(office().run({"resume", "--partition", "1"}).code, 0);
    EXPECT_FALSE(is_paused()) << i;
  }
}

TEST_F(Operated, RequestsADocumentOnceMore) {
  office().request("again", 6);
  for (const char* target : {"search", "catalogue"}) office().result("again", 6, target);
  office().settle();
  EXPECT_THAT(office().run({"reprocess", "again", "--dry-run"}).text, HasSubstr("would be requested again"));
  EXPECT_EQ(records("work", "again").size(), 1U);
  Printed printed = office().run({"reprocess", "again"});
  EXPECT_EQ(printed.code, 0) << printed.text;
  EXPECT_THAT(printed.text, HasSubstr("again: requested again, newest request 6+1, for search,catalogue\n"));
  const std::vector<Output> work = records("work", "again");
  ASSERT_EQ(work.size(), 2U);
  EXPECT_EQ(work[1].headers.at("reseq-revision"), "1");
  EXPECT_EQ(described("again")["state"], "live");
  printed = office().run({"reprocess", "again", "-o", "json"});
  const json told = json::parse(printed.text);
  EXPECT_EQ(told["id"], "again");
  EXPECT_EQ(told["dry_run"], false);
  EXPECT_EQ(told["order"]["revision"], "2");
  EXPECT_EQ(told["targets"], (json{"search", "catalogue"}));
  EXPECT_EQ(office().run({"reprocess", "never seen"}).code, 78);
}

TEST_F(Operated, SaysWhomARequestIsForAndWhatStopsIt) {
  office().request("half", 4);
  office().settle();
  EXPECT_EQ(office().run({"expire", "half", "--target", "search"}).code, 0);
  EXPECT_THAT(office().run({"reprocess", "half", "--dry-run"}).text,
              HasSubstr("newest request 4, for catalogue; search stays removed from it\n"));
  Printed printed = office().run({"reprocess", "half"});
  EXPECT_THAT(printed.text, HasSubstr("newest request 4+1, for catalogue; search stays removed from it\n"));
  EXPECT_THAT(office().run_json({"reprocess", "half", "--dry-run"})["removed"], json{"search"});
  office().result("half", 9, "catalogue");
  office().settle();
  EXPECT_EQ(office().run({"release", place_of("half"), "--unknown"}).code, 0);
  printed = office().run({"reprocess", "half"});
  EXPECT_EQ(printed.code, 78);
  EXPECT_THAT(printed.text, HasSubstr("its request again would be superseded: 9 is known of half"));
  EXPECT_EQ(records("work", "half").size(), 2U);
}

TEST_F(Operated, SaysWhichTargetsWaitForAnOlderRequest) {
  office().request("partly newer", 4);
  office().send("requests", "partly newer", {{"reseq-seq", "5"}, {"reseq-targets", "search"}});
  office().settle();
  const Printed printed = office().run({"reprocess", "partly newer"});
  EXPECT_EQ(printed.code, 0);
  EXPECT_THAT(printed.text, HasSubstr("newest request 5+1, for search; catalogue waits for an older request\n"));
  EXPECT_EQ(records("work", "partly newer").back().headers.at("reseq-targets"), "search");
}

TEST_F(Operated, RequestsNothingAgainThatIsRemovedEverywhere) {
  office().request("given up", 2);
  office().settle();
  EXPECT_EQ(office().run({"expire", "given up"}).code, 0);
  const Printed printed = office().run({"reprocess", "given up", "--dry-run"});
  EXPECT_EQ(printed.code, 78);
  EXPECT_THAT(printed.text, HasSubstr("given up is removed from all targets of its newest request 2"));
}

TEST_F(Operated, RequestsNothingAgainWhoseRevisionOrDeleteIsRemovedEverywhere) {
  office().request("served once", 2);
  for (const char* target : {"search", "catalogue"}) office().result("served once", 2, target);
  office().settle();
  EXPECT_EQ(office().run({"reprocess", "served once"}).code, 0);
  office().send("requests", "deleted", {{"reseq-seq", "7"}, {"reseq-op", "delete"}});
  office().settle();
  EXPECT_THAT(office().run({"reprocess", "deleted", "--dry-run"}).text, HasSubstr("for search,catalogue\n"));
  for (const char* id : {"served once", "deleted"}) {
    EXPECT_EQ(office().run({"expire", id}).code, 0);
    const Printed printed = office().run({"reprocess", id});
    EXPECT_EQ(printed.code, 78) << "waits for a revision that never comes";
    EXPECT_THAT(printed.text, HasSubstr("is removed from all targets of its newest request"));
  }
}

TEST_F(Operated, TakesAnIdThatIsNoTextAsItShowsIt) {
  office().request("\xff\xfe", 1);
  office().settle();
  EXPECT_THAT(office().run({"list", "--prefix", "\xff"}).text, HasSubstr(" base64://4= "));
  EXPECT_THAT(office().run({"describe", "//4=", "--base64"}).text, HasSubstr("id               base64://4=\n"));
  EXPECT_THAT(office().run({"why", "//4=", "--base64"}).text, HasSubstr("search waits since"));
  EXPECT_EQ(office().run({"reprocess", "//4=", "--base64", "--dry-run"}).code, 0);
  EXPECT_EQ(office().run({"expire", "//4=", "--base64"}).code, 0);
  EXPECT_THAT(office().run({"describe", "base64://4=", "--base64"}).text, HasSubstr("the id is no base64"));
}

TEST_F(Operated, WritesNothingThatWouldBeRefused) {
  office().request("well known", 1);
  office().settle();
  const auto refused = [](std::vector<std::string> command, int code, const std::string& why) {
    const Printed printed = office().run(command);
    EXPECT_EQ(printed.code, code) << printed.text;
    EXPECT_THAT(printed.text, HasSubstr(why));
  };
  refused({"expire", "well known", "--target", "nowhere"}, 78, "no target \"nowhere\": there are search, catalogue");
  refused({"expire", "well known", "--expect-seq", "x"}, 78, "--expect-seq \"x\" is no sequence of this application");
  refused({"expire", ""}, 78, "the id is empty");
  refused({"raise-version-floor", "18446744073709551615"}, 64, "is no whole number from 1 to 9223372036854775807");
  refused({"pause", "--partition", "010"}, 64, "\"010\" is no whole number");
  refused({"dead-letter", "list", "--reason", "bad mood"}, 64, "\"bad mood\" is no reason");
  EXPECT_THAT(office().run_alone({"dead-letter", "redrive", "0:1", "--all"}).text,
              HasSubstr("either name the dead letters or say --all"));
  EXPECT_EQ(described("well known")["state"], "live");
}

TEST_F(Operated, SaysWhatCannotBeDoneWhileNobodyAnswers) {
  number_twice("quiet");
  const std::string place = place_of("quiet");
  office().result("quiet", 9, "search");
  office().settle();
  for (int i = 1; i <= Office::kInstances; ++i) office().fleet().process(i).signal(SIGSTOP);
  Printed printed = office().run_alone({"dead-letter", "redrive", place});
  EXPECT_EQ(printed.code, 69) << "its epoch may be another one by now";
  EXPECT_THAT(printed.text, HasSubstr("whether the default epoch was raised; not told: all"));
  printed = office().run_alone({"dead-letter", "redrive", "--all", "--prefix", "quiet"});
  EXPECT_EQ(printed.code, 69);
  EXPECT_THAT(printed.text, HasSubstr("left out: " + place + ": a request without an epoch"));
  EXPECT_THAT(printed.text, HasSubstr("sent to " + office().application().topic("commands"))) << "the others go";
  EXPECT_THAT(printed.text, HasSubstr("1 of them, named above, cannot go before all partitions run"));
  EXPECT_EQ(records("requests", "quiet").size(), 2U);
  printed = office().run_alone({"reset", "--epoch", "0", "--timeout-ms", "500"});
  EXPECT_EQ(printed.code, 69);
  EXPECT_THAT(printed.text, HasSubstr("not confirmed; partitions: all; it happens when"));
  for (int i = 1; i <= Office::kInstances; ++i) office().fleet().process(i).signal(SIGCONT);
  EXPECT_TRUE(wait_until(std::chrono::seconds(60), [&] {
    return office().run_alone({"dead-letter", "redrive", place}).code == 0;
  }));
}

TEST_F(Operated, ResetsTheDefaultEpoch) {
  EXPECT_THAT(office().run_alone({"reset", "--epoch", "2", "--dry-run"}).text,
              HasSubstr("partition 3: default epoch would be at least 2\n"));
  const Printed printed = office().run_alone({"reset", "--epoch", "2", "-o", "json"});
  EXPECT_EQ(printed.code, 0) << printed.text;
  const json told = json::parse(printed.text);
  EXPECT_EQ(told["dry_run"], false);
  ASSERT_EQ(told["partitions"].size(), Office::kPartitions);
  EXPECT_EQ(told["partitions"][3], (json{{"partition", 3}, {"default_epoch", 2}}));
  office().request("counted anew", 1);
  office().settle();
  EXPECT_EQ(described("counted anew")["groups"][0]["order"]["epoch"], 2);
}

// Not an operation: what a record says of its trace, and CloudEvents, on their way through.
TEST_F(Operated, TakesAndGivesCloudEventsAndTellsOfTheirTraces) {
  const std::string trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  office().send("requests", "cloudy",
                {{"reseq-epoch", "3"},
                 {"ce_sequence", "00000000000000000041"},
                 {"ce_subject", "cloudy"},
                 {"ce_id", "e-1"},
                 {"traceparent", trace},
                 {"tracestate", "rojo=00f067"}});
  office().settle();
  const std::vector<Output> work = records("work", "cloudy");
  ASSERT_EQ(work.size(), 1U);
  EXPECT_EQ(work[0].headers.at("reseq-seq"), "41");
  EXPECT_EQ(work[0].headers.at("ce_id"), "e-1");
  EXPECT_EQ(work[0].headers.at("traceparent"), trace);
  EXPECT_EQ(work[0].headers.at("tracestate"), "rojo=00f067");
  office().send("commands", "cloudy",
                {{"reseq-command", "sequence"}, {"reseq-epoch", "3"}, {"reseq-seq", "41"}, {"reseq-target", "search"}});
  office().settle();
  const std::vector<Output> outputs = records("output.search", "cloudy");
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(outputs[0].headers.at("ce_subject"), "cloudy");
  const std::string version = std::to_string(outputs[0].version);
  EXPECT_EQ(outputs[0].headers.at("ce_sequence"), std::string(20 - version.size(), '0') + version);
  EXPECT_THAT(office().run({"why", "cloudy", "-o", "wide"}).text, HasSubstr(trace + "  rojo=00f067"));
}

// The last one: what comes behind it would need epochs.
TEST_F(Operated, SendsNoRequestAgainThatWouldUndoNewerOnes) {
  number_twice("undone");
  const std::string place = place_of("undone");
  Printed printed = office().run({"reset", "--epoch", "4"});
  EXPECT_EQ(printed.code, 0) << printed.text;
  for (int p = 0; p < Office::kPartitions; ++p)
    EXPECT_THAT(printed.text, HasSubstr("partition " + std::to_string(p) + ": default epoch 4\n"));
  printed = office().run_alone({"dead-letter", "redrive", "--all", "--prefix", "undone", "--dry-run"});
  EXPECT_EQ(printed.code, 0);
  EXPECT_THAT(printed.text, HasSubstr("left out: " + place + ": a request without an epoch"));
  printed = office().run_alone({"dead-letter", "redrive", place});
  EXPECT_EQ(printed.code, 78);
  EXPECT_THAT(printed.text, HasSubstr("a request without an epoch, and the default epoch was raised"));
}

}  // namespace
}  // namespace reseq::test
