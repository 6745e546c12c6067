// An observer needs Read on the two topics that it reads, and no other right of any kind.
#include <sysexits.h>

#include "tests/e2e/patience.h"
#include "tests/security/guarded_application.h"

namespace reseq::test {
namespace {

using kafka::Operation;
using kafka::Resource;
using testing::HasSubstr;

class ObserverRights : public GuardedApplication {};

TEST_F(ObserverRights, AreToReadTheTwoTopics) {
  make_topics();
  come_in_by("login");
  send("requests", "book", {{"reseq-seq", "1"}});
  send("commands", "book", {{"reseq-command", "sequence"}, {"reseq-seq", "1"}});
  send("commands", "book", {{"reseq-command", "sequence"}, {"reseq-seq", "1"}});
  const std::vector<std::string> observe = {"observe", "--from", "beginning", "--for", "0s", "-o", "json"};
  const Ran refused = shop.run(observe);
  EXPECT_EQ(refused.code, EX_CONFIG) << refused.text;
  for (const char* role : {"requests", "commands"})
    broker.grant({Resource::kTopic, shop.topic(role), Operation::kRead});
  Ran ran;
  EXPECT_TRUE(wait_until(std::chrono::milliseconds(60'000), [&] {
    ran = shop.run(observe);
    return ran.code == EX_OK;
  })) << ran.text;
  EXPECT_THAT(ran.text, HasSubstr("\"in_order\": 1,"));
  EXPECT_THAT(ran.text, HasSubstr("\"duplicates\": 1,"));
  EXPECT_THAT(ran.text, HasSubstr("is not told to this user (DescribeConfigs)"));
}

}  // namespace
}  // namespace reseq::test
