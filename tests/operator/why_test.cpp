// `why` in front of events and dead letters that are too many to be read while somebody waits.
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iostream>
#include <string>
#include <sysexits.h>

#include "codec/hash.h"
#include "kafka/plain_producer.h"
#include "tests/e2e/patience.h"
#include "tests/operator/operator.h"
#include "tests/support/broker.h"
#include "tests/support/good.h"

namespace reseq::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// Several times what can be read in the time that `why` has.
constexpr int kForeign = 1'000'000;
const std::string kDocument = "touched long ago";
const std::string kRefused = "refused long ago";
constexpr int kAllLimitMs = 120'000;

class Why : public testing::Test {
 protected:
  // What happened since to other documents of its partition.
  void flood(const std::string& role, const std::string& document) {
    const auto producer = good(kafka::PlainProducer::open(shop.connection()));
    const Partition where = codec::partition_of(document, Partitioner::kMurmur2, 4);
    for (int i = 0; i < kForeign; ++i) good(producer->send(shop.topic(role), "other", "{}", {}, {}, where));
    good(producer->flush(Milliseconds(kStepLimitMs)));
  }

  bool tells(const std::string& document, const std::string& words) {
    return wait_until(std::chrono::milliseconds(kStepLimitMs), [&] {
      return shop.run({"why", document}).text.find(words) != std::string::npos;
    });
  }

  Operator shop{Broker::shared().bootstrap_servers()};
};

TEST_F(Why, AnswersInTimeAndSaysWhatItHasNotReadOfALongHistory) {
  ASSERT_EQ(shop.run({"init"}).code, EX_OK);
  const auto process = shop.start_and_wait();
  shop.send("requests", kDocument, {{"reseq-seq", "7"}});
  ASSERT_TRUE(tells(kDocument, "search waits since"));
  shop.send("requests", kDocument, {{"reseq-seq", "6"}});
  const std::string event = "superseded";
  ASSERT_TRUE(tells(kDocument, event));
  flood("events", kDocument);
  const auto begin = std::chrono::steady_clock::now();
  const Ran asked = shop.run({"why", kDocument});
  const auto took = std::chrono::steady_clock::now() - begin;
  std::cout << "answered in " << std::chrono::duration_cast<std::chrono::milliseconds>(took).count() << " ms\n";
  EXPECT_EQ(asked.code, EX_OK);
  EXPECT_THAT(asked.text,
              AllOf(HasSubstr("search waits since"), Not(HasSubstr(event)),
                    ContainsRegex("not read: the oldest [0-9]+ of 100[0-9]{4} offsets of .*; --all reads")));
  const Ran all = shop.run({"why", kDocument, "--all"}, kAllLimitMs);
  EXPECT_EQ(all.code, EX_OK);
  EXPECT_THAT(all.text, AllOf(HasSubstr(event), Not(HasSubstr("not read:"))));
}

TEST_F(Why, DoesNotSayThatADocumentWasNeverRequestedWhenItsLetterIsTooOldToBeRead) {
  shop.keys = "events = \"none\"\n";  // or of so long ago that they are gone
  ASSERT_EQ(shop.run({"init"}).code, EX_OK);
  const auto process = shop.start_and_wait();
  shop.send("requests", kRefused, {});
  const std::string letter = "missing_sequence";
  ASSERT_TRUE(tells(kRefused, letter));
  flood("dead-letter", kRefused);
  const Ran asked = shop.run({"why", kRefused});
  EXPECT_NE(asked.code, EX_OK);
  EXPECT_THAT(asked.text, AllOf(HasSubstr("; or its requests are dead letters that were not read"),
                                ContainsRegex("not read: the oldest [0-9]+ of .*dead-letter.*; --all reads them")));
  const Ran all = shop.run({"why", kRefused, "--all"}, kAllLimitMs);
  EXPECT_EQ(all.code, EX_OK);
  EXPECT_THAT(all.text, AllOf(HasSubstr(letter), Not(HasSubstr("not read"))));
}

}  // namespace
}  // namespace reseq::test
