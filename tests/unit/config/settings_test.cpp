#include "config/settings.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <utility>

#include "base/reserved_names.h"
#include "base/secrets.h"
#include "config/print.h"
#include "config/rules.h"
#include "tests/support/source_path.h"

namespace reseq::config {
namespace {

using testing::HasSubstr;

const std::string kLeast =
    "application.id = \"shop\"\nbootstrap.servers = \"127.0.0.1:9092\"\n[[target]]\nname = \"search\"\n";

std::string error_of(const std::string& toml) {
  const auto parsed = parse(toml, "shop.toml");
  return parsed.ok() ? "no error" : parsed.error().message;
}

TEST(Settings, NeedsOnlyAnApplicationBrokersAndATarget) {
  const auto parsed = parse(kLeast, "shop.toml");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(parsed.value().application_id, "shop");
  EXPECT_EQ(parsed.value().targets.front().name, "search");
  EXPECT_EQ(parsed.value().intake, "inline");
}

TEST(Settings, NamesTheNearestKeyOfAnUnknownOne) {
  EXPECT_THAT(error_of("aplication.id = \"x\"\n" + kLeast),
              HasSubstr("unknown key aplication.id; the nearest one is application.id"));
  EXPECT_THAT(error_of("on_unregistred = \"drop\"\n" + kLeast), HasSubstr("nearest one is on_unregistered"));
  EXPECT_THAT(error_of(kLeast + "ordre = \"strict\"\n"), HasSubstr("nearest one is order"));
}

TEST(Settings, NamesNoKeyThatIsFarFromTheUnknownOne) {
  EXPECT_THAT(error_of("foo_bar = 1\n" + kLeast), HasSubstr("unknown key foo_bar; `resequencer config reference`"));
}

TEST(Settings, RefusesKeysThatAreReservedForLater) {
  EXPECT_THAT(error_of(kLeast + "[trees]\ndepth_max = 3\n"), HasSubstr("key trees is reserved for later"));
  for (const std::string_view name : reserved::kKeys)
    EXPECT_THAT(error_of(std::string(name) + " = 1\n" + kLeast), HasSubstr("is reserved for later")) << name;
}

TEST(Settings, HasNoKeyThatIsReservedForLater) {
  for (const auto& key : keys()) {
    const std::string_view name = key.name;
    EXPECT_FALSE(reserved::has(reserved::kKeys, name.substr(0, name.find('.')))) << name;
  }
}

TEST(Settings, RefusesAValueThatIsNoneOfTheChoices) {
  EXPECT_THAT(error_of("intake = \"online\"\n" + kLeast), HasSubstr("must be one of inline|tap"));
}

TEST(Settings, RefusesAWrongTypeAndATooSmallNumber) {
  EXPECT_THAT(error_of("batch_records_max = \"many\"\n" + kLeast), HasSubstr("must be a whole number"));
  EXPECT_THAT(error_of("batch_records_max = 0\n" + kLeast), HasSubstr("must be at least 1"));
  EXPECT_THAT(error_of("requests_carry_epochs = 1\n" + kLeast), HasSubstr("must be true or false"));
}

TEST(Settings, NamesWhatIsMissing) {
  EXPECT_THAT(error_of("bootstrap.servers = \"b\"\n[[target]]\nname = \"t\"\n"),
              HasSubstr("application.id is missing"));
  EXPECT_THAT(error_of("application.id = \"a\"\n[[target]]\nname = \"t\"\n"),
              HasSubstr("bootstrap.servers is missing"));
  EXPECT_THAT(error_of("application.id = \"a\"\nbootstrap.servers = \"b\"\n"), HasSubstr("no [[target]]"));
}

TEST(Settings, NamesTheLineOfBrokenToml) {
  EXPECT_THAT(error_of("application.id = \n"), HasSubstr("shop.toml:1"));
}

TEST(Settings, RefusesARouteToATargetThatDoesNotExist) {
  EXPECT_THAT(error_of(kLeast + "[[route]]\nid_prefix = \"a/\"\ntargets = [\"serch\"]\n"),
              HasSubstr("nearest one is search"));
}

TEST(Settings, RefusesATargetNamedTwice) {
  EXPECT_THAT(error_of(kLeast + "[[target]]\nname = \"search\"\n"), HasSubstr("named twice"));
}

TEST(Settings, RefusesATargetNameThatAListCannotCarry) {
  EXPECT_THAT(error_of(kLeast + "[[target]]\nname = \"a,b\"\n"), HasSubstr("letters, digits"));
}

TEST(Settings, PassesTheKafkaTableThrough) {
  const auto parsed = parse(kLeast + "[kafka]\nsecurity.protocol = \"ssl\"\n\"statistics.interval.ms\" = 5\n", "s");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  const std::vector<std::pair<std::string, std::string>> expected = {{"security.protocol", "ssl"},
                                                                     {"statistics.interval.ms", "5"}};
  EXPECT_THAT(parsed.value().kafka, testing::UnorderedElementsAreArray(expected));
}

TEST(Settings, TakesOverridesFromTheEnvironment) {
  ::setenv("RESEQ_INSTANCE_ID", "7", 1);
  ::setenv("RESEQ_TOPIC_DEAD_LETTER", "graveyard", 1);
  const auto parsed = parse(kLeast, "shop.toml");
  ::setenv("RESEQ_BATCH_RECORDS_MAX", "many", 1);
  const std::string error = error_of(kLeast);
  ::unsetenv("RESEQ_INSTANCE_ID");
  ::unsetenv("RESEQ_TOPIC_DEAD_LETTER");
  ::unsetenv("RESEQ_BATCH_RECORDS_MAX");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed.value().instance_id, "7");
  EXPECT_EQ(parsed.value().topic_dead_letter, "graveyard");
  EXPECT_THAT(error, HasSubstr("RESEQ_BATCH_RECORDS_MAX"));
}

TEST(Settings, HasAMeaningForEveryKeyAndNoKeyTwice) {
  std::vector<std::string> names;
  for (const auto& key : keys()) {
    EXPECT_STRNE(key.meaning, "") << key.name;
    names.emplace_back(key.name);
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(Settings, SaysWhatCountsForARequestThatIsUnchanged) {
  const std::string skips = "skip_unchanged = true\n";
  const auto parsed = parse(skips + "unchanged_headers = [\"tenant\", \"lang\"]\n" + kLeast, "shop.toml");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_TRUE(parsed.value().skip_unchanged);
  EXPECT_THAT(parsed.value().unchanged_headers, testing::ElementsAre("tenant", "lang"));
  EXPECT_THAT(print(parsed.value()), HasSubstr(R"(unchanged_headers = ["tenant", "lang"])"));

  ::setenv("RESEQ_UNCHANGED_HEADERS", "tenant,shop", 1);
  const auto overridden = parse(skips + "unchanged_headers = [\"lang\"]\n" + kLeast, "shop.toml");
  ::unsetenv("RESEQ_UNCHANGED_HEADERS");
  ASSERT_TRUE(overridden.ok()) << overridden.error().message;
  EXPECT_THAT(overridden.value().unchanged_headers, testing::ElementsAre("tenant", "shop"));
}

TEST(Settings, RefusesWhatCannotCountForARequestThatIsUnchanged) {
  const std::string skips = "skip_unchanged = true\n";
  const auto list = [](const std::string& names) { return "unchanged_headers = [" + names + "]\n"; };
  EXPECT_THAT(error_of(skips + "intake = \"tap\"\n" + kLeast), HasSubstr("skip_unchanged needs intake = \"inline\""));
  EXPECT_THAT(error_of(list("\"tenant\"") + kLeast), HasSubstr("skip_unchanged, which is not set"));
  EXPECT_THAT(error_of(skips + list("\"reseq-targets\"") + kLeast), HasSubstr("begin with reseq-"));
  EXPECT_THAT(error_of(skips + list("\"\"") + kLeast), HasSubstr("a header without a name"));
  EXPECT_THAT(error_of(skips + list("\"a\", \"a\"") + kLeast), HasSubstr("names a twice"));
  EXPECT_THAT(error_of(skips + list("1") + kLeast), HasSubstr("must be a list of texts"));
  std::string many;
  for (int i = 0; i < 33; ++i) many += (i > 0 ? ", \"h" : "\"h") + std::to_string(i) + "\"";
  EXPECT_THAT(error_of(skips + list(many) + kLeast), HasSubstr("more than 32 names"));
}

TEST(Settings, RefusesAWrongTypeInATargetARouteAndTheKafkaTable) {
  EXPECT_THAT(error_of(kLeast + "optional = \"yes\"\n"), HasSubstr("[[target]] optional: must be true or false"));
  EXPECT_THAT(error_of(kLeast + "topic = 7\n"), HasSubstr("[[target]] topic: must be a text in quotes"));
  EXPECT_THAT(error_of(kLeast + "[[route]]\nid_prefix = \"a\"\ntargets = \"search\"\n"),
              HasSubstr("[[route]] targets: must be a list of texts"));
  EXPECT_THAT(error_of(kLeast + "[[route]]\ntargets = [1]\n"), HasSubstr("must be a list of texts"));
  EXPECT_THAT(error_of(kLeast + "[[route]]\ntargets = [\"search\"]\nheader_value = \"x\"\n"),
              HasSubstr("needs header"));
  EXPECT_THAT(error_of(kLeast + "[kafka]\n\"linger.ms\" = 0.5\n"), HasSubstr("[kafka] linger.ms: must be a text"));
  EXPECT_THAT(error_of("kafka = 1\n" + kLeast), HasSubstr("write [kafka]"));
}

TEST(Settings, NamesTopicsAfterTheApplication) {
  const auto parsed = parse("topic.work = \"jobs\"\n" + kLeast, "shop.toml");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(parsed.value().topic_requests, "shop.requests");
  EXPECT_EQ(parsed.value().topic_work, "jobs");
  EXPECT_EQ(parsed.value().targets.front().topic, "shop.output.search");
}

TEST(Settings, TakesPlacesOfRequestsThatAreHeadersOfTheProducer) {
  const auto parsed = parse(kLeast + "[input]\nid = \"header:doc\"\nsequence = \"header:ce_time\"\n", "s");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(parsed.value().input_id, "header:doc");
  EXPECT_EQ(parsed.value().input_sequence, "header:ce_time");
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"input.id = \"value\"", "input.id = \"value\": must be key or header:NAME"},
      {"input.id = \"\"", "must be key or header:NAME"},
      {"input.id = \"header:\"", "must be key or header:NAME"},
      {"input.id = \"header:reseq-id\"", "headers that begin with reseq-"},
      {"input.sequence = \"key\"", "input.sequence = \"key\": must be header:NAME"},
      {"input.sequence = \"version\"", "must be header:NAME"},
      {"input.sequence = \"header:reseq-seq\"", "leave the key out"},
      {"input.sequence = \"header:reseq-version\"", "the producer needs a name of its own"},
      {"input.sequence = \"header: v\"", "a blank at an end of the name"},
      {"input.sequence = \"header:v\\t\"", "a blank at an end of the name"},
      {"input.sequence = \"header:a\\u0000b\"", "first NUL byte"},
      {"input.sequence = \"header:" + std::string(1001, 'v') + "\"", "more than 1000 bytes"},
      {"input.id = \"header:v\"\ninput.sequence = \"header:v\"", "are the same header"}};
  for (const auto& [lines, words] : wrong) EXPECT_THAT(error_of(lines + "\n" + kLeast), HasSubstr(words)) << lines;
  const auto untouched = parse(kLeast, "s");
  EXPECT_EQ(untouched.value().input_id, "key");
  EXPECT_EQ(untouched.value().input_sequence, "");
}

const std::string kJournal = kLeast + "[dispatch]\nmode = \"journal\"\n";
const std::string kLongMemory = "watermark_retention_ms = 63244800001\n";

TEST(Settings, LetNothingWaitUnlessAskedTo) {
  const auto parsed = parse(kLeast, "shop.toml");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(parsed.value().dispatch_mode, "immediate");
  EXPECT_EQ(parsed.value().dispatch_attempts, "any");
}

TEST(Settings, ReadTheTableOfTheDispatch) {
  const auto parsed = parse("held_bytes_max = 7\n" + kJournal +
                                "in_flight_max = 1\ndefault_priority = 255\nidle_from_priority = 256\n"
                                "process_at_max_ms = 5\nconsolidate_ms = 5\none_at_a_time = false\nlease_ms = 1000\n"
                                "timeouts_max = 0\nattempts = \"last\"\n",
                            "shop.toml");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  const Settings& s = parsed.value();
  EXPECT_EQ(s.dispatch_mode, "journal");
  EXPECT_EQ(s.dispatch_in_flight_max, 1);
  EXPECT_EQ(s.dispatch_default_priority, 255);
  EXPECT_EQ(s.dispatch_idle_from_priority, 256);
  EXPECT_EQ(s.dispatch_process_at_max_ms, 5);
  EXPECT_EQ(s.dispatch_consolidate_ms, 5);
  EXPECT_FALSE(s.dispatch_one_at_a_time);
  EXPECT_EQ(s.dispatch_lease_ms, 1000);
  EXPECT_EQ(s.dispatch_timeouts_max, 0);
  EXPECT_EQ(s.dispatch_attempts, "last");
  EXPECT_EQ(s.held_bytes_max, 7);
}

TEST(Settings, ConsolidateAsMeasuredWhereThatIsSaid) {
  const auto parsed = parse(kJournal + "consolidate_ms = \"auto\"\n", "shop.toml");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(parsed.value().dispatch_consolidate_ms, kWord);
  EXPECT_THAT(print(parsed.value()), HasSubstr("dispatch.consolidate_ms = \"auto\"\n"));
  const auto again = parse(print(parsed.value()), "printed");
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again.value().dispatch_consolidate_ms, kWord);
  const std::string wrong = "dispatch.consolidate_ms: must be a whole number or \"auto\"";
  EXPECT_THAT(error_of(kJournal + "consolidate_ms = \"automatic\"\n"), HasSubstr(wrong));
  EXPECT_THAT(error_of(kJournal + "consolidate_ms = 1.5\n"), HasSubstr(wrong));
  EXPECT_THAT(error_of(kJournal + "lease_ms = \"auto\"\n"), HasSubstr("dispatch.lease_ms: must be a whole number"));
}

