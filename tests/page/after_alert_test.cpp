// Somebody opens the page when the alert has come: an instance has died before, while nobody looked, and later the
// brokers hang.
#include <gmock/gmock.h>
#include <thread>

#include "tests/page/looking.h"
#include "tests/support/broker.h"

namespace reseq::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class AfterAlert : public Looking {
 protected:
  static void SetUpTestSuite() {
    office_ = std::make_unique<Office>("");
    for (int i = 0; i < 40; ++i) office_->request("document-" + std::to_string(i), 1);
    office_->settle();
    // Two points of the charts, and one more that may have missed an answer.
    std::this_thread::sleep_for(std::chrono::seconds(50));
    office_->fleet().kill(3);
    start_browser();
  }
};

TEST_F(AfterAlert, NamesTheInstanceThatDiedBeforeThePageWasOpened) {
  EXPECT_TRUE(browser().becomes("document.querySelector('#verdict').textContent.includes('Instance 3 answered last')"))
      << browser().text("#verdict");
  EXPECT_THAT(browser().text("#instances tr[data-key=\"3\"]"), HasSubstr("no answer for"));
  browser().open(address(2) + "/");
  EXPECT_TRUE(browser().becomes("document.querySelector('#verdict').textContent.includes('Instance 3 answered last')"))
      << browser().text("#verdict");
}

TEST_F(AfterAlert, HasChartsThatBeginBeforeThePageWasOpened) {
  // Where the line of live documents begins, of 1,000 that are a quarter of an hour.
  const std::string first =
      "Number(document.querySelector('#chart-live path.line').getAttribute('d').slice(1)"
      ".split(' ')[0])";
  // A point for which an answer came too late is a gap, and the next one comes a quarter of a minute later.
  std::string line;
  for (int times = 0; times < 8 && line.find('L') == std::string::npos; ++times) {
    if (times > 0) browser().open("about:blank"), std::this_thread::sleep_for(std::chrono::seconds(16));
    open(1);
    EXPECT_TRUE(browser().becomes("document.querySelector('#chart-live path.line').getAttribute('d').length > 0"));
    line = browser().evaluate("document.querySelector('#chart-live path.line').getAttribute('d')").get<std::string>();
  }
  EXPECT_THAT(line, HasSubstr("L")) << "points of before are joined";
  EXPECT_LT(browser().evaluate(first).get<double>(), 1000 - 20 * 1000 / 900);
}

TEST_F(AfterAlert, SaysThatItWaitsForBrokersAndNothingElse) {
  ASSERT_TRUE(browser().becomes("document.querySelector('#tile-running .value').textContent === '4 of 4'"))
      << browser().text("#partitions");
  if (!Broker::shared().pause()) GTEST_SKIP() << "the broker is not ours";
  const bool waits = browser().becomes(
      "/Waits for brokers since [0-9:]{8}/.test("
      "document.querySelector('#verdict').textContent)",
      60'000);
  const std::string verdict = browser().text("#verdict");
  const json states = rows("partitions");
  browser().screenshot("brokers-away-light");
  ASSERT_TRUE(Broker::shared().resume());
  EXPECT_TRUE(waits) << verdict;
  for (const char* riddle : {"_TRANSPORT", "taken over", "No instance answers", "answered last"})
    EXPECT_THAT(verdict, Not(HasSubstr(riddle)));
  for (const json& row : states) EXPECT_EQ(row["State"], "waits for brokers") << row;
  EXPECT_TRUE(
      browser().becomes("!document.querySelector('#verdict').textContent.includes('Waits for brokers') && "
                        "document.querySelector('#tile-running .value').textContent === '4 of 4'",
                        120'000))
      << browser().text("#verdict") << office().fleet().process(1).tail() << office().fleet().process(2).tail();
}

}  // namespace
}  // namespace reseq::test
