#include "admin/answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admin/failure_answers.h"
#include "cli/session.h"
#include "cli/show.h"
#include "cli/why.h"

namespace reseq::cli {
namespace {

using admin::Answers;
using admin::Json;
using runtime::PastEvent;
using testing::HasSubstr;
using testing::Not;

Json reply(const std::string& instance, const Json& partitions) {
  return {{"instance", instance}, {"partitions_total", 2}, {"partitions", partitions}};
}

Json part(int partition, int generation, int position = 0) {
  return {{"partition", partition}, {"generation", generation}, {"changelog_position", position}};
}

TEST(Answers, AreCompleteWhenEachPartitionHasOne) {
  Answers answers;
  EXPECT_FALSE(answers.complete());
  EXPECT_EQ(answers.lacking(), "all") << "how many there are is not known";
  answers.add(reply("1", Json::array({part(0, 1)})));
  EXPECT_FALSE(answers.complete());
  EXPECT_EQ(answers.lacking(), "1");
  answers.add(reply("2", Json::array({part(1, 1)})));
  EXPECT_TRUE(answers.complete());
  EXPECT_EQ(answers.partitions().at(1)["instance"], "2");
  EXPECT_EQ(answers.lacking(), "");
  EXPECT_EQ(answers.lacking([](const Json& part) { return part["instance"] == "2"; }), "0");
}

Json error(const char* text, int failed, int retrying, const char* last, const char* id) {
  return {{"error", text},
          {"failed", failed},
          {"retrying", retrying},
          {"last", last},
          {"examples", Json::array({{{"id", id}}})}};
}

TEST(Answers, TellByErrorWhatFailedInAllInstances) {
  Answers answers;
  EXPECT_TRUE(admin::failures_of(answers).is_null());
  EXPECT_EQ(failures_stats_text(answers), "");
  Json one = reply("1", Json::array({part(0, 1)}));
  one["failures"] = {{"failed", 2},
                     {"retrying", 1},
                     {"errors", Json::array({error("no PDF", 2, 0, "2026-01-02T03:04:05.000Z", "a"),
                                             error("locked", 0, 1, "2026-01-02T03:04:07.000Z", "b")})}};
  Json two = reply("2", Json::array({part(1, 1)}));
  two["failures"] = {{"failed", 3},
                     {"retrying", 0},
                     {"errors", Json::array({error("no PDF", 1, 0, "2026-01-02T03:04:06.000Z", "c")})},
                     {"others", {{"failed", 2}, {"retrying", 0}}}};
  answers.add(one);
  answers.add(two);
  EXPECT_EQ(failures_stats_text(answers),
            "FAILED  RETRYING  LAST                      EXAMPLE  ERROR\n"
            "3       0         2026-01-02T03:04:06.000Z  a        no PDF\n"
            "0       1         2026-01-02T03:04:07.000Z  b        locked\n"
            "of 5 documents something failed for good, of 1 it is tried again; other errors: 2, 0\n");
  EXPECT_EQ(admin::failures_of(answers)["errors"][0]["examples"].size(), 2U);
}

TEST(Answers, TellOfNoMoreErrorsAndExamplesThanHavePlace) {
  Answers answers;
  for (int i = 0; i < 2 * static_cast<int>(admin::kErrorsMax); ++i) {
    Json one = reply(std::to_string(i), Json::array());
    one["failures"] = {{"failed", 3}, {"retrying", 0}, {"errors", Json::array()}};
    const std::string own = "error " + std::to_string(i);
    one["failures"]["errors"] = {error("the same", 2, 0, "2026-01-02T03:04:05.000Z", own.c_str()),
                                 error(own.c_str(), 1, 0, "2026-01-02T03:04:05.000Z", "b")};
    answers.add(one);
  }
  const Json told = admin::failures_of(answers);
  ASSERT_EQ(told["errors"].size(), admin::kErrorsMax);
  EXPECT_EQ(told["errors"][0]["error"], "the same") << "the largest has its place";
  EXPECT_EQ(told["errors"][0]["failed"], 4 * admin::kErrorsMax);
  EXPECT_EQ(told["errors"][0]["examples"].size(), admin::kExamplesMax);
  EXPECT_EQ(told["others"]["failed"], admin::kErrorsMax + 1);
}

TEST(Answers, TellTheNewestChangesOfBreakersAndWhoSawThem) {
  Answers answers;
  const auto at = [](int second) { return "2026-01-02T03:04:" + std::to_string(second) + ".000Z"; };
  for (int instance = 1; instance <= 2; ++instance) {
    Json one = reply(std::to_string(instance), Json::array());
    for (int i = 0; i < 20; ++i)
      one["breaker_changes"].push_back(
          {{"partition", 0}, {"target", "search"}, {"down", i % 2 == 0}, {"at", at(50 - 2 * i + instance - 1)}});
    answers.add(one);
  }
  const Json told = admin::breaker_changes_of(answers);
  ASSERT_EQ(told.size(), admin::kBreakerChangesMax);
  EXPECT_EQ(told[0]["at"], at(51));
  EXPECT_EQ(told[0]["instance"], "2");
  EXPECT_EQ(told[1]["instance"], "1");
}

// Of two answers for a partition the later counts.
TEST(Answers, TellOfTheQueueWhatAllInstancesTell) {
  const auto queue = [](int partition, int generation, const Json& by_priority) {
    Json one = part(partition, generation);
    one["documents"] = {{"by_priority", by_priority}};
    return one;
  };
  const auto at = [](int waiting, int processing, const char* since) {
    Json one = {{"waiting", waiting}, {"processing", processing}};
    if (since != nullptr) one["due_since"] = since;
    return one;
  };
  const auto waits = [](int dispatched, int lost, double per_s) {
    return Json{
        {"ended", {{"dispatched", dispatched}}}, {"leases_lost", lost}, {"body_gone", 1}, {"dispatched_per_s", per_s}};
  };
  Json one = reply(
      "1",
      Json::array({queue(0, 1, {{"7", at(1, 0, nullptr)}}),
                   queue(1, 1, {{"100", at(5, 1, "2026-01-02T02:00:00Z")}, {"7", at(2, 0, "2026-01-02T03:00:00Z")}})}));
  one["waits"] = waits(10, 2, 1.5);
  Json other = reply(
      "2", Json::array({queue(
               0, 2,
               {{"100", at(3, 0, "2026-01-02T01:00:00Z")}, {"256", at(1, 1, nullptr)}, {"none", at(1, 1, nullptr)}})}));
  other["waits"] = waits(20, 3, 0.5);
  Answers answers;
  answers.add(one);
  answers.add(other);
  answers.add(reply("3", Json::array()));  // of a version that tells nothing of it
  EXPECT_EQ(admin::queue_of(answers), Json::parse(R"([
    {"priority": 7, "waiting": 2, "processing": 0, "due_since": "2026-01-02T03:00:00Z"},
    {"priority": 100, "waiting": 8, "processing": 1, "due_since": "2026-01-02T01:00:00Z"}])"));
  EXPECT_EQ(admin::waits_of(answers), Json::parse(R"({
    "ended": {"dispatched": 30, "expired": 0, "dropped": 0, "dead_lettered": 0}, "leases_lost": 5, "body_gone": 2,
    "dispatched_per_s": 2.0})"));
  const std::string text = queue_stats_text(answers);
  EXPECT_THAT(text, HasSubstr("100       8        1           2026-01-02T01:00:00Z"));
  EXPECT_THAT(text, HasSubstr("of what waited 2.0 are dispatched a second; 5 leases were lost"));
}

TEST(Answers, SayNothingOfAQueueThatNobodyHas) {
  Answers answers;
  EXPECT_EQ(queue_stats_text(answers), "");
  answers.add(reply("1", Json::array({part(0, 1), part(1, 1)})));
  EXPECT_EQ(queue_stats_text(answers), "");
  EXPECT_EQ(admin::queue_of(answers), Json::array());
}

// A partition that has moved is in two replies, and counts once.
TEST(Answers, TellOfEachTargetWhatAllInstancesTell) {
  const auto waiting = [](int partition, int generation, int count, const char* since) {
    Json one = part(partition, generation);
    one["state"] = "running";
    one["documents"] = {
        {"surveyed", "2026-01-02T03:04:05Z"},
        {"by_target", {{"search", {{"waiting", count}, {"overdue", 1}, {"oldest_waits_since", since}}}}}};
    return one;
  };
  const auto told = [](const char* target, int released, int quiet_ms) {
    return Json{{"target", target}, {"released", released}, {"per_s", 1.5}, {"quiet_ms", quiet_ms}};
  };
  Json one =
      reply("1", Json::array({waiting(0, 1, 3, "2026-01-02T03:00:00Z"), waiting(1, 1, 5, "2026-01-02T02:00:00Z")}));
  one["targets"] = Json::array({told("search", 10, 9'000), told("catalogue", 0, 50'000)});
  Json other = reply("2", Json::array({waiting(0, 2, 4, "2026-01-02T03:01:00Z")}));
  other["targets"] = Json::array({told("search", 20, 7'000), told("catalogue", 0, 60'000)});
  Json restarted = reply("3", Json::array());
  restarted["targets"] = Json::array({told("search", 0, 2'000), told("catalogue", 0, 2'000)});
  Answers answers;
  answers.add(one);
  answers.add(other);
  answers.add(restarted);
  const Json targets = admin::targets_of(answers);
  ASSERT_EQ(targets.size(), 2U);
  EXPECT_EQ(targets[0]["target"], "search");
  EXPECT_EQ(targets[0]["waiting"], 9);
  EXPECT_EQ(targets[0]["overdue"], 2);
  EXPECT_EQ(targets[0]["oldest_waits_since"], "2026-01-02T02:00:00Z");
  EXPECT_EQ(targets[0]["released"], 30);
  EXPECT_EQ(targets[0]["per_s"], 4.5);
  EXPECT_EQ(targets[0]["quiet_ms"], 2'000);
  EXPECT_EQ(targets[0]["released_ms_ago"], 7'000) << "one that was started since does not know of a release";
  EXPECT_FALSE(targets[1].contains("released_ms_ago"));
  EXPECT_EQ(targets[1]["waiting"], 0);
  EXPECT_FALSE(targets[1].contains("oldest_waits_since"));
  EXPECT_EQ(target_stats_text(answers),
            "TARGET     WAITING  OVERDUE  OLDEST SINCE          RELEASED/S  LAST RELEASE\n"
            "search     9        2        2026-01-02T02:00:00Z  4.5         7 s ago\n"
            "catalogue  0        0        -                     4.5         -\n");

  Json parked = waiting(1, 2, 5, "2026-01-02T02:00:00Z");
  parked["state"] = "parked";
  parked["documents"].erase("by_target");
  answers.add(reply("1", Json::array({parked})));
  EXPECT_THAT(target_stats_text(answers),
              testing::EndsWith("\nWhat waits is counted in 1 of 2 partitions: the others do not run, or have not been "
                                "looked through yet.\n"));
}

TEST(Answers, TakeTheLaterOwnerOfAPartitionWhicheverCameFirst) {
  for (const bool later_first : {true, false}) {
    Answers answers;
    const Json later = reply("new", Json::array({part(0, 3, 10)}));
    const Json earlier = reply("old", Json::array({part(0, 2, 20)}));
    answers.add(later_first ? later : earlier);
    answers.add(later_first ? earlier : later);
    EXPECT_EQ(answers.partitions().at(0)["instance"], "new");
  }
}

TEST(Answers, DoNotTakeARefusalForAnAnswer) {
  Answers answers;
  Json refused = part(0, 3);
  refused["refused"] = {{"reason", "not_ready"}, {"detail", ""}};
  answers.add(reply("1", Json::array({refused, part(1, 1)})));
  EXPECT_FALSE(answers.complete());
  EXPECT_EQ(answers.lacking(), "0");
  answers.add(reply("2", Json::array({part(0, 2)})));
  EXPECT_TRUE(answers.complete());
}

TEST(Answers, AreWaitedForNoLongerWhenWhatIsLackingIsParked) {
  Json refused = part(0, 3);
  refused["refused"] = {{"reason", "not_ready"}, {"detail", ""}};
  Json whole = reply("1", Json::array({refused, part(1, 1)}));
  whole["partitions_asked"] = 2;
  Answers answers;
  answers.add(whole);
  EXPECT_FALSE(answers.rest_is_parked()) << "it is being taken over";
  EXPECT_EQ(why_unanswered(answers), "being taken over, or no instance runs");
  whole["partitions"][0]["parked"] = {
      {"reason", "input_replaced"}, {"detail", "offset 7 \x1B"}, {"first_step", "find out who did it"}};
  whole["partitions"][0]["generation"] = 4;
  answers.add(whole);
  EXPECT_TRUE(answers.rest_is_parked());
  EXPECT_FALSE(answers.all_asked());
  EXPECT_EQ(why_unanswered(answers), "parked: 0 (input_replaced: offset 7 \\x1b: find out who did it)");
}

TEST(Answers, KeepWhyTheWholeRequestWasRefused) {
  Answers answers;
  answers.add({{"refused", {{"reason", "unknown_query"}, {"detail", "x"}}}});
  EXPECT_EQ(answers.refused(), "unknown_query: x");
}

TEST(Answers, TakeAnyJsonWithoutHarm) {
  Answers answers;
  for (const char* text : {"{}", R"({"partitions":7})", R"({"partitions":[1,null,"x",{},{"partition":"a"}]})",
                           R"({"partitions_total":"many","instance":3,"refused":true})"})
    answers.add(Json::parse(text));
  EXPECT_TRUE(answers.partitions().empty());
  EXPECT_THAT(stats_text(answers, View::kWide), HasSubstr("PARTITION"));
}

TEST(Show, ADocumentWithWhatItWaitsFor) {
  const Json document = Json::parse(R"({"id":"a","state":"overdue","groups":[
      {"order":{"epoch":1,"seq":"7","revision":"2"},"requested":true,"pending":["search"],"served":[],"removed":[]},
      {"order":{"epoch":1,"seq":"5","revision":"0"},"requested":true,"pending":[],"served":["shop"],"removed":[]}],
      "waiting":[{"targets":["search"],"since":"2026-01-02T03:04:05Z"}],"last_version":"17",
      "meanwhile":[{"targets":["search"],"at":"2026-01-02T03:05:00Z"}],
      "request":{"order":{"epoch":1,"seq":"7","revision":"0"},"offset":12,"forwarded":["search"]}})");
  Json owner = part(2, 4);
  owner["instance"] = "b";
  EXPECT_EQ(document_text(owner, document),
            "id               a\n"
            "partition        2, instance b, generation 4, as of -\n"
            "state            overdue\n"
            "order            1/7+2  pending search\n"
            "order            1/5  served shop\n"
            "waits            search since 2026-01-02T03:04:05Z\n"
            "released         search meanwhile, at 2026-01-02T03:05:00Z\n"
            "last version     17\n"
            "request          1/7 at offset 12, forwarded for search\n");
}

PastEvent superseded(const std::string& row, const std::string& topic, int offset, int sequence) {
  return {UnixMs(1'000), Json{{"kind", "outcome"},
                              {"outcome", "dropped"},
                              {"reason", "superseded"},
                              {"table_row", row},
                              {"order", {{"epoch", 0}, {"seq", std::to_string(sequence)}, {"revision", "0"}}},
                              {"source", {{"topic", topic}, {"partition", 2}, {"offset", offset}}}}};
}

TEST(Why, TellsOfOlderRequestsOnlyWhereTheyCameBehindTheNewest) {
  const Json document = Json::parse(R"({"request":{"order":{"epoch":0,"seq":"7","revision":"0"},"offset":12}})");
  const auto told = [&](const std::vector<PastEvent>& events) {
    return older_text(part(2, 4), document, events, "requests");
  };
  EXPECT_EQ(told({superseded("R2", "requests", 13, 6), superseded("R4", "requests", 11, 5),
                  superseded("R4", "commands", 14, 5), superseded("S4", "commands", 15, 5)}),
            "");
  PastEvent run = superseded("R4", "requests", 15, 3);
  run.count = 2;
  EXPECT_THAT(told({run, superseded("R0", "requests", 13, 2)}),
              testing::StartsWith("behind its newest request came 3 older ones, the last of them 3: a change "));
}

TEST(Why, CountsAsOlderOnlyRequestsThatCameBehindTheNewestHoweverManyWereDropped) {
  const Json document = Json::parse(R"({"request":{"order":{"epoch":0,"seq":"7","revision":"0"},"offset":12}})");
  Json parts = Json::array({part(2, 4)});
  parts[0]["documents"] = Json::array({document});
  const auto told = [&](const std::vector<PastEvent>& events) {
    runtime::EventLines lines(20, runtime::borders_of(parts, "requests"));
    for (const PastEvent& event : events) lines.add(event.at, event.json);
    EXPECT_FALSE(lines.end_piece());
    return older_text(part(2, 4), document, lines.take(), "requests");
  };
  const PastEvent in_turn = superseded("R2", "requests", 10, 5);
  EXPECT_EQ(told({in_turn, superseded("R2", "requests", 11, 6), superseded("R4", "requests", 8, 3)}), "");
  EXPECT_THAT(told({in_turn, in_turn, superseded("R4", "requests", 13, 3)}),
              HasSubstr("request came 1 older one, the last of them 3: "));
  EXPECT_THAT(told({superseded("R4", "requests", 8, 1), superseded("R4", "requests", 9, 2),
                    superseded("R4", "requests", 13, 3), superseded("R4", "requests", 14, 4)}),
              HasSubstr("request came 2 older ones, the last of them 4: "));
}

TEST(Why, TellsOfOlderRequestsAlsoWhereOnlyTheirEpochIsOlder) {
  const Json document = Json::parse(R"({"request":{"order":{"epoch":1,"seq":"7","revision":"0"},"offset":12}})");
  PastEvent behind = superseded("R4", "requests", 13, 8);
  behind.json["reason"] = "epoch_behind";
  EXPECT_THAT(older_text(part(2, 4), document, {behind}, "requests"),
              HasSubstr("request came 1 older one, the last of them 8: "));
}

TEST(Why, TellsWhereEachTargetStands) {
  const Json document = Json::parse(R"({"id":"a","state":"live","groups":[
      {"order":{"epoch":0,"seq":"7","revision":"0"},"requested":true,"pending":["search","new"],"served":[],
       "removed":["gone"]},
      {"order":{"epoch":0,"seq":"5","revision":"0"},"requested":true,"pending":[],"served":["search","shop"],
       "removed":[]}],
      "waiting":[{"targets":["search","new"],"since":"2026-01-02T03:04:05Z"}],
      "request":{"order":{"epoch":0,"seq":"7","revision":"0"},"offset":12,"forwarded":["search"]}})");
  EXPECT_EQ(
      standing_text(part(2, 4), document),
      "search waits since 2026-01-02T03:04:05Z for the result of 7, requested at offset 12 of partition 2, released "
      "last: 5\n"
      "new waits since 2026-01-02T03:04:05Z for the result of 7, requested at offset 12 of partition 2, no release "
      "for it is known\n"
      "gone gets nothing for 7: removed\n"
      "shop got the release of 5, the newest for it\n"
      "a release is written to the output topic; what its sink did with it, the sink's log and dead letters say\n");
  Json paused = part(2, 4);
  paused["paused"] = true;
  EXPECT_THAT(standing_text(paused, document),
              testing::StartsWith("partition 2 is paused: nothing is decided until `resume --partition 2`\nsearch "));
}

