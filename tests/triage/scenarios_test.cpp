// What one error code at one request cannot show: brokers that go away, coordinators that move, and errors that meet.
// After librdkafka's tests/0105-transactions_mock.c as far as they concern a worker.
#include <chrono>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>
#include <thread>
#include <vector>

#include "kafka/group_consumer.h"
#include "tests/triage/subject.h"

namespace reseq::triage {
namespace {

constexpr int kBrokers = 3;
constexpr Milliseconds kOutage{1'500};

class Worker : public testing::Test {
 protected:
  Worker() { spdlog::set_level(spdlog::level::off); }

  // One that has committed a record.
  static std::unique_ptr<Subject> running(int brokers = kBrokers) {
    auto subject = std::make_unique<Subject>(brokers);
    subject->start();
    subject->feed();
    EXPECT_TRUE(subject->catch_up());
    return subject;
  }
  static void run_for(Subject& subject, Milliseconds time) {
    (void)subject.run_until([] { return false; }, time);
  }
  static void expect_goes_on(Subject& subject) {
    EXPECT_TRUE(subject.catch_up());
    subject.feed();
    EXPECT_TRUE(subject.catch_up());
    EXPECT_FALSE(subject.ended()) << subject.ended()->message;
    EXPECT_EQ(subject.parked_because(), "");
  }
  static bool until_in_transaction(Subject& subject, runtime::Step step) {
    return subject.run_until([&] { return subject.at(step); }, kPatience);
  }
};

TEST_F(Worker, GoesOnWhenAllBrokersWereGoneInTheMiddleOfATransaction) {
  const auto subject = running();
  subject->feed();
  ASSERT_TRUE(until_in_transaction(*subject, runtime::Step::kSendOffsets));
  rd_kafka_mock_broker_set_down(subject->kafka().get(), -1);
  run_for(*subject, kOutage);
  rd_kafka_mock_broker_set_up(subject->kafka().get(), -1);
  expect_goes_on(*subject);
}

TEST_F(Worker, GoesOnWhenAllBrokersWereGoneAtTheCommit) {
  const auto subject = running();
  subject->feed();
  ASSERT_TRUE(until_in_transaction(*subject, runtime::Step::kCommit));
  rd_kafka_mock_broker_set_down(subject->kafka().get(), -1);
  run_for(*subject, kOutage);
  rd_kafka_mock_broker_set_up(subject->kafka().get(), -1);
  expect_goes_on(*subject);
}

TEST_F(Worker, FollowsTheCoordinatorOfItsTransactions) {
  const auto subject = running();
  for (int round = 0; round < kBrokers; ++round) {
    const std::int32_t broker = 1 + round % kBrokers;
    rd_kafka_mock_coordinator_set(subject->kafka().get(), "transaction", subject->transactional_id().c_str(), broker);
    expect_goes_on(*subject);
  }
}

TEST_F(Worker, FollowsTheCoordinatorOfItsGroupInTheMiddleOfATransaction) {
  const auto subject = running();
  for (int round = 0; round < kBrokers; ++round) {
    subject->feed();
    ASSERT_TRUE(until_in_transaction(*subject, runtime::Step::kSendOffsets));
    const std::int32_t broker = 1 + round % kBrokers;
    rd_kafka_mock_coordinator_set(subject->kafka().get(), "group", subject->group().c_str(), broker);
    expect_goes_on(*subject);
  }
}

TEST_F(Worker, RecyclesItsProducerWhenItIsFencedWhileItsEpochIsRaised) {
  const auto subject = running(1);
  subject->feed();
  subject->kafka().fail(Api::kProduce, RD_KAFKA_RESP_ERR_UNKNOWN_PRODUCER_ID, 1, kLate);
  subject->kafka().fail(Api::kInitProducerId, RD_KAFKA_RESP_ERR_PRODUCER_FENCED, 1, kLate);
  expect_goes_on(*subject);
  EXPECT_EQ(subject->totals().recycled, 1U);
}

// DUPLICATE_SEQUENCE_NUMBER is success to librdkafka, and the position of the state is the offset of a record.
TEST_F(Worker, RepeatsATransactionWhoseRecordsGotNoOffset) {
  const auto subject = running(1);
  subject->feed();
  subject->kafka().fail(Api::kProduce, RD_KAFKA_RESP_ERR_DUPLICATE_SEQUENCE_NUMBER, 2, kLate);
  expect_goes_on(*subject);
  EXPECT_EQ(subject->totals().aborted, 1U);
}

TEST_F(Worker, WaitsForAnEpochThatIsRaisedSlowly) {
  const auto subject = running(1);
  subject->feed();
  subject->kafka().fail(Api::kProduce, RD_KAFKA_RESP_ERR_UNKNOWN_PRODUCER_ID, 1, kLate);
  subject->kafka().fail(Api::kInitProducerId, RD_KAFKA_RESP_ERR__TIMED_OUT, 1, kLate);
  expect_goes_on(*subject);
}

// A restore asks before it reads anything of the log: nothing else tells this client that the log has moved.
TEST(LogReader, AsksTheNewLeaderOfALogForItsEnds) {
  Subject subject(kBrokers);
  const kafka::TopicPartition log{subject.application().topics.of(Role::kChangelog), Partition(0)};
  auto reader = subject.cluster().log_reader();
  ASSERT_TRUE(reader) << reader.error().message;
  for (std::int32_t broker = 1; broker <= 2 * kBrokers; ++broker) {
    rd_kafka_mock_partition_set_leader(subject.kafka().get(), subject.topic(Role::kChangelog).c_str(), 0,
                                       1 + broker % kBrokers);
    const auto ends = reader.value()->high_watermarks({&log, 1}, Milliseconds(10'000));
    EXPECT_TRUE(ends) << ends.error().message;
  }
}

// A member that is not static, closed while its coordinator answers with an error.
void leave(rd_kafka_resp_err_t code) {
  MockKafka kafka;
  kafka.create_topic("t");
  kafka::Connection connection;
  connection.bootstrap_servers = kafka.bootstrap_servers();
  connection.log = [](int, std::string_view, std::string_view) {};
  connection.socket_timeout = kSocketTimeout;
  auto joined = kafka::GroupConsumer::join(connection, {.group_id = "g", .topics = {"t"}});
  ASSERT_TRUE(joined) << joined.error().message;
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatience.value());
  while (joined.value()->positions().empty() && std::chrono::steady_clock::now() < until)
    (void)joined.value()->poll(Milliseconds(50));
  ASSERT_FALSE(joined.value()->positions().empty());
  kafka.fail(Api::kLeaveGroup, code, 3, kLate);
  joined.value()->close(kPatience);
  EXPECT_LT(std::chrono::steady_clock::now(), until) << rd_kafka_err2name(code);
  EXPECT_LT(kafka.left(Api::kLeaveGroup), 3U) << rd_kafka_err2name(code) << ": it never asked to leave";
}

// Not a worker: those are static members, which never leave.
TEST(Member, ThatLeavesIsGoneInTimeWhateverTheBrokerAnswers) {
  std::vector<std::thread> members;
  for (const auto code : {RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE, RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS,
                          RD_KAFKA_RESP_ERR_NOT_COORDINATOR, RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID,
                          RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_UNKNOWN,
                          RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR__TIMED_OUT})
    members.emplace_back(leave, code);
  for (std::thread& member : members) member.join();
}

}  // namespace
}  // namespace reseq::triage
