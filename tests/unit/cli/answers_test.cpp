#include "admin/answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
            "last version     17\n"
            "request          1/7 at offset 12, forwarded for search\n");
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
      "search waits since 2026-01-02T03:04:05Z for the result of 7, requested at offset 12 of partition 2, has 5\n"
      "new waits since 2026-01-02T03:04:05Z for the result of 7, requested at offset 12 of partition 2, has got "
      "nothing yet\n"
      "gone gets nothing for 7: removed\n"
      "shop has 5, the newest for it\n");
  Json paused = part(2, 4);
  paused["paused"] = true;
  EXPECT_THAT(standing_text(paused, document),
              testing::StartsWith("partition 2 is paused: nothing is decided until `resume --partition 2`\nsearch "));
}

TEST(Why, TellsWhatBecameOfEachInput) {
  const PastEvent stale{UnixMs(1'000), Json::parse(R"({"kind":"outcome","id":"a","outcome":"dropped","reason":"stale",
      "table_row":"S6","order":{"epoch":0,"seq":"5","revision":"0"},"expected":{"epoch":0,"seq":"7","revision":"0"},
      "target":"search","source":{"topic":"shop.commands","partition":1,"offset":9}})")};
  const PastEvent overdue{UnixMs(2'000), Json::parse(R"({"kind":"overdue","id":"a",
      "order":{"epoch":0,"seq":"7","revision":"0"}})")};
  EXPECT_EQ(timeline_text({stale, overdue}, View::kTable),
            "TIME                      OUTCOME  REASON  ORDER  NEWEST  TARGET  VERSION  ROW  INPUT\n"
            "1970-01-01T00:00:01.000Z  dropped  stale   5      7       search  -        S6   shop.commands 1@9\n"
            "1970-01-01T00:00:02.000Z  overdue  -       7      -       -       -        -    -\n");
}

TEST(Show, NothingThatATerminalWouldObey) {
  const Json documents = Json::parse(R"([{"partition":0,"id":"a\u001b[2Jb","state":"live","groups":[],"waiting":[]}])");
  const std::string text = list_text(documents, View::kTable);
  EXPECT_THAT(text, HasSubstr(R"(a\x1b[2Jb)"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace reseq::cli