TEST(Why, TellsThatATargetThatWaitsGotAnOlderResultMeanwhile) {
  const Json document = Json::parse(R"({"id":"a","state":"starving","groups":[
      {"order":{"epoch":0,"seq":"7","revision":"0"},"requested":true,"pending":["search"],"served":[],"removed":[]}],
      "waiting":[{"targets":["search"],"since":"2026-01-02T03:04:05Z"}],
      "meanwhile":[{"targets":["search"],"at":"2026-01-02T03:05:00Z"}]})");
  EXPECT_EQ(standing_text(part(2, 4), document),
            "search waits since 2026-01-02T03:04:05Z for the result of 7, got the result of an older request at "
            "2026-01-02T03:05:00Z\n");
}

TEST(Why, TellsOfResultsThatWereStoppedOnlyForTargetsThatWait) {
  const Json document = Json::parse(R"({"groups":[
      {"order":{"epoch":0,"seq":"7","revision":"0"},"pending":["search"],"served":["shop"],"removed":[]}],
      "waiting":[{"targets":["search"],"since":"1970-01-01T00:00:01.000Z"}]})");
  PastEvent run = superseded("S4", "commands", 15, 6);
  run.json["target"] = "search";
  run.count = 3'000;
  PastEvent one = superseded("S6", "commands", 9, 2);
  one.json["target"] = "search";
  PastEvent other = superseded("S4", "commands", 8, 5);
  other.json["target"] = "shop";
  PastEvent registration = superseded("U2", "commands", 7, 5);
  registration.json["target"] = "search";
  EXPECT_EQ(stopped_text(document, {other, registration}), "");
  EXPECT_EQ(stopped_text(document, {other, run, one, registration}),
            "search waits, but results of other requests came for it and were dropped: 3001, the last of them for 6\n");
  one.at = UnixMs(999);  // when it did not wait yet
  EXPECT_EQ(stopped_text(document, {one}), "");
}