TEST(Settings, LetNothingWaitThatThePipelineReadsItself) {
  EXPECT_THAT(error_of("intake = \"tap\"\n" + kJournal), HasSubstr("needs intake = \"inline\""));
  EXPECT_EQ(error_of("intake = \"tap\"\n" + kLeast), "no error");
}

TEST(Settings, BoundEveryNumberOfTheDispatch) {
  const auto error_with = [](const std::string& line) { return error_of(kLongMemory + kJournal + line + "\n"); };
  const std::pair<const char*, const char*> rows[] = {
      {"in_flight_max = 0", "dispatch.in_flight_max = 0: must be at least 1"},
      {"in_flight_max = 1000000001", "must be at most 1000000000"},
      {"default_priority = -1", "must be at least 0"},
      {"default_priority = 256", "dispatch.default_priority = 256: must be at most 255"},
      {"idle_from_priority = -1", "must be at least 0"},
      {"idle_from_priority = 257", "must be at most 256, which is no priority"},
      {"process_at_max_ms = -1", "must be at least 0"},
      {"process_at_max_ms = 31622400001", "must be at most 31622400000, which is 366 days"},
      {"consolidate_ms = -1", "must be at least 0"},
      {"consolidate_ms = 259200001", "must be at most 259200000, as dispatch.process_at_max_ms says"},
      {"lease_ms = 999", "dispatch.lease_ms = 999: must be at least 1000"},
      {"lease_ms = 31622400001", "must be at most 31622400000, which is 366 days"},
      {"timeouts_max = -1", "must be at least 0"},
      {"timeouts_max = 1000000001", "must be at most 1000000000"},
      {"attempts = \"first\"", "must be one of any|last"},
      {"modes = \"journal\"", "unknown key dispatch.modes; the nearest one is dispatch.mode"},
  };
  for (const auto& [line, words] : rows) EXPECT_THAT(error_with(line), HasSubstr(words)) << line;
  EXPECT_THAT(error_of(kLeast + "[dispatch]\nmode = \"later\"\n"), HasSubstr("must be one of immediate|journal"));
  EXPECT_THAT(error_of("held_bytes_max = -1\n" + kLeast), HasSubstr("must be at least 0"));
  for (const char* line : {"in_flight_max = 1000000000", "process_at_max_ms = 31622400000", "lease_ms = 31622400000",
                           "timeouts_max = 1000000000", "consolidate_ms = 259200000", "default_priority = 0"})
    EXPECT_EQ(error_with(line), "no error") << line;
}

