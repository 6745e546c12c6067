// The demo of work that fails: what is counted from the topics, and what counts as wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <list>
#include <nlohmann/json.hpp>

#include "demo/run/failure_evidence.h"
#include "demo/run/failure_numbers.h"
#include "tests/unit/demo/repository.h"

namespace reseq::demo {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t kRetriesMax = 2;

// A history with a version that is no JSON, and the topics of a run that went as it should.
class FailuresTest : public ::testing::Test {
 protected:
  using Headers = std::vector<std::pair<std::string, std::string>>;

  FailuresTest() {
    repository_.write("a.json", "{");
    repository_.write("good", "text");
    repository_.commit();
    Settings settings;
    settings.repository = repository_.path();
    settings.work_folder = folder_.path();
    faults_.push_back(KnownFaults::read(settings, "HEAD").value());
    for (const char* id : {"a.json", "good"}) evidence_.add_request(record(id, {{"reseq-seq", "1"}}));
  }

  // Texts live as long as the test.
  kafka::PlainRecord record(const std::string& key, const Headers& headers, const std::string& payload = {}) {
    kafka::PlainRecord record{};
    record.partition = Partition(0);
    record.offset = Offset(offset_);
    record.timestamp = UnixMs(now_);
    record.key = keep(key);
    if (!payload.empty()) record.payload = keep(payload);
    for (const auto& [name, value] : headers) record.headers.push_back({keep(name), keep(value)});
    return record;
  }
  void work(const std::string& id, const std::string& targets, const std::string& attempt = "1") {
    evidence_.add_work(record(id, {{"reseq-seq", "1"}, {"reseq-targets", targets}, {"reseq-attempt", attempt}}));
  }
  // A failure, and which row it met.
  void fail(const std::string& id, const std::string& target, const std::string& kind, const std::string& scope,
            const std::string& row) {
    ++offset_;
    evidence_.add_command(record(id, {{"reseq-command", "fail"},
                                      {"reseq-seq", "1"},
                                      {"reseq-target", target},
                                      {"reseq-failure", kind},
                                      {"reseq-failure-scope", scope}}));
    event({{"kind", "outcome"},
           {"outcome", "applied"},
           {"table_row", row},
           {"id", id},
           {"target", target},
           {"source", {{"topic", "app.commands"}, {"partition", 0}, {"offset", offset_}}}});
  }
  void event(nlohmann::json json) {
    json["order"] = {{"epoch", 0}, {"seq", "1"}, {"revision", "0"}};
    evidence_.add_event(record("", {}, json.dump()));
  }
  void letter(const std::string& id, const std::string& targets, const std::string& reason = "failed") {
    evidence_.add_dead_letter(record(id, {{"reseq-seq", "1"},
                                          {"reseq-reason", reason},
                                          {"reseq-targets", targets},
                                          {"reseq-attempts", "1"},
                                          {"reseq-error", "no JSON"}}));
  }
  void release(const std::string& id, const std::string& target) {
    evidence_.add_output(target, record(id, {{"reseq-seq", "1"}}));
  }
  std::vector<std::string> problems() {
    evidence_.finish();
    return problems_of(evidence_, faults_.front(), kRetriesMax);
  }

  Repository repository_, folder_;
  std::list<std::string> kept_;
  std::vector<KnownFaults> faults_;
  FailureEvidence evidence_{"app.requests"};
  std::int64_t offset_ = 0;
  std::int64_t now_ = 1'000;

