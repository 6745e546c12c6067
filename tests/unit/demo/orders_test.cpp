// The demo of strict and total targets: what is read from the topics, what is lost, and what counts as wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <list>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "config/settings.h"
#include "demo/pipeline/faults.h"
#include "demo/run/instance_config.h"
#include "demo/run/order_evidence.h"
#include "demo/run/order_numbers.h"

namespace reseq::demo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class OrderEvidenceTest : public ::testing::Test {
 protected:
  using Headers = std::vector<std::pair<std::string, std::string>>;

  // Texts live as long as the test. No payload: null.
  kafka::PlainRecord record(std::int64_t offset, const std::string& key, Headers headers, const char* payload) {
    kafka::PlainRecord record{};
    record.partition = Partition(0);
    record.offset = Offset(offset);
    record.key = keep(key);
    if (payload != nullptr) record.payload = keep(payload);
    for (const auto& [name, value] : headers) record.headers.push_back({keep(name), keep(value)});
    return record;
  }
  void output(const std::string& key, const std::string& sequence, const std::string& version, const char* payload) {
    evidence_.add_output("audit", record(0, key, {{"reseq-seq", sequence}, {"reseq-version", version}}, payload));
  }
  void request(std::int64_t offset, const std::string& key, const std::string& sequence) {
    evidence_.add_request(record(offset, key, {{"reseq-seq", sequence}}, "text"));
  }
  void letter(const std::string& key, const std::string& targets, const std::string& offset,
              const std::string& reason = "gap") {
    evidence_.add_dead_letter(record(0, key,
                                     {{"reseq-seq", "7"},
                                      {"reseq-reason", reason},
                                      {"reseq-targets", targets},
                                      {"reseq-source-topic", "a.requests"},
                                      {"reseq-source-offset", offset}},
                                     nullptr));
  }
  OrderEvidence evidence_{"a.requests"};

 private:
  std::string_view keep(const std::string& text) { return kept_.emplace_back(text); }
  std::list<std::string> kept_;
};

TEST_F(OrderEvidenceTest, HasVersionsInTheOrderOfTheirTopic) {
  output("b", "2", "5", "text");
  output("a", "1", "6", nullptr);
  const auto& released = evidence_.released("audit");
  ASSERT_EQ(released.size(), 2U);
  EXPECT_EQ(text_of(released[0].name), "b, order 2");
  EXPECT_EQ(released[0].content, content_hash("text"));
  EXPECT_EQ(text_of(released[1].name), "a, order 1");
  EXPECT_FALSE(released[1].content) << "a deletion";
  EXPECT_EQ(evidence_.versions_that_do_not_rise(), 0U);
}

TEST_F(OrderEvidenceTest, KeepsResultsOfTargetsApart) {
  for (const char* target : {"audit", "history", "audit"})
    evidence_.add_command(record(0, "a", {{"reseq-seq", "1"}, {"reseq-target", target}}, "text"));
  EXPECT_EQ(evidence_.results("audit").size(), 2U);
  EXPECT_EQ(evidence_.results("history").size(), 1U);
}

TEST_F(OrderEvidenceTest, SeesAVersionNumberThatDoesNotRise) {
  output("a", "1", "5", "text");
  output("b", "1", "5", "text");
  output("c", "1", "4", "text");
  EXPECT_EQ(evidence_.versions_that_do_not_rise(), 2U);
}

TEST_F(OrderEvidenceTest, CountsWhatWasHeldForEachTarget) {
  for (const char* outcome : {"held", "released", "held"}) {
    const std::string event = std::string(R"({"kind":"outcome","id":"a","target":"audit","outcome":")") + outcome +
                              R"(","source":{"topic":"a.commands","partition":0,"offset":1}})";
    evidence_.add_event(record(0, "a", {}, event.c_str()));
  }
  EXPECT_THAT(evidence_.outcomes().held, ElementsAre(Pair("audit", 2U)));
  EXPECT_EQ(evidence_.outcomes().unreadable, 0U);
}

TEST_F(OrderEvidenceTest, IsContentWithADeadLetterForEachLostResult) {
  request(3, "a", "7");
  request(4, "b", "7");
  letter("a", "audit", "3");
  letter("a", "history", "3");
  letter("b", "audit", "4");
  EXPECT_THAT(evidence_.problems_of_gaps({{"audit", {{"a", 7}, {"b", 7}}}, {"history", {{"a", 7}}}}), IsEmpty());
  EXPECT_THAT(evidence_.skipped(), ElementsAre(Pair("audit", 2U), Pair("history", 1U)));
}