// Between both there has to be room for the retention of requests.
TEST(Settings, LetRequestsWaitOnlyWhileDocumentsAreRemembered) {
  const std::string wait = kJournal + "process_at_max_ms = 3000000\nlease_ms = 600000\n";
  EXPECT_THAT(error_of("watermark_retention_ms = 3600000\n" + wait),
              HasSubstr("together 3600000: must be below watermark_retention_ms = 3600000"));
  EXPECT_EQ(error_of("watermark_retention_ms = 3600001\n" + wait), "no error");
  EXPECT_EQ(error_of("watermark_retention_ms = 3600000\n" + kLeast), "no error");
}

TEST(Settings, RefusesOneTopicForTwoRoles) {
  EXPECT_THAT(error_of("topic.work = \"shop.requests\"\n" + kLeast),
              HasSubstr("topic.work and topic.requests are the same topic shop.requests: give each its own"));
  EXPECT_THAT(error_of(kLeast + "topic = \"shop.commands\"\n"), HasSubstr("topic of target search and topic.commands"));
  EXPECT_THAT(error_of("topic.work = \"a b\"\n" + kLeast), HasSubstr("no name of a topic"));
  const std::string redirect = "on_missing = \"topic\"\non_missing_topic = ";
  EXPECT_THAT(error_of(redirect + "\"shop.work\"\n" + kLeast), HasSubstr("on_missing_topic and topic.work"));
  EXPECT_EQ(error_of(redirect + "\"shop.dead-letter\"\n" + kLeast), "no error");
}

