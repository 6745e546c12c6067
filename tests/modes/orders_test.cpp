// Targets that get every version, on real brokers: in which order, behind a kill, and past what is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "tests/e2e/patience.h"
#include "tests/shop/shop.h"

namespace reseq::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kAllFour = R"(
  starvation_after_ms = 0
  [orders]
  gap_timeout_ms = 600000
  [[target]]
  name = "search"
  [[target]]
  name = "feed"
  order = "monotonic"
  [[target]]
  name = "history"
  order = "strict"
  [[target]]
  name = "audit"
  order = "total"
)";

// What docs/orders.md shows.
TEST(OrderedTargets, HaveTheirOrderBesideTheNewestInOneDocument) {
  Shop shop(kAllFour);
  shop.start();
  for (const char* order : {"1", "2", "3"}) shop.request("book", order);
  shop.request("film", "1");
  shop.settle();
  for (const char* order : {"2", "1", "3"})
    for (const char* target : {"search", "feed", "history", "audit"}) {
      if (std::string(target) == "audit" && std::string(order) == "1") shop.result("film", "1", "audit");
      shop.result("book", order, target);
    }
  shop.settle();
  EXPECT_THAT(shop.released("search"), ElementsAre("book 3"));
  EXPECT_THAT(shop.released("feed"), ElementsAre("book 2", "book 3"));
  EXPECT_THAT(shop.released("history"), ElementsAre("book 1", "book 2", "book 3"));
  EXPECT_THAT(shop.released("audit"), ElementsAre("book 1", "book 2", "book 3", "film 1"));
  for (const char* topic : {"output.history", "output.audit"}) {
    std::uint64_t last = 0;
    for (const Seen& seen : shop.records(topic)) {
      EXPECT_GT(seen.number("reseq-version"), last) << topic;
      EXPECT_EQ(seen.payload, seen.key + " " + seen.header("reseq-seq")) << "the result of another version";
      last = seen.number("reseq-version");
    }
  }
  EXPECT_THAT(shop.dead_letters(), IsEmpty());
  EXPECT_EQ(shop.stop(), 0);
}

TEST(OrderedTargets, KeepWhatIsHeldBehindAKillAndLetItGoOnce) {
  Shop shop(kAllFour);
  shop.start();
  for (const char* order : {"1", "2", "3"}) shop.request("book", order);
  shop.settle();
  const std::string large(20'000, 'x');  // many rows
  for (const char* order : {"3", "2"})
    for (const char* target : {"history", "audit"})
      shop.send("commands", "book", large + order,
                {{"reseq-command", "sequence"}, {"reseq-target", target}, {"reseq-seq", order}, {"colour", "red"}});
  shop.settle();
  shop.kill();
  shop.start();
  for (const char* target : {"history", "audit"}) {
    shop.result("book", "2", target);  // once more
    shop.result("book", "1", target);
  }
  shop.settle();
  shop.kill();
  shop.start();
  shop.result("book", "3", "history");
  shop.settle();
  for (const char* target : {"history", "audit"}) {
    EXPECT_THAT(shop.released(target), ElementsAre("book 1", "book 2", "book 3"));
    const Seen last = shop.records(std::string("output.") + target).back();
    EXPECT_EQ(last.payload, large + "3") << "what was held is not what came";
    EXPECT_EQ(last.header("colour"), "red") << "what was held lost its headers";
  }
  EXPECT_THAT(shop.dead_letters(), IsEmpty());
  EXPECT_EQ(shop.stop(), 0);
}

TEST(OrderedTargets, GoOnBehindWhatIsLostAndSayWhatThatWas) {
  Shop shop(R"(
    [orders]
    gap_timeout_ms = 3000
    on_gap = "marker"
    [[target]]
    name = "audit"
    order = "total"
  )");
  shop.start();
  for (const char* id : {"lost-1", "kept-1", "lost-2", "kept-2"}) shop.request(id, "7");
  shop.settle();
  shop.result("kept-2", "7", "audit");
  shop.result("kept-1", "7", "audit");
  ASSERT_TRUE(wait_until(kPatience, [&] { return shop.records("output.audit").size() == 4; })) << shop.log();
  EXPECT_THAT(shop.dead_letters(), ElementsAre("lost-1 7 gap", "lost-2 7 gap"));
  const Seen letter = shop.records("dead-letter").front();
  EXPECT_EQ(letter.header("reseq-targets"), "audit");
  EXPECT_FALSE(letter.payload.has_value());
  EXPECT_NE(letter.header("reseq-payload-omitted"), "") << "redrive would take it for a delete";
  EXPECT_EQ(letter.header("reseq-source-topic"), shop.application().topic("requests"));
  EXPECT_EQ(letter.header("reseq-source-offset"), "0");
  const auto& audit = shop.records("output.audit");
  const auto tells = [](const Seen& one) { return one.key + " " + one.header("reseq-op"); };
  EXPECT_THAT((std::vector{tells(audit[0]), tells(audit[1]), tells(audit[2]), tells(audit[3])}),
              ElementsAre("lost-1 failed", "kept-1 ", "lost-2 failed", "kept-2 "));
  EXPECT_THAT(audit[0].payload.value_or(""), HasSubstr("gap"));
  shop.result("lost-1", "7", "audit");
  shop.settle();
  EXPECT_EQ(shop.records("output.audit").size(), 4U) << "what was skipped came out behind what came later";
  EXPECT_EQ(shop.stop(), 0);
}

TEST(OrderedTargets, ReadNoRequestsWhileTooMuchIsHeld) {
  Shop shop(R"(
    held_bytes_max = 10000
    [[target]]
    name = "audit"
    order = "total"
  )");
  shop.start();
  for (const char* id : {"late", "large"}) shop.request(id, "1");
  shop.settle();
  shop.send("commands", "large", std::string(20'000, 'x'),
            {{"reseq-command", "sequence"}, {"reseq-target", "audit"}, {"reseq-seq", "1"}});
  ASSERT_TRUE(wait_until(kPatience, [&] { return shop.log().find("requests=stopped") != std::string::npos; }));
  shop.request("more", "1");
  shop.flush();
  shop.send("commands", "large", "", {{"reseq-command", "nonsense"}});
  ASSERT_TRUE(wait_until(kPatience, [&] { return shop.dead_letters().size() == 1; })) << "commands are not read";
  EXPECT_EQ(shop.work().size(), 2U) << "what is held has no bound";
  shop.result("late", "1", "audit");
  shop.settle();
  EXPECT_THAT(shop.released("audit"), ElementsAre("late 1", "large 1"));
  EXPECT_EQ(shop.work().size(), 3U);
  EXPECT_EQ(shop.stop(), 0);
}

}  // namespace
}  // namespace reseq::test
