// Every class of bad input through the real program: one dead letter that says why, and the documents between them go
// on as if it was not there.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <sstream>
#include <stdexcept>

#include "model/reason.h"
#include "tests/bad_input/cases.h"
#include "tests/bad_input/letters.h"
#include "tests/bad_input/odd_cases.h"
#include "tests/bad_input/subject.h"

namespace reseq::test {
namespace {

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto& some : {bad_ids(), bad_sequences(), bad_requests(), bad_commands(), bad_targets(), bad_controls(),
                           reserved_headers(), garbage_in_headers()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

class BadInput : public testing::Test {
 protected:
  static void SetUpTestSuite() { subject_ = std::make_unique<Subject>("classes", kCasesToml); }
  static void TearDownTestSuite() {
    if (!subject_) return;
    EXPECT_EQ(subject_->finish(), "");
    subject_.reset();
  }
  static Subject& subject() { return *subject_; }

 private:
  static std::unique_ptr<Subject> subject_;
};
std::unique_ptr<Subject> BadInput::subject_;

TEST_F(BadInput, LeadsToOneDeadLetterEachAndGoodDocumentsFlowBetween) {
  const std::vector<Case> cases = all_cases();
  const auto stem = [](std::size_t i) { return "between-" + std::to_string(i) + "-"; };
  std::vector<Place> bad(cases.size());
  std::vector<std::string> good;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (const Record& before : cases[i].before) subject().send("requests", before);
    good.push_back(doc(stem(i)));
    subject().send("requests", request(stem(i), "1", {{"reseq-targets", "search"}}));
    if (cases[i].to != "commands") bad[i] = subject().send(cases[i].to, cases[i].record);
  }
  subject().flush();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    subject().send("commands", result(stem(i), "1"));
    if (cases[i].to == "commands") bad[i] = subject().send("commands", cases[i].record);
  }
  subject().settle();

  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(cases[i].name);
    const Verdict& verdict = subject().verdict(bad[i]);
    EXPECT_EQ(verdict.outcome, "dead_lettered");
    EXPECT_EQ(verdict.reason, cases[i].reason);
    EXPECT_EQ(verdict.expected, cases[i].expected);
    if (verdict.outcome != "dead_lettered") continue;
    EXPECT_EQ(subject().letter(bad[i]).record, letter_of(subject().sent(bad[i]), cases[i].reason, cases[i].expected));
  }
  std::vector<std::string> released;
  for (const ReadRecord& output : subject().read("output.search")) released.push_back(output.record.key.value_or(""));
  EXPECT_EQ(released, good) << "released in order, each once";
}

// What no byte on the wire can lead to here, or is no bad input: order and policies at work.
TEST_F(BadInput, HasACaseForEveryReason) {
  std::set<std::string> covered = {"none", "superseded", "epoch_behind", "stale", "duplicate"};
  for (const Case& one : all_cases()) covered.insert(one.reason);
  covered.insert({"too_large"});         // sizes_test.cpp
  covered.insert({"too_many_headers"});  // many_headers_test.cpp
  covered.insert({"body_gone"});         // tests/unit/gate, property tests
  // What waits: the tests of the journal.
  covered.insert({"expired", "timed_out", "attempt_missing", "attempt_behind"});
  // Work that failed: tests/scenarios/failures.txt, tests/journal, the page of failures.
  covered.insert({"failed", "effect_unknown", "no_request"});
  covered.insert({"gap", "ordered_target"});                         // tests/scenarios/orders.txt, tests/orders
  covered.insert({"reprocess_needs_inline", "reset_needs_epochs"});  // kinds_test.cpp
  covered.insert({"unexpected_state", "no_change", "dry_run"});      // operations: property tests, tests/admin
  covered.insert({"id_collision", "version_exhausted"});             // property tests
  for (const std::string_view reason : kReasonNames) EXPECT_TRUE(covered.contains(std::string(reason))) << reason;
}

// The payload of a request or a result, and what it says with and without a header.
struct Op {
  Bytes payload;
  Bytes said;
  bool removal = false;
};
const std::vector<Op> kOps = {
    {std::nullopt, std::nullopt, true},
    {std::nullopt, "delete", true},
    {"", std::nullopt, false},
    {"", "upsert", false},
    {"", "delete", true},
    {"bytes", std::nullopt, false},
    {"bytes", "upsert", false},
    {"bytes", "delete", true},
};

Record with_op(Record record, const Op& op) {
  record.payload = op.payload;
  if (op.said) record.headers.push_back({"reseq-op", op.said});
  return record;
}

bool removes(const Record& record) {
  return record.header("reseq-op") == "delete";
}

TEST_F(BadInput, IsNoNullOrEmptyPayload) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < kOps.size(); ++i) {
    const std::string stem = "op-" + std::to_string(i) + "-";
    const Headers search = {{"reseq-targets", "search"}};
    subject().send("requests", with_op(request(stem + "request", "1", search), kOps[i]));
    subject().send("requests", request(stem + "result", "1", search));
    subject().flush();
    subject().send("commands", with_op(result(stem + "result", "1"), kOps[i]));
    Record registration = result(stem + "register", "1");
    registration.headers.front().value = "register";
    registration.payload = kOps[i].payload;
    const Place registered = subject().send("commands", registration);
    subject().settle();
    EXPECT_EQ(subject().verdict(registered).outcome, "registered") << i;
    const ReadRecord& work = subject().read("work").at(subject().read("work").size() - 2);
    const Record& output = subject().read("output.search").back().record;
    EXPECT_EQ(work.record.key, doc(stem + "request"));
    EXPECT_EQ(output.key, doc(stem + "result"));
    for (const Record& one : {work.record, output}) {
      EXPECT_EQ(one.payload, kOps[i].payload) << i << one;
      EXPECT_EQ(removes(one), kOps[i].removal) << i << one;
    }
  }
}

const ReadRecord& last_of(const std::vector<ReadRecord>& records, const Bytes& key) {
  const auto found =
      std::find_if(records.rbegin(), records.rend(), [&](const ReadRecord& one) { return one.record.key == key; });
  if (found == records.rend()) throw std::runtime_error("no record of this key");
  return *found;
}

TEST_F(BadInput, IsNoneOfTheseOddRecords) {
  std::vector<OddCase> cases = odd_ids();
  for (OddCase& one : odd_headers()) cases.push_back(std::move(one));
  for (const OddCase& one : cases) subject().send("requests", one.request);
  subject().settle();
  subject().answer_work();
  subject().settle();

  for (const OddCase& one : cases) {
    SCOPED_TRACE(one.name);
    const Record sent = with_c_names(one.request);
    const Record& work = last_of(subject().read("work"), sent.key).record;
    EXPECT_EQ(work.payload, sent.payload);
    EXPECT_EQ(travelling(work), travelling(sent)) << work;
    EXPECT_FALSE(work.header("reseq-version"));
    std::istringstream targets(work.header("reseq-targets").value_or("none"));
    for (std::string target; std::getline(targets, target, ',');) {
      const Record& output = last_of(subject().read("output." + target), sent.key).record;
      EXPECT_EQ(output.payload, sent.payload);
      EXPECT_EQ(travelling(output), travelling(sent)) << output;
      EXPECT_NE(output.header("reseq-version").value_or(""), "");
      EXPECT_NE(output.header("reseq-version"), one.request.header("reseq-version"));
    }
  }
}

}  // namespace
}  // namespace reseq::test
