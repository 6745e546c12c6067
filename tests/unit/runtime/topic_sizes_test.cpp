// Topics that are written must take what cannot be left out of a record.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/application/topic_rules.h"

namespace reseq::runtime {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

config::Settings missing_topic_settings() {
  config::Settings settings;
  settings.application_id = "shop";
  settings.on_missing = "topic";
  settings.on_missing_topic = "shop.missing";
  settings.targets = {{.name = "search"}};
  return settings;
}

// What is refused when the topic takes `bytes` and all others take enough.
std::vector<std::string> refused(const std::string& topic, std::uint64_t bytes) {
  const Application application(missing_topic_settings());
  TopicAnswers answers;
  for (const std::string& name : application.topics.names()) {
    kafka::TopicFacts facts;
    facts.partitions = 4;
    facts.max_message_bytes = name == topic ? bytes : 1'000'000;
    facts.compacts = name == "shop.changelog";
    facts.deletes = !facts.compacts;
    facts.retention_ms = 7LL * 24 * 3'600'000;
    facts.delete_retention_ms = facts.retention_ms;
    answers.emplace_back(facts);
  }
  std::vector<std::string> found;
  for (const Finding& finding : judge_topics(application, answers))
    if (finding.severity == Severity::kError) found.push_back(finding.text);
  return found;
}

TEST(TopicSizes, OfEventsAndChangelogHoldTheLongestRecord) {
  for (const std::string topic : {"shop.events", "shop.changelog"}) {
    EXPECT_THAT(refused(topic, 65'536), IsEmpty());
    EXPECT_THAT(refused(topic, 65'535), testing::ElementsAre(testing::AllOf(
                                            HasSubstr(topic), HasSubstr("max.message.bytes to 65536 or more"))));
  }
}

TEST(TopicSizes, OfDeadLettersHoldWhatTheySayOfThemselves) {
  for (const std::string topic : {"shop.dead-letter", "shop.missing"}) {
    EXPECT_THAT(refused(topic, 2'048), IsEmpty());
    EXPECT_THAT(refused(topic, 2'047),
                testing::ElementsAre(testing::AllOf(HasSubstr(topic), HasSubstr("max.message.bytes to 2048 or more"))));
  }
}

TEST(TopicSizes, OfWorkAndOutputsMayBeAny) {
  for (const std::string topic : {"shop.work", "shop.output.search", "shop.requests", "shop.commands"})
    EXPECT_THAT(refused(topic, 100), IsEmpty()) << topic;
}

}  // namespace
}  // namespace reseq::runtime
