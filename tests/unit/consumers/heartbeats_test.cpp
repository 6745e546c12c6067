// How heartbeats reach `commands`, and what becomes of a round whose producer has failed.
#include "consumers/stage/heartbeats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reseq::stage {
namespace {

using testing::ElementsAre;
using Round = HeartbeatSender::Round;

struct BeatLog {
  std::vector<std::string> sent;  // topic/key/number of headers
  std::uint64_t delivered = 0;
  std::uint64_t failed = 0;
  int opened = 0;
  bool opens = true;
  bool takes = true;
};

class BeatProducer : public kafka::PlainProducer {
 public:
  explicit BeatProducer(BeatLog& log) : log_(log) { log_.delivered = log_.failed = 0; }
  Result<> send(std::string_view topic, std::optional<std::string_view> key, std::optional<std::string_view> payload,
                std::span<const Header> headers, std::optional<UnixMs>, std::optional<Partition>) override {
    if (!log_.takes) return Error{.what_to_do = ErrorClass::kFatal, .message = "it has failed"};
    EXPECT_FALSE(payload);
    log_.sent.push_back(std::string(topic) + "/" + std::string(key.value()) + "/" + std::to_string(headers.size()));
    return Done{};
  }
  void poll(Milliseconds limit) override { EXPECT_EQ(limit, Milliseconds(0)) << "heartbeats are not waited for"; }
  Result<> flush(Milliseconds) override { return Done{}; }
  [[nodiscard]] std::uint64_t delivered() const override { return log_.delivered; }
  [[nodiscard]] std::uint64_t failed() const override { return log_.failed; }

 private:
  BeatLog& log_;
};

class KafkaHeartbeatsTest : public testing::Test {
 protected:
  void send() { heartbeats_.send(std::vector<HeartbeatRecord>{{"a", {{"reseq-seq", "1"}}}, {"b", {}}}); }

  BeatLog log_;
  KafkaHeartbeats heartbeats_{[this]() -> Result<std::unique_ptr<kafka::PlainProducer>> {
                                ++log_.opened;
                                if (!log_.opens) return Error{.what_to_do = ErrorClass::kFatal, .message = "no"};
                                return std::unique_ptr<kafka::PlainProducer>(std::make_unique<BeatProducer>(log_));
                              },
                              "commands"};
};

TEST_F(KafkaHeartbeatsTest, AreAcknowledgedWhenAllOfARoundAre) {
  EXPECT_EQ(log_.opened, 0) << "who has no leases needs no producer";
  for (std::uint64_t round = 0; round < 2; ++round) {
    send();
    EXPECT_EQ(heartbeats_.round(), Round::kUnderWay);
    log_.delivered = 2 * round + 1;
    EXPECT_EQ(heartbeats_.round(), Round::kUnderWay);
    log_.delivered = 2 * round + 2;
    EXPECT_EQ(heartbeats_.round(), Round::kAcknowledged);
  }
  EXPECT_EQ(log_.opened, 1);
  EXPECT_THAT(log_.sent, ElementsAre("commands/a/1", "commands/b/0", "commands/a/1", "commands/b/0"));
}

TEST_F(KafkaHeartbeatsTest, TakeAnotherProducerWhenOneWasNotDelivered) {
  send();
  log_.delivered = 1;
  log_.failed = 1;
  EXPECT_EQ(heartbeats_.round(), Round::kFailed);
  send();
  EXPECT_EQ(log_.opened, 2);
  EXPECT_EQ(heartbeats_.round(), Round::kUnderWay) << "what the last one has delivered does not count";
  log_.delivered = 2;
  EXPECT_EQ(heartbeats_.round(), Round::kAcknowledged);
}

TEST_F(KafkaHeartbeatsTest, FailWhenTheyCannotBeSent) {
  log_.takes = false;
  send();
  EXPECT_EQ(heartbeats_.round(), Round::kFailed);
  log_.opens = false;
  send();
  EXPECT_EQ(heartbeats_.round(), Round::kFailed);
  log_.takes = log_.opens = true;
  send();
  EXPECT_EQ(heartbeats_.round(), Round::kUnderWay);
  EXPECT_EQ(log_.opened, 3);
}

}  // namespace
}  // namespace reseq::stage
