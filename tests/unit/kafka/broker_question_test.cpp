// What is told of brokers that do not answer, by the client that asks for all.
#include "kafka/broker_question.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace reseq::kafka {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// As a broker that is stopped or hangs: the kernel takes the connections, nobody answers.
class HangingBroker {
 public:
  HangingBroker() : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_, 16), 0);
    EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
  }
  ~HangingBroker() { ::close(listener_); }
  HangingBroker(const HangingBroker&) = delete;
  HangingBroker& operator=(const HangingBroker&) = delete;

  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  int listener_;
  int port_ = 0;
};

TEST(BrokerQuestion, SaysOfABrokerThatHangsThatNothingCameBackAndNoNameOfLibrdkafka) {
  const HangingBroker broker;
  Connection connection;
  connection.bootstrap_servers = broker.address();
  const auto asked = BrokerQuestion(connection).ask(Milliseconds(1'000));
  ASSERT_FALSE(asked);
  EXPECT_THAT(asked.error().message,
              AllOf(HasSubstr("nothing came back in time"), Not(HasSubstr("Local:")), Not(HasSubstr("_T"))));
}

}  // namespace
}  // namespace reseq::kafka
