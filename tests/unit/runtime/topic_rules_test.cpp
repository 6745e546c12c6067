// One row per rule about the topics of an application: a fact that breaks it, and what is said about that.
#include "runtime/application/topic_rules.h"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

namespace reseq::runtime {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kHour = 3'600'000;
constexpr std::int64_t kWeek = 7 * 24 * kHour;

// Topics as init makes them.
class InitTopics {
 public:
  explicit InitTopics(const config::Settings& configured = settings()) : application(configured) {
    for (const std::string& name : application.topics.names()) {
      kafka::TopicFacts& one = facts[name];
      one.partitions = name == "shop.work" ? 16 : 4;
      one.max_message_bytes = 1'000'000;
      one.compacts = name == "shop.changelog";
      one.deletes = !one.compacts;
      one.retention_ms = kWeek;
      one.delete_retention_ms = kWeek;
      one.replicas = 3;
      one.brokers = 3;
      one.min_insync_replicas = 2;
    }
  }

  std::vector<Finding> judged() {
    TopicAnswers answers;
    for (const std::string& name : application.topics.names()) {
      if (const auto error = errors.find(name); error != errors.end())
        answers.emplace_back(error->second);
      else
        answers.emplace_back(facts.at(name));
    }
    if (answers.front()) application.partitions = answers.front().value().partitions;
    return judge_topics(application, answers);
  }

  static config::Settings settings() {
    config::Settings settings;
    settings.application_id = "shop";
    settings.targets = {{.name = "search"}};
    return settings;
  }

