// What the page tells of a document that a ticket is about: in a real browser, on a real broker.
#include <algorithm>
#include <gmock/gmock.h>

#include "codec/hash.h"
#include "tests/page/looking.h"

namespace reseq::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Ticket : public Looking {
 protected:
  static void SetUpTestSuite() {
    office_ = std::make_unique<Office>("events = \"all\"\n");
    office_->garbage();
    office_->settle();
    start_browser();
  }
};

// One dead letter is there, and none has come for a while.
TEST_F(Ticket, IsNotGreenWhileThereAreDeadLetters) {
  EXPECT_TRUE(browser().becomes("document.querySelector('#letters tbody tr')")) << browser().text("#letters");
  const json shown = rows("letters");
  ASSERT_EQ(shown.size(), 1U) << shown;
  EXPECT_EQ(shown[0]["Reason"], "missing sequence");
  EXPECT_EQ(shown[0]["Letters"], "1");
  EXPECT_THAT(browser().text("#verdict"),
              testing::ContainsRegex("1 dead letter, the newest .* old: 1 missing sequence"));
  EXPECT_THAT(browser().text("#letters-note"), HasSubstr("that their topic holds"));
  EXPECT_THAT(look_up("no sequence"), HasSubstr("No target knows it: none of its requests was accepted"));
  EXPECT_THAT(browser().text("#document"), HasSubstr(": missing sequence, from "));
}

TEST_F(Ticket, SaysWhereAMisroutedRecordBelongsAndWhatHelps) {
  std::string id = "astray-";
  Partition wrong;
  Partition right;
  while (right == wrong) {
    id += "x";
    wrong = codec::partition_of(id, Partitioner::kCrc32, Office::kPartitions);
    right = codec::partition_of(id, Partitioner::kMurmur2, Office::kPartitions);
  }
  office().send("requests", id, {{"reseq-seq", "1"}}, {}, wrong);
  office().settle();
  EXPECT_THAT(look_up(id), HasSubstr("misrouted, from "));
  EXPECT_THAT(browser().text("#document"),
              HasSubstr(". It belongs to partition " + std::to_string(right.value()) +
                        "; it lay where crc32 puts it: the client that wrote it needs partitioner=murmur2_random"));
}

TEST_F(Ticket, SaysWhatThereWasNoTimeToRead) {
  const std::string told = R"js((async () => {
    const { documentParts } = await import('/page/document.js');
    const unread = (offsets) => ({ offsets, of: 1234567, partition: 2, before: '2026-01-02T03:04:05Z' });
    const found = { id: 'a', complete: true, events_unread: unread(1000000), letters_unread: unread(5000) };
    const buttons = { close: document.createElement('button'), showMore: document.createElement('button') };
    return documentParts(found, Date.now(), buttons).map((part) => part.textContent).join(' ');
  })())js";
  const std::string text = browser().evaluate(told);
  EXPECT_THAT(text, HasSubstr("or its requests are dead letters that were not read."));
  for (const std::string unread :
       {"1,000,000 of 1,234,567 offsets of the events", "5,000 of 1,234,567 offsets of the dead letters"})
    EXPECT_THAT(text,
                HasSubstr("Not read: the oldest " + unread + ", partition 2, written before 2026-01-02T03:04:05Z."));
}

// An instance knows of no release before it began, and the other one of none that it made itself.
TEST_F(Ticket, SaysForHowLongATargetGotNothingAtLeastWhereAnInstanceWasStartedSince) {
  const std::string told = R"js((async () => {
    const { Memory, troubles } = await import('/page/overview.js');
    const picture = { instances: [], partitions: [], targets: [{ target: 'search', waiting: 3, quiet_ms: 70000,
      released_ms_ago: 200000, oldest_waits_since: '2026-01-02T03:02:05Z' }] };
    const now = Date.parse('2026-01-02T03:04:05Z');
    const memory = new Memory();
    memory.take(picture, now);
    return troubles(picture, memory, now).map(({ text }) => text).join('; ');
  })())js";
  EXPECT_THAT(browser().evaluate(told).get<std::string>(), HasSubstr("no result for at least 1 min 10 s"));
}

