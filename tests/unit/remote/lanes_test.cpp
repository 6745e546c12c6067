// Loads between the reader and the writers: order within a partition, how many at once, dropping, the end.
#include "consumers/remote/lanes.h"

#include <gtest/gtest.h>
#include <thread>

#include "tests/unit/remote/records.h"

namespace reseq::remote {
namespace {

using std::chrono::milliseconds;

std::shared_ptr<Load> load_of(int partition, std::int64_t first) {
  auto load = std::make_shared<Load>();
  load->batch.partition = Partition(partition);
  load->batch.first = Offset(first);
  load->bytes = 100;
  load->opened = Clock::now();
  return load;
}

TEST(Lanes, WriteOneAfterTheOtherWhenOneIsAllowed) {
  Lanes lanes(1);
  lanes.put(load_of(0, 0));
  lanes.put(load_of(0, 10));
  lanes.put(load_of(1, 0));
  const auto first = lanes.take();
  EXPECT_EQ(first->batch.first, Offset(0));
  const auto other = lanes.take();
  EXPECT_EQ(other->batch.partition, Partition(1)) << "the second load of partition 0 has to wait for the first";
  lanes.give_back({first, Outcome::kWritten});
  EXPECT_EQ(lanes.take()->batch.first, Offset(10));
}

TEST(Lanes, WriteSeveralOfAPartitionWhenTheyMay) {
  Lanes lanes(2);
  for (int i = 0; i < 3; ++i) lanes.put(load_of(0, i));
  EXPECT_EQ(lanes.take()->batch.first, Offset(0));
  EXPECT_EQ(lanes.take()->batch.first, Offset(1));
  EXPECT_EQ(lanes.running(), 2U);
  EXPECT_EQ(lanes.waiting(), 1U);
}

TEST(Lanes, CountBytesUntilALoadIsBack) {
  Lanes lanes(1);
  lanes.put(load_of(0, 0));
  lanes.put(load_of(0, 1));
  EXPECT_EQ(lanes.bytes(), 200U);
  const auto load = lanes.take();
  EXPECT_EQ(lanes.bytes(), 200U);
  lanes.give_back({load, Outcome::kWritten});
  EXPECT_EQ(lanes.bytes(), 100U);
  ASSERT_EQ(lanes.finished(milliseconds(0)).size(), 1U);
  EXPECT_TRUE(lanes.finished(milliseconds(0)).empty());
  lanes.drop_all();
  EXPECT_EQ(lanes.bytes(), 0U);
}

TEST(Lanes, DropWhatWaitsAndWakeWhoRests) {
  Lanes lanes(1);
  lanes.put(load_of(0, 0));
  lanes.put(load_of(0, 1));
  const auto running = lanes.take();
  std::thread writer([&] {
    EXPECT_FALSE(lanes.rest(*running, milliseconds(60'000)));
    lanes.give_back({running, Outcome::kDropped});
  });
  lanes.drop_all();
  EXPECT_TRUE(lanes.settle(milliseconds(30'000)));
  writer.join();
  EXPECT_EQ(lanes.waiting(), 0U);
  EXPECT_EQ(lanes.finished(milliseconds(0)).at(0).outcome, Outcome::kDropped);
}

TEST(Lanes, ForgetWhatFollowsAFencedLoad) {
  Lanes lanes(1);
  lanes.put(load_of(0, 0));
  lanes.put(load_of(0, 1));
  lanes.put(load_of(1, 0));
  const auto fenced = lanes.take();
  lanes.give_back({fenced, Outcome::kFenced});
  EXPECT_EQ(lanes.waiting(), 1U);
  EXPECT_EQ(lanes.take()->batch.partition, Partition(1));
}

TEST(Lanes, KeepWhatWasReadAnewWhenALoadThatWasDroppedIsFenced) {
  Lanes lanes(1);
  lanes.put(load_of(0, 0));
  const auto fenced = lanes.take();
  lanes.drop_all();
  lanes.put(load_of(0, 0));
  lanes.put(load_of(0, 1));
  lanes.give_back({fenced, Outcome::kFenced});
  EXPECT_EQ(lanes.waiting(), 2U);
}

TEST(Lanes, EndForThoseThatWait) {
  Lanes lanes(1);
  std::thread writer([&] { EXPECT_EQ(lanes.take(), nullptr); });
  std::thread other([&] { EXPECT_FALSE(lanes.pause(milliseconds(60'000))); });
  lanes.stop();
  writer.join();
  other.join();
}

}  // namespace
}  // namespace reseq::remote
