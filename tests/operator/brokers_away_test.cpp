// Brokers that go while an instance runs, and come back: what its operator reads meanwhile.
#include <chrono>
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <sysexits.h>
#include <unistd.h>

#include "tests/e2e/patience.h"
#include "tests/operator/operator.h"
#include "tests/support/count_of.h"
#include "tests/support/own_broker.h"

namespace reseq::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class BrokersAway : public testing::Test {
 protected:
  BrokersAway() {
    shop.http_listen = "127.0.0.1:" + std::to_string(20'000 + ::getpid() % 10'000);
    EXPECT_EQ(shop.run({"init"}).code, EX_OK);
  }
  std::string get(const std::string& path) {
    httplib::Client client(("http://" + shop.http_listen).c_str());
    const auto got = client.Get(path.c_str());
    return got ? got->body : "nothing";
  }
  // The first picture that holds `what`, of those that come within a minute.
  bool picture_tells(const std::string& what) {
    httplib::Client client(("http://" + shop.http_listen).c_str());
    client.set_read_timeout(20);
    std::string heard;
    const auto until = std::chrono::steady_clock::now() + kPatience;
    client.Get("/page/pictures", [&](const char* data, std::size_t size) {
      heard.append(data, size);
      return heard.find(what) == std::string::npos && std::chrono::steady_clock::now() < until;
    });
    return heard.find(what) != std::string::npos;
  }

  OwnBroker broker;
  Operator shop{broker.bootstrap_servers()};
};

TEST_F(BrokersAway, AreToldOfInOneLineWhenTheyGoAndInOneWhenTheyComeBack) {
  const auto process = shop.start_and_wait();
  const std::size_t before = shop.log().size();
  broker.stop();
  EXPECT_TRUE(wait_until(kPatience, [&] { return count_of(shop.log(), "brokers=away") > 0; })) << shop.log();
  EXPECT_THAT(get("/readyz?verbose"), HasSubstr("no  brokers do not answer since 20"));
  EXPECT_THAT(get("/metrics"), Not(HasSubstr("reseq_brokers_away_seconds 0\n")));
  EXPECT_TRUE(picture_tells("\"brokers_away\":{\"since\":\"20"));
  const Ran asked = shop.run({"stats"});
  EXPECT_EQ(asked.code, EX_UNAVAILABLE);
  EXPECT_THAT(asked.text, AllOf(HasSubstr("no broker answers at " + broker.bootstrap_servers()),
                                HasSubstr("Connection refused"), Not(HasSubstr("_TRANSPORT"))));
  // Past the session's time-out, of which the client has much to say.
  std::this_thread::sleep_for(std::chrono::seconds(8));
  broker.start_again();
  EXPECT_TRUE(wait_until(kPatience, [&] { return count_of(shop.log(), "brokers=back") > 0; })) << shop.log();
  EXPECT_TRUE(wait_until(kPatience, [&] { return get("/readyz") == "ok\n"; })) << get("/readyz?verbose");
  EXPECT_THAT(get("/metrics"), HasSubstr("reseq_brokers_away_seconds 0\n"));
  const std::string log = shop.log().substr(before);
  EXPECT_EQ(count_of(log, "brokers=away"), 1) << log;
  EXPECT_EQ(count_of(log, "brokers=back"), 1) << log;
  for (const char* facility : {"FAIL", "ERROR", "REQTMOUT"})
    EXPECT_EQ(count_of(log, "librdkafka=\"" + std::string(facility)), 0U) << log;
  EXPECT_THAT(log, HasSubstr("Connection refused"));
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(kStepLimitMs), EX_OK) << process->tail();
}

}  // namespace
}  // namespace reseq::test
