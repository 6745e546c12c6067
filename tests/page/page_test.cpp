// Somebody on call looks at the page of one of three instances on a real broker, in a real browser.
#include <algorithm>
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <memory>
#include <set>
#include <utility>

#include "codec/base64.h"
#include "tests/e2e/patience.h"
#include "tests/page/looking.h"
#include "tests/page/viewers.h"

namespace reseq::test {
namespace {

using nlohmann::json;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr int kDocuments = 40;  // `document-N`, of which the first half is released for both targets
constexpr int kWaiting = kDocuments / 2;
constexpr std::chrono::milliseconds kLimit{30'000};

std::string id_of(int i) {
  return "document-" + std::to_string(100 + i);
}

// Ids that would do something if they became part of a page, or of a line of a request.
const std::vector<std::string> kHostile = {"<script>window.hit = 1</script>",
                                           "\"><img src=x onerror=\"window.hit = 1\">", "'; window.hit = 1; //",
                                           "${window.hit = 1}&amp;&id=other#?/../+%41%00",
                                           "a\xE2\x80\xAE"
                                           "desrever\n\t\x01 b"};
const std::string kNoText = std::string("\xFF\xFE\x00<b>\\", 7);

class Page : public Looking {
 protected:
  static void SetUpTestSuite() {
    office_ =
        std::make_unique<Office>("registration_timeout_ms = 4000\nstarvation_after_ms = 3000\nevents = \"all\"\n");
    // These wait longest.
    for (const std::string& id : kHostile) office_->request(id, 1);
    for (std::uint64_t sequence = 1; sequence <= 2; ++sequence) office_->request(kNoText, sequence);  // so it starves
    office_->settle();
    for (int i = 0; i < kDocuments; ++i) office_->request(id_of(i), 1);
    office_->request(id_of(0), 5);  // newer
    for (int i = 0; i < kDocuments - kWaiting; ++i)
      for (const char* target : {"search", "catalogue"}) office_->result(id_of(i), i == 0 ? 5 : 1, target);
    office_->garbage();
    office_->settle();
    for (int i = 0; i < 3; ++i) office_->result(id_of(i), 0, "search");  // late
    office_->result(id_of(0), 1, "search");                              // late
    office_->settle();
    start_browser();
  }
};

// A number as the page writes it, or 0 for a dash.
std::int64_t number_of(const json& cell) {
  std::string digits;
  for (const char one : cell.get<std::string>())
    if (one >= '0' && one <= '9') digits += one;
  return digits.empty() ? 0 : std::stoll(digits);
}

// What a row of the page says of a partition, from the answer to `stats`.
json expected_row(const json& part) {
  json row = {{"Partition", part["partition"]}, {"State", part["state"]}};
  row["Instance"] = part["instance"];
  for (const char* input : {"requests", "control", "commands"})
    row[std::string("Lag ") + input] = part["inputs"][input].value("lag", 0);
  for (const auto& [name, column] : {std::pair("live", "Live"), {"overdue", "Overdue"}, {"starving", "Starving"}})
    row[column] = part["documents"].value(name, -1);
  return row;
}

json shown_row(const json& cells) {
  json row = {{"Partition", number_of(cells["Partition"])}, {"State", cells["State"]}, {"Instance", cells["Instance"]}};
  for (const char* column : {"Lag requests", "Lag control", "Lag commands", "Live", "Overdue", "Starving"})
    row[column] = number_of(cells[column]);
  return row;
}

TEST_F(Page, ShowsOfEachPartitionWhatTheInstancesAnswer) {
  json shown;
  json expected;
  const bool equal = wait_until(kLimit, [&] {
    expected = shown = json::array();
    const json all = office().run_json({"stats"});
    for (const json& part : all["partitions"]) expected.push_back(expected_row(part));
    for (const json& row : rows("partitions")) shown.push_back(shown_row(row));
    // All that wait are overdue by then, and the survey has seen it.
    return shown == expected && number_of(browser().text("#tile-overdue .value")) ==
                                    static_cast<std::int64_t>(kWaiting + kHostile.size() + 1);
  });
  EXPECT_TRUE(equal) << shown << "\n" << expected << "\n" << browser().text("#tiles");
  EXPECT_EQ(shown.size(), static_cast<std::size_t>(Office::kPartitions));
  EXPECT_EQ(browser().text("#tile-completed .value"), std::to_string(kDocuments - kWaiting));
  EXPECT_EQ(browser().text("#tile-running .value"), "4 of 4");
  EXPECT_EQ(browser().text("#tile-lag .value"), "0");
  EXPECT_EQ(browser().text("#tile-starving .value"), "1");
  EXPECT_THAT(browser().text("#tile-oldest .value"), HasSubstr(" s"));
  browser().screenshot("wide-light");
}

TEST_F(Page, ShowsWhatWaitsForEachTargetAndWhatItGot) {
  const std::string waits = std::to_string(kWaiting + kHostile.size() + 1);
  json shown;
  EXPECT_TRUE(wait_until(kLimit, [&] {
    shown = rows("targets");
    return shown.size() == 2 && shown[0]["Overdue"] == waits && shown[1]["Overdue"] == waits;
  })) << shown;
  EXPECT_EQ(shown[0]["Target"], "search");
  EXPECT_EQ(shown[0]["Waiting"], waits);
  EXPECT_THAT(shown[1]["Oldest waits"].get<std::string>(), HasSubstr(" s"));
  EXPECT_THAT(shown[1]["Last release"].get<std::string>(), testing::EndsWith(" ago"));
}

TEST_F(Page, ShowsOutcomesByReasonAndHowLateResultsWere) {
  std::map<std::string, std::int64_t> expected;
  const json all = office().run_json({"stats"});
  for (const json& part : all["partitions"])
    for (const auto& [outcome, reasons] : part["outcomes"].items())
      for (const auto& [reason, count] : reasons.items())
        expected[outcome + " " + (reason == "none" ? "" : reason)] += count.get<std::int64_t>();
  std::map<std::string, std::int64_t> shown;
  for (const json& row : rows("outcomes")) {
    std::string name = row["Outcome"].get<std::string>() + "|" + row["Reason"].get<std::string>();
    for (const char written : {' ', '-'}) std::replace(name.begin(), name.end(), written, '_');
    std::replace(name.begin(), name.end(), '|', ' ');
    shown[name] = number_of(row["Inputs"]);
  }
  EXPECT_EQ(shown, expected);
  EXPECT_EQ(shown["dropped stale"], 4);
  EXPECT_EQ(shown["dead_lettered missing_sequence"], 1);
  const json counts =
      browser().evaluate("[...document.querySelectorAll('#lateness b')].map((one) => +one.textContent)");
  std::int64_t late = 0;
  for (const json& count : counts) late += count.get<std::int64_t>();
  EXPECT_EQ(late, 4) << browser().text("#lateness");
}

TEST_F(Page, ShowsWhichInstancesThereAre) {
  const json topology = office().run_json({"topology"});
  const json shown = rows("instances");
  ASSERT_EQ(shown.size(), static_cast<std::size_t>(Office::kInstances)) << shown;
  for (int i = 0; i < Office::kInstances; ++i) {
    const std::string name = std::to_string(i + 1);
    std::string owned;
    for (const json& part : topology["partitions"])
      if (part["instance"] == name) owned += (owned.empty() ? "" : ", ") + std::to_string(part["partition"].get<int>());
    const json& row = shown[static_cast<std::size_t>(i)];
    EXPECT_EQ(row["Instance"], i == 0 ? "1, serves this page" : name);
    EXPECT_EQ(row["State"], "answers");
    EXPECT_EQ(row["Partitions"], owned);
  }
}

TEST_F(Page, MovesWithNewRecordsWithoutBeingLoadedAgain) {
  browser().evaluate("window.sameLoad = true");
  const auto live = number_of(browser().text("#tile-live .value"));
  for (int i = 0; i < 300; ++i) office().request("moving-" + std::to_string(i), 1);
  office().settle();
  const std::string more = std::to_string(live + 300);
  EXPECT_TRUE(browser().becomes("document.querySelector('#tile-live .value').textContent === '" + more + "'"))
      << browser().text("#tiles");
  EXPECT_TRUE(browser().becomes("parseFloat(document.querySelector('#tile-inputs .value').textContent) > 0"));
  EXPECT_TRUE(browser().becomes(
      "parseFloat(document.querySelector('#chart-outcomes [data-series=forwarded] b').textContent) > 0"));
  for (int i = 0; i < 300; ++i)
    for (const char* target : {"search", "catalogue"}) office().result("moving-" + std::to_string(i), 1, target);
  office().settle();
  EXPECT_TRUE(
      browser().becomes("document.querySelector('#tile-live .value').textContent === '" + std::to_string(live) + "'"));
  EXPECT_EQ(browser().evaluate("window.sameLoad"), true);
  // Lines, not single points.
  EXPECT_TRUE(browser().becomes("document.querySelector('#chart-live path.line').getAttribute('d').includes('L')"));
}

TEST_F(Page, FindsADocumentWhereverItIsWithItsTimeline) {
  for (const int i : {0, 1, 2, 3, kDocuments - 1}) {
    const json why = office().run_json({"why", id_of(i)});
    const std::string text = look_up(id_of(i));
    const json part = why["partitions"][0];
    const json row = part["documents"][0];
    EXPECT_THAT(text, HasSubstr("partition " + part["partition"].dump() + ", instance " +
                                part["instance"].get<std::string>() + ","));
    EXPECT_THAT(text, HasSubstr("State" + row["state"].get<std::string>()));
    EXPECT_THAT(text, HasSubstr(row.value("last_version", "")));
    const json events = browser().evaluate(
        "[...document.querySelectorAll('.timeline tbody tr')].map((row) => [...row.cells].map((cell) => "
        "cell.textContent))");
    ASSERT_EQ(events.size(), why["events"].size()) << text;
    for (std::size_t k = 0; k < events.size(); ++k) {
      const json& event = why["events"][k]["event"];
      EXPECT_EQ(events[k][0], why["events"][k]["time"]);
      const std::string outcome = event["kind"] == "outcome" ? event["outcome"] : event["kind"];
      const int times = why["events"][k].value("count", 1);
      EXPECT_EQ(events[k][1], outcome + (times > 1 ? ", " + std::to_string(times) + " times" : ""));
      EXPECT_EQ(events[k][2], event.value("reason", "–"));
      EXPECT_EQ(events[k][3], event["order"]["seq"]);
      EXPECT_EQ(events[k][6], event.value("version", "–"));
    }
  }
  EXPECT_THAT(browser().text(".standing"), HasSubstr("waits for the result of 1, for "));
  look_up(id_of(0));
  EXPECT_THAT(browser().text(".standing"), HasSubstr("search released 5, the newest for it"));
  browser().screenshot("document-light");
  EXPECT_THAT(look_up("never seen"), HasSubstr("Not known: it was never requested"));
}

TEST_F(Page, NamesTheDocumentsThatWaitLongestAndOpensThem) {
  constexpr std::size_t kShown = 10;
  json waiting = office().run_json({"list", "--state", "overdue", "--max", "100"})["documents"];
  ASSERT_EQ(waiting.size(), kWaiting + kHostile.size() + 1);
  std::vector<std::string> since;
  for (const json& document : waiting) since.push_back(document["waiting"][0]["since"]);
  std::sort(since.begin(), since.end());
  since.resize(kShown);
  std::vector<std::string> shown;
  ASSERT_TRUE(wait_until(kLimit, [&] {
    shown.clear();
    for (const json& row : rows("waiting"))
      if (row["State"] == "overdue") shown.push_back(row["Since"]);
    return shown == since;
  })) << rows("waiting");

  std::set<std::string> opened;
  for (std::size_t i = 0; i < kHostile.size() + 1; ++i) {
    browser().evaluate(
        "(() => { document.querySelector('#document').replaceChildren(); "
        "document.querySelectorAll('#waiting button')[" +
        std::to_string(i) + "].click(); })()");
    ASSERT_TRUE(browser().becomes("document.querySelector('#document .facts')")) << browser().text("#document");
    opened.insert(browser().text("#document h2 .id"));
    EXPECT_THAT(browser().text(".facts"), HasSubstr("overdue"));
  }
  EXPECT_EQ(opened.size(), kHostile.size() + 1);
  EXPECT_TRUE(opened.contains(kHostile[0]));
  EXPECT_TRUE(browser().evaluate("window.hit === undefined").get<bool>());
  browser().screenshot("waiting-light");
}

TEST_F(Page, ShowsIdsAsTheyAreAndObeysNone) {
  const json elements = browser().evaluate("document.querySelectorAll('script, img, iframe, b[onclick]').length");
  for (const std::string& id : kHostile) {
    // An input of one line has no line breaks; the last id has one.
    const bool typed = id.find('\n') == std::string::npos;
    const std::string text = typed ? look_up(id) : look_up(codec::base64(id), "base64");
    EXPECT_THAT(text, HasSubstr("forwarded")) << id;
    EXPECT_TRUE(!typed || browser().text("#document h2 .id") == id) << id;
  }
  EXPECT_EQ(browser().text("#document h2 .id"), "a\\u202edesrever\\u000a\\u0009\\u0001 b");
  EXPECT_THAT(look_up(codec::base64(kNoText), "base64"),
              HasSubstr("Its id is no UTF-8. In base64: " + codec::base64(kNoText)));
  EXPECT_EQ(browser().text("#document h2 .id"), "\\xff\\xfe\\x00<b>\\x5c");
  EXPECT_THAT(browser().text("#document"), HasSubstr("forwarded"));
  browser().screenshot("hostile-light");
  EXPECT_EQ(browser().evaluate("window.hit ?? null"), json());
  EXPECT_EQ(browser().evaluate("document.querySelectorAll('script, img, iframe, b[onclick]').length"), elements);
  // Were one to get in all the same, the browser would not obey it either.
  browser().evaluate(
      "(() => { const one = document.createElement('script'); try { one.text = 'window.hit = 1'; "
      "document.body.append(one); } catch { } })()");
  EXPECT_EQ(browser().evaluate("window.hit ?? null"), json());
}

TEST_F(Page, TakesTheLongestIdAndNoLongerOne) {
  const std::string longest(4096, '?');  // base64 of it has only characters that a URL would have to escape
  EXPECT_THAT(look_up(longest), HasSubstr("Not known"));
  browser().resize(kNarrow, kHeight);
  EXPECT_LE(page_size()[0], kNarrow);
  browser().resize(kWide, kHeight);
  browser().evaluate(
      "(() => { const form = document.querySelector('#search'); form.elements.id.value = 'x'.repeat(4097); "
      "form.requestSubmit(); })()");
  EXPECT_EQ(browser().text("#document"), "An id has at most 4,096 bytes.");
  for (const std::string& id : {std::string(5464, 'A'), std::string("a+b"), std::string("="), std::string()})
    EXPECT_EQ(office().get(1, "/page/document?id=" + id).status, 400) << id.size();
  EXPECT_EQ(office().get(1, "/page/document?id=" + std::string(20'000, 'A')).status, 414);
  EXPECT_EQ(office().get(1, "/page/document").status, 400);
}

TEST_F(Page, CanBeReadInLightAndInDarkAndOnANarrowScreen) {
  // WCAG: contrast of a text with what is behind it.
  const std::string contrast = R"js((() => {
    const light = (colour) => colour.match(/[\d.]+/g).slice(0, 3).map((one) => one / 255)
      .map((one) => (one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4))
      .reduce((all, one, i) => all + one * [0.2126, 0.7152, 0.0722][i], 0);
    const behind = (element) => {
      for (let at = element; at; at = at.parentElement) {
        const colour = getComputedStyle(at).backgroundColor;
        if (!/, 0\)$/.test(colour)) return colour;
      }
    };
    return Math.min(...[...document.querySelectorAll('body *')]
      .filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()))
      .filter((one) => one.checkVisibility() && !one.closest('script, option'))
      .map((one) => [light(getComputedStyle(one).color), light(behind(one))].sort((a, b) => b - a))
      .map(([more, less]) => (more + 0.05) / (less + 0.05)));
  })())js";
  look_up(id_of(kDocuments - 1));
  std::string last;
  for (const std::string scheme : {"light", "dark"}) {
    browser().prefer(scheme);
    EXPECT_GE(browser().evaluate(contrast).get<double>(), 4.5) << scheme;
    const std::string back = browser().evaluate("getComputedStyle(document.body).backgroundColor");
    EXPECT_NE(back, last);
    last = back;
    for (const int width : {kWide, 1160, 800, kNarrow, 320}) {
      browser().resize(width, kHeight);
      EXPECT_LE(page_size()[0], width) << scheme;
      if (width != 320) browser().screenshot("at-" + std::to_string(width) + "-" + scheme);
    }
  }
  browser().prefer("light");
  browser().resize(kWide, kHeight);
  // Everything that is led by hand has a name, and figures tell what they show.
  EXPECT_EQ(browser().evaluate("[...document.querySelectorAll('input, select')].every((one) => one.labels.length)"),
            true);
  EXPECT_EQ(browser().evaluate("[...document.querySelectorAll('[role=img]')].every((one) => "
                               "/now: .*[0-9a-z]/.test(one.getAttribute('aria-label')))"),
            true);
}

