#include "tests/security/guarded_application.h"

#include <chrono>
#include <csignal>
#include <sysexits.h>

#include "kafka/group_consumer.h"
#include "kafka/plain_producer.h"
#include "tests/e2e/patience.h"

namespace reseq::test {

namespace {

constexpr Milliseconds kAskLimit{30'000};
constexpr Milliseconds kPollSlice{50};

kafka::Connection connection_of(const std::string& bootstrap_servers) {
  kafka::Connection connection;
  connection.bootstrap_servers = bootstrap_servers;
  connection.client_id = "test";
  connection.log = [](int, std::string_view, std::string_view) {};
  return connection;
}

}  // namespace

GuardedApplication::GuardedApplication() : shop(GuardedBroker::shared().address("plain")) {}

void GuardedApplication::come_in_by(const std::string& listener, const std::string& kafka_lines) {
  shop.bootstrap_servers = broker.address(listener);
  shop.tables = "[[target]]\nname = \"search\"\n[kafka]\n" + broker.way_in(listener) + kafka_lines;
}

void GuardedApplication::make_topics() {
  const std::string servers = shop.bootstrap_servers;
  const std::string tables = shop.tables;
  come_in_by("plain");
  const Ran ran = shop.run({"init"});
  ASSERT_EQ(ran.code, EX_OK) << ran.text;
  shop.bootstrap_servers = servers;
  shop.tables = tables;
}

void GuardedApplication::expect_refused(const std::string& fix) {
  using testing::AllOf;
  using testing::HasSubstr;
  using testing::StartsWith;
  const Ran checked = shop.run({"check"});
  EXPECT_EQ(checked.code, EX_CONFIG) << checked.text;
  EXPECT_THAT(checked.last_line, AllOf(StartsWith("error"), HasSubstr(fix)));
  const Ran ran = shop.run({"run"});
  EXPECT_EQ(ran.code, EX_CONFIG) << ran.text;
  EXPECT_THAT(ran.last_line, AllOf(StartsWith("resequencer: "), HasSubstr(fix)));
}

void GuardedApplication::send(const std::string& role, const std::string& id, const std::vector<Header>& headers) {
  const auto producer = kafka::PlainProducer::open(connection_of(broker.address("plain")));
  ASSERT_TRUE(producer);
  ASSERT_TRUE(producer.value()->send(shop.topic(role), id, "x", headers));
  ASSERT_TRUE(producer.value()->flush(kAskLimit));
}

std::string GuardedApplication::next_of(const std::string& role) {
  const auto reader = kafka::GroupConsumer::open(connection_of(broker.address("plain")));
  if (!reader || !reader.value()->assign_all(shop.topic(role), {}, kAskLimit)) return "no reader";
  std::string key = "nothing came";
  (void)wait_until(std::chrono::milliseconds(kStepLimitMs), [&] {
    const auto polled = reader.value()->poll(kPollSlice);
    if (polled && polled.value()) key = polled.value()->key.value_or("null");
    return polled && polled.value();
  });
  return key;
}

void GuardedApplication::expect_a_document_passes() {
  const auto process = shop.start_and_wait();
  send("requests", "book", {{"reseq-seq", "1"}});
  EXPECT_EQ(next_of("work"), "book") << process->tail();
  send("commands", "book", {{"reseq-command", "sequence"}, {"reseq-seq", "1"}, {"reseq-target", "search"}});
  EXPECT_EQ(next_of("output.search"), "book") << process->tail();
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(kStepLimitMs), EX_OK) << process->tail();
}

}  // namespace reseq::test
