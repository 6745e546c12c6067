// expire and reprocess for all documents of a state: those and no others, page by page, and on from where it ended.
#include <chrono>
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <set>

#include "tests/admin/office.h"
#include "tests/e2e/outputs.h"
#include "tests/e2e/patience.h"

namespace reseq::test {
namespace {

using nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;

constexpr std::size_t kLost = 230;  // documents whose results for search are lost: more than two pages of a partition

class MendedTogether : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    office_ = std::make_unique<Office>("registration_timeout_ms = 300\nstarvation_after_ms = 1000\n");
  }
  static void TearDownTestSuite() { office_.reset(); }
  static Office& office() { return *office_; }

  static std::vector<std::string> ids(const std::string& prefix, std::size_t i) {
    const std::string lost = prefix + "-" + std::to_string(i);
    return {lost, "whole " + lost};
  }
  // Documents that wait for search, and beside each one that is complete.
  static void lose(const std::string& prefix) {
    for (std::size_t i = 0; i < kLost; ++i)
      for (const std::string& id : ids(prefix, i)) office().request(id, 7);
    office().settle();  // or a result might be written in front of its request
    for (std::size_t i = 0; i < kLost; ++i) {
      for (const std::string& id : ids(prefix, i)) office().result(id, 7, "catalogue");
      office().result(ids(prefix, i).back(), 7, "search");
    }
    office().settle();
    ASSERT_TRUE(wait_until(std::chrono::seconds(30), [&] { return overdue(prefix) == kLost; })) << overdue(prefix);
  }
  static std::size_t overdue(const std::string& prefix) {
    return office().run_json({"list", "--state", "overdue", "--prefix", prefix, "--max", "10000"})["documents"].size();
  }
  // How often a document was handed to the pipeline.
  static std::map<std::string, int> work() {
    std::map<std::string, int> found;
    read_all(office().application().connection(), office().application().topic("work"),
             [&](const kafka::PlainRecord& record) { ++found[std::string(record.key.value_or(""))]; });
    return found;
  }

  static inline std::unique_ptr<Office> office_;
};

TEST_F(MendedTogether, RequestsEachDocumentOfTheSelectionOnceMoreAndNoOther) {
  lose("again");
  office().send("requests", "again older", {{"reseq-seq", "8"}});
  office().send("requests", "again older", {{"reseq-seq", "9"}, {"reseq-targets", "catalogue"}});
  office().settle();
  ASSERT_TRUE(wait_until(std::chrono::seconds(30), [&] { return overdue("again") == kLost + 1; }));
  const std::vector<std::string> all = {"reprocess", "--state", "overdue", "--target", "search", "--prefix", "again"};

  std::vector<std::string> dry = all;
  dry.emplace_back("--dry-run");
  const json told = office().run_json(dry);
  EXPECT_EQ(told["documents"], kLost);
  EXPECT_EQ(told["left_out"]["waits for an older request: only the newest can be sent once more"], 1);
  EXPECT_EQ(work()["again-0"], 1) << "a dry run changes nothing";

  std::vector<std::string> slowly = all;
  slowly.insert(slowly.end(), {"--rate", "40"});
  const Printed printed = office().run(slowly);
  EXPECT_EQ(printed.code, 0) << printed.text;
  EXPECT_THAT(printed.text, ContainsRegex("[0-9]+ documents, partition [0-9]; what comes now begins at --from [0-9]:"));
  EXPECT_THAT(printed.text, ContainsRegex("PARTITION +DOCUMENTS +LEFT OUT\n0 "));
  EXPECT_THAT(printed.text,
              HasSubstr("requested again: " + std::to_string(kLost) + "\nleft out: 1, waits for an older"));
  for (const auto& [id, times] : work()) {
    if (id.starts_with("again-")) {
      EXPECT_EQ(times, 2) << id;
    }
    if (id.starts_with("whole again-")) {
      EXPECT_EQ(times, 1) << id;
    }
  }
  for (std::size_t i = 0; i < kLost; ++i)
    for (const char* target : {"search", "catalogue"})
      office().send(
          "commands", "again-" + std::to_string(i),
          {{"reseq-command", "sequence"}, {"reseq-seq", "7"}, {"reseq-revision", "1"}, {"reseq-target", target}});
  office().settle();
  EXPECT_EQ(overdue("again-"), 0U);
}

TEST_F(MendedTogether, IsListedByTheTargetThatIsOverdue) {
  for (const char* id : {"half for search", "half for catalogue"}) office().request(id, 7);
  office().result("half for search", 7, "catalogue");
  office().result("half for catalogue", 7, "search");
  office().settle();
  ASSERT_TRUE(wait_until(std::chrono::seconds(30), [&] { return overdue("half") == 2; }));
  const json found = office().run_json({"list", "--state", "overdue", "--target", "search", "--prefix", "half"});
  ASSERT_EQ(found["documents"].size(), 1U) << found;
  EXPECT_EQ(found["documents"][0]["id"], "half for search");
  EXPECT_EQ(office().run_json({"list", "--state", "starving", "--target", "search"})["documents"].size(), 0U);
}

TEST_F(MendedTogether, RequestsADocumentOnceMoreThatHasNoNeighbours) {
  office().request("alone", 7);
  office().settle();
  ASSERT_TRUE(wait_until(std::chrono::seconds(30), [&] { return overdue("alone") == 1; }));
  const json told = office().run_json({"reprocess", "--state", "overdue", "--prefix", "alone"});
  EXPECT_EQ(told["documents"], 1);
  EXPECT_TRUE(told.value("left_out", json::object()).empty()) << told;
  EXPECT_EQ(work()["alone"], 2);
}

