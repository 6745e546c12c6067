// What an operator sees of requests that wait for their turn: one document is sent at a time.
#include <chrono>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <sysexits.h>

#include "tests/e2e/patience.h"
#include "tests/operator/operator.h"
#include "tests/support/broker.h"

namespace reseq::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

std::string in_hours(int hours) {
  const auto date = std::chrono::system_clock::now() + std::chrono::hours(hours);
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(date.time_since_epoch()).count());
}

class QueueSeen : public testing::Test {
 protected:
  QueueSeen() {
    shop.tables += "[dispatch]\nmode = \"journal\"\nin_flight_max = 1\n";
    EXPECT_EQ(shop.run({"init"}).code, EX_OK);
    process = shop.start_and_wait();
  }
  void request(const std::string& id, const std::string& sequence, const std::vector<Header>& more = {}) {
    std::vector<Header> headers = {{"reseq-seq", sequence}};
    headers.insert(headers.end(), more.begin(), more.end());
    shop.send("requests", id, headers);
  }
  nlohmann::json listed(const std::string& state) {
    const Ran ran = shop.run({"list", "--state", state, "-o", "json"});
    EXPECT_EQ(ran.code, EX_OK) << ran.text;
    return nlohmann::json::parse(ran.text, nullptr, false).value("documents", nlohmann::json::array());
  }
  bool waits_for(const std::string& state, std::size_t documents) {
    return wait_until(std::chrono::milliseconds(kStepLimitMs), [&] { return listed(state).size() == documents; });
  }
  void answer(const std::string& id, const std::string& sequence) {
    shop.send("commands", id, {{"reseq-command", "sequence"}, {"reseq-seq", sequence}, {"reseq-target", "search"}});
  }

  Operator shop{Broker::shared().bootstrap_servers()};
  std::unique_ptr<Process> process;
};

// Ids of one partition: how many may be under way is of a partition.
TEST_F(QueueSeen, ListsWhatWaitsAndSaysWhatKeepsIt) {
  const std::string id = "book";
  request(id, "1");
  ASSERT_TRUE(waits_for("processing", 1));
  request(id, "2", {{"reseq-priority", "7"}});
  ASSERT_TRUE(waits_for("waiting", 1));
  const nlohmann::json entry = listed("waiting")[0]["journal"][0];
  EXPECT_EQ(entry["priority"], 7);
  EXPECT_EQ(entry["waits_for"], "older_order");
  EXPECT_THAT(shop.run({"list", "--state", "waiting"}).text, ContainsRegex("book +2 +search +7 +.* older_order"));
  EXPECT_THAT(shop.run({"list", "--state", "processing"}).text, ContainsRegex("book +1 +search +100 +.* 1 +20"));
  EXPECT_TRUE(listed("stuck").empty());
  const std::string why = shop.run({"why", id}).text;
  EXPECT_THAT(why, HasSubstr("waits for its dispatch: 2 for search, priority 7: an older order, 1, is under way: "
                             "attempt 1, it waits again at "));
  EXPECT_THAT(why, HasSubstr("is under way: 1 for search, priority 100: attempt 1, "));
  EXPECT_THAT(shop.run({"describe", id}).text, HasSubstr("waiting          2 for search, priority 7: "));
  EXPECT_THAT(shop.run({"stats"}).text, ContainsRegex("PRIORITY +WAITING +PROCESSING +DUE SINCE"));
  answer(id, "1");
  ASSERT_TRUE(waits_for("waiting", 0));
  EXPECT_EQ(listed("processing")[0]["journal"][0]["order"]["seq"], "2");
}

TEST_F(QueueSeen, SaysThatThereIsNoRoomAndWhenADateHasNotCome) {
  request("book", "1");
  ASSERT_TRUE(waits_for("processing", 1));
  // Of these some are in the same partition as the first.
  for (int i = 0; i < 20; ++i) request("other-" + std::to_string(i), "1");
  request("dated", "1", {{"reseq-process-at", in_hours(1)}});
  ASSERT_TRUE(wait_until(std::chrono::milliseconds(kStepLimitMs), [&] {
    const std::string text = shop.run({"list", "--state", "waiting"}).text;
    return text.find("dated") != std::string::npos && text.find(" room") != std::string::npos;
  }));
  EXPECT_THAT(shop.run({"list", "--state", "waiting"}).text, ContainsRegex("dated +1 +search +100 +.* date"));
  EXPECT_THAT(shop.run({"why", "dated"}).text, HasSubstr("priority 100: not before 20"));
  for (const nlohmann::json& one : listed("waiting"))
    if (one["journal"][0]["waits_for"] == "room") {
      EXPECT_THAT(shop.run({"why", one["id"].get<std::string>()}).text,
                  HasSubstr("1 documents of in_flight_max = 1 are under way"));
      return;
    }
  FAIL() << "nothing waits for room";
}

TEST_F(QueueSeen, LetsAnOperatorSayWhenWhatWaitsLeaves) {
  request("book", "1", {{"reseq-process-at", in_hours(1)}});
  ASSERT_TRUE(waits_for("waiting", 1));
  const std::string until = in_hours(2);
  Ran ran = shop.run({"dispatch", "postpone", "book", "--until", until, "--dry-run"});
  EXPECT_EQ(ran.code, EX_OK) << ran.text;
  EXPECT_THAT(ran.text, HasSubstr("dispatch-postpone book: would be applied, newest request 1"));
  const std::string before = listed("waiting")[0]["journal"][0]["process_at"];
  ran = shop.run({"dispatch", "postpone", "book", "--until", until, "--target", "search", "--expect-seq", "1"});
  EXPECT_THAT(ran.text, HasSubstr("dispatch-postpone book for search: applied, newest request 1"));
  EXPECT_GT(listed("waiting")[0]["journal"][0]["process_at"].get<std::string>(), before);
  EXPECT_THAT(shop.run({"dispatch", "postpone", "book", "--until", until}).text, HasSubstr("dropped, no_change"));
  EXPECT_THAT(shop.run({"dispatch", "postpone", "book", "--until", "2020-01-01T00:00:00Z"}).text,
              HasSubstr("has passed: that postpones nothing"));
  EXPECT_EQ(shop.run({"dispatch", "postpone", "book", "--until", in_hours(73)}).code, EX_CONFIG)
      << "three days at most";
  EXPECT_EQ(shop.run({"dispatch", "now", "nobody"}).code, EX_CONFIG);
  ran = shop.run({"dispatch", "now", "book"});
  EXPECT_EQ(ran.code, EX_OK) << ran.text;
  EXPECT_THAT(ran.text, HasSubstr("dispatch-now book: applied, newest request 1"));
  ASSERT_TRUE(waits_for("processing", 1));

  request("book", "2", {{"reseq-process-at", in_hours(1)}});
  ASSERT_TRUE(waits_for("waiting", 1));
  EXPECT_EQ(shop.run({"dispatch", "now", "book"}).code, EX_OK);
  const nlohmann::json entry = listed("waiting")[0]["journal"][0];
  EXPECT_EQ(entry["priority"], 0);
  EXPECT_EQ(entry["waits_for"], "older_order");
  answer("book", "1");
  ASSERT_TRUE(waits_for("waiting", 0));
  EXPECT_EQ(listed("processing")[0]["journal"][0]["order"]["seq"], "2");
}

}  // namespace
}  // namespace reseq::test