 private:
  std::string_view keep(const std::string& text) { return kept_.emplace_back(text); }
};

TEST_F(FailuresTest, WhatIsGivenUpBecauseNobodyCanReadItIsRight) {
  work("a.json", "search,catalogue");
  fail("a.json", "search", "permanent", "document", "F4");
  fail("a.json", "catalogue", "permanent", "document", "F4");
  letter("a.json", "search,catalogue");
  EXPECT_THAT(problems(), IsEmpty());
  const ClassCounts& counts = evidence_.classes().at(FailureClass::kPermanent);
  EXPECT_EQ(counts.said, 2U);
  EXPECT_EQ(counts.given_up, 2U);
  EXPECT_THAT(counts.documents, ElementsAre("a.json"));
}

TEST_F(FailuresTest, EachTryNeedsAReason) {
  work("good", "search");
  fail("good", "search", "transient", "document", "F5");
  work("good", "search", "2");
  event({{"kind", "lease_lost"}, {"id", "good"}, {"targets", {"search"}}});
  work("good", "search", "3");
  fail("good", "search", "transient", "universal", "F3");
  work("good", "search", "4");
  EXPECT_THAT(problems(), IsEmpty());
  work("good", "search", "5");
  EXPECT_THAT(problems_of(evidence_, faults_.front(), kRetriesMax),
              ElementsAre("search: good, order 1: came to work 5 times, for which there are 4 reasons"));
}

TEST_F(FailuresTest, MoreRetriesThanAllowedAreAProblemForTheTargetThatHadThem) {
  for (int i = 0; i < 3; ++i) fail("good", "search", "transient", "document", "F5");
  fail("good", "catalogue", "transient", "document", "F5");
  EXPECT_THAT(problems(), ElementsAre("search: good, order 1: 3 retries, 2 are allowed"));
}

TEST_F(FailuresTest, ADeadLetterThatNothingIsWrongWithIsAProblem) {
  letter("good", "search");
  letter("good", "", "body_gone");
  EXPECT_THAT(problems(), ElementsAre("dead letter of good, order 1: nothing is wrong with it for search, but: no JSON",
                                      "dead letter of good, order 1: body_gone"));
}

TEST_F(FailuresTest, WhatWasGivenUpMustNotBeReleased) {
  letter("a.json", "search,catalogue");
  release("a.json", "catalogue");
  EXPECT_THAT(problems(), ElementsAre("dead letter of a.json, order 1: it was released for catalogue"));
}

TEST_F(FailuresTest, NothingIsTriedAgainOrGivenUpThatShouldNotBe) {
  fail("a.json", "search", "permanent", "document", "F5");
  fail("good", "search", "transient", "document", "F4");
  fail("good", "search", "transient", "universal", "F4");
  fail("good", "search", "permanent", "universal", "F4");
  EXPECT_THAT(problems(),
              ElementsAre("1 files that cannot be read were tried again", "1 orders were given up because of a lock",
                          "1 orders were given up because the search engine was away",
                          "1 orders were given up because the search engine was away"));
}

TEST_F(FailuresTest, AnOutageCostsARetryOnlyUntilItIsKnown) {
  fail("good", "search", "transient", "universal", "F5");
  ++now_;
  event({{"kind", "target_down"}, {"id", "good"}, {"target", "search"}});
  ++now_;
  fail("good", "search", "transient", "universal", "F5");
  EXPECT_THAT(problems(), ElementsAre("1 retries were lost while it was known that search is down"));
}

TEST_F(FailuresTest, AnOutageIsWhatHappensInItsPartitionsUntilItEnds) {
  work("a.json", "search,catalogue");  // before
  now_ = 2'000;
  event({{"kind", "target_down"}, {"id", "a.json"}, {"target", "search"}});
  now_ = 2'500;
  fail("a.json", "search", "transient", "universal", "F3");
  work("good", "catalogue");
  work("a.json", "search", "2");
  release("good", "catalogue");
  now_ = 5'500;
  event({{"kind", "operation"},
         {"operation", "resume-target"},
         {"outcome", "applied"},
         {"source", {{"topic", "app.control"}, {"partition", 0}, {"offset", 1}}}});
  now_ = 6'000;
  release("a.json", "search");
  work("good", "search", "2");
  evidence_.finish();
  const OutageCounts outage = evidence_.outage(0, 9'000);
  EXPECT_EQ(outage.seconds, 3.5);
  EXPECT_EQ(outage.partitions, 1U);
  EXPECT_EQ(outage.tried, 1U);
  EXPECT_EQ(outage.released_others, 1U);
  EXPECT_EQ(outage.released, 0U);
  EXPECT_EQ(outage.waited, 2U);
  EXPECT_EQ(outage.released_later, 1U);
  EXPECT_EQ(outage.lost, 1U) << "good was never released for search";
  EXPECT_EQ(evidence_.outage(0, 2'000).partitions, 0U);
  EXPECT_EQ(evidence_.outage(5'000, 9'000).seconds, 0.5);
}

FailureNumbers right_numbers() {
  FailureNumbers numbers;
  numbers.commit = "abc";
  numbers.requests = 100;
  numbers.leases_lost = 7;
  numbers.retries_max = kRetriesMax;
  numbers.down = {.seconds = 5.25, .partitions = 4, .tried = 3, .waited = 20, .released_later = 12, .superseded = 8};
  numbers.no_index = {.seconds = 7, .partitions = 4};
  numbers.classes[FailureClass::kPermanent] = {.said = 2, .given_up = 2, .documents = {"a.json"}};
  numbers.tries = {{1, 80}, {2, 9}, {4, 1}, {6, 1}};
  for (const char* name : {"search", "catalogue"}) {
    auto& target = numbers.targets.emplace_back();
    target.name = name;
    target.with.expected = 2;
    target.with.equal = 1;
    target.with.missing_paths = {"a.json"};
    target.failed = 1;
    numbers.failed.push_back({.document = {name, "a.json"}, .sequence = 1, .attempt = 1, .error = "no JSON"});
  }
  return numbers;
}

const std::set<TargetDocument> kFailing{{"search", "a.json"}, {"catalogue", "a.json"}};

TEST_F(FailuresTest, WhatHasToFailAndIsFailedIsRight) {
  letter("a.json", "search,catalogue");
  EXPECT_THAT(problems_of(right_numbers(), kFailing, evidence_), IsEmpty());
  EXPECT_THAT(failures(right_numbers()), IsEmpty());
}

TEST_F(FailuresTest, WhatIsFailedNeedsADeadLetterWithItsError) {
  letter("a.json", "search");
  EXPECT_THAT(problems_of(right_numbers(), kFailing, evidence_),
              ElementsAre("catalogue: a.json is failed, and has no dead letter that says why"));
}

TEST_F(FailuresTest, WhatIsWrongAndNotFailedIsAProblemAsIsWhatShouldHaveFailed) {
  letter("a.json", "search,catalogue");
  FailureNumbers numbers = right_numbers();
  numbers.targets[1].with.differing_paths = {"good"};
  numbers.targets[0].with.resurrected = 1;
  numbers.failed.pop_back();
  EXPECT_THAT(problems_of(numbers, kFailing, evidence_),
              ElementsAre("catalogue: a.json cannot be done, and is not failed", "search: 1 documents are resurrected",
                          "catalogue: good is not what the commit has, and has not failed"));
  EXPECT_THAT(problems_of(right_numbers(), {{"search", "a.json"}}, evidence_),
              Contains("catalogue: a.json is failed: no JSON"));
}

TEST(FailureNumbers, AreNoProofOfWhatDidNotHappen) {
  FailureNumbers numbers = right_numbers();
  numbers.down = {};
  numbers.no_index = {.partitions = 1, .lost = 2};
  numbers.leases_lost = 0;
  numbers.skipped = 1;
  numbers.problems = {"x"};
  EXPECT_THAT(failures(numbers),
              ElementsAre("x", "1 changes could not be sent", "nobody lost a lease, so no worker died over its work",
                          "search was never taken to be down", "2 orders that waited for search never came back"));
  numbers = right_numbers();
  numbers.no_index = {};
  EXPECT_THAT(failures(numbers), ElementsAre("no operator was needed for the index"));
}

TEST(FailureNumbers, TheTableSaysThemInWords) {
  const std::string table = table_text(right_numbers());
  for (const char* line : {"    unreadable file (permanent)      2      0            0        2         1\n",
                           "  came to work for a target          80 once, 9 twice, 0 three times, 2 more often\n",
                           "  search was down                    5.2 s, in 4 partitions\n",
                           "    waited for it                    20: later 12 released, 8 superseded, 0 given up\n",
                           "  target search                      1 of 2 right, 1 failed (0 hold an older version)\n",
                           "    search: a.json, attempt 1: no JSON\n"})
    EXPECT_THAT(table, HasSubstr(line));
}

TEST(FailureNumbers, TheReportHasTheSameNumbers) {
  const auto report = nlohmann::json::parse(report_json(right_numbers(), {"x"}));
  EXPECT_EQ(report["ok"], false);
  EXPECT_EQ(report["said"]["permanent"]["given_up"], 2);
  EXPECT_EQ(report["said"]["transient"]["said"], 0);
  EXPECT_EQ(report["tries"]["6"], 1);
  EXPECT_EQ(report["down"]["waited"], 20);
  EXPECT_EQ(report["failed"][0]["error"], "no JSON");
  EXPECT_EQ(report["targets"]["search"]["equal"], 1);
}

}  // namespace
}  // namespace reseq::demo