// Newer requests came while they waited.
TEST_F(MendedTogether, IsExpiredOrRequestedOnceMoreWhileItStarves) {
  const auto starving = [](const std::string& prefix) {
    const json found = office().run_json({"list", "--state", "starving", "--target", "search", "--prefix", prefix});
    return found["documents"].size();
  };
  office().request("starves not: it has no newer request", 1);
  for (const std::uint64_t sequence : {1UL, 2UL}) {
    for (const char* id : {"starves and is expired", "starves and is requested"}) office().request(id, sequence);
    office().settle();
  }
  ASSERT_TRUE(wait_until(std::chrono::seconds(30), [&] { return starving("starves") == 2; })) << starving("starves");
  EXPECT_EQ(office().run_json({"expire", "--state", "starving", "--prefix", "starves and is e"})["documents"], 1);
  const json again = office().run_json({"reprocess", "--state", "starving", "--prefix", "starves"});
  EXPECT_EQ(again["documents"], 1) << again;
  EXPECT_EQ(starving("starves and is expired"), 0U);
  std::map<std::string, int> handed_out = work();
  EXPECT_EQ(handed_out["starves and is expired"], 2);
  EXPECT_EQ(handed_out["starves and is requested"], 3);
  EXPECT_EQ(handed_out["starves not: it has no newer request"], 1);
  for (const char* target : {"search", "catalogue"})
    office().send(
        "commands", "starves and is requested",
        {{"reseq-command", "sequence"}, {"reseq-seq", "2"}, {"reseq-revision", "1"}, {"reseq-target", target}});
  office().settle();
  EXPECT_EQ(starving("starves"), 0U);
}

TEST_F(MendedTogether, GoesOnFromWhereItEnded) {
  lose("gone");
  std::string from = "0:";
  std::int64_t expired = 0;
  for (int runs = 0; !from.empty() && runs < 10; ++runs) {
    const auto began = std::chrono::steady_clock::now();
    const json told = office().run_json({"expire", "--state", "overdue", "--target", "search", "--prefix", "gone",
                                         "--max", "70", "--rate", "50", "--from", from, "--control-id", "ticket 9"});
    if (told["documents"] == 70) {
      EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::seconds(1)) << "faster than --rate";
    }
    expired += told["documents"].get<std::int64_t>();
    EXPECT_LE(told["documents"], 70);
    from = told.value("from", "");
  }
  EXPECT_EQ(expired, kLost);
  EXPECT_EQ(overdue("gone"), 0U);
  std::set<std::string> audited;
  for (const std::string& payload : office().payloads("events")) {
    const json event = json::parse(payload);
    if (event["kind"] == "operation" && event["control_id"].get<std::string>().starts_with("ticket 9 "))
      audited.insert(event["id"]);
  }
  EXPECT_EQ(audited.size(), kLost) << "each has its event";
  for (const std::string& id : audited) EXPECT_THAT(id, testing::StartsWith("gone-"));
}

// Nobody requested them: what is expected is the order that the command brought.
TEST_F(MendedTogether, GivesUpWhatOnlyCommandsHaveRegistered) {
  office().send("commands", "by command",
                {{"reseq-command", "register"}, {"reseq-seq", "3"}, {"reseq-targets", "search"}});
  office().settle();
  ASSERT_TRUE(wait_until(std::chrono::seconds(30), [&] { return overdue("by command") == 1; }));
  EXPECT_EQ(office().run_json({"expire", "--state", "overdue", "--prefix", "by command"})["documents"], 1);
  EXPECT_EQ(overdue("by command"), 0U);
}

TEST_F(MendedTogether, GoesOnWithTheFirstPartitionThatNobodyAnsweredForAndLeavesNoneOut) {
  office().fleet().process(1).signal(SIGKILL);
  (void)office().fleet().process(1).wait(10'000);
  const Printed printed = office().run_alone({"reprocess", "--state", "overdue", "--dry-run", "--timeout-ms", "1000"});
  office().fleet().start(1);
  ASSERT_TRUE(wait_until(std::chrono::seconds(60), [&] {
    office().fleet().look();
    return office().fleet().settled(Office::kPartitions);
  }));
  EXPECT_EQ(printed.code, 69) << printed.text;
  std::smatch first;
  ASSERT_TRUE(std::regex_search(printed.text, first, std::regex("nobody answers for partitions ([0-9]+)")))
      << printed.text;
  EXPECT_THAT(printed.text, HasSubstr("do it again, with --from " + first[1].str() + ":\n"));
}

TEST_F(MendedTogether, TakesADocumentOrAState) {
  EXPECT_EQ(office().run({"expire"}).code, 64);
  EXPECT_EQ(office().run({"expire", "book", "--state", "overdue"}).code, 64);
  EXPECT_EQ(office().run({"expire", "--state", "completed"}).code, 64);
  EXPECT_EQ(office().run({"expire", "book", "--prefix", "b"}).code, 64) << "a bound that would not hold";
  EXPECT_EQ(office().run({"reprocess", "--state", "overdue", "--rate", "0"}).code, 64);
  EXPECT_EQ(office().run({"reprocess", "--state", "overdue", "--from", "9:"}).code, 78);
  EXPECT_EQ(office().run({"reprocess", "--state", "overdue", "--from", "0;"}).code, 78);
  const Printed printed = office().run({"expire", "--state", "overdue", "--target", "serach"});
  EXPECT_EQ(printed.code, 78);
  EXPECT_THAT(printed.text, HasSubstr("there is no target \"serach\": there are search, catalogue"));
}

}  // namespace
}  // namespace reseq::test