// Sets variables for as long as it lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

TEST(Settings, TakesKafkaPropertiesFromTheEnvironmentBeforeTheFile) {
  const Variable password("RESEQ_KAFKA_SASL_PASSWORD", "from outside");
  const Variable of_a_script("RESEQ_KAFKA_VERSION", "4.3.1");
  const auto parsed = parse(kLeast + "[kafka]\nsasl.password = \"in the file\"\n", "s");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  const std::vector<std::pair<std::string, std::string>> expected = {{"sasl.password", "from outside"}};
  EXPECT_THAT(parsed.value().kafka, testing::ContainerEq(expected));
}

TEST(Settings, RefusesAMistypedVariableAndLeavesThoseOfOthersAlone) {
  {
    const Variable other("RESEQ_DATA_DIR", "/data");
    EXPECT_EQ(error_of(kLeast), "no error");
  }
  const Variable typo("RESEQ_BOOTSTRAP_SERVER", "b:1");
  EXPECT_THAT(error_of(kLeast), HasSubstr("unknown environment variable RESEQ_BOOTSTRAP_SERVER; the nearest one is "
                                          "RESEQ_BOOTSTRAP_SERVERS"));
}

TEST(Settings, ArePrintedSoThatTheyCanBeReadAgain) {
  const std::string all =
      "workers = 3\ndispatch.mode = \"journal\"\nrequests_carry_epochs = true\ntopic.work = \"jobs\"\n" + kLeast +
      "order = \"monotonic\"\n[[target]]\nname = \"catalogue\"\n[[route]]\nid_prefix = \"a\\\"b\"\n"
      "targets = [\"catalogue\", \"search\"]\n[kafka]\nsecurity.protocol = \"ssl\"\n";
  const auto parsed = parse(all, "s");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  const std::string printed = print(parsed.value());
  const auto again = parse(printed, "printed");
  ASSERT_TRUE(again.ok()) << again.error().message << "\n" << printed;
  EXPECT_EQ(print(again.value()), printed);
  EXPECT_EQ(again.value().routes.front().id_prefix, "a\"b");
  EXPECT_EQ(again.value().workers, 3);
  EXPECT_EQ(again.value().dispatch_mode, "journal");
  EXPECT_EQ(again.value().targets.front().order, "monotonic");
}