TEST(Why, CountsOfARunOfStoppedResultsOnlyThoseThatCameWhileTheTargetWaits) {
  const Json document = Json::parse(R"({"groups":[
      {"order":{"epoch":0,"seq":"7","revision":"0"},"pending":["search"],"served":["shop"],"removed":[]}],
      "waiting":[{"targets":["search"],"since":"1970-01-01T00:00:01.000Z"}]})");
  Json parts = Json::array({part(2, 4)});
  parts[0]["documents"] = Json::array({document});
  runtime::EventLines lines(20, runtime::borders_of(parts, "requests"));
  for (const std::int64_t at : {998, 999, 1'000, 1'001, 1'002}) {
    PastEvent result = superseded("S4", "commands", 9, 2);
    result.json["target"] = "search";
    lines.add(UnixMs(at), result.json);
  }
  EXPECT_FALSE(lines.end_piece());
  EXPECT_EQ(stopped_text(document, lines.take()),
            "search waits, but results of other requests came for it and were dropped: 3, the last of them for 2\n");
}

TEST(Why, TellsWhatBecameOfEachInput) {
  const PastEvent stale{UnixMs(1'000), Json::parse(R"({"kind":"outcome","id":"a","outcome":"dropped","reason":"stale",
      "table_row":"S6","order":{"epoch":0,"seq":"5","revision":"0"},"expected":{"epoch":0,"seq":"7","revision":"0"},
      "target":"search","source":{"topic":"shop.commands","partition":1,"offset":9}})")};
  const PastEvent overdue{UnixMs(2'000), Json::parse(R"({"kind":"overdue","id":"a",
      "order":{"epoch":0,"seq":"7","revision":"0"},"targets":["search","lake"]})")};
  EXPECT_EQ(timeline_text({stale, overdue}, View::kTable),
            "TIME                      OUTCOME  REASON  ORDER  NEWEST  TARGET       VERSION  ROW  INPUT\n"
            "1970-01-01T00:00:01.000Z  dropped  stale   5      7       search       -        S6   shop.commands 1@9\n"
            "1970-01-01T00:00:02.000Z  overdue  -       7      -       search,lake  -        -    -\n");
}

