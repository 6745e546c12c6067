#include "consumers/remote/forgetting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reseq::remote {
namespace {

using testing::HasSubstr;

TEST(Forgetting, KnowsHowLongATopicKeepsRecords) {
  kafka::TopicFacts topic;
  topic.retention_ms = 5;
  topic.segment_ms = 2;
  EXPECT_EQ(retention_of(topic), Milliseconds(7)) << "the oldest record of a segment goes with the newest";
  topic.compacts = true;
  EXPECT_EQ(retention_of(topic), Milliseconds(7));
  topic.deletes = false;
  EXPECT_FALSE(retention_of(topic)) << "compacted only: the last record of a document stays";
  topic.deletes = true;
  topic.retention_ms = -1;
  EXPECT_FALSE(retention_of(topic));
}

TEST(Forgetting, IsRefusedWhileAnOlderResultCanCome) {
  EXPECT_TRUE(judge_forgetting(Milliseconds(2'001), Milliseconds(2'000), "Fix."));
  EXPECT_THAT(judge_forgetting(Milliseconds(2'000), Milliseconds(2'000), "Fix.").error().message,
              HasSubstr("forgotten after 2 s, but the output topic keeps records for 2 s (retention.ms and "
                        "segment.ms): "));
  const auto for_ever = judge_forgetting(Milliseconds(2'000), std::nullopt, "Fix.");
  EXPECT_EQ(for_ever.error().what_to_do, ErrorClass::kInvalid);
  EXPECT_THAT(for_ever.error().message, HasSubstr("keeps records for ever: "));
  EXPECT_THAT(for_ever.error().message, testing::EndsWith("back. Fix."));
}

}  // namespace
}  // namespace reseq::remote
