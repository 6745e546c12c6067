// A stage keeps to what the application and the topic `commands` are configured with.
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "codec/hash.h"
#include "tests/e2e/patience.h"
#include "tests/stage/topics.h"

namespace reseq::test {
namespace {

using testing::HasSubstr;

constexpr int kDocumentsWritten = 100;

// In both modes.
class CommandsTopic : public testing::TestWithParam<bool> {
 protected:
  static std::vector<std::string> options(std::vector<std::string> options) {
    if (GetParam()) options.emplace_back("--transactional");
    return options;
  }
  static std::string name(const std::string& what) { return what + (GetParam() ? "-once" : "-at-least-once"); }
  static void write_documents(Topics& topics, std::size_t payload_bytes) {
    for (int i = 0; i < kDocumentsWritten; ++i)
      topics.write("document-" + std::to_string(i), std::string(payload_bytes, 'x'));
  }
  static std::size_t results(const Topics& topics) { return topics.results().size(); }
};

TEST_P(CommandsTopic, ThatIsPartitionedByCrc32IsWrittenSo) {
  Topics topics(name("crc32"));
  write_documents(topics, 1);
  topics.flush();
  const auto stage = topics.start("stage", options({"--partitioner", "crc32"}), kEcho);
  ASSERT_TRUE(wait_until(kPatience, [&] { return results(topics) == kDocumentsWritten; })) << stage->tail();
  for (const auto& [id, partition] : topics.partitions())
    EXPECT_EQ(partition, codec::partition_of(id, Partitioner::kCrc32, 4)) << id;
  stage->signal(SIGTERM);
  EXPECT_EQ(stage->wait(60'000), 0) << stage->tail();
}

// Together the results are far larger than what the topic takes in one batch; one is too large alone.
TEST_P(CommandsTopic, ThatTakesOnlySmallBatchesGetsThem) {
  Topics topics(name("small"), {{"max.message.bytes", "65536"}});
  topics.write("large", std::string(100'000, 'x'));
  write_documents(topics, 5'000);
  topics.flush();
  const auto stage = topics.start("stage", options({"--on-error", "skip"}), kEcho);
  EXPECT_TRUE(wait_until(kPatience, [&] { return results(topics) == kDocumentsWritten; })) << stage->tail();
  stage->signal(SIGTERM);
  EXPECT_EQ(stage->wait(60'000), kDataError) << stage->tail();
  EXPECT_THAT(stage->tail(), HasSubstr("its topic allows 65536 (max.message.bytes)"));
  EXPECT_THAT(stage->tail(), HasSubstr("passed over, of id \"large\""));
  EXPECT_EQ(topics.lag(), 0) << "the record of the result that nobody takes is finished too";
}

INSTANTIATE_TEST_SUITE_P(Modes, CommandsTopic, testing::Bool());

}  // namespace
}  // namespace reseq::test
