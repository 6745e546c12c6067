// What an operator sees of work that failed, and does about it: the texts of errors tell documents apart.
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <sysexits.h>
#include <vector>

#include "tests/e2e/outputs.h"
#include "tests/e2e/patience.h"
#include "tests/operator/operator.h"
#include "tests/support/broker.h"

namespace reseq::test {
namespace {

using testing::HasSubstr;
using Ids = std::set<std::string>;

class FailuresSeen : public testing::Test {
 protected:
  // Who is to be tried again stays so for as long as the test looks.
  FailuresSeen() {
    shop.tables +=
        "[dispatch]\nmode = \"journal\"\n"
        "[failures]\nmode = \"retry\"\nbackoff_ms = 600000\nbackoff_max_ms = 600000\nretries_max = 3\n";
    EXPECT_EQ(shop.run({"init"}).code, EX_OK);
    process = shop.start_and_wait();
  }
  // Of documents that are under way.
  void fail(const std::string& id, const std::string& kind, const std::string& error) {
    shop.send("commands", id,
              {{"reseq-command", "fail"},
               {"reseq-seq", "1"},
               {"reseq-target", "search"},
               {"reseq-failure", kind},
               {"reseq-error", error}});
  }
  Ids listed(const std::string& state, const std::vector<std::string>& more = {}) {
    std::vector<std::string> command = {"list", "--state", state, "-o", "json"};
    command.insert(command.end(), more.begin(), more.end());
    const Ran ran = shop.run(command);
    EXPECT_EQ(ran.code, EX_OK) << ran.text;
    Ids ids;
    for (const auto& one : nlohmann::json::parse(ran.text, nullptr, false).value("documents", nlohmann::json::array()))
      ids.insert(one["id"].get<std::string>());
    return ids;
  }
  void fail_all() {
    for (const char* id : {"scan-1", "scan-2", "huge", "locked"}) shop.send("requests", id, {{"reseq-seq", "1"}});
    ASSERT_TRUE(wait_until(std::chrono::milliseconds(kStepLimitMs), [&] { return listed("processing").size() == 4; }));
    fail("scan-1", "permanent", "no PDF: page 7");
    fail("scan-2", "permanent", "no PDF: page 9");
    fail("huge", "permanent", "out of memory");
    fail("locked", "transient", "no PDF yet");
    ASSERT_TRUE(wait_until(std::chrono::milliseconds(kStepLimitMs),
                           [&] { return listed("failed").size() == 3 && listed("retrying").size() == 1; }));
  }
  // How often a document was sent to work.
  std::size_t sent(const std::string& id) {
    std::size_t times = 0;
    read_all(shop.connection(), shop.topic("work"),
             [&](const kafka::PlainRecord& record) { times += record.key == id ? 1 : 0; });
    return times;
  }

  Operator shop{Broker::shared().bootstrap_servers()};
  std::unique_ptr<Process> process;
};

TEST_F(FailuresSeen, AreListedAndRequestedAgainByTheTextOfTheirErrors) {
  fail_all();
  EXPECT_EQ(listed("failed", {"--error", "no PDF"}), (Ids{"scan-1", "scan-2"}));
  EXPECT_EQ(listed("failed", {"--error", "no PDF", "--prefix", "scan-2"}), (Ids{"scan-2"}));
  EXPECT_EQ(listed("failed", {"--error", "page 9", "--target", "search"}), (Ids{"scan-2"}));
  EXPECT_EQ(listed("failed", {"--error", "no pdf"}), Ids{}) << "the case counts";
  EXPECT_EQ(listed("retrying", {"--error", "no PDF"}), (Ids{"locked"}));
  EXPECT_EQ(listed("retrying", {"--error", "out of"}), Ids{});

  const std::vector<std::string> again = {"reprocess", "--state", "failed", "--error", "no PDF"};
  std::vector<std::string> dry = again;
  dry.emplace_back("--dry-run");
  EXPECT_THAT(shop.run(dry).text, HasSubstr("would be requested again: 2\n"));
  const Ran ran = shop.run(again);
  EXPECT_EQ(ran.code, EX_OK) << ran.text;
  EXPECT_THAT(ran.text, HasSubstr("requested again: 2\n"));
  EXPECT_TRUE(wait_until(std::chrono::milliseconds(kStepLimitMs), [&] { return listed("failed") == Ids{"huge"}; }));
  EXPECT_EQ(sent("scan-1"), 2U);
  EXPECT_EQ(sent("scan-2"), 2U);
  EXPECT_EQ(sent("huge"), 1U) << "it failed of something else";
  EXPECT_EQ(sent("locked"), 1U) << "it is tried again by itself";
}

TEST_F(FailuresSeen, AreListedAndRequestedAgainByAllOfTheirErrorsAndByNone) {
  fail_all();
  shop.send("requests", "silent", {{"reseq-seq", "1"}});
  ASSERT_TRUE(wait_until(std::chrono::milliseconds(kStepLimitMs), [&] { return listed("processing").size() == 1; }));
  fail("silent", "permanent", "");
  ASSERT_TRUE(wait_until(std::chrono::milliseconds(kStepLimitMs), [&] { return listed("failed").size() == 4; }));
  EXPECT_EQ(listed("failed", {"--error-is", "no PDF: page 7"}), (Ids{"scan-1"}));
  EXPECT_EQ(listed("failed", {"--error-is", "no PDF"}), Ids{}) << "that is in other errors, and is none";
  EXPECT_EQ(listed("failed", {"--error-is", ""}), (Ids{"silent"}));
  EXPECT_EQ(listed("retrying", {"--error-is", "no PDF yet"}), (Ids{"locked"}));
  const Ran ran = shop.run({"reprocess", "--state", "failed", "--error-is", ""});
  EXPECT_THAT(ran.text, HasSubstr("requested again: 1\n"));
  EXPECT_TRUE(wait_until(std::chrono::milliseconds(kStepLimitMs), [&] { return sent("silent") == 2; }));
  EXPECT_EQ(sent("scan-1"), 1U) << "it said why it failed";
}

TEST_F(FailuresSeen, TakeATextOnlyWhereSomethingHasFailed) {
  Ran ran = shop.run({"list", "--state", "stuck", "--error", "no PDF"});
  EXPECT_EQ(ran.code, EX_USAGE);
  EXPECT_THAT(ran.text, HasSubstr("--error: is only for --state retrying or failed"));
  EXPECT_EQ(shop.run({"list", "--error", "no PDF"}).code, EX_USAGE) << "documents that wait have no error";
  EXPECT_EQ(shop.run({"list", "--state", "failed", "--error", ""}).code, EX_USAGE) << "it would be all of them";
  ran = shop.run({"reprocess", "--state", "overdue", "--error", "no PDF"});
  EXPECT_EQ(ran.code, EX_USAGE);
  EXPECT_THAT(ran.text, HasSubstr("--error: is only for --state failed"));
  EXPECT_EQ(shop.run({"reprocess", "book", "--error", "no PDF"}).code, EX_USAGE);
  EXPECT_EQ(shop.run({"list", "--state", "stuck", "--error-is", ""}).code, EX_USAGE);
  EXPECT_EQ(shop.run({"list", "--state", "failed", "--error", "a", "--error-is", "a"}).code, EX_USAGE);
  EXPECT_EQ(shop.run({"expire", "--state", "overdue", "--error", "no PDF"}).code, EX_USAGE);
}

}  // namespace
}  // namespace reseq::test