TEST(Why, TellsARunOfInputsInOneLine) {
  const PastEvent run{UnixMs(9'000), Json::parse(R"({"kind":"outcome","id":"a","outcome":"dropped",
      "reason":"superseded","source":{"topic":"shop.commands","partition":1,"offset":9}})"),
                      108'056, UnixMs(1'000)};
  const std::string text = timeline_text({run}, View::kTable);
  EXPECT_THAT(text, HasSubstr("\n1970-01-01T00:00:09.000Z  dropped, 108056 times  superseded  "));
  EXPECT_THAT(text, HasSubstr("  shop.commands 1@9, the first at 1970-01-01T00:00:01.000Z\n"));
}

TEST(Why, TellsWhatATargetHasLostAndByWhat) {
  const Json document = Json::parse(R"({"id":"a","state":"completed","groups":[
      {"order":{"epoch":0,"seq":"7","revision":"0"},"requested":true,"pending":[],"served":["search","shop"],
       "removed":[]}],
      "deleted":[{"target":"search","order":{"epoch":0,"seq":"7","revision":"0"},"at":"2026-01-02T03:04:05Z"}],
      "barrier":{"epoch":0,"seq":"7","revision":"0"},"waiting":[]})");
  EXPECT_EQ(standing_text(part(2, 4), document),
            "search deleted by 7 at 2026-01-02T03:04:05Z\n"
            "shop got the release of 7, which was requested as a delete, the newest for it\n"
            "a release is written to the output topic; what its sink did with it, the sink's log and dead letters "
            "say\n");
}

TEST(Why, SaysWhatWasNotRead) {
  EXPECT_EQ(unread_text({}, "shop.events"), "");
  EXPECT_EQ(unread_text({Partition(2), 380'000, 400'000, UnixMs(1'000)}, "shop.events"),
            "not read: the oldest 380000 of 400000 offsets of shop.events, partition 2, written before "
            "1970-01-01T00:00:01.000Z; --all reads them");
}

TEST(Show, NothingThatATerminalWouldObey) {
  const Json documents = Json::parse(R"([{"partition":0,"id":"a\u001b[2Jb","state":"live","groups":[],"waiting":[]}])");
  const std::string text = list_text(documents, admin::State::kLive, View::kTable);
  EXPECT_THAT(text, HasSubstr(R"(a\x1b[2Jb)"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace reseq::cli
