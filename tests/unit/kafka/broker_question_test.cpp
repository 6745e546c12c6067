// What is told of brokers that do not answer, by the client that asks for all.
#include "kafka/broker_question.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/silent_port.h"

namespace reseq::kafka {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(BrokerQuestion, SaysOfABrokerThatHangsThatNothingCameBackAndNoNameOfLibrdkafka) {
  const test::SilentPort broker;
  Connection connection;
  connection.bootstrap_servers = broker.address();
  const auto asked = BrokerQuestion(connection).ask(Milliseconds(1'000));
  ASSERT_FALSE(asked);
  EXPECT_THAT(asked.error().message,
              AllOf(HasSubstr("nothing came back in time"), Not(HasSubstr("Local:")), Not(HasSubstr("_T"))));
}

}  // namespace
}  // namespace reseq::kafka
