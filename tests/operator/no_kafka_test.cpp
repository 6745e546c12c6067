// Ports behind which something else than a Kafka is.
#include <array>
#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sysexits.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tests/operator/operator.h"
#include "tests/support/broker.h"
#include "tests/support/silent_port.h"

namespace reseq::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Takes connections and answers whatever comes with the same bytes; with none it is silent, as it is to what does not
// begin as it wants.
class OtherService {
 public:
  explicit OtherService(std::string answer, std::string to = "") : answer_(std::move(answer)), to_(std::move(to)) {
    thread_ = std::thread([this] { serve(); });
  }
  ~OtherService() {
    end_ = true;
    thread_.join();
    for (const pollfd& one : open_) ::close(one.fd);
  }
  OtherService(const OtherService&) = delete;
  OtherService& operator=(const OtherService&) = delete;

  [[nodiscard]] std::string address() const { return port_.address(); }

 private:
  void serve() {
    while (!end_) {
      std::vector<pollfd> all = open_;
      all.push_back({port_.handle(), POLLIN, 0});
      if (::poll(all.data(), all.size(), 50) <= 0) continue;
      if (all.back().revents != 0) open_.push_back({::accept(port_.handle(), nullptr, nullptr), POLLIN, 0});
      all.pop_back();
      std::vector<pollfd> left(open_.begin() + static_cast<std::ptrdiff_t>(all.size()), open_.end());
      for (const pollfd& one : all)
        if (one.revents == 0 || answers(one.fd)) left.push_back({one.fd, POLLIN, 0});
      open_ = left;
    }
  }
  // False: the other end has gone.
  bool answers(int connection) const {
    std::array<char, 4096> asked{};
    const ssize_t size = ::recv(connection, asked.data(), asked.size(), 0);
    if (size > 0 && !std::string_view(asked.data(), static_cast<std::size_t>(size)).starts_with(to_)) return true;
    if (size > 0 && ::send(connection, answer_.data(), answer_.size(), MSG_NOSIGNAL) >= 0) return true;
    ::close(connection);
    return false;
  }

  std::string answer_;
  std::string to_;
  SilentPort port_;
  std::vector<pollfd> open_;
  std::atomic<bool> end_ = false;
  std::thread thread_;
};

TEST(NoKafka, IsNamedWhenAnHttpServerAnswers) {
  const OtherService web("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
  Operator shop{web.address()};
  const std::string fix =
      "it is no Kafka but an HTTP server, its answer begins with \"HTTP\": correct the port in "
      "bootstrap.servers";
  for (const std::string subcommand : {"check", "run", "init", "stats"}) {
    const Ran ran = shop.run({subcommand});
    EXPECT_EQ(ran.code, EX_CONFIG) << subcommand << ran.text;
    EXPECT_THAT(ran.last_line, AllOf(HasSubstr(web.address()), HasSubstr(fix))) << subcommand;
    EXPECT_THAT(ran.text, Not(HasSubstr("receive.message.max.bytes"))) << subcommand;
  }
}

// It waits for the end of a line, which no request of Kafka has.
TEST(NoKafka, IsNamedWhenAnHttpServerIsSilentToRequestsOfKafka) {
  const OtherService web("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", "GET ");
  Operator shop{web.address()};
  const Ran ran = shop.run({"check"});
  EXPECT_EQ(ran.code, EX_CONFIG);
  EXPECT_THAT(ran.last_line, AllOf(StartsWith("error"), HasSubstr(web.address()),
                                   HasSubstr("it is no Kafka but an HTTP server: correct the port")));
}

// The wrong one of two keeps nobody from the right one.
TEST(NoKafka, IsLeftAloneWhereAnotherBrokerAnswers) {
  const OtherService web("HTTP/1.1 400 Bad Request\r\n\r\n");
  Operator shop{web.address() + "," + Broker::shared().bootstrap_servers()};
  const Ran ran = shop.run({"init"});
  EXPECT_EQ(ran.code, EX_OK) << ran.text;
}

TEST(NoKafka, IsSuspectedWhenItIsSilent) {
  const OtherService silent("");
  Operator shop{silent.address()};
  const Ran ran = shop.run({"check"});
  EXPECT_EQ(ran.code, EX_CONFIG);
  EXPECT_THAT(ran.last_line,
              AllOf(StartsWith("error"), HasSubstr("does not answer as Kafka does"), Not(HasSubstr("broker version"))));
}

}  // namespace
}  // namespace reseq::test