TEST_F(OrderEvidenceTest, SeesALostResultThatNobodyTells) {
  EXPECT_THAT(evidence_.problems_of_gaps({{"audit", {{"a", 7}}}}),
              ElementsAre("a, order 7 was lost for audit, and no dead letter says so"));
}

TEST_F(OrderEvidenceTest, SeesAPlaceThatWasSkippedThoughItsResultCame) {
  request(3, "a", "7");
  letter("a", "audit", "3");
  EXPECT_THAT(evidence_.problems_of_gaps({{"history", {}}}),
              ElementsAre("dead letter of a, order 7: audit skipped it and it was not lost"));
}

TEST_F(OrderEvidenceTest, SeesAPlaceThatWasSkippedTwice) {
  request(3, "a", "7");
  letter("a", "audit", "3");
  letter("a", "audit", "3");
  EXPECT_THAT(evidence_.problems_of_gaps({{"audit", {{"a", 7}}}}),
              ElementsAre("dead letter of a, order 7: audit skipped it once more"));
}

TEST_F(OrderEvidenceTest, SeesADeadLetterThatNamesAnotherRequest) {
  request(3, "a", "7");
  letter("a", "audit", "4");
  EXPECT_THAT(evidence_.problems_of_gaps({{"audit", {{"a", 7}}}}),
              ElementsAre("dead letter of a, order 7: its request stands elsewhere"));
}

TEST_F(OrderEvidenceTest, SeesADeadLetterOfAnotherReason) {
  letter("a", "", "3", "malformed_header");
  EXPECT_THAT(evidence_.problems_of_gaps({}), ElementsAre("dead letter of a, order 7: malformed_header"));
}

TEST(LostResults, AreFewAndAFunctionOfTheSeedTheTargetAndTheChange) {
  int lost = 0, of_both = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::string id = "document-" + std::to_string(i % 500), sequence = std::to_string(i);
    const bool audit = loses(Seed(1), "audit", id, sequence);
    EXPECT_EQ(audit, loses(Seed(1), "audit", id, sequence));
    lost += audit ? 1 : 0;
    of_both += audit && loses(Seed(1), "history", id, sequence) ? 1 : 0;
  }
  EXPECT_NEAR(lost, 400, 80);
  EXPECT_LT(of_both, 20);
}

TEST(LostResults, AreOnlyOfTargetsForWhichThatIsAskedFor) {
  int sequence = 0;
  while (!loses(Seed(1), "audit", "a", std::to_string(sequence))) ++sequence;
  const std::string lost = std::to_string(sequence);
  EXPECT_TRUE(Faults(Seed(1), "", {"history", "audit"}).lost("audit", "a", lost));
  EXPECT_FALSE(Faults(Seed(1), "", {"history"}).lost("audit", "a", lost));
  EXPECT_FALSE(Faults(Seed(1), "").lost("audit", "a", lost));
}

TEST(InstanceConfigOfOrders, HasATargetOfEachOrderInOnePartition) {
  Settings settings;
  settings.application_id = "demo-1";
  settings.bootstrap_servers = "127.0.0.1:9092";
  settings.orders = true;
  const auto parsed = config::parse(instance_config(settings, "1"), "test");
  ASSERT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message);
  std::vector<std::string> targets;
  for (const auto& target : parsed.value().targets) targets.push_back(target.name + " " + target.order);
  EXPECT_THAT(targets, ElementsAre("search newest", "history strict", "audit total"));
  EXPECT_EQ(parsed.value().init_partitions, 1);
  EXPECT_EQ(parsed.value().init_output_partitions, 1);
  EXPECT_EQ(parsed.value().events, "all");
}

OrderComparison right(std::uint64_t versions) {
  return {.expected = versions, .right = versions};
}

OrderNumbers good_orders() {
  OrderNumbers numbers;
  numbers.commit = "abc";
  numbers.changes = 300;
  numbers.seconds = 41.25;
  numbers.gap_timeout_ms = 20'000;
  numbers.requests = right(300);
  numbers.targets = {{.name = "history", .order = "strict", .with = right(299), .lost = 1, .skipped = 1},
                     {.name = "audit", .order = "total", .with = right(298), .lost = 2, .skipped = 2}};
  for (OrderNumbers::Target& target : numbers.targets) {
    target.without = {.expected = 298, .right = 200, .twice = 7, .out_of_order = 98};
    target.held = 120;
  }
  numbers.search.expected = numbers.search.equal = 40;
  return numbers;
}

