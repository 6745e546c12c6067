// The small parts: places, the list of the worst, the tally on paper, what a report says.
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <regex>
#include <set>

#include "observe/places.h"
#include "observe/report.h"
#include "tests/support/process.h"
#include "tests/support/source_path.h"

namespace reseq::test {
namespace {

using observe::Advice;
using observe::Json;
using observe::Place;
using observe::Places;
using observe::Seen;
using observe::Tally;
using observe::TopList;
using testing::HasSubstr;
using testing::Not;

TEST(Places, AreTheKeyOrAHeader) {
  EXPECT_EQ(observe::parse_place("key"), Place{});
  EXPECT_EQ(observe::parse_place("header:v"), Place{"v"});
  for (const char* wrong : {"", "header:", "header", "payload", "Key"}) EXPECT_FALSE(observe::parse_place(wrong));
}

Reason refusal(const codec::InputRecord& record, const Places& places) {
  const Command command = observe::decode(record, places, SequenceKind::kU64, TargetTable({"search"}));
  const auto* refused = std::get_if<Refused>(&command);
  return refused == nullptr ? Reason::kNone : refused->reason;
}

TEST(Places, SayWhatARecordLacks) {
  const Places by_key{Place{}, Place{"v"}, Place{"t"}};
  const std::string long_id(kMaxIdBytes + 1, 'x');
  const std::vector<Header> good = {{"v", "x"}, {"v", "12"}, {"t", "search"}};
  const std::vector<Header> null = {{"v", "12"}, {"v", std::nullopt}};
  const std::vector<Header> malformed = {{"v", "-1"}, {"t", "search"}};
  const std::vector<Header> elsewhere = {{"v", "1"}, {"t", "lake"}};
  const std::vector<Header> nowhere = {{"v", "1"}};
  const auto record = [](std::optional<std::string_view> key, std::span<const Header> headers) {
    return codec::InputRecord{Role::kCommands, {}, {}, {}, key, {}, headers, {}};
  };
  EXPECT_EQ(refusal(record("a", good), by_key), Reason::kNone);
  EXPECT_EQ(refusal(record(std::nullopt, good), by_key), Reason::kMissingId);
  EXPECT_EQ(refusal(record("", good), by_key), Reason::kEmptyId);
  EXPECT_EQ(refusal(record(long_id, good), by_key), Reason::kIdTooLong);
  EXPECT_EQ(refusal(record("a", null), by_key), Reason::kMissingSequence);
  EXPECT_EQ(refusal(record("a", {}), by_key), Reason::kMissingSequence);
  EXPECT_EQ(refusal(record("a", malformed), by_key), Reason::kMalformedSequence);
  EXPECT_EQ(refusal(record("a", elsewhere), by_key), Reason::kUnknownTarget);
  EXPECT_EQ(refusal(record("a", nowhere), by_key), Reason::kMissingTarget);
  const Places by_header{Place{"t"}, Place{"v"}, std::nullopt};
  EXPECT_EQ(refusal(record(std::nullopt, good), by_header), Reason::kNone);
}

TEST(TopList, IsExactWhileThereIsRoomAndNeverTooLow) {
  TopList list;
  for (int i = 0; i < 10; ++i)
    for (int n = 0; n <= i; ++n) list.add("d" + std::to_string(i));
  const auto top = list.highest(3);
  ASSERT_EQ(top.size(), 3U);
  EXPECT_EQ(top[0].name, "d9");
  EXPECT_EQ(top[0].count, 10U);
  EXPECT_EQ(top[0].error, 0U);
  for (int i = 0; i < 1000; ++i) {
    list.add("other" + std::to_string(i));
    list.add("hot");
  }
  const auto hot = list.highest(1).front();
  EXPECT_EQ(hot.name, "hot");
  EXPECT_GE(hot.count, 1000U);
  EXPECT_LE(hot.count - hot.error, 1000U);
  EXPECT_EQ(list.highest(100'000).size(), TopList::kEntriesMax);
  list.add(std::string(5000, 'x'));
  list.add(std::string(5000, 'x') + "y");
}

Seen seen_of(Tally tally) {
  Seen seen;
  seen.tally = std::move(tally);
  seen.input = {"orders", 3, 0, kafka::TopicFacts{.partitions = 3, .retention_ms = 86'400'000}};
  seen.output = {"indexed", 3, 0, std::nullopt};
  return seen;
}

Tally filled() {
  Tally tally;
  tally.requests = 300;
  tally.registered = 299;
  tally.reused = 1;
  tally.results = 305;
  tally.in_order = 300;
  tally.out_of_order = 3;
  tally.duplicates = 1;
  tally.superseded = 200;
  tally.unregistered = 2;
  tally.results_refused[static_cast<std::size_t>(Reason::kMissingSequence)] = 1;
  tally.table_rows[static_cast<std::size_t>(TableRow::kS6)] = 3;
  tally.input_routing = {300, 299, 150, 300};
  tally.output_routing = {304, 304, 200, 304};
  for (int i = 0; i < 300; ++i) tally.answer_ms.observe(i);
  tally.answer_ms_max = 299;
  tally.lateness_ms.observe(5000);
  tally.lateness_ms_max = 5000;
  tally.worst.add(std::string("\xff\x00z", 3));
  tally.first = UnixMs(1000);
  tally.last = UnixMs(2000);
  return tally;
}

TEST(Tally, ComesBackFromPaperAsItWas) {
  const Tally tally = filled();
  const Json written = Json::parse(observe::to_json(tally).dump());
  EXPECT_EQ(observe::to_json(observe::from_json(written)), observe::to_json(tally));
  EXPECT_EQ(observe::from_json(written).worst.highest(1).front().name, std::string("\xff\x00z", 3));
}

std::set<std::string> codes(const Seen& seen, const std::string& level) {
  std::set<std::string> all;
  for (const Advice& advice : observe::advice_for(seen, {}))
    if (advice.level == level) all.insert(advice.code);
  return all;
}

std::string value_of(const Seen& seen, const std::string& setting) {
  for (const Advice& advice : observe::advice_for(seen, {}))
    if (advice.setting == setting) return advice.value;
  return "";
}

TEST(Advice, NamesWhatMustChangeAndWhatToSet) {
  Seen seen = seen_of(filled());
  EXPECT_EQ(codes(seen, "must"), (std::set<std::string>{"sequence_missing_output", "key_missing", "sequence_reused"}));
  EXPECT_EQ(value_of(seen, "partitioner"), "crc32");
  EXPECT_EQ(value_of(seen, "intake"), "inline");
  EXPECT_EQ(value_of(seen, "starvation_after_ms"), "60000");
  EXPECT_EQ(value_of(seen, "registration_timeout_ms"), "60000");
  EXPECT_EQ(value_of(seen, "watermark_retention_ms"), "86400000");
  seen.output.partitions = 5;
  seen.tally.output_routing.crc32 = 10;
  seen.tally.superseded = 0;
  seen.tally.answer_ms_max = 90'000;
  seen.input.facts->retention_ms = 1;
  seen.tally.lateness_ms_max = 7'200'000;
  EXPECT_THAT(codes(seen, "must"), testing::IsSupersetOf({"co_partitioning", "misrouted"}));
  EXPECT_EQ(value_of(seen, "intake"), "tap");
  EXPECT_EQ(value_of(seen, "registration_timeout_ms"), "180000");
  EXPECT_EQ(value_of(seen, "watermark_retention_ms"), "28800000");
}

// What the observer was told the resequencer has to be told, too, and then the producers stay as they are.
TEST(Advice, SaysWhereTheInputHasWhat) {
  const auto levels = [](const std::string& id, const std::string& sequence) {
    config::Settings settings;
    settings.observe_id = id;
    settings.observe_sequence = sequence;
    std::set<std::string> all;
    for (const Advice& advice : observe::advice_for(seen_of(filled()), settings))
      if (advice.code == "input_place" || advice.code == "key_missing")
        all.insert(advice.level + " " + advice.setting + " " + advice.value);
    return all;
  };
  EXPECT_EQ(levels("key", "header:v"), (std::set<std::string>{"must  ", "should input.sequence header:v"}));
  EXPECT_EQ(levels("header:doc", "header:v"),
            (std::set<std::string>{"should input.id header:doc", "should input.sequence header:v"}));
  EXPECT_EQ(levels("key", ""), (std::set<std::string>{"must  "}));
}

std::string what_of(const Seen& seen, const std::string& code) {
  for (const Advice& advice : observe::advice_for(seen, {}))
    if (advice.code == code) return advice.what;
  return "";
}

// Most results never take longer than all of them do.
TEST(Advice, TellsHowLongResultsTookInNumbersThatFitTogether) {
  Seen seen = seen_of(filled());
  EXPECT_EQ(what_of(seen, "registration_timeout"), "all 300 results behind their request came within 299 ms");
  for (int i = 0; i < 9'700; ++i) seen.tally.answer_ms.observe(10);
  seen.tally.answer_ms_max = 9000;
  EXPECT_EQ(what_of(seen, "registration_timeout"),
            "of 10000 results behind their request 999 of 1000 came within 512 ms, the slowest took 9000 ms");
}

TEST(Advice, IsCautiousWithLittleToGoBy) {
  Seen seen = seen_of({});
  EXPECT_EQ(codes(seen, "must"), std::set<std::string>{});
  EXPECT_EQ(value_of(seen, "registration_timeout_ms"), "");
  EXPECT_EQ(value_of(seen, "intake"), "");
}

TEST(Report, FitsItsSchema) {
  const TempDir folder;
  std::ofstream file(folder.path() + "/reports");
  file << observe::report_json(seen_of(filled()), {}).dump() << "\n";
  file << observe::report_json(seen_of({}), {}).dump() << "\n";
  file.close();
  Process validate({"/usr/bin/python3", source_path("tests/admin/validate.py"),
                    source_path("schemas/shadow.report.schema.json"), folder.path() + "/reports"},
                   folder.path() + "/said");
  EXPECT_EQ(validate.wait(30'000), 0) << validate.tail();
}

TEST(Report, IsTextForATerminalWhateverTheIdsAre) {
  Tally tally = filled();
  tally.worst.add("\x1b[31mred\n");
  const std::string text = observe::report_text(observe::report_json(seen_of(tally), {}));
  // One number, one name.
  EXPECT_THAT(text,
              HasSubstr("\n  stale writes          3         out of order: older than something written before\n"));
  EXPECT_THAT(text, Not(HasSubstr("\n  out of order")));
  EXPECT_THAT(text,
              HasSubstr("\n  stale writes          3         the same ones, sure: each put old content over newer\n"));
  EXPECT_THAT(text, HasSubstr("\\x1b[31mred\\x0a"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_FALSE(observe::report_text(Json::object()).empty());
}

TEST(ObservedMetrics, HaveARowInTheirPageEachAndNoOther) {
  const auto names_in = [](const std::string& text, const std::regex& pattern) {
    std::set<std::string> names;
    for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) names.insert((*at)[1]);
    return names;
  };
  std::ifstream file(source_path("docs/shadow.md"));
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const std::string text = observe::observed_metrics(seen_of(filled()));
  EXPECT_EQ(names_in(text, std::regex("# TYPE (reseq_[a-z_]+) ")), names_in(page, std::regex("`(reseq_[a-z_]+)`")));
}

}  // namespace
}  // namespace reseq::test
