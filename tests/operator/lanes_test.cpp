// What an operator sees of lanes: which results are held, and what holds them back, until that is skipped.
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <sysexits.h>
#include <utility>
#include <vector>

#include "tests/e2e/patience.h"
#include "tests/operator/operator.h"
#include "tests/support/broker.h"

namespace reseq::test {
namespace {

using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class LanesSeen : public testing::Test {
 protected:
  LanesSeen() {
    shop.tables +=
        "[[target]]\nname = \"history\"\norder = \"strict\"\n[[target]]\nname = \"audit\"\norder = \"total\"\n";
    EXPECT_EQ(shop.run({"init"}).code, EX_OK);
    process = shop.start_and_wait();
  }
  void request(const std::string& id, const std::string& sequence) {
    shop.send("requests", id, {{"reseq-seq", sequence}});
  }
  void result(const std::string& id, const std::string& sequence, const std::string& target) {
    shop.send("commands", id, {{"reseq-command", "sequence"}, {"reseq-seq", sequence}, {"reseq-target", target}});
  }
  std::vector<std::string> listed(std::vector<std::string> question) {
    question.insert(question.begin(), "list");
    question.insert(question.end(), {"-o", "json"});
    const Ran ran = shop.run(question);
    EXPECT_EQ(ran.code, EX_OK) << ran.text;
    std::vector<std::string> ids;
    for (const auto& one : nlohmann::json::parse(ran.text).value("documents", nlohmann::json::array()))
      ids.push_back(one["id"]);
    return ids;
  }
  // Inputs are decided a moment after they are sent.
  bool becomes(const std::vector<std::string>& question, const std::vector<std::string>& ids) {
    return wait_until(std::chrono::milliseconds(kStepLimitMs), [&] { return listed(question) == ids; });
  }

  Operator shop{Broker::shared().bootstrap_servers()};
  std::unique_ptr<Process> process;
};

// What docs/orders.md shows, of two documents of one partition.
TEST_F(LanesSeen, NameWhatIsHeldAndWhatHoldsItBackUntilItIsSkipped) {
  request("book", "1");
  request("book", "2");
  request("score", "1");
  ASSERT_TRUE(becomes({"--state", "live"}, {"book", "score"}));
  EXPECT_THAT(listed({"--state", "gap"}), IsEmpty()) << "nothing has come, so nothing is held back";
  result("book", "2", "history");
  result("book", "2", "audit");
  result("score", "1", "audit");
  result("score", "1", "history");
  ASSERT_TRUE(becomes({"--state", "held"}, {"book", "score"}));
  EXPECT_THAT(listed({"--state", "gap"}), ElementsAre("book"));
  EXPECT_THAT(listed({"--state", "held", "--target", "history"}), ElementsAre("book"));
  EXPECT_THAT(listed({"--state", "held", "--prefix", "sc"}), ElementsAre("score"));
  EXPECT_THAT(listed({"--state", "gap", "--older-than", "1h"}), IsEmpty());
  const std::string held = shop.run({"list", "--state", "held"}).text;
  EXPECT_THAT(held, ContainsRegex("book +history +2 +1 +20.*Z +20.*Z +book 1 +20"));
  EXPECT_THAT(held, ContainsRegex("score +audit +1 +1 +20.*Z +20.*Z +book 1 +20"));
  EXPECT_THAT(held, Not(ContainsRegex("score +history"))) << "it has left";
  const std::string gaps = shop.run({"list", "--state", "gap"}).text;
  EXPECT_THAT(gaps, ContainsRegex("book +history +1 +1 +20"));
  EXPECT_THAT(gaps, ContainsRegex("book +audit +1 +2 +20"));
  EXPECT_THAT(shop.run({"describe", "book"}).text, HasSubstr("holds back       2\n"));
  EXPECT_THAT(shop.run({"why", "score"}).text, HasSubstr("audit waits for 1 version of it, and first for book 1"));

  const Ran behind = shop.run({"skip", "score", "--target", "audit"});
  EXPECT_EQ(behind.code, EX_CONFIG);
  EXPECT_THAT(behind.text, HasSubstr("audit waits for book 1"));
  EXPECT_THAT(shop.run({"skip", "book", "--target", "audit", "--dry-run"}).text,
              HasSubstr("skip book 1 for audit: would be applied\n"));
  const Ran skipped = shop.run({"skip", "book", "--target", "audit"});
  EXPECT_EQ(skipped.code, EX_OK);
  EXPECT_THAT(skipped.text, HasSubstr("skip book 1 for audit: applied\n")) << "the newest request is 2";
  ASSERT_TRUE(becomes({"--state", "held"}, {"book"})) << "what was held behind what is skipped stays";
  const Ran again = shop.run({"skip", "book", "--target", "audit", "--seq", "1"});
  EXPECT_EQ(again.code, EX_OK);
  EXPECT_THAT(again.text, HasSubstr("skip book 1 for audit: dropped, no_change\n"));
  EXPECT_EQ(shop.run({"skip", "book", "--target", "audit", "--seq", "3"}).code, EX_CONFIG) << "nobody requested it";
  EXPECT_THAT(shop.run({"skip", "book", "--target", "audit"}).text, HasSubstr("audit waits for nothing of book"));
  result("book", "1", "history");
  ASSERT_TRUE(becomes({"--state", "gap"}, {}));
  EXPECT_THAT(listed({"--state", "held"}), IsEmpty());
}

TEST_F(LanesSeen, RefuseATargetThatIsNotThere) {
  const Ran ran = shop.run({"list", "--state", "held", "--target", "adit"});
  EXPECT_EQ(ran.code, EX_CONFIG);
  EXPECT_THAT(ran.text, HasSubstr("adit"));
}

}  // namespace
}  // namespace reseq::test
