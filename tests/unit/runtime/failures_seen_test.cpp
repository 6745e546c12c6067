// What an instance tells of work that failed, of a worker on a simulated Kafka: lists by error, groups, numbers, and
// when a target could not be reached.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "telling_worker.h"

namespace reseq::runtime {
namespace {

using testing::HasSubstr;
using Ids = std::vector<std::string>;

class FailuresTold : public TellingWorker {
 protected:
  FailuresTold() : TellingWorker(with_failures()) {}
  static config::Settings with_failures() {
    config::Settings settings = of_one_target();
    settings.dispatch_mode = "journal";
    settings.failures_mode = "retry";
    settings.failures_breaker_documents = 2;
    settings.failures_on_failure = "marker";
    return settings;
  }
  void append(const std::string& topic, const std::string& id, const std::vector<simulation::StoredHeader>& headers) {
    broker.append({*broker.topic(topic), Partition(0)}, {id, "{}", headers, broker.now()});
    steps(100);
  }
  void fail(const std::string& id, const std::string& kind, const std::string& error,
            const std::string& scope = "document") {
    append("app.requests", id, {{"reseq-seq", "1"}});
    append("app.commands", id,
           {{"reseq-command", "fail"},
            {"reseq-seq", "1"},
            {"reseq-target", "search"},
            {"reseq-failure", kind},
            {"reseq-failure-scope", scope},
            {"reseq-error", error}});
  }
  Ids listed(admin::State state, const admin::WantedError& error) {
    admin::ListQuery list;
    list.state = state;
    list.error = error;
    Ids ids;
    const StateAnswered answer = ask(list);
    for (const FoundDocument& one : answer->documents) ids.push_back(one.id);
    return ids;
  }
};

TEST_F(FailuresTold, AreListedByTheirError) {
  fail("a", "permanent", "no PDF: page 7");
  fail("b", "permanent", "out of memory");
  fail("c", "transient", "no PDF yet");
  EXPECT_EQ(listed(admin::State::kFailed, {""}), (Ids{"a", "b"}));
  EXPECT_EQ(listed(admin::State::kFailed, {"no PDF"}), (Ids{"a"}));
  EXPECT_EQ(listed(admin::State::kFailed, {"NO PDF"}), Ids{});
  EXPECT_EQ(listed(admin::State::kRetrying, {"no PDF"}), (Ids{"c"}));
  EXPECT_EQ(listed(admin::State::kFailed, {{}, "no PDF: page 7"}), (Ids{"a"}));
  EXPECT_EQ(listed(admin::State::kFailed, {{}, "no PDF"}), Ids{}) << "a part of it is another error";
  fail("d", "permanent", "");
  EXPECT_EQ(listed(admin::State::kFailed, {{}, ""}), (Ids{"d"})) << "nothing was said";
}

TEST_F(FailuresTold, AreGroupedByErrorAndCounted) {
  fail("a", "permanent", "no PDF");
  fail("b", "permanent", "no PDF");
  fail("c", "transient", "locked");
  append("app.requests", "d", {{"reseq-seq", "1"}});
  append("app.commands", "d", {{"reseq-command", "sequence"}, {"reseq-seq", "1"}, {"reseq-target", "search"}});
  steps(400);
  const admin::Json failures = stats_reply(application, seen(), clock.now())["failures"];
  EXPECT_EQ(failures["failed"], 2);
  EXPECT_EQ(failures["retrying"], 1);
  ASSERT_EQ(failures["errors"].size(), 2U) << failures;
  EXPECT_EQ(failures["errors"][0]["error"], "no PDF");
  EXPECT_EQ(failures["errors"][0]["failed"], 2);
  EXPECT_EQ(failures["errors"][0]["examples"][1]["id"], "b");
  EXPECT_FALSE(failures.contains("others"));
  const std::string metrics = metrics_text(application, seen(), clock.steady());
  EXPECT_THAT(metrics, HasSubstr("reseq_documents_failed{partition=\"0\"} 2\n"));
  EXPECT_THAT(metrics, HasSubstr("reseq_documents_retrying{partition=\"0\"} 1\n"));
  EXPECT_THAT(metrics, HasSubstr("reseq_markers_total 2\n")) << "the release of d is none";
  EXPECT_THAT(metrics, HasSubstr("reseq_waits_ended_total{end=\"dead_lettered\"} 2\n")) << "an alert is about these";
}

TEST_F(FailuresTold, NothingIsToldOfWhileNothingHasFailed) {
  append("app.requests", "a", {{"reseq-seq", "1"}});
  steps(400);
  const admin::Json reply = stats_reply(application, seen(), clock.now());
  EXPECT_FALSE(reply.contains("failures"));
  EXPECT_FALSE(reply.contains("breaker_changes"));
  EXPECT_THAT(metrics_text(application, seen(), clock.steady()),
              HasSubstr("reseq_documents_failed{partition=\"0\"} 0\n"));
}

// The state forgets a breaker when something is released for its target.
TEST_F(FailuresTold, TellWhenATargetCouldNotBeReachedAndCouldAgain) {
  append("app.requests", "before", {{"reseq-seq", "1"}});
  fail("a", "transient", "refused", "universal");
  EXPECT_FALSE(stats_reply(application, seen(), clock.now()).contains("breaker_changes")) << "one opens nothing";
  fail("b", "transient", "refused again", "universal");
  admin::Json changes = stats_reply(application, seen(), clock.now())["breaker_changes"];
  ASSERT_EQ(changes.size(), 1U) << changes;
  EXPECT_EQ(changes[0]["target"], "search");
  EXPECT_EQ(changes[0]["down"], true);
  EXPECT_EQ(changes[0]["error"], "refused again");
  EXPECT_EQ(changes[0]["at"],
            stats_reply(application, seen(), clock.now())["partitions"][0]["targets_down"][0]["since"]);
  append("app.control", "",
         {{"reseq-control", "resume-target"},
          {"reseq-control-id", "ticket 17"},
          {"reseq-control-partition", "0"},
          {"reseq-target", "search"}});
  const admin::Json reply = stats_reply(application, seen(), clock.now());
  EXPECT_FALSE(reply["partitions"][0].contains("targets_down")) << reply["partitions"];
  ASSERT_EQ(reply["breaker_changes"].size(), 2U);
  EXPECT_EQ(reply["breaker_changes"][0]["down"], false);
  EXPECT_EQ(reply["breaker_changes"][1], changes[0]);
}

}  // namespace
}  // namespace reseq::runtime
