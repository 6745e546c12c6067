// An input that is another log than the state knows, on a real broker: deleted and made anew while nothing ran, and
// longer than the old one was; and one whose last decided record retention took, which is no reason to stop.
#include "tests/recovery/kafka_tools.h"
#include "tests/recovery/recovering.h"

namespace reseq::test {
namespace {

using testing::HasSubstr;

constexpr int kOldRequests = 20;

class ReplacedInput : public Recovering {
 protected:
  void make_anew(const std::string& role) {
    const auto admin = kafka::Admin::open(shop.connection());
    const std::string topic = shop.topic(role);
    ASSERT_TRUE(admin.value()->delete_topics({&topic, 1}, Milliseconds(kLimitMs)).ok());
    ASSERT_EQ(shop.run({"init"}).code, EX_OK);
  }
  KafkaTools tools{Broker::shared().bootstrap_servers()};
};

TEST_F(ReplacedInput, IsRefusedUntilSomebodySaysWhereToGoOnAndNothingIsSkipped) {
  init(1);
  live(kOldRequests);
  EXPECT_EQ(shop.run({"check"}).code, EX_OK);
  make_anew("requests");
  documents_ = kOldRequests + 5;
  send_all("requests", {{"reseq-seq", "2"}}, "2");
  const Ran check = shop.run({"check"});
  EXPECT_EQ(check.code, EX_CONFIG);
  EXPECT_THAT(check.text,
              testing::ContainsRegex("error +inputs +topic .* partition 0: offset .* was decided last and "));
  start();
  expect_says(0, "parked reason=input_replaced");
  expect_says(0, "resequencer seek");
  stop();
  EXPECT_EQ(count("work"), static_cast<std::size_t>(kOldRequests)) << "nothing of the new log was decided";

  const Ran seek = shop.run({"seek", "--requests", "begin"});
  ASSERT_EQ(seek.code, EX_OK) << seek.text;
  start();
  expect_says(0, "takeover=ready");
  wait_for_records("work", static_cast<std::size_t>(kOldRequests + kOldRequests + 5));
  stop();
  start();
  expect_says(0, "takeover=ready");  // it is pinned to the new log now
  send_all("requests", {{"reseq-seq", "3"}}, "3");
  wait_for_records("work", static_cast<std::size_t>(kOldRequests + 2 * (kOldRequests + 5)));
  stop();
}

TEST_F(ReplacedInput, IsNoneWhenRetentionTookTheLastDecidedRecord) {
  init(1);
  live(kOldRequests);
  tools.delete_records({{shop.topic("requests"), 0}});
  EXPECT_THAT(shop.run({"check"}).text, testing::Not(HasSubstr("was decided last")));
  start();
  expect_says(0, "input=unchecked");
  process_documents(2);
  EXPECT_THAT(shop.log(), testing::Not(HasSubstr("parked")));
  stop();
}

}  // namespace
}  // namespace reseq::test
