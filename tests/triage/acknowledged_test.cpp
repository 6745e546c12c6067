// A broker that gets to lead a partition refuses the first request of a producer and takes the second: librdkafka then
// acknowledges both. What the first held is not in the log, and nobody may believe that it is. (In a transaction the
// mock refuses the second, too; what an acknowledgement without an offset does there is a cell of the table.)
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

#include "kafka/plain_producer.h"
#include "tests/support/good.h"
#include "tests/triage/mock_kafka.h"

namespace reseq::triage {
namespace {

using test::good;
using testing::HasSubstr;

constexpr Milliseconds kWait{10'000};
constexpr Milliseconds kAnswerLate{300};
// Longer than a producer waits for more to send, so that the next record gets a request of its own.
constexpr std::chrono::milliseconds kApart{100};
const std::string kTopic = "app.requests";

class FirstRequestRefused : public testing::Test {
 protected:
  FirstRequestRefused() { kafka_.create_topic(kTopic); }

  // The next request is refused, but so late that another one is under way by then.
  void refuse_next() {
    rd_kafka_mock_broker_push_request_error_rtts(kafka_.get(), 1, static_cast<std::int16_t>(Api::kProduce), 1,
                                                 RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
                                                 static_cast<int>(kAnswerLate.value()));
  }
  [[nodiscard]] kafka::Connection connection() const {
    kafka::Connection connection;
    connection.bootstrap_servers = kafka_.bootstrap_servers();
    connection.log = [](int, std::string_view, std::string_view) {};
    return connection;
  }

  MockKafka kafka_;
};

TEST_F(FirstRequestRefused, IsNoGoodFlushOfAPlainProducer) {
  const auto producer = good(kafka::PlainProducer::open(connection()));
  good(producer->send(kTopic, "before", "the producer has its id and knows the topic", {}));
  good(producer->flush(kWait));
  refuse_next();
  good(producer->send(kTopic, "a", "1", {}));
  std::this_thread::sleep_for(kApart);
  good(producer->send(kTopic, "b", "2", {}));
  const auto flushed = producer->flush(kWait);
  ASSERT_FALSE(flushed.ok()) << "a was never written";
  EXPECT_EQ(flushed.error().what_to_do, ErrorClass::kFatal);
  EXPECT_THAT(flushed.error().message, HasSubstr("without an offset"));
}

}  // namespace
}  // namespace reseq::triage
