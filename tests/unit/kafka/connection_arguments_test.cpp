#include "kafka/connection_arguments.h"

#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/secrets.h"
#include "tests/support/process.h"

namespace reseq::kafka {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;
using testing::StartsWith;

std::string trouble_of(const ConnectionArguments& arguments) {
  const auto read = read_properties(arguments);
  return read ? "none" : read.error().message;
}

class Properties : public testing::Test {
 protected:
  std::string file(const std::string& text) {
    std::ofstream(folder.path() + "/file") << text;
    return folder.path() + "/file";
  }
  test::TempDir folder;
};

TEST_F(Properties, RefuseSecretsOnTheCommandLine) {
  EXPECT_EQ(trouble_of({.properties = {"fetch.wait.max.ms=10"}}), "none");
  for (const char* line : {"sasl.password=x", "ssl.keystore.password=x", "ssl.key.pem=x"})
    EXPECT_THAT(trouble_of({.properties = {line}}), HasSubstr("--property-file")) << line;
}

TEST_F(Properties, ThatAreSecretAreRefusedByTheNameOfTheOptionAndWithBothWaysOut) {
  EXPECT_THAT(trouble_of({.properties = {"ssl.key.password=x"}, .property_option = "--kafka"}),
              AllOf(StartsWith("--kafka ssl.key.password: "), HasSubstr("a file for --property-file"),
                    HasSubstr("the environment as RESEQ_KAFKA_SSL_KEY_PASSWORD")));
  EXPECT_THAT(trouble_of({.properties = {"nothing"}, .property_option = "--kafka"}), HasSubstr("--kafka: key=value"));
}

TEST_F(Properties, AreLinesOfKeyAndValue) {
  EXPECT_THAT(trouble_of({.properties = {"nothing"}}), HasSubstr("--property: key=value"));
  EXPECT_THAT(trouble_of({.properties = {"=x"}}), HasSubstr("key=value"));
  EXPECT_THAT(trouble_of({.property_file = file("a=b\n\n# c\nd\n")}), HasSubstr("/file line 4: key=value"));
  EXPECT_THAT(trouble_of({.property_file = folder.path() + "/none"}), HasSubstr("/none cannot be read"));
  const auto read = read_properties({.property_file = file("# a\nsasl.password=x=y\r\n\nb=\n")});
  ASSERT_TRUE(read);
  EXPECT_THAT(read.value(), Contains(Pair("sasl.password", "x=y")));
  EXPECT_THAT(read.value(), Contains(Pair("b", "")));
}

TEST_F(Properties, ComeFromTheFileThenTheEnvironmentThenTheCommandLine) {
  ::setenv("RESEQ_KAFKA_SASL_PASSWORD", "from-the-environment", 1);
  ::setenv("RESEQ_KAFKA_HEAP", "-Xmx1g", 1);
  const auto connection = connection_of({.bootstrap_servers = "a:1",
                                         .properties = {"client.rack=line"},
                                         .property_file = file("client.rack=file\nsasl.password=file\n")},
                                        "program");
  ::unsetenv("RESEQ_KAFKA_SASL_PASSWORD");
  ::unsetenv("RESEQ_KAFKA_HEAP");
  ASSERT_TRUE(connection);
  EXPECT_EQ(connection.value().bootstrap_servers, "a:1");
  EXPECT_EQ(connection.value().client_id, "program");
  EXPECT_THAT(connection.value().librdkafka, Not(Contains(Pair("heap", testing::_))));
  std::vector<std::string> order;
  for (const auto& [name, value] : connection.value().librdkafka) order.push_back(value);
  EXPECT_EQ(order, (std::vector<std::string>{"file", "file", "from-the-environment", "line"}));
}

TEST_F(Properties, HideWhatIsSecretInAFile) {
  EXPECT_EQ(read_secret_file(file("word\r\nmore\n")).value(), "word");
  EXPECT_FALSE(read_secret_file(file("")));
  EXPECT_FALSE(read_secret_file(folder.path() + "/none"));
}

}  // namespace
}  // namespace reseq::kafka