TEST_F(Page, StaysWithinANarrowScreenHoweverLongItsFiguresAre) {
  // In one step, because the next picture writes the true figures again.
  const std::string widest = R"js((() => {
    for (const one of document.querySelectorAll('td.number, .tiles .value, .bars b, .legend b'))
      one.textContent = /[a-z]/.test(one.textContent) ? '59 min 59 s' : '1,234,567,890';
    return [document.documentElement.scrollWidth,
            ...[...document.querySelectorAll('.tiles > div')].map((one) => one.scrollWidth - one.clientWidth + 320)];
  })())js";
  ASSERT_NE(rows("letters"), json::array());
  for (const int width : {kWide, 1160, 800, kNarrow, 320}) {
    browser().resize(width, kHeight);
    EXPECT_LE(browser().evaluate(widest)[0], width);
  }
  // At 320: no tile lets anything hang out.
  EXPECT_THAT(browser().evaluate(widest).get<std::vector<int>>(), Each(testing::Le(320)));
  browser().resize(kWide, kHeight);
}

// Pictures of what is hard to bring about, given to the scripts of the page.
TEST_F(Page, TellsWhatIsWrongTheWorstFirst) {
  const std::string told = R"js((async () => {
    const { Memory, troubles } = await import('/page/overview.js');
    const now = Date.parse('2026-01-02T03:04:05Z');
    const part = (partition, more) => ({ partition, instance: '1', state: 'running', ...more });
    const picture = {
      time: '2026-01-02T03:04:05Z', partitions_total: 6, instances: [{ instance: '1' }],
      targets: [
        { target: 'search', waiting: 3, quiet_ms: 7e4, released_ms_ago: 7e4, oldest_waits_since:
          '2026-01-02T03:02:05Z' },
        { target: 'slow', waiting: 3, quiet_ms: 70000, oldest_waits_since: '2026-01-02T03:03:55Z' },
        { target: 'busy', waiting: 3, quiet_ms: 900, oldest_waits_since: '2026-01-02T03:02:05Z' },
        { target: 'done', waiting: 0, quiet_ms: 70000 }], partitions: [
        part(0, { state: 'restore', restore: { from: 100, position: 150, target: 300 } }),
        part(1, { inputs: { commands: { decided: 1, lag: 5, stalled_ms: 65000 } } }),
        part(2, { documents: { live: 3, completed: 0, overdue: 2, starving: 1, only_older_requests: 49 } }),
        part(5, { paused: true, documents: { live: 0, completed: 9, only_older_requests: 1 } }),
        part(3, { state: 'parked', checkpoint_error: 'no space', parked: { reason: 'keeps_aborting',
                  detail: `a${String.fromCharCode(0x202e)}b`, first_step: 'do c' } })],
    };
    const memory = new Memory();
    memory.take(picture, now);
    return troubles(picture, memory, now).map(({ bad, text }) => (bad ? 'bad ' : '') + text);
  })())js";
  EXPECT_EQ(
      browser().evaluate(told),
      json::array(
          {"bad Partition 3 is parked: keeps aborting: a\\u202eb: do c",
           "bad The copy of partition 3 cannot be written to disk: no space. Nothing is lost; a restart reads more "
           "of the changelog",
           "bad No instance answers for 1 partition: 4",
           "Partition 5 is paused by an operator and decides nothing: resequencer resume --partition 5",
           "Partition 0 is being taken over: restore: 25 %, 150 offsets left",
           "Reading commands of partition 1 stands still since 03:03:00: a transaction is open there",
           "2 documents overdue: resequencer list --state overdue names them",
           "1 document starving: resequencer list --state starving names them",
           "50 documents got only requests that are older than the newest one: if a producer's counter has "
           "started again, it has to raise reseq-epoch, or resequencer reset does",
           "search: no result for 1 min 10 s, and 3 documents wait, the first for 2 min: look at your workers"}));
}

