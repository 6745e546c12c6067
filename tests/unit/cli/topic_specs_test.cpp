// What init asks of brokers, which the rules about topics do not see afterwards.
#include "cli/topic_specs.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reseq::cli {
namespace {

using testing::Contains;
using testing::Each;
using testing::Field;
using testing::Key;
using testing::Not;
using testing::Pair;

runtime::Application shop() {
  config::Settings settings;
  settings.application_id = "shop";
  settings.targets = {{.name = "search"}};
  return runtime::Application(settings);
}

kafka::Properties configs_of(const std::string& topic) {
  const auto specs = topic_specs(shop(), 4, 1);
  const auto one = std::ranges::find(specs, topic, &kafka::TopicSpec::name);
  return one == specs.end() ? kafka::Properties{} : one->configs;
}

// Else a restore reads up to a gigabyte of what is dead, of each partition (docs/decisions/0160-changelog-segments.md).
TEST(TopicSpecs, TheChangelogIsCompactedInSmallSegments) {
  const auto changelog = configs_of("shop.changelog");
  EXPECT_THAT(changelog, Contains(Pair("cleanup.policy", "compact")));
  EXPECT_THAT(changelog, Contains(Pair("segment.bytes", "67108864")));
}

TEST(TopicSpecs, OtherTopicsHaveTheSegmentsOfTheBroker) {
  for (const kafka::TopicSpec& spec : topic_specs(shop(), 4, 1)) {
    if (spec.name == "shop.changelog") continue;
    EXPECT_THAT(spec.configs, Not(Contains(Key("segment.bytes")))) << spec.name;
  }
}

TEST(TopicSpecs, TwoReplicasInSyncAreWantedOfThreeOnly) {
  const auto two_in_sync = Field(&kafka::TopicSpec::configs, Contains(Pair("min.insync.replicas", "2")));
  EXPECT_THAT(topic_specs(shop(), 4, 3), Each(two_in_sync));
  EXPECT_THAT(topic_specs(shop(), 4, 2), Each(Not(two_in_sync)));
}

}  // namespace
}  // namespace reseq::cli