TEST(Settings, ArePrintedWithoutSecrets) {
  for (const char* name :
       {"sasl.password", "ssl.key.password", "ssl.keystore.password", "ssl.key.pem", "sasl.oauthbearer.client.secret",
        "sasl.oauthbearer.config", "sasl.oauthbearer.assertion.private.key.passphrase"}) {
    const auto parsed = parse(kLeast + "[kafka]\n\"" + name + "\" = \"hunter2\"\n", "s");
    ASSERT_TRUE(parsed.ok()) << parsed.error().message;
    EXPECT_THAT(print(parsed.value()), testing::Not(HasSubstr("hunter2"))) << name;
    EXPECT_THAT(print(parsed.value()), HasSubstr("********")) << name;
  }
  EXPECT_FALSE(is_secret("sasl.username"));
  EXPECT_FALSE(is_secret("ssl.ca.location"));
}

TEST(Settings, ShowOfKafkasPropertiesOnlyThoseThatAreKnownToBeHarmless) {
  for (const char* name : {"sasl.pasword", "SASL.PASSWORD", "a.new.property"}) {
    const auto parsed = parse(kLeast + "[kafka]\n\"" + name + "\" = \"hunter2\"\n", "s");
    ASSERT_TRUE(parsed.ok()) << parsed.error().message;
    EXPECT_THAT(print(parsed.value()), testing::Not(HasSubstr("hunter2"))) << name;
  }
  for (const char* name : {"sasl.username", "ssl.ca.location", "security.protocol", "broker.address.family"}) {
    const auto parsed = parse(kLeast + "[kafka]\n\"" + name + "\" = \"shown\"\n", "s");
    ASSERT_TRUE(parsed.ok()) << parsed.error().message;
    EXPECT_THAT(print(parsed.value()), HasSubstr("\"" + std::string(name) + "\" = \"shown\"")) << name;
    EXPECT_FALSE(is_secret(name)) << name;
  }
}

