#include "runtime/application/open_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reseq::runtime {
namespace {

using testing::HasSubstr;

TEST(OpenFiles, AreEnoughFromTheNumberOnThatItNames) {
  const auto few = too_few_open_files(1'024, 500, 1);
  ASSERT_TRUE(few.has_value());
  EXPECT_THAT(*few, HasSubstr("at most 1024 files may be open, which carries 144 of 500 partitions"));
  EXPECT_THAT(*few, HasSubstr("allow 2800 "));
  EXPECT_TRUE(too_few_open_files(2'799, 500, 1));
  EXPECT_FALSE(too_few_open_files(2'800, 500, 1));
}

TEST(OpenFiles, CarryNoPartitionWhenTheWorkersAloneNeedMore) {
  EXPECT_THAT(too_few_open_files(200, 4, 2).value_or(""), HasSubstr("carries 0 of 4 partitions"));
}

TEST(OpenFiles, AreAsManyAsTheSystemAllows) {
  const std::uint64_t files = raise_open_files();
  EXPECT_GT(files, 0U);
  EXPECT_EQ(raise_open_files(), files);
}

}  // namespace
}  // namespace reseq::runtime
