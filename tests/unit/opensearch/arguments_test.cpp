// Options of the sink: what is read from where, and what is refused.
#include "consumers/opensearch/arguments.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace reseq::opensearch {
namespace {

using ::testing::HasSubstr;

class OpenSearchArguments : public testing::Test {
 protected:
  OpenSearchArguments() {
    ::unsetenv(kPasswordVariable);
    ::unsetenv(kApiKeyVariable);
    ::unsetenv("RESEQ_OPENSEARCH_URL");
    std::filesystem::create_directories(folder_);
  }
  ~OpenSearchArguments() override {
    ::unsetenv(kPasswordVariable);
    ::unsetenv(kApiKeyVariable);
    std::filesystem::remove_all(folder_);
  }

  std::string file(const std::string& content) {
    const std::string path = folder_ + "/" + std::to_string(++files_);
    std::ofstream(path) << content;
    return path;
  }
  Result<StoreSettings> read(std::vector<std::string> more) {
    more.insert(more.begin(), {"--index", "shop", "--url", "http://localhost:9200"});
    return read_alone(more);
  }
  static Result<StoreSettings> read_alone(std::vector<std::string> words) {
    CLI::App app;
    Arguments arguments;
    declare(app, arguments);
    std::reverse(words.begin(), words.end());
    try {
      app.parse(words);
    } catch (const CLI::ParseError& error) {
      return Error{.what_to_do = ErrorClass::kFatal, .message = error.what()};
    }
    return settings_of(arguments, sink::Check::kVersions);
  }
  void refused(const std::vector<std::string>& more, const std::string& words) {
    const auto settings = read(more);
    ASSERT_FALSE(settings);
    EXPECT_THAT(settings.error().message, HasSubstr(words));
  }

 private:
  std::string folder_ = testing::TempDir() + "/reseq-arguments-" + std::to_string(::getpid());
  int files_ = 0;
};

TEST_F(OpenSearchArguments, HaveDefaults) {
  const auto settings = read({});
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings.value().http.urls, std::vector<std::string>{"http://localhost:9200"});
  EXPECT_EQ(settings.value().index.name, "shop");
  EXPECT_EQ(settings.value().index.generation, 1U);
  EXPECT_FALSE(settings.value().index.hard_deletes);
  EXPECT_FALSE(settings.value().http.gzip);
  EXPECT_FALSE(settings.value().tombstone_retention);
}

TEST_F(OpenSearchArguments, TakeSeveralAddresses) {
  const auto settings = read_alone({"--index", "a", "--url", "http://localhost:1,http://localhost:2"});
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings.value().http.urls, (std::vector<std::string>{"http://localhost:1", "http://localhost:2"}));
}

TEST_F(OpenSearchArguments, TakeSecretsFromTheEnvironmentOrAFile) {
  ::setenv(kPasswordVariable, "from-the-environment", 1);
  EXPECT_EQ(read({"--user", "me"}).value().http.password, "from-the-environment");
  EXPECT_EQ(read({"--user", "me", "--password-file", file("from a file\r\n")}).value().http.password, "from a file");
  ::unsetenv(kPasswordVariable);
  ::setenv(kApiKeyVariable, "key-of-the-environment", 1);
  EXPECT_EQ(read({}).value().http.api_key, "key-of-the-environment");
  EXPECT_EQ(read({"--api-key-file", file("key\n")}).value().http.api_key, "key");
}

TEST_F(OpenSearchArguments, RefuseLoginsThatAreIncompleteOrUnsafe) {
  refused({"--user", "me"}, "needs a password");
  refused({"--password-file", file("x")}, "no --user");
  refused({"--password-file", "/nowhere"}, "/nowhere cannot be read");
  refused({"--user", "me", "--password-file", file("\n")}, "is empty");
  ::setenv(kPasswordVariable, "a\nb", 1);
  refused({"--user", "me"}, "line break");
  ::unsetenv(kPasswordVariable);
  refused({"--user", "me", "--password-file", file("x"), "--api-key-file", file("y")}, "one of them is enough");
  const auto leaks =
      read_alone({"--index", "a", "--url", "http://search.example:9200", "--user", "me", "--password-file", file("x")});
  ASSERT_FALSE(leaks);
  EXPECT_THAT(leaks.error().message, HasSubstr("--insecure-login"));
}

TEST_F(OpenSearchArguments, RefuseUpdatesWithTheReason) {
  EXPECT_TRUE(read({"--write-method", "index"}));
  refused({"--write-method", "update"}, "partial updates have no version that the server compares");
  refused({"--write-method", "upsert"}, "partial updates");
}

TEST_F(OpenSearchArguments, TakeDurations) {
  EXPECT_EQ(read({"--tombstone-retention", "30d"}).value().tombstone_retention, Milliseconds(30LL * 24 * 3600 * 1000));
  EXPECT_EQ(parse_duration("90s"), Milliseconds(90'000));
  EXPECT_EQ(parse_duration("15m"), Milliseconds(900'000));
  EXPECT_EQ(parse_duration("12h"), Milliseconds(43'200'000));
  for (const char* text : {"", "d", "30", "30 d", "-1d", "0d", "1w", "1dd", "99999999999999999999d", "100001d"})
    EXPECT_FALSE(parse_duration(text)) << text;
  refused({"--tombstone-retention", "soon"}, "--tombstone-retention is never, or");
}

}  // namespace
}  // namespace reseq::opensearch