// Sums below a limit, not above INT64_MAX.
TEST(Settings, KnowHowLongARequestMayWait) {
  Settings settings;
  settings.dispatch_mode = "journal";
  settings.dispatch_process_at_max_ms = 1'000;
  settings.dispatch_lease_ms = 100;
  EXPECT_EQ(longest_wait_ms(settings), 1'100);
  settings.failures_mode = "retry";
  settings.failures_retries_max = 5;
  settings.failures_backoff_ms = 10;
  settings.failures_backoff_max_ms = 35;
  EXPECT_EQ(longest_wait_ms(settings), 1'100 + 10 + 20 + 35 + 35 + 35 + 5 * 100);
  settings.dispatch_mode = "immediate";
  EXPECT_EQ(longest_wait_ms(settings), 100 + 10 + 20 + 35 + 35 + 35 + 5 * 100) << "no request says a date";
  settings.failures_retries_max = 1'000'000'000;
  settings.failures_backoff_max_ms = 31'622'400'000;
  EXPECT_EQ(longest_wait_ms(settings), INT64_MAX);
}

TEST(Settings, RefuseFailuresThatNothingCanTryAgain) {
  const auto trouble = [](const std::string& more) {
    const auto parsed = parse(kLeast + more, "s");
    return parsed.ok() ? std::string("none") : parsed.error().message;
  };
  EXPECT_EQ(trouble("[failures]\nmode = \"retry\"\n"), "none") << "it needs no journal";
  EXPECT_THAT(error_of("intake = \"tap\"\n" + kLeast + "[failures]\nmode = \"retry\"\n"),
              HasSubstr("needs intake = \"inline\""));
  EXPECT_THAT(trouble("[failures]\nmode = \"retry\"\nretries_max = 2000\n"),
              HasSubstr("of each attempt that failures may have"));
  const std::string both = "[dispatch]\nmode = \"journal\"\n[failures]\nmode = \"retry\"\n";
  EXPECT_EQ(trouble(both), "none");
  EXPECT_THAT(trouble(both + "backoff_ms = 700000\n"), HasSubstr("failures.backoff_max_ms"));
  EXPECT_THAT(trouble(both + "retries_max = 2000\n"), HasSubstr("of each attempt that failures may have"));
  EXPECT_THAT(trouble(both + "repeats_max = 0\n"), HasSubstr("repeats_max"));
  EXPECT_THAT(trouble(both + "breaker_documents = 33\n"), HasSubstr("breaker_documents"));
  EXPECT_THAT(trouble(both + "breaker_pause_ms = 60001\n"), HasSubstr("failures.breaker_pause_max_ms"));
}

TEST(Settings, RefuseAPotentTargetWhoseWorkMayBeDoneTwice) {
  const auto trouble = [](const std::string& before, const std::string& effect) {
    const std::size_t target = kLeast.find("[[target]]");
    const auto parsed =
        parse(kLeast.substr(0, target) + before + kLeast.substr(target) + "effect = \"" + effect + "\"\n", "s");
    return parsed.ok() ? std::string("none") : parsed.error().message;
  };
  const std::string journal = "[dispatch]\nmode = \"journal\"\n";
  const std::string both = journal + "attempts = \"last\"\n[failures]\nmode = \"retry\"\n";
  EXPECT_EQ(trouble("", "potent"), "none") << "nothing is ever sent to work twice";
  EXPECT_THAT(trouble("", "harmless"), HasSubstr("safe|idempotent|potent"));
  EXPECT_EQ(trouble(journal, "safe"), "none");
  EXPECT_THAT(trouble(journal, "potent"), HasSubstr("failures.mode"));
  EXPECT_THAT(trouble(journal + "[failures]\nmode = \"retry\"\n", "potent"), HasSubstr("dispatch.attempts"));
  EXPECT_THAT(trouble("[dispatch]\nattempts = \"last\"\n[failures]\nmode = \"retry\"\n", "potent"),
              HasSubstr("dispatch.mode = \"journal\""))
      << "a worker that dies loses no lease, and what it had begun goes to another one";
  EXPECT_EQ(trouble(both, "potent"), "none");
}

TEST(Settings, HaveAReferenceThatIsThatOfTheDocumentation) {
  std::ifstream file(test::source_path("docs/configuration.md"));
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_EQ(page, reference()) << "put the output of `resequencer config reference` there";
}

}  // namespace
}  // namespace reseq::config
