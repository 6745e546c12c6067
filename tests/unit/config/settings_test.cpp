#include "config/settings.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>

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
  EXPECT_THAT(error_of(kLeast + "monotonous = true\n"), HasSubstr("nearest one is monotonic"));
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
  for (const Key& key : keys()) {
    EXPECT_STRNE(key.meaning, "") << key.name;
    names.emplace_back(key.name);
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(Settings, AreAllInTheReference) {
  std::ifstream file(RESEQ_SOURCE_DIR "/docs/configuration.md");
  const std::string reference((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (const Key& key : keys()) EXPECT_THAT(reference, HasSubstr("| `" + std::string(key.name) + "` |"));
}

}  // namespace
}  // namespace reseq::config
