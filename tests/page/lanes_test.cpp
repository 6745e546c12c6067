// Somebody on call sees on the page what strict and total targets wait for, and what is held for them.
#include <chrono>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "tests/e2e/patience.h"
#include "tests/page/looking.h"
#include "tests/support/process.h"
#include "tests/support/source_path.h"

namespace reseq::test {
namespace {

using nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;

constexpr std::chrono::milliseconds kLanesShownLimit{60'000};
const std::string kLaneHostile = "<img src=x onerror=\"window.hit = 1\">";

class LanesOnThePage : public Looking {
 protected:
  static void SetUpTestSuite() {
    office_ = std::make_unique<Office>(
        "[[target]]\nname = \"history\"\norder = \"strict\"\n[[target]]\nname = \"audit\"\norder = \"total\"\n");
    for (const char* sequence : {"1", "2", "3"}) request(kLaneHostile, sequence);
    office_->settle();
    for (const char* sequence : {"2", "3"}) result(kLaneHostile, sequence, "history");
    office_->settle();
    start_browser();
  }
  static void request(const std::string& id, const std::string& sequence) {
    office_->send("requests", id, {{"reseq-seq", sequence}, {"reseq-targets", "history,audit"}});
  }
  static void result(const std::string& id, const std::string& sequence, const std::string& target) {
    office_->send("commands", id, {{"reseq-command", "sequence"}, {"reseq-seq", sequence}, {"reseq-target", target}});
  }
  static json row_of(const std::string& target) {
    for (const json& row : rows("lanes"))
      if (row.value("Target", "") == target) return row;
    return {};
  }
};

TEST_F(LanesOnThePage, SayWhatTheyWaitForAndWhatIsHeld) {
  ASSERT_TRUE(wait_until(kLanesShownLimit, [&] { return row_of("history").value("Held", "") == "2"; }))
      << rows("lanes");
  const json history = row_of("history");
  EXPECT_EQ(history["Order"], "strict");
  EXPECT_EQ(history["Waits for"], kLaneHostile);
  EXPECT_EQ(history["Sequence"], "1");
  EXPECT_EQ(history["Places"], "3");
  EXPECT_EQ(history["Gaps now"], "1");
  EXPECT_NE(history["Held bytes"], "0");
  EXPECT_THAT(history["Since"].get<std::string>(), ContainsRegex("^[0-9]+ (s|min)"));
  EXPECT_THAT(history["Skipped"].get<std::string>(), ContainsRegex("^in [0-9]+ (s|min)"));
  const json audit = row_of("audit");
  EXPECT_EQ(audit["Order"], "total");
  EXPECT_EQ(audit["Held"], "0");
  EXPECT_EQ(audit["Gaps now"], "0");
  EXPECT_EQ(rows("lanes").size(), 2U) << "targets that are not ordered have no lanes";
  browser().evaluate("document.querySelector('#lanes button.link').click()");
  EXPECT_TRUE(browser().becomes("document.querySelector('#document .facts')")) << browser().text("#document");
  EXPECT_THAT(browser().text("#document"), HasSubstr("2 of its results held, the first is 2 · 2 held behind it"));
  EXPECT_THAT(browser().text("#document"), HasSubstr("audit · 3 places · waits for " + kLaneHostile + " 1 since "));
  EXPECT_TRUE(browser().evaluate("window.hit === undefined && !document.querySelector('img')").get<bool>());
  browser().screenshot("lanes-light");
  for (const int width : {kNarrow, 320, kWide}) {
    browser().resize(width, kHeight);
    const json size = page_size();
    EXPECT_LE(size[0], size[1]) << "wider than its screen at " << width;
  }
}

// What the page has asked and was answered, and a list.
TEST_F(LanesOnThePage, AreAskedForAndToldAsTheSchemasSay) {
  for (const char* state : {"held", "gap"})
    EXPECT_EQ(office().run_json({"list", "--state", state})["documents"].size(), 1U) << state;
  for (const std::string role : {"admin.requests", "admin.replies"}) {
    const std::string file = office().path(role);
    std::string all;
    for (const std::string& payload : office().payloads(role)) all += payload + "\n";
    std::ofstream(file) << all;
    EXPECT_THAT(all, HasSubstr(role == "admin.requests" ? "\"gap\"" : "\"blocks\":"));
    Process validate({"/usr/bin/python3", source_path("tests/admin/validate.py"),
                      source_path("schemas/" + role + ".schema.json"), file},
                     office().path("validated"));
    EXPECT_EQ(validate.wait(60'000), 0) << validate.tail();
  }
}

TEST_F(LanesOnThePage, ShowThatWhatWasHeldHasLeft) {
  ASSERT_TRUE(wait_until(kLanesShownLimit, [&] { return row_of("history").value("Held", "") == "2"; }))
      << rows("lanes");
  for (const char* target : {"history", "audit"}) result(kLaneHostile, "1", target);
  EXPECT_TRUE(wait_until(kLanesShownLimit, [&] { return row_of("history").value("Waits for", "") == "nothing"; }))
      << rows("lanes");
  EXPECT_EQ(row_of("history")["Places"], "0");
  EXPECT_EQ(row_of("history")["Gaps now"], "0");
  EXPECT_THAT(browser().text("#lanes-note"), HasSubstr("0 results skipped, 2 released that had been held"));
  EXPECT_TRUE(wait_until(kLanesShownLimit, [&] { return row_of("audit").value("Sequence", "") == "2"; }))
      << rows("lanes");
}

}  // namespace
}  // namespace reseq::test
