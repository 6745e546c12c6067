// Brokers that go while a sink runs, and come back: what its operator reads meanwhile.
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>

#include "tests/e2e/http_get.h"
#include "tests/e2e/patience.h"
#include "tests/postgres/scene.h"
#include "tests/support/count_of.h"
#include "tests/support/free_port.h"
#include "tests/support/own_broker.h"

namespace reseq::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(PostgresSink, TellsInOneLineThatItsBrokersAreGoneAndInOneThatTheyAreBack) {
  OwnBroker broker;
  Scene scene("brokers", {}, broker.bootstrap_servers());
  scene.release(100, 50);
  const int port = free_port();
  const auto sink = scene.start(
      "sink", {"--payload", "bytea", "--log-format", "json", "--http-listen", "127.0.0.1:" + std::to_string(port)});
  const auto log = [&] { return scene.log_of("sink"); };
  ASSERT_TRUE(wait_until(kPatience, [&] { return scene.is_caught_up(); })) << log();
  const auto is_ready = [&] { return get(port, "/readyz") == std::pair(200, std::string("ready, 4 partitions\n")); };
  EXPECT_TRUE(wait_until(kPatience, is_ready)) << get(port, "/readyz").second;

  broker.stop();
  EXPECT_TRUE(wait_until(kPatience, [&] { return lines_with(log(), "brokers=away") > 0; })) << log();
  EXPECT_EQ(get(port, "/readyz").first, 503);
  EXPECT_THAT(get(port, "/readyz").second, HasSubstr("brokers away for "));
  EXPECT_THAT(get(port, "/metrics").second, Not(HasSubstr("reseq_sink_brokers_away_seconds 0\n")));
  EXPECT_EQ(get(port, "/livez").first, 200) << "a new start would not help";
  std::this_thread::sleep_for(std::chrono::seconds(8));  // past the session, of which the client has much to say
  broker.start_again();
  EXPECT_TRUE(wait_until(kPatience, is_ready)) << log();
  EXPECT_THAT(get(port, "/metrics").second, HasSubstr("reseq_sink_brokers_away_seconds 0\n"));
  scene.release(100, 50);
  EXPECT_TRUE(wait_until(kPatience, [&] { return scene.is_caught_up(); })) << log();
  EXPECT_THAT(scene.differences(), IsEmpty());
  EXPECT_EQ(Scene::end(*sink), 0) << log();

  EXPECT_EQ(lines_with(log(), "brokers=away"), 1) << log();
  EXPECT_EQ(lines_with(log(), "brokers=back"), 1) << log();
  EXPECT_EQ(lines_with(log(), "librdkafka="), 0) << log();
  std::istringstream lines(log());
  for (std::string line; std::getline(lines, line);)
    EXPECT_FALSE(nlohmann::json::parse(line, nullptr, false).is_discarded()) << line;
}

}  // namespace
}  // namespace reseq::test
