// An application of the resequencer that is at work stays as it is while it is observed.
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/patience.h"
#include "tests/operator/operator.h"
#include "tests/shadow/pipeline.h"
#include "tests/support/broker.h"

namespace reseq::test {
namespace {

using nlohmann::json;

class Live : public testing::Test {
 protected:
  Live() : shop(Broker::shared().bootstrap_servers()) {
    shop.keys = "registration_timeout_ms = 0\n";
    shop.http_listen.clear();  // its page would ask on the topics of the admin desk, every fifteen seconds
    EXPECT_EQ(shop.run({"init"}).code, 0);
    shop.create_topic("unused", 1);
  }
  void request(const std::string& id, int sequence) {
    shop.send("requests", id, {{"reseq-seq", std::to_string(sequence)}});
  }
  void result(const std::string& id, int sequence) {
    shop.send("commands", id,
              {{"reseq-command", "sequence"}, {"reseq-seq", std::to_string(sequence)}, {"reseq-epoch", "0"}});
  }
  // Its group has read everything.
  void settle() {
    const auto admin = kafka::Admin::open(shop.connection());
    ASSERT_TRUE(admin);
    EXPECT_TRUE(wait_until(kPatience, [&] {
      for (const char* role : {"requests", "commands"}) {
        const auto ends = admin.value()->stable_ends(shop.topic(role), Milliseconds(10'000));
        const auto done = admin.value()->committed(shop.application_id(), shop.topic(role), Milliseconds(10'000));
        if (!ends || !done) return false;
        for (std::size_t p = 0; p < ends.value().size(); ++p)
          if (done.value()[p].offset < ends.value()[p].offset) return false;
      }
      return true;
    }));
  }

  Operator shop;
};

TEST_F(Live, ApplicationStaysUndisturbed) {
  const auto running = shop.start_and_wait();
  for (int i = 0; i < 20; ++i) {
    const std::string id = "book-" + std::to_string(i);
    request(id, 1);
    request(id, 2);
    result(id, 2);
    if (i % 2 == 0) result(id, 1);
    if (i % 5 == 0) result(id, 2);
  }
  settle();
  const std::string before = broker_facts(shop.connection());
  EXPECT_THAT(before, testing::HasSubstr("offsets " + shop.application_id() + " " + shop.topic("requests")));
  const Ran ran = shop.run({"observe", "--from", "beginning", "--for", "2s", "-o", "json"});
  ASSERT_EQ(ran.code, 0) << ran.text;
  EXPECT_EQ(broker_facts(shop.connection()), before);
  const json report = json::parse(ran.text.substr(ran.text.find("\n{\n") + 1));
  EXPECT_EQ(report["results"]["in_order"], 20) << ran.text;
  EXPECT_EQ(report["results"]["out_of_order"].get<int>() + report["results"]["duplicates"].get<int>(), 14);
  EXPECT_EQ(report["requests"]["registered"], 40);

  // It works on: beside an observer, and afterwards.
  shop.keys += "mode = \"observe\"\nobserve.for = \"1s\"\n";
  const Ran as_mode = shop.run({"run"});
  EXPECT_EQ(as_mode.code, 0) << as_mode.text;
  EXPECT_THAT(as_mode.text, testing::HasSubstr("observe=goes_on"));
  EXPECT_EQ(broker_facts(shop.connection()), before);
  EXPECT_TRUE(running->running());
  request("later", 1);
  settle();
  EXPECT_NE(broker_facts(shop.connection()), before);
  running->signal(SIGTERM);
  EXPECT_EQ(running->wait(kEndLimitMs), 0) << running->tail();
}

}  // namespace
}  // namespace reseq::test