  Application application;
  std::map<std::string, kafka::TopicFacts> facts;
  std::map<std::string, Error> errors;
};

struct Rule {
  const char* name;
  std::function<void(InitTopics&)> broken;
  Severity severity;
  const char* says;
};

const std::vector<Rule>& rules() {
  using T = InitTopics;
  static const std::vector<Rule> all = {
      {"FewerCommands", [](T& t) { t.facts["shop.commands"].partitions = 3; }, Severity::kError,
       "topic shop.commands has 3 partitions, shop.requests has 4: they must be equal; before the first start create "
       "shop.commands again with 4; if partitions were added to an input in use, set a new application.id with new "
       "topics"},
      {"MoreControl", [](T& t) { t.facts["shop.control"].partitions = 5; }, Severity::kError,
       "create shop.control again with 4"},
      {"MoreChangelog", [](T& t) { t.facts["shop.changelog"].partitions = 5; }, Severity::kError,
       "create shop.changelog again with 4"},
      {"ChangelogDeletes", [](T& t) { t.facts["shop.changelog"].deletes = true; }, Severity::kError,
       "topic shop.changelog deletes old records, so state is lost: set cleanup.policy=compact (without delete)"},
      {"ChangelogKeepsAll", [](T& t) { t.facts["shop.changelog"].compacts = false; }, Severity::kError,
       "topic shop.changelog is not compacted"},
      {"NoTombstones", [](T& t) { t.facts["shop.changelog"].delete_retention_ms = 0; }, Severity::kError,
       "set delete.retention.ms=604800000"},
      {"FewTombstones", [](T& t) { t.facts["shop.changelog"].delete_retention_ms = 24 * kHour - 1; },
       Severity::kWarning, "an instance that was away for half of it"},
      {"CommandsCompacted", [](T& t) { t.facts["shop.commands"].compacts = true; }, Severity::kError,
       "topic shop.commands is compacted"},
      {"ControlCompacted", [](T& t) { t.facts["shop.control"].compacts = true; }, Severity::kError,
       "topic shop.control is compacted"},
      {"LettersCompacted", [](T& t) { t.facts["shop.dead-letter"].compacts = true; }, Severity::kError,
       "topic shop.dead-letter is compacted"},
      {"RequestsCompacted", [](T& t) { t.facts["shop.requests"].compacts = true; }, Severity::kWarning,
       "topic shop.requests is compacted"},
      {"EventsCompacted", [](T& t) { t.facts["shop.events"].compacts = true; }, Severity::kError,
       "topic shop.events is compacted, so a record without a key cannot be written"},
      {"RequestsKeptLonger", [](T& t) { t.facts["shop.requests"].retention_ms = kWeek + 1; }, Severity::kUnsafe,
       "set watermark_retention_ms = 604800001"},
      {"RequestsKeptForEver", [](T& t) { t.facts["shop.requests"].retention_ms = -1; }, Severity::kUnsafe,
       "set retention.ms=604800000 on the topic"},
      {"RequestsGoneBeforeTheirTurn",
       [](T& t) {
         t.application.keeps_under_way = true;
         t.application.settings.dispatch_mode = "journal";
         t.facts["shop.requests"].retention_ms = 73 * kHour;
       },
       Severity::kUnsafe, "set retention.ms above 262800000 on the topic"},
      {"RequestsGoneSoon", [](T& t) { t.facts["shop.requests"].retention_ms = 24 * kHour - 1; }, Severity::kWarning,
       "topic shop.requests keeps records for 86399999 ms only"},
      {"CommandsGoneSoon", [](T& t) { t.facts["shop.commands"].retention_ms = kHour; }, Severity::kWarning,
       "topic shop.commands keeps records for 1 h only"},
      {"SmallWork", [](T& t) { t.facts["shop.work"].max_message_bytes = 999'999; }, Severity::kWarning,
       "set max.message.bytes=1065536 on shop.work"},
      {"Unreadable",
       [](T& t) {
         t.errors["shop.work"] = {ErrorClass::kInvalid, 0, "odd"};
       },
       Severity::kError, "odd"},
  };
  return all;
}

const std::vector<Rule>& rules_of_replicas() {
  using T = InitTopics;
  static const std::vector<Rule> all = {
      {"ChangelogOnOneDisk", [](T& t) { t.facts["shop.changelog"].replicas = 1; }, Severity::kWarning,
       "topic shop.changelog has 1 replica, the cluster has 3 brokers: a broken disk may lose what was acknowledged; "
       "give each partition 3 with kafka-reassign-partitions.sh"},
      {"RequestsOnTwoDisks",
       [](T& t) { t.facts["shop.requests"].replicas = 2, t.facts["shop.requests"].min_insync_replicas = 1; },
       Severity::kWarning, "topic shop.requests has 2 replicas, the cluster has 3 brokers"},
      {"CommandsOnOneOfTwoDisks",
       [](T& t) { t.facts["shop.commands"].replicas = 1, t.facts["shop.commands"].brokers = 2; }, Severity::kWarning,
       "give each partition 2 with"},
      {"ChangelogAcknowledgedByOne", [](T& t) { t.facts["shop.changelog"].min_insync_replicas = 1; },
       Severity::kWarning,
       "topic shop.changelog has min.insync.replicas=1: what was acknowledged may be on one disk only; set "
       "min.insync.replicas=2"},
      {"RequestsNeedAllReplicas", [](T& t) { t.facts["shop.requests"].min_insync_replicas = 3; }, Severity::kWarning,
       "topic shop.requests has min.insync.replicas=3 and 3 replicas: one broker that fails stops all writing; set "
       "min.insync.replicas=2"},
      {"CommandsLedByWhoLacksThem", [](T& t) { t.facts["shop.commands"].unclean_election = true; }, Severity::kWarning,
       "set unclean.leader.election.enable=false"},
  };
  return all;
}

TEST(TopicRules, AreContentWithTopicsOfInit) {
  InitTopics topics;
  for (const Finding& finding : topics.judged()) ADD_FAILURE() << finding.text;
}

TEST(TopicRules, AskNoMoreOfAClusterThanItHas) {
  for (const std::int32_t brokers : {1, 2}) {
    InitTopics topics;
    for (auto& [name, one] : topics.facts) {
      one.brokers = brokers;
      one.replicas = brokers;
      one.min_insync_replicas = 1;
    }
    for (const Finding& finding : topics.judged()) ADD_FAILURE() << brokers << " brokers: " << finding.text;
  }
}

class BrokenRule : public testing::TestWithParam<Rule> {};

TEST_P(BrokenRule, IsFoundAloneWithItsFix) {
  InitTopics topics;
  GetParam().broken(topics);
  const std::vector<Finding> found = topics.judged();
  ASSERT_EQ(found.size(), 1U) << (found.size() > 1 ? found[1].text : "");
  EXPECT_THAT(found.front().text, HasSubstr(GetParam().says));
  EXPECT_EQ(found.front().severity, GetParam().severity);
}

std::string name_of_rule(const testing::TestParamInfo<Rule>& one) {
  return one.param.name;
}

INSTANTIATE_TEST_SUITE_P(All, BrokenRule, testing::ValuesIn(rules()), name_of_rule);
INSTANTIATE_TEST_SUITE_P(OfReplicas, BrokenRule, testing::ValuesIn(rules_of_replicas()), name_of_rule);

TEST(TopicRules, AreContentWithRequestsThatAreKeptLongerThanTheyWait) {
  InitTopics topics;
  topics.application.keeps_under_way = true;
  topics.application.settings.dispatch_mode = "journal";
  topics.facts["shop.requests"].retention_ms = 73 * kHour + 1;
  EXPECT_TRUE(topics.judged().empty());
  topics.facts["shop.requests"].retention_ms = 73 * kHour;
  topics.application.keeps_under_way = false;
  EXPECT_TRUE(topics.judged().empty());
}

// Beside what is said of a compacted topic anyway.
TEST(TopicRules, RefuseACompactedTopicForRequestsThatWait) {
  InitTopics topics;
  topics.application.keeps_under_way = true;
  topics.facts["shop.requests"].compacts = true;
  const std::vector<Finding> found = topics.judged();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(found.back().text, HasSubstr("a request that waits or is tried again may be gone"));
  EXPECT_EQ(found.back().severity, Severity::kUnsafe);
}

TEST(TopicRules, RefuseACompactedTopicForResultsWithoutAnId) {
  config::Settings settings = InitTopics::settings();
  settings.on_missing = "topic";
  settings.on_missing_topic = "shop.nameless";
  InitTopics topics(settings);
  EXPECT_TRUE(topics.judged().empty());
  topics.facts["shop.nameless"].compacts = true;
  const std::vector<Finding> found = topics.judged();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found.front().text, HasSubstr("topic shop.nameless is compacted"));
  EXPECT_EQ(found.front().severity, Severity::kError);
}

TEST(TopicRules, NameAllMissingTopicsInOneLine) {
  constexpr int kUnknownTopic = 3;  // UNKNOWN_TOPIC_OR_PARTITION
  constexpr int kForbidden = 29;    // TOPIC_AUTHORIZATION_FAILED
  InitTopics topics;
  topics.errors["shop.requests"] = {ErrorClass::kInvalid, kUnknownTopic, "gone"};
  topics.errors["shop.events"] = {ErrorClass::kInvalid, kUnknownTopic, "gone"};
  topics.errors["shop.work"] = {ErrorClass::kInvalid, kForbidden, "topic shop.work: no"};
  const std::vector<Finding> found = topics.judged();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(found[0].text, HasSubstr("`resequencer check` names the right that is missing on topic shop.work"));
  EXPECT_THAT(found[1].text, HasSubstr("these topics do not exist: shop.requests, shop.events: correct a name that is "
                                       "wrong; then `resequencer init`"));
}

}  // namespace
}  // namespace reseq::runtime
