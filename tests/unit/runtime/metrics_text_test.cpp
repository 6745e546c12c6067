// The metrics of a worker that works, on a simulated Kafka.
#include "runtime/desk/metrics_text.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <regex>
#include <set>

#include "telling_worker.h"
#include "tests/support/source_path.h"

namespace reseq::runtime {
namespace {

using testing::HasSubstr;
using testing::Not;

class Told : public TellingWorker {
 protected:
  void request(const std::string& id, int sequence) {
    broker.append({*broker.topic("app.requests"), Partition(0)},
                  {id, "{}", {{"reseq-seq", std::to_string(sequence)}}, broker.now()});
  }
  void result(const std::string& id, int sequence) {
    broker.append({*broker.topic("app.commands"), Partition(0)},
                  {id,
                   "{}",
                   {{"reseq-command", "sequence"}, {"reseq-seq", std::to_string(sequence)}, {"reseq-target", "search"}},
                   broker.now()});
  }
};

TEST_F(Told, CountsWhatBecameOfInputsAndWhatWasWritten) {
  request("a", 1);
  request("b", 1);
  steps(200);
  result("a", 1);
  steps(200);
  const std::string metrics = text();
  EXPECT_THAT(metrics, HasSubstr("reseq_records_in_total{role=\"requests\"} 2\n"));
  EXPECT_THAT(metrics, HasSubstr("reseq_records_in_total{role=\"commands\"} 1\n"));
  EXPECT_THAT(metrics, HasSubstr("reseq_records_out_total{topic=\"app.work\"} 2\n"));
  EXPECT_THAT(metrics, HasSubstr("reseq_records_out_total{topic=\"app.output.search\"} 1\n"));
  EXPECT_THAT(metrics, HasSubstr("reseq_outcomes_total{outcome=\"forwarded\",reason=\"none\"} 2\n"));
  EXPECT_THAT(metrics, HasSubstr("reseq_outcomes_total{outcome=\"released\",reason=\"none\"} 1\n"));
  EXPECT_THAT(metrics, HasSubstr("reseq_documents_live{partition=\"0\"} 1\n"));
  EXPECT_THAT(metrics, HasSubstr("reseq_documents_completed{partition=\"0\"} 1\n"));
  EXPECT_THAT(metrics, HasSubstr("reseq_release_seconds_count 1\n"));
  EXPECT_THAT(metrics, HasSubstr("reseq_forward_seconds_count 2\n"));
  EXPECT_THAT(metrics, HasSubstr("reseq_input_lag_offsets{role=\"requests\",partition=\"0\"} 0\n"));
  EXPECT_THAT(metrics, HasSubstr("reseq_partition_running{partition=\"0\"} 1\n"));
  EXPECT_THAT(metrics, HasSubstr("instance_id=\"1\""));
}

TEST_F(Told, TellsOfEachTargetWhatWaitsForItAndSinceWhenItGetsNothing) {
  request("a", 1);
  request("b", 1);
  steps(200);
  result("a", 1);
  Board board(1);
  const auto publish = [&](int count) {
    steps(count);
    board.publish(worker.report());
    return board.look();
  };
  publish(1);
  (void)publish(200);  // released in between
  ticks(7'000);        // of ten milliseconds
  const auto now = publish(200);
  const std::string metrics = metrics_text(application, now, clock.steady());
  EXPECT_THAT(metrics, HasSubstr("reseq_target_documents_waiting{target=\"search\"} 1\n"));
  EXPECT_THAT(metrics, HasSubstr("reseq_target_documents_overdue{target=\"search\"} 0\n"));
  EXPECT_THAT(metrics, HasSubstr("reseq_target_released_total{target=\"search\"} 1\n"));
  const admin::Json reply = stats_reply(application, now, clock.now());
  ASSERT_EQ(reply["targets"].size(), application.settings.targets.size());
  EXPECT_EQ(reply["targets"][0]["target"], "search");
  EXPECT_EQ(reply["targets"][0]["released"], 1);
  EXPECT_GE(reply["targets"][0]["quiet_ms"], 70'000);
  EXPECT_LT(reply["targets"][0]["quiet_ms"], 75'000);
  EXPECT_EQ(reply["partitions"][0]["documents"]["by_target"]["search"]["waiting"], 1);
}

// Two documents, and what the partition knows of itself.
TEST_F(Told, MeasuresHowMuchACheckpointWrites) {
  EXPECT_THAT(text(), HasSubstr("reseq_checkpoint_rows_count 0\n"));
  request("a", 1);
  request("b", 1);
  steps(400);
  EXPECT_THAT(text(), HasSubstr("reseq_checkpoints_total 1\n"));
  EXPECT_THAT(text(), HasSubstr("reseq_checkpoint_rows_count 1\nreseq_checkpoint_rows_sum 3\n"));
}

TEST_F(Told, MeasuresHowLateAnOldResultIsAndHowFarBehind) {
  request("a", 1);
  steps(100);
  request("a", 9);
  steps(100);
  result("a", 9);
  steps(100);
  result("a", 1);
  steps(100);
  const std::string metrics = text();
  EXPECT_THAT(metrics, HasSubstr("reseq_outcomes_total{outcome=\"dropped\",reason=\"stale\"} 1\n"));
  EXPECT_THAT(metrics, HasSubstr("reseq_lateness_seconds_count 1\n"));
  EXPECT_THAT(metrics, HasSubstr("reseq_reorder_distance_bucket{le=\"4\"} 0\n"));
  EXPECT_THAT(metrics, HasSubstr("reseq_reorder_distance_bucket{le=\"8\"} 1\n"));
  const admin::Json reply = stats_reply(application, seen(), clock.now());
  ASSERT_EQ(reply["lateness"].size(), 1U) << "only buckets that are not empty";
  EXPECT_EQ(reply["lateness"][0]["count"], 1);
  EXPECT_TRUE(reply["lateness"][0].contains("up_to_ms"));
  EXPECT_EQ(reply["workers"], 1);
  EXPECT_EQ(reply["partitions"][0]["worker"], 0);
}

// Names in a text, each once.
std::set<std::string> names_in(const std::string& text, const std::regex& pattern) {
  std::set<std::string> names;
  for (std::sregex_iterator found(text.begin(), text.end(), pattern), end; found != end; ++found)
    names.insert((*found)[1]);
  return names;
}

TEST_F(Told, HasARowInItsPageForEachMetricAndNoOther) {
  request("a", 1);
  steps(300);
  std::ifstream file(test::source_path("docs/metrics.md"));
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(names_in(text(), std::regex("# TYPE (reseq_[a-z_]+) ")), names_in(page, std::regex("`(reseq_[a-z_]+)`")));
}

// The growth of a series that begins with a burst is not seen.
TEST_F(Told, CountsWhatCannotBeUsedFromZeroOn) {
  steps(100);
  EXPECT_THAT(text(), HasSubstr("reseq_bad_records_total 0\n"));
  broker.append({*broker.topic("app.requests"), Partition(0)}, {"a", "{}", {}, broker.now()});
  result("b", 7);  // nobody has asked for it
  steps(300);
  EXPECT_THAT(text(), HasSubstr("reseq_bad_records_total 2\n"));
}

TEST_F(Told, HoldsNothingOfARecordInItsLabels) {
  request("secret-id", 1);
  steps(200);
  EXPECT_THAT(text(), Not(HasSubstr("secret")));
}

TEST_F(Told, KnowsNoLatenessBehindWhatWasNotReleased) {
  request("a", 1);
  steps(100);
  request("a", 2);
  steps(100);
  result("a", 1);
  steps(100);
  const std::string metrics = text();
  EXPECT_THAT(metrics, HasSubstr("reseq_outcomes_total{outcome=\"dropped\",reason=\"superseded\"} 1\n"));
  EXPECT_THAT(metrics, HasSubstr("reseq_lateness_seconds_count 0\n"));
  EXPECT_THAT(metrics, HasSubstr("reseq_reorder_distance_count 1\n"));
}

TEST(Mailbox, DropsWhatNobodyWaitsForAnyLongerAndHasABound) {
  Mailbox mailbox;
  for (std::size_t i = 0; i < Mailbox::kQuestionsMax; ++i)
    EXPECT_TRUE(mailbox.post({Partition(0), admin::DocumentQuery{"a"}, Milliseconds(i == 7 ? 20 : 10), nullptr}));
  EXPECT_FALSE(mailbox.post({Partition(0), admin::DocumentQuery{"b"}, Milliseconds(20), nullptr}));
  const auto taken = mailbox.take(Milliseconds(10));
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->until, Milliseconds(20));
  EXPECT_FALSE(mailbox.take(Milliseconds(10)));
  EXPECT_TRUE(mailbox.post({Partition(0), admin::DocumentQuery{"b"}, Milliseconds(20), nullptr}));
}

TEST_F(Told, AnswersForADocumentThatItHas) {
  request("a", 7);
  steps(200);
  const auto answer = ask(admin::DocumentQuery{"a"});
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->refused);
  ASSERT_EQ(answer->documents.size(), 1U);
  const admin::Json json = state_json(*answer, application, clock.now());
  const admin::Json& document = json["documents"][0];
  EXPECT_EQ(document["id"], "a");
  EXPECT_EQ(document["state"], "live");
  EXPECT_EQ(document["groups"][0]["order"]["seq"], "7");
  EXPECT_EQ(document["groups"][0]["pending"][0], "search");
  EXPECT_EQ(document["request"]["offset"], 0);
}

TEST_F(Told, AnswersWithNoDocumentForAnUnknownId) {
  const auto answer = ask(admin::DocumentQuery{"unknown"});
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->documents.empty());
}

TEST_F(Told, SaysNothingForAPartitionThatItDoesNotHave) {
  EXPECT_FALSE(ask(admin::DocumentQuery{"a"}, Partition(5)));
}

TEST_F(Told, ListsPageByPage) {
  for (int i = 0; i < 25; ++i) request("id-" + std::to_string(100 + i), 1);
  request("other", 1);
  request(std::string(600, 'i'), 1);
  steps(500);
  admin::ListQuery list;
  list.id_prefix = "i";
  list.documents_max = 10;
  std::vector<std::string> ids;
  for (int pages = 0; pages < 10; ++pages) {
    const auto answer = ask(list);
    ASSERT_TRUE(answer);
    EXPECT_LE(answer->documents.size(), 10U);
    for (const FoundDocument& one : answer->documents) ids.push_back(one.id);
    if (answer->ended) break;
    list.cursor = answer->cursor;
  }
  ASSERT_EQ(ids.size(), 26U);
  EXPECT_EQ(ids.front(), "id-100");
  EXPECT_EQ(ids[24], "id-124");
  EXPECT_EQ(ids.back(), std::string(600, 'i'));  // a hashed key stands behind all raw ones
}

TEST_F(Told, ListsByStateAndAge) {
  request("old", 1);
  steps(200);
  const std::int64_t old_is = clock.now().value();
  request("done", 1);
  steps(200);
  result("done", 1);
  ticks(10'000);
  request("young", 1);
  steps(300);
  const auto ids = [&](admin::State state, Milliseconds older_than) {
    admin::ListQuery list;
    list.state = state;
    list.older_than = older_than;
    std::vector<std::string> found;
    const auto answer = ask(list);
    for (const FoundDocument& one : answer->documents) found.push_back(one.id);
    return found;
  };
  using Ids = std::vector<std::string>;
  EXPECT_EQ(ids(admin::State::kAny, Milliseconds(0)), (Ids{"done", "old", "young"}));
  EXPECT_EQ(ids(admin::State::kLive, Milliseconds(0)), (Ids{"old", "young"}));
  EXPECT_EQ(ids(admin::State::kCompleted, Milliseconds(0)), (Ids{"done"}));
  const Milliseconds age(clock.now().value() - old_is);
  EXPECT_EQ(ids(admin::State::kLive, age), (Ids{"old"}));
  EXPECT_EQ(ids(admin::State::kAny, age), (Ids{"old"}));
  EXPECT_EQ(ids(admin::State::kOverdue, Milliseconds(0)), Ids{});
}

}  // namespace
}  // namespace reseq::runtime