TEST_F(Page, HidesNothingBehindManyTroublesOfOneKind) {
  const std::string told = R"js((async () => {
    const { Memory, troubles } = await import('/page/overview.js');
    const parked = Array.from({ length: 40 }, (_, partition) => ({ partition, instance: '1', state: 'parked',
      parked: { reason: 'no_meta_row', detail: 'd' } }));
    const overdue = { partition: 40, instance: '1', state: 'running', documents: { live: 3, overdue: 2 } };
    const picture = { partitions_total: 41, instances: [{ instance: '1' }], partitions: [...parked, overdue] };
    const now = Date.parse('2026-01-02T03:04:05Z');
    const memory = new Memory();
    memory.take(picture, now);
    return troubles(picture, memory, now).map(({ bad, text }) => (bad ? 'bad ' : '') + text);
  })())js";
  EXPECT_EQ(
      browser().evaluate(told),
      json::array({"bad Partition 0 is parked: no meta row: d", "bad Partition 1 is parked: no meta row: d",
                   "bad And 38 partitions more parked: 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, "
                   "19, 20, 21, …",
                   "2 documents overdue: resequencer list --state overdue names them"}));
}

TEST_F(Page, IsForThisHostAndForAFewAtATime) {
  httplib::Client client("127.0.0.1", office().http_port(2));
  EXPECT_EQ(client.Get("/", {{"Host", "rebound.example:80"}})->status, 403);
  EXPECT_EQ(client.Get("/metrics", {{"Host", "rebound.example:80"}})->status, 200);
  EXPECT_EQ(client.Get("/page/document?id=YQ", {{"Sec-Fetch-Site", "cross-site"}})->status, 403);
  EXPECT_EQ(client.Post("/page/document?id=YQ", "", "text/plain")->status, 405);
  auto viewers = std::make_unique<Viewers>(office().http_port(2));
  EXPECT_TRUE(wait_until(kLimit, [&] { return viewers->heard() == kViewersMax; })) << viewers->heard();
  const Office::Got refused = office().get(2, "/page/pictures");
  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.body, HasSubstr("no more than 8 of these at once"));
  EXPECT_EQ(office().get(2, "/readyz").status, 200);
  // A page says so, and becomes live when there is room.
  browser().open(address(2) + "/");
  EXPECT_TRUE(browser().becomes("document.querySelector('#verdict').textContent.includes('too many pages')"))
      << browser().text("body");
  viewers.reset();
  EXPECT_TRUE(browser().becomes("document.querySelector('#stream').textContent === 'live'")) << browser().text("body");
}

