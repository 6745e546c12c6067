// Somebody opens the page when the alert has come: an instance has died before, while nobody looked, and later the
// brokers hang.
#include "tests/page/after_alert.h"

#include <gmock/gmock.h>
#include <thread>

#include "tests/support/broker.h"

namespace reseq::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(AfterAlert, NamesTheInstanceThatDiedBeforeThePageWasOpened) {
  look();
  EXPECT_TRUE(browser().becomes("document.querySelector('#verdict').textContent.includes('Instance 3 answered last')"))
      << browser().text("#verdict");
  EXPECT_THAT(browser().text("#instances tr[data-key=\"3\"]"), HasSubstr("no answer for"));
  browser().open(address(2) + "/");
  EXPECT_TRUE(browser().becomes("document.querySelector('#verdict').textContent.includes('Instance 3 answered last')"))
      << browser().text("#verdict");
}

TEST_F(AfterAlert, NamesWhatHoldsBackATargetThatGetsEveryVersion) {
  look();
  EXPECT_TRUE(
      browser().becomes("/history waits for late 1 since [0-9:]{8}, skipped in [0-9a-z ]+, 1 result held/.test("
                        "document.querySelector('#verdict').textContent)",
                        60'000))
      << browser().text("#verdict");
}

TEST_F(AfterAlert, HasChartsThatBeginBeforeThePageWasOpened) {
  look();
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
  look();
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