TEST(OrderNumbers, NothingFailsWhenAllIsRight) {
  EXPECT_THAT(failures(good_orders(), true), IsEmpty());
}

TEST(OrderNumbers, FailsWhenATargetIsNotTheHistory) {
  OrderNumbers numbers = good_orders();
  numbers.targets[1].with.right = 297;
  numbers.targets[1].with.out_of_order = 1;
  numbers.targets[1].with.examples = {"a, order 4: came behind a later one"};
  EXPECT_THAT(failures(numbers, false),
              ElementsAre("audit is not the history: 0 missing, 0 twice, 1 out of order, 0 other content",
                          "  a, order 4: came behind a later one"));
}

TEST(OrderNumbers, FailsWhenTheHistoryWasNotSentInItsOrder) {
  OrderNumbers numbers = good_orders();
  numbers.requests.right = 299;
  numbers.requests.missing = 1;
  EXPECT_THAT(failures(numbers, false),
              ElementsAre("requests is not the history: 1 missing, 0 twice, 0 out of order, 0 other content"));
}

TEST(OrderNumbers, FailsWhenSearchIsNotTheCommitOrSomethingElseIsWrong) {
  OrderNumbers numbers = good_orders();
  numbers.search.equal = 39;
  numbers.search.missing = 1;
  numbers.problems = {"b, order 2 was lost for audit, and no dead letter says so"};
  numbers.skipped = 2;
  EXPECT_THAT(failures(numbers, false),
              ElementsAre("2 changes could not be sent", "search differs from the commit: 1 wrong, 0 resurrected",
                          "b, order 2 was lost for audit, and no dead letter says so"));
}

TEST(OrderNumbers, TellsTwentyProblemsAndHowManyMoreThereAre) {
  OrderNumbers numbers = good_orders();
  numbers.problems.assign(20, "x");
  EXPECT_EQ(failures(numbers, false).size(), 20U);
  numbers.problems.assign(1'020, "x");
  EXPECT_EQ(failures(numbers, false).size(), 21U);
  EXPECT_EQ(failures(numbers, false).back(), "and 1000 more");
}

TEST(OrderNumbers, FailsWhereScramblingIsDemandedAndNothingWasScrambled) {
  OrderNumbers numbers = good_orders();
  numbers.targets[0].without.out_of_order = 0;
  numbers.targets[1].lost = 0;
  EXPECT_THAT(failures(numbers, false), IsEmpty());
  EXPECT_THAT(failures(numbers, true), ElementsAre("the scrambling is too gentle: no result out of order for history",
                                                   "the scrambling is too gentle: no lost result for audit"));
}

TEST(OrderNumbers, TheTableSaysWhatAConsumerWouldHaveGotWithout) {
  const std::string table = table_text(good_orders());
  for (const char* line :
       {"  changes of the history             300\n", "  seconds                            41.2\n",
        "  a lost result is waited for        20 s\n", "  target audit                       order = \"total\"\n",
        "    results lost, places skipped     2, 2\n", "    results before their turn, held  120\n",
        "    with the resequencer             298 of 298 right, 0 missing, 0 twice, 0 out of order, 0 other "
        "content\n",
        "    without the resequencer          98 out of order, 7 twice\n",
        "    with the resequencer             40 of 40 documents right, 0 wrong, 0 resurrected\n"})
    EXPECT_THAT(table, HasSubstr(line));
}

TEST(OrderNumbers, TheReportHasTheSameNumbers) {
  const auto report = nlohmann::json::parse(report_json(good_orders(), {"x"}));
  EXPECT_EQ(report["ok"], false);
  const auto& audit = report["targets"]["audit"];
  EXPECT_EQ(audit["with_resequencer"]["right"], 298);
  EXPECT_EQ(audit["without_resequencer"]["out_of_order"], 98);
  EXPECT_EQ(audit["skipped"], 2);
  EXPECT_EQ(report["targets"]["search"]["equal"], 40);
  EXPECT_EQ(report["requests"]["versions"], 300);
}

}  // namespace
}  // namespace reseq::demo