TEST_F(Page, AsksOnceInAWhileWhileNobodyLooks) {
  browser().open("about:blank");
  std::this_thread::sleep_for(std::chrono::seconds(1));  // the connection of the page that was left ends
  const auto before = office().payloads("admin.requests").size();
  std::this_thread::sleep_for(std::chrono::seconds(18));
  const auto asked = office().payloads("admin.requests").size() - before;
  EXPECT_LE(asked, 3U) << "of three instances one asks for all, every 15 s";
  EXPECT_TRUE(wait_until(kLimit, [&] { return office().payloads("admin.requests").size() > before; }));
  open(1);
  EXPECT_TRUE(wait_until(kLimit, [&] { return office().payloads("admin.requests").size() > before + asked; }));
}

// The last tests end instances.
TEST_F(Page, ShowsThatAnInstanceWasKilledAndWhoGoesOn) {
  const auto lost = office().fleet().partitions_of(3);
  ASSERT_FALSE(lost.empty());
  office().fleet().kill(3);
  EXPECT_TRUE(
      browser().becomes("[...document.querySelectorAll('#instances tr[data-key=\"3\"]')].some((row) => "
                        "row.textContent.includes('no answer for'))"))
      << browser().text("#instances");
  EXPECT_THAT(browser().text("#verdict"), HasSubstr("Instance 3 answered last at "));
  EXPECT_THAT(browser().text("#verdict"), HasSubstr("No instance answers for "));
  EXPECT_THAT(browser().text("#partitions tr[data-key=\"" + std::to_string(lost.front()) + "\"]"),
              HasSubstr("(was 3)no instance answers"));
  browser().screenshot("killed-light");
  // session.timeout.ms is 6 s in these tests.
  EXPECT_TRUE(browser().becomes("document.querySelector('#tile-running .value').textContent === '4 of 4'"))
      << browser().text("#partitions");
  for (const json& row : rows("partitions")) EXPECT_THAT(row["Instance"].get<std::string>(), Not(StartsWith("3")));
  EXPECT_THAT(browser().text("#instances tr[data-key=\"3\"]"), HasSubstr("no answer for"));
}

