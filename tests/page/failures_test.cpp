// Somebody on call sees on the page what failed, and lets it be tried again there.
#include <chrono>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <map>
#include <memory>
#include <string>

#include "tests/e2e/outputs.h"
#include "tests/e2e/patience.h"
#include "tests/page/looking.h"
#include "tests/support/source_path.h"

namespace reseq::test {
namespace {

using nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::chrono::milliseconds kShownLimit{60'000};
constexpr int kScans = 4;
constexpr int kAway = 12;  // in one of four partitions there are three of them
const std::string kHostileError = "<img src=x onerror=\"window.hit = 1\"> it's\nbad";

class FailuresOnThePage : public Looking {
 protected:
  // What is tried again by itself is not, for as long as the test looks.
  static void SetUpTestSuite() {
    office_ = std::make_unique<Office>(
        "http.page_operations = true\ndispatch.mode = \"journal\"\n[failures]\nmode = \"retry\"\nretries_max = 3\n"
        "backoff_ms = 600000\nbackoff_max_ms = 600000\nbreaker_documents = 2\nbreaker_pause_ms = 600000\n"
        "breaker_pause_max_ms = 600000\n");
    for (int i = 0; i < kScans; ++i) request("scan-" + std::to_string(i));
    for (const char* id : {"hostile", "locked", "page-7", "silent"}) request(id);
    office_->settle();
    for (int i = 0; i < kScans; ++i) fail("scan-" + std::to_string(i), "permanent", "no PDF");
    fail("hostile", "permanent", kHostileError);
    fail("page-7", "permanent", "no PDF: page 7");
    fail("silent", "permanent", "");
    fail("locked", "transient", "the index is locked");
    office_->settle();
    start_browser();
  }
  // For one target: what waits for the other one would keep what is requested again.
  static void request(const std::string& id) {
    office().send("requests", id, {{"reseq-seq", "1"}, {"reseq-targets", "search"}});
  }
  static void fail(const std::string& id, const std::string& kind, const std::string& error,
                   const std::string& scope = "document") {
    office_->send("commands", id,
                  {{"reseq-command", "fail"},
                   {"reseq-seq", "1"},
                   {"reseq-target", "search"},
                   {"reseq-failure", kind},
                   {"reseq-failure-scope", scope},
                   {"reseq-error", error}});
  }
  static json row_of(const std::string& table, const std::string& column, const std::string& value) {
    for (const json& row : rows(table))
      if (row.value(column, "") == value) return row;
    return {};
  }
  static void press(const std::string& operation) {
    browser().evaluate(
        "[...document.querySelectorAll('button[data-operation]')].find((one) => "
        "one.dataset.operation === " +
        json(operation).dump() + ").click()");
  }
  static std::map<std::string, int> work() {
    std::map<std::string, int> found;
    read_all(office().application().connection(), office().application().topic("work"),
             [&](const kafka::PlainRecord& record) { ++found[std::string(record.key.value_or(""))]; });
    return found;
  }
};

TEST_F(FailuresOnThePage, AreShownByErrorWithExamplesThatOpen) {
  EXPECT_TRUE(wait_until(kShownLimit, [&] { return row_of("failures", "Error", "no PDF").value("Failed", "") == "4"; }))
      << rows("failures");
  const json scans = row_of("failures", "Error", "no PDF");
  EXPECT_EQ(scans["Tried again"], "0");
  EXPECT_THAT(scans["Documents"].get<std::string>(), ContainsRegex("^scan-[0-3], scan-[0-3], scan-[0-3]$"));
  EXPECT_EQ(row_of("failures", "Error", "the index is locked")["Tried again"], "1");
  EXPECT_THAT(browser().text("#failures-note"), HasSubstr("7 documents failed for good, 1 tried again"));
  EXPECT_THAT(browser().text("#verdict"), HasSubstr("7 documents failed for good: resequencer list --state failed"));
  browser().evaluate("document.querySelector('#failures button.link').click()");
  EXPECT_TRUE(browser().becomes("document.querySelector('#document .facts')")) << browser().text("#document");
  EXPECT_THAT(browser().text("#document"), HasSubstr("scan-"));
  EXPECT_TRUE(browser().evaluate("window.hit === undefined && !document.querySelector('img')").get<bool>());
  browser().screenshot("failures-light");
  for (const int width : {kNarrow, 320, kWide}) {
    browser().resize(width, kHeight);
    const json size = page_size();
    EXPECT_LE(size[0], size[1]) << "wider than its screen at " << width;
  }
}

TEST_F(FailuresOnThePage, AreRequestedAgainByAButtonAndNoOthersAre) {
  ASSERT_TRUE(
      wait_until(kShownLimit, [&] { return row_of("failures", "Error", "no PDF").value("Failed", "") == "4"; }));
  press("reprocess text no PDF");
  EXPECT_TRUE(wait_until(kShownLimit, [&] { return row_of("failures", "Error", "no PDF").is_null(); }))
      << rows("failures");
  std::map<std::string, int> sent = work();
  for (int i = 0; i < kScans; ++i) EXPECT_EQ(sent["scan-" + std::to_string(i)], 2);
  EXPECT_EQ(sent["hostile"], 1) << "it failed of something else";
  EXPECT_EQ(sent["locked"], 1) << "it is tried again by itself";
  EXPECT_EQ(sent["page-7"], 1) << "its error only begins so";
  EXPECT_EQ(sent["silent"], 1) << "nothing was said of it";

  const json hostile = browser().evaluate(
      "document.querySelector('#failures tr[data-key^=\"text <img\"] button[data-operation]').title");
  EXPECT_EQ(hostile,
            "resequencer reprocess --state failed --error-is "
            "$'<img src=x onerror=\"window.hit = 1\"> it\\x27s\\x0abad'");
  press("reprocess text " + kHostileError);
  EXPECT_TRUE(wait_until(kShownLimit, [&] { return work()["hostile"] == 2; })) << rows("failures");
  EXPECT_TRUE(browser().becomes("!document.querySelector('button[data-operation][disabled]')")) << "one at a time";
  EXPECT_EQ(row_of("failures", "Error", "nothing was said")["Failed"], "1");
  press("reprocess nothing");
  EXPECT_TRUE(wait_until(kShownLimit, [&] { return work()["silent"] == 2; })) << rows("failures");
  EXPECT_EQ(work()["page-7"], 1) << "its error is another one";
}

TEST_F(FailuresOnThePage, ShowTargetsThatAreDownWithAButtonAndWhenTheyWere) {
  for (int i = 0; i < kAway; ++i) request("away-" + std::to_string(i));
  office().settle();
  for (int i = 0; i < kAway; ++i) fail("away-" + std::to_string(i), "transient", "connection refused", "universal");
  office().settle();
  ASSERT_TRUE(wait_until(kShownLimit, [&] { return !row_of("targets-down", "Target", "search").is_null(); }));
  const json down = row_of("targets-down", "Target", "search");
  EXPECT_EQ(down["Last error"], "connection refused");
  EXPECT_THAT(down["Tried next"].get<std::string>(), ContainsRegex("^in (9|10) min"));
  EXPECT_THAT(browser().text("#verdict"),
              ContainsRegex("search cannot be reached in [1-4] partitions? since .*: connection refused"));
  EXPECT_THAT(rows("breaker-changes").dump(), HasSubstr("cannot be reached"));
  EXPECT_TRUE(wait_until(kShownLimit, [&] {
    return rows("breaker-changes").size() == office().run_json({"stats"})["breaker_changes"].size();
  })) << rows("breaker-changes");
  browser().screenshot("target-down-light");

  press("resume search");
  EXPECT_TRUE(wait_until(kShownLimit, [&] { return rows("targets-down").empty(); })) << rows("targets-down");
  EXPECT_TRUE(wait_until(kShownLimit, [&] {
    return rows("breaker-changes").dump().find("can be reached again") != std::string::npos;
  })) << rows("breaker-changes");
  const json events = office().payloads("events");
  EXPECT_THAT(events.dump(), HasSubstr("page op-")) << "the operation says where it came from";
}

TEST_F(FailuresOnThePage, AreOnlyTouchedByThePageItself) {
  httplib::Client client("127.0.0.1", office().http_port(1));
  const char* address = "/page/resume?target=search";
  const httplib::Headers meant = {{"Reseq-Page", "1"}};
  const httplib::Headers foreign = {{"Reseq-Page", "1"}, {"Sec-Fetch-Site", "cross-site"}};
  EXPECT_EQ(client.Post(address)->status, 403) << "a form of another page could send that";
  EXPECT_EQ(client.Post(address, foreign)->status, 403);
  EXPECT_EQ(client.Get(address, meant)->status, 405);
  const auto unknown = client.Post("/page/resume?target=serach", meant);
  EXPECT_EQ(unknown->status, 409);
  EXPECT_THAT(unknown->body, HasSubstr("there is no target \"serach\": there are search, catalogue"));
  EXPECT_EQ(client.Post("/page/reprocess", meant)->status, 409) << "it would be all that failed";
}

// Of all that the tests above have asked, and what was answered.
TEST_F(FailuresOnThePage, AreAskedForAndToldAsTheSchemasSay) {
  for (const std::string role : {"admin.requests", "admin.replies"}) {
    const std::string file = office().path(role);
    std::ofstream out(file);
    std::string all;
    for (const std::string& payload : office().payloads(role)) all += payload + "\n";
    out << all;
    out.close();
    EXPECT_THAT(all, HasSubstr(role == "admin.requests" ? "\"error_is\":" : "\"breaker_changes\":"));
    Process validate({"/usr/bin/python3", source_path("tests/admin/validate.py"),
                      source_path("schemas/" + role + ".schema.json"), file},
                     office().path("validated"));
    EXPECT_EQ(validate.wait(60'000), 0) << validate.tail();
  }
}

// The last test ends an instance.
TEST_F(FailuresOnThePage, AreNotTouchedWhereThatIsSwitchedOff) {
  fail("scan-0", "permanent", "no PDF again");  // of an attempt that nobody waits for any more
  request("left");
  office().settle();
  fail("left", "permanent", "left alone");
  office().settle();
  EXPECT_EQ(office().fleet().stop(3), 0);
  const auto process = office().application().start(3, {"RESEQ_HTTP_PAGE_OPERATIONS=false"});
  ASSERT_TRUE(wait_until(kShownLimit, [&] { return office().get(3, "/metrics").status == 200; })) << process->tail();
  httplib::Client client("127.0.0.1", office().http_port(3));
  EXPECT_EQ(client.Post("/page/resume?target=search", httplib::Headers{{"Reseq-Page", "1"}})->status, 405);
  open(3);
  ASSERT_TRUE(wait_until(kShownLimit, [&] { return !row_of("failures", "Error", "left alone").is_null(); }))
      << rows("failures");
  EXPECT_EQ(row_of("failures", "Error", "left alone")["All of them again"],
            "resequencer reprocess --state failed --error-is 'left alone'");
  EXPECT_EQ(browser().evaluate("document.querySelectorAll('button[data-operation]').length"), 0);
  EXPECT_EQ(browser().evaluate("document.querySelector('#read-only').hidden"), false);
  EXPECT_THAT(browser().complaints(), IsEmpty());
}

}  // namespace
}  // namespace reseq::test
