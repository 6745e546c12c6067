// Logging in with a password, over TLS.
#include <fstream>
#include <sysexits.h>

#include "kafka/broker_question.h"
#include "kafka/handles.h"
#include "kafka/version_gate.h"
#include "tests/security/guarded_application.h"

namespace reseq::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr Milliseconds kQuestionLimit{10'000};
constexpr Milliseconds kNobodyLimit{2'000};  // where nobody can answer all of it is waited for

class Login : public GuardedApplication {
 protected:
  void log_in_with(const std::string& mechanism, const std::string& password) {
    come_in_by("login");
    shop.tables =
        "[[target]]\nname = \"search\"\n[kafka]\n\"security.protocol\" = \"sasl_ssl\"\n\"ssl.ca.location\" = \"" +
        broker.certificates().authority() + "\"\n\"sasl.mechanism\" = \"" + mechanism + "\"\n\"sasl.username\" = \"" +
        user_ + "\"\n\"sasl.password\" = \"" + password + "\"\n";
  }
  std::string user_ = "reseq";
};

TEST_F(Login, IsRefusedWithAWrongPassword) {
  log_in_with("PLAIN", "battery-staple");
  expect_refused("correct security.protocol, sasl.* and ssl.* in [kafka], or RESEQ_KAFKA_SASL_PASSWORD");
  const Ran checked = shop.run({"check"});
  EXPECT_THAT(checked.last_line, AllOf(HasSubstr("the brokers refuse this user"), Not(HasSubstr("battery-staple"))));
}

TEST_F(Login, IsRefusedWithAMechanismThatTheBrokersDoNotHave) {
  log_in_with("SCRAM-SHA-256", "correct-horse");
  shop.environment = {std::string("LD_PRELOAD=") + NEWER_LIBRDKAFKA};
  expect_refused("broker's supported mechanisms: PLAIN,SCRAM-SHA-512");
}

// Kafka 4 refuses what librdkafka sends before 2.6.1.
class Scram : public Login {
 protected:
  void SetUp() override {
    user_ = "scram";
    broker.kafka_program("kafka.admin.ConfigCommand",
                         {"--bootstrap-server", broker.address("plain"), "--alter", "--entity-type", "users",
                          "--entity-name", user_, "--add-config", "SCRAM-SHA-512=[password=correct-horse]"});
    make_topics();
  }
  static bool can() { return kafka::loaded_version() >= kafka::LibrdkafkaVersion{2, 6, 1}; }
};

TEST_F(Scram, IsRightForAClientOfKafkasOwn) {
  std::ofstream(shop.path("client.properties"))
      << "security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\nssl.truststore.type=PEM\nssl.truststore.location="
      << broker.certificates().authority()
      << "\nsasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username=\"scram\" "
         "password=\"correct-horse\";\n";
  EXPECT_THAT(broker.kafka_program(
                  "org.apache.kafka.tools.GetOffsetShell",
                  {"--bootstrap-server", broker.address("login"), "--command-config", shop.path("client.properties")}),
              HasSubstr(shop.topic("requests") + ":0:0"));
}

TEST_F(Scram, LogsInOrSaysThatThisLibrdkafkaCannot) {
  log_in_with("SCRAM-SHA-512", "correct-horse");
  if (can())
    expect_a_document_passes();
  else
    expect_refused(std::string("librdkafka ") + rd_kafka_version_str() +
                   " cannot log in with SCRAM-SHA-512 at Kafka 4 or newer: install librdkafka 2.6.1");
}

// With a version that can, it is the password.
TEST_F(Scram, IsRefusedWithAWrongPassword) {
  log_in_with("SCRAM-SHA-512", "battery-staple");
  shop.environment = {std::string("LD_PRELOAD=") + NEWER_LIBRDKAFKA};
  expect_refused("correct security.protocol, sasl.* and ssl.* in [kafka], or RESEQ_KAFKA_SASL_PASSWORD");
}

// Brokers that refuse a new client are there: those that are connected may go on.
TEST_F(Login, ThatIsRefusedIsAnAnswerToWhetherTheBrokersAreThere) {
  kafka::Connection connection{.bootstrap_servers = broker.address("login"),
                               .librdkafka = {{"security.protocol", "sasl_ssl"},
                                              {"ssl.ca.location", broker.certificates().authority()},
                                              {"sasl.mechanism", "PLAIN"},
                                              {"sasl.username", "reseq"},
                                              {"sasl.password", "battery-staple"}}};
  EXPECT_TRUE(kafka::BrokerQuestion(connection).ask(kQuestionLimit));
  connection.bootstrap_servers = "127.0.0.1:1";
  EXPECT_FALSE(kafka::BrokerQuestion(connection).ask(kNobodyLimit));
}

}  // namespace
}  // namespace reseq::test