TEST_F(Page, HasLoadedNothingFromElsewhereAndMetNoError) {
  const auto requested = browser().requested();
  EXPECT_GT(requested.size(), 10U);
  EXPECT_THAT(requested, Each(testing::AnyOf(StartsWith("http://127.0.0.1:"), StartsWith("about:"))));
  std::vector<std::string> errors;
  for (const std::string& line : browser().complaints())
    // Of the tests above: the script that was put in on purpose, and the stream that was refused.
    if (line.find("trusted") == std::string::npos && line.find("Trusted") == std::string::npos &&
        line.find("503") == std::string::npos && line.find("Content Security Policy") == std::string::npos)
      errors.push_back(line);
  EXPECT_THAT(errors, IsEmpty());
}

TEST_F(Page, SaysThatItIsNotLiveAnyMore) {
  // Who looks does not hold up the end.
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(office().fleet().stop(1), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(10));
  EXPECT_TRUE(browser().becomes("document.querySelector('#stream').textContent === 'not live'"));
  EXPECT_TRUE(
      browser().becomes("/cannot be reached.*What is shown is .* old/.test("
                        "document.querySelector('#verdict').textContent)"))
      << browser().text("#verdict");
  EXPECT_EQ(browser().text("#tile-running .value"), "4 of 4") << "what was known last stays";
  browser().screenshot("lost-light");
}

TEST_F(Page, IsNotThereWhereItIsSwitchedOff) {
  const auto process = office().application().start(3, {"RESEQ_HTTP_PAGE=false"});
  ASSERT_TRUE(wait_until(kLimit, [&] { return office().get(3, "/metrics").status == 200; })) << process->tail();
  for (const char* path : {"/", "/page/page.js", "/page/pictures", "/page/document?id=YQ"})
    EXPECT_EQ(office().get(3, path).status, 404) << path;
}

}  // namespace
}  // namespace reseq::test