// The picture of docs/page.md and README.md is made here: late-result.png in the folder of screenshots.
TEST_F(Ticket, TellsWhatBecameOfALateResult) {
  for (const std::uint64_t sequence : {1U, 2U}) office().request("coat-17", sequence);
  office().settle();
  for (const char* target : {"search", "catalogue"}) office().result("coat-17", 2, target);
  office().settle();
  office().result("coat-17", 1, "search");  // too late
  office().settle();
  const std::string shown = look_up("coat-17");
  EXPECT_THAT(shown, testing::ContainsRegex("search.*released.*2, the newest for it"));
  EXPECT_THAT(shown, HasSubstr("stale"));
  browser().screenshot("late-result", Browser::Shot::kWindow);
}

TEST_F(Ticket, SaysThatOlderRequestsCameBehindTheNewest) {
  office().request("counter", 5);
  office().settle();
  EXPECT_THAT(look_up("counter"), Not(HasSubstr("older")));
  for (const std::uint64_t sequence : {2U, 3U}) office().request("counter", sequence);
  office().settle();
  EXPECT_THAT(look_up("counter"),
              HasSubstr("Behind its newest request came 2 older ones, the last of them 3: a change"));
}

// What is pasted into a ticket opens the same document, and what is below it stays in reach.
TEST_F(Ticket, GivesADocumentAnAddressAndLittleRoom) {
  for (int i = 0; i < 30; ++i) {
    office().result("hot'&?id=1", 50, "search");  // dead letters
    office().request("hot'&?id=1", 1);
    office().settle();
  }
  look_up("hot'&?id=1");
  const std::string pasted = browser().evaluate("location.href");
  EXPECT_EQ(pasted, address(1) + "/?id=hot%27%26%3Fid%3D1");
  EXPECT_EQ(browser().evaluate("document.querySelectorAll('.timeline tbody tr').length"), 20);
  EXPECT_LE(browser().evaluate("document.querySelector('.scroll').clientHeight / innerHeight").get<double>(), 0.61);
  browser().screenshot("hot-light");
  browser().evaluate("document.querySelector('#document .more').click()");
  EXPECT_TRUE(browser().becomes("document.querySelectorAll('.timeline tbody tr').length >= 31"));
  browser().evaluate("document.querySelector('#document .close').click()");
  EXPECT_EQ(browser().evaluate("location.href"), address(1) + "/");
  browser().open(pasted);
  EXPECT_TRUE(browser().becomes("document.querySelector('#document h2 .id')?.textContent === \"hot'&?id=1\""))
      << browser().text("#document");
  browser().open(address(1) + "/?id_base64=" + "__4APGI-XA");
  EXPECT_TRUE(
      browser().becomes("document.querySelector('#document h2 .id')?.textContent === "
                        "'\\\\xff\\\\xfe\\\\x00<b>\\\\x5c'"))
      << browser().text("#document");
  open(1);
}

TEST_F(Ticket, LeavesNoChartAloneBesideAGap) {
  for (const int width : {1800, kWide, 1160, 800, kNarrow}) {
    browser().resize(width, kHeight);
    const json in_row = browser().evaluate(
        "Object.values(Object.groupBy(document.querySelectorAll('.charts figure'), (one) => one.offsetTop))"
        ".map((row) => row.length)");
    EXPECT_TRUE(std::all_of(in_row.begin(), in_row.end(), [&](const json& one) { return one == in_row[0]; }))
        << width << ": " << in_row;
  }
  browser().resize(kWide, kHeight);
}

TEST_F(Ticket, SaysWhatWasDeletedByWhatAndWhen) {
  office().request("deleted", 1);
  office().result("deleted", 1, "search");
  office().settle();
  office().send("requests", "deleted", {{"reseq-seq", "2"}, {"reseq-op", "delete"}});
  office().send(
      "commands", "deleted",
      {{"reseq-seq", "2"}, {"reseq-op", "delete"}, {"reseq-command", "sequence"}, {"reseq-target", "search"}});
  office().settle();
  look_up("deleted");
  EXPECT_THAT(browser().text(".standing"), HasSubstr("search deleted by 2 at 20"));
  EXPECT_THAT(browser().text(".standing"), HasSubstr("waits for the result of 2, which was requested as a delete"));
  EXPECT_THAT(browser().text(".facts"), HasSubstr("Deletedsearch by 2 at 20"));
}

}  // namespace
}  // namespace reseq::test
