// `input.id` and `input.sequence`: producers that know nothing of the wire contract stay as they are.
#include <algorithm>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>

#include "codec/hash.h"
#include "tests/shop/shop.h"

namespace reseq::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr int kPartitions = 3;
constexpr int kSubcommandLimitMs = 60'000;
constexpr const char* kDocument = R"(
  events = "all"
  input.id = "header:document"
  input.sequence = "header:version"
  [[target]]
  name = "search"
)";

int partition_of(const std::string& id) {
  return codec::partition_of(id, Partitioner::kMurmur2, kPartitions).value();
}

// As a producer writes that has tenants as keys, and puts a record where its document belongs.
void order(Shop& shop, const std::string& id, const std::string& version, std::optional<int> partition = {}) {
  shop.send("requests", "tenant", "request " + id + " " + version, {{"document", id}, {"version", version}},
            partition.value_or(partition_of(id)));
}

std::string run(Shop& shop, const std::vector<std::string>& subcommand) {
  const TempDir folder;
  const std::string log = folder.path() + "/out";
  std::vector<std::string> argv = {program("resequencer")};
  argv.insert(argv.end(), subcommand.begin(), subcommand.end());
  argv.insert(argv.end(), {"--config", shop.config_file()});
  Process process(argv, log);
  const int code = process.wait(kSubcommandLimitMs);
  std::ifstream file(log, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_EQ(code, 0) << text;
  return text;
}

TEST(Input, ReadsIdAndSequenceWhereTheProducerPutsThem) {
  Shop shop(kDocument, kPartitions);
  shop.start();
  order(shop, "book", "1");
  shop.settle();
  order(shop, "book", "2");
  order(shop, "cup", "7");
  shop.settle();
  // Whoever reads work finds the contract: the id is the key, and reseq-seq says the number.
  EXPECT_THAT(shop.work(), UnorderedElementsAre("book 1 -> search", "book 2 -> search", "cup 7 -> search"));
  std::vector<Seen> work = shop.records("work");
  EXPECT_EQ(work.front().header("document"), work.front().key) << "the producer's headers travel on";

  // The pipeline answers in the wrong order, and the resequencer is killed between.
  std::sort(work.begin(), work.end(),
            [](const Seen& a, const Seen& b) { return a.number("version") > b.number("version"); });
  shop.answer(work[0], "search");
  shop.kill();
  shop.start();
  for (std::size_t i = 1; i < work.size(); ++i) shop.answer(work[i], "search");
  order(shop, "book", "1");  // once more
  shop.settle();
  EXPECT_THAT(shop.released("search"), UnorderedElementsAre("cup 7", "book 2"));
  EXPECT_THAT(shop.events(), Contains("book 1 dropped S6 stale"));
  EXPECT_THAT(shop.events(), Contains("book 1 dropped R4 superseded"));
  EXPECT_THAT(shop.dead_letters(), IsEmpty());

  // What is asked of operators finds the document by its id.
  EXPECT_THAT(run(shop, {"why", "book"}), HasSubstr("search got the release of 2, the newest for it"));
  (void)run(shop, {"reprocess", "book"});
  shop.settle();
  EXPECT_THAT(shop.work(), Contains("book 2.1 -> search"));
  EXPECT_EQ(shop.stop(), 0);
}

TEST(Input, WhatCannotBeUsedIsALetterOfItsDocumentAndCanBeSentAgain) {
  Shop shop(kDocument, kPartitions);
  shop.start();
  const int other = (partition_of("book") + 1) % kPartitions;
  order(shop, "book", "5", other);
  shop.send("requests", "book", "payload", {{"version", "5"}}, partition_of("book"));
  shop.send("requests", "tenant", "payload", {{"document", "book"}, {"reseq-seq", "5"}}, partition_of("book"));
  shop.settle();
  EXPECT_THAT(shop.dead_letters(),
              UnorderedElementsAre("book  misrouted", "book  missing_id", "book 5 missing_sequence"));
  EXPECT_THAT(shop.work(), IsEmpty());
  EXPECT_THAT(run(shop, {"why", "book"}), HasSubstr("misrouted"));

  (void)run(shop, {"dead-letter", "redrive", "--all", "--reason", "misrouted"});
  shop.settle();
  EXPECT_THAT(shop.work(), ElementsAre("book 5 -> search"));
  shop.answer(shop.records("work").back(), "search");
  shop.settle();
  EXPECT_THAT(shop.released("search"), ElementsAre("book 5"));
  EXPECT_EQ(shop.stop(), 0);
}

// The pipeline reads `requests` itself: nobody says reseq-seq to it, so its results have to.
TEST(Input, WithTapThePipelineSaysTheNumberInTheWordsOfTheContract) {
  Shop shop(R"(
    intake = "tap"
    events = "all"
    input.sequence = "header:version"
    [[target]]
    name = "search"
  )");
  shop.start();
  for (const char* version : {"1", "2"}) shop.send("requests", "book", "payload", {{"version", version}});
  shop.result("book", "2", "search");
  shop.result("book", "1", "search");
  shop.send("commands", "book", "copied", {{"version", "2"}, {"reseq-command", "sequence"}});
  shop.settle();
  EXPECT_THAT(shop.released("search"), ElementsAre("book 2"));
  EXPECT_THAT(shop.events(), Contains("book 1 dropped S6 stale"));
  EXPECT_THAT(shop.dead_letters(), ElementsAre("book  missing_sequence"));
  EXPECT_THAT(shop.work(), IsEmpty());
  EXPECT_EQ(shop.stop(), 0);
}

}  // namespace
}  // namespace reseq::test
