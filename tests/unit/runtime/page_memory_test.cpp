#include "runtime/desk/page_memory.h"

#include <gtest/gtest.h>
#include <string>

namespace reseq::runtime {
namespace {

using admin::Json;

Json part(int partition, int live) {
  return {
      {"partition", partition},
      {"documents", {{"live", live}, {"overdue", 1}, {"starving", 0}, {"oldest_waits_since", "1970-01-01T00:16:40Z"}}},
      {"inputs", {{"requests", {{"lag", 3}}}}},
      {"per_s", {{"released", 1.5}}}};
}

Json stats_of(const std::string& instance, const Json& partitions) {
  return {{"instance", instance}, {"host", "h"}, {"partitions_total", 2}, {"partitions", partitions}};
}

admin::Answers both() {
  admin::Answers answers;
  answers.add(stats_of("1", Json::array({part(0, 10)})));
  answers.add(stats_of("2", Json::array({part(1, 20)})));
  return answers;
}

TEST(PageMemory, TellsOfAnInstanceThatAnswersNoMoreForAQuarterOfAnHour) {
  PageMemory memory;
  memory.take(both(), UnixMs(1'000'000));
  admin::Answers one;
  one.add(stats_of("1", Json::array({part(0, 10)})));
  for (const std::int64_t later : {1'000'000, 1'000'000 + 15 * 60'000}) {
    memory.take(one, UnixMs(later));
    const Json silent = memory.silent(one, UnixMs(later));
    ASSERT_EQ(silent.size(), 1U) << later;
    EXPECT_EQ(silent[0]["instance"], "2");
    EXPECT_EQ(silent[0]["host"], "h");
    EXPECT_EQ(silent[0]["heard"], "1970-01-01T00:16:40.000Z");
  }
  EXPECT_EQ(memory.silent(one, UnixMs(1'000'001 + 15 * 60'000)).size(), 0U);
}

TEST(PageMemory, HearsOfAnOlderAnswerOnlyWhatItDidNotKnow) {
  PageMemory memory;
  memory.hear(stats_of("2", Json::array()), UnixMs(2'000'000));
  PageMemory older;
  older.hear(stats_of("2", Json::array()), UnixMs(1'000'000));
  older.hear(stats_of("3", Json::array()), UnixMs(1'500'000));
  memory.hear(older);
  const Json silent = memory.silent(admin::Answers(), UnixMs(1'800'000));
  ASSERT_EQ(silent.size(), 2U);
  EXPECT_EQ(silent[0]["heard"], "1970-01-01T00:33:20.000Z");
  EXPECT_EQ(silent[1]["heard"], "1970-01-01T00:25:00.000Z");
}

TEST(PageMemory, TakesWhatIsAnsweredNowForTheNewestWhenTheClockWasSetBack) {
  PageMemory memory;
  memory.take(both(), UnixMs(2'000'000));
  memory.take(both(), UnixMs(1'000'000));
  EXPECT_EQ(memory.silent(admin::Answers(), UnixMs(1'000'000))[1]["heard"], "1970-01-01T00:16:40.000Z");
}

TEST(PageMemory, HasPointsOfAQuarterOfAnHourAndNoMore) {
  PageMemory memory;
  for (std::int64_t t = 0; t < 2 * PageMemory::kSpan.value(); t += 2'000) memory.take(both(), UnixMs(t));
  const UnixMs end(2 * PageMemory::kSpan.value());
  const Json history = memory.history(end);
  EXPECT_GE(history.size(), 50U);
  EXPECT_LE(history.size(), PageMemory::kPointsMax);
  EXPECT_GE(history.front()["t"].get<std::int64_t>(), end.value() - PageMemory::kSpan.value());
  EXPECT_LT(history.dump().size(), 64U * 1024);
}

TEST(PageMemory, ForgetsNamesThatAreTooMany) {
  PageMemory memory;
  for (std::size_t i = 0; i < PageMemory::kInstancesMax + 10; ++i) {
    admin::Answers one;
    one.add(stats_of(std::to_string(i), Json::array()));
    one.add(stats_of(std::string(PageMemory::kNameBytesMax + 1, 'x'), Json::array()));
    memory.take(one, UnixMs(1'000'000 + static_cast<std::int64_t>(i)));
  }
  for (int i = 0; i < 10; ++i) memory.hear(stats_of("old" + std::to_string(i), Json::array()), UnixMs(999'999));
  const Json silent = memory.silent(admin::Answers(), UnixMs(1'010'000));
  EXPECT_EQ(silent.size(), PageMemory::kInstancesMax);
  for (const Json& one : silent) EXPECT_NE(one["instance"], "0") << "the oldest goes first";
}

// Whoever may write to the topic of replies can write anything.
TEST(PageMemory, HoldsNothingOfAReplyButShortNamesAndNumbers) {
  PageMemory memory;
  admin::Answers answers;
  answers.add({{"instance", "7"},
               {"host", std::string(1'000'000, 'x')},
               {"version", {{"deep", Json::array({1, 2, 3})}}},
               {"workers", "many"}});
  memory.take(answers, UnixMs(1'000'000));
  EXPECT_EQ(memory.silent(admin::Answers(), UnixMs(1'000'001)),
            Json::array({{{"instance", "7"}, {"heard", "1970-01-01T00:16:40.000Z"}}}));
}

TEST(ChartPoint, IsAGapWhereAReplyIsNotAsItShouldBe) {
  admin::Answers answers;
  const Json strange = {{"partition", 0},
                        {"state", 7},
                        {"per_s", {{"released", nullptr}, {"dropped", "many"}, {"forwarded", 2.5}}},
                        {"inputs", 3},
                        {"documents", Json::array()}};
  answers.add(stats_of("1", Json::array({strange, {{"partition", 1'000'000}}, "nothing"})));
  const Json point = chart_point(answers, UnixMs(1'005'000));
  EXPECT_EQ(point["outcomes"]["released"], Json());
  EXPECT_EQ(point["outcomes"]["dropped"], Json());
  EXPECT_EQ(point["outcomes"]["forwarded"], 2.5);
  EXPECT_EQ(answers.partitions().size(), 1U);
  EXPECT_EQ(admin::surveyed(answers), 0);
}

TEST(ChartPoint, IsTheSumOfAllPartitions) {
  const Json point = chart_point(both(), UnixMs(1'005'000));
  EXPECT_EQ(point["t"], 1'005'000);
  EXPECT_EQ(point["outcomes"]["released"], 3.0);
  EXPECT_EQ(point["outcomes"]["dropped"], 0.0);
  EXPECT_EQ(point["lag"]["requests"], 6);
  EXPECT_EQ(point["lag"]["control"], Json());
  EXPECT_EQ(point["live"]["live"], 30);
  EXPECT_EQ(point["live"]["overdue"], 2);
  EXPECT_EQ(point["oldest"]["oldest"], 5'000);
}

TEST(ChartPoint, IsAGapWhereAPartitionIsLacking) {
  admin::Answers one;
  one.add(stats_of("1", Json::array({part(0, 10)})));
  const Json point = chart_point(one, UnixMs(1'005'000));
  EXPECT_EQ(point["live"]["live"], Json());
  EXPECT_EQ(point["lag"]["requests"], Json());
  EXPECT_EQ(point["oldest"]["oldest"], Json());
  EXPECT_EQ(point["outcomes"]["released"], 1.5);
}

}  // namespace
}  // namespace reseq::runtime
