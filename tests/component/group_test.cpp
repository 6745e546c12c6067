// The inputs as a member of the group: stable offsets, co-partitioning by construction, exact rewinds, fences.
#include <algorithm>
#include <gtest/gtest.h>

#include "tests/component/rig.h"

namespace reseq::kafka {
namespace {

std::vector<TopicPartition> both_topics(const std::vector<Partition>& partitions) {
  std::vector<TopicPartition> which;
  for (const Partition p : partitions) {
    which.push_back({kA, p});
    which.push_back({kB, p});
  }
  return which;
}

std::vector<std::int32_t> numbers(std::vector<Partition> partitions) {
  std::vector<std::int32_t> plain;
  for (const Partition p : partitions) plain.push_back(p.value());
  std::sort(plain.begin(), plain.end());
  return plain;
}

// A worker: consumer and producer of one static member.
struct Member {
  Member(const Rig& rig, const std::string& instance)
      : cluster(rig.cluster(instance)), consumer(good(cluster->consumer(kA))), producer(ready_producer(*cluster)) {}

  Result<> commit_offsets(const std::vector<TopicPartitionOffset>& next, const GroupMetadata& group) {
    good(producer->begin());
    if (auto sent = until_settled([&] { return producer->send_offsets(next, group, kLong); }); !sent) return sent;
    return until_settled([&] { return producer->commit(kLong); });
  }

  // Stable committed offsets, waited for.
  std::vector<TopicPartitionOffset> committed(const std::vector<TopicPartition>& which) {
    std::vector<TopicPartitionOffset> answer;
    good(until_settled([&]() -> Result<> {
      auto asked = consumer->committed(which, Milliseconds(1'000));
      if (!asked) return asked.error();
      answer = std::move(asked).value();
      return Done{};
    }));
    return answer;
  }

  std::unique_ptr<Cluster> cluster;
  std::unique_ptr<Consumer> consumer;
  std::unique_ptr<Producer> producer;
};

TEST(Group, CommittedTimesOutWhileUnstableAndAnswersAfterTheIdIsInitialisedAgain) {
  const Rig rig(2, 1);
  Member member(rig, "1");
  const auto group = wait_assigned(*member.consumer).group;
  const std::vector<TopicPartition> which = {kA0, kB0};
  EXPECT_EQ(member.committed(which), (std::vector<TopicPartitionOffset>{{kA0, kNoOffset}, {kB0, kNoOffset}}));
  good(member.commit_offsets({{kA0, Offset(3)}, {kB0, Offset(4)}}, *group));
  EXPECT_EQ(member.committed(which), (std::vector<TopicPartitionOffset>{{kA0, Offset(3)}, {kB0, Offset(4)}}));

  good(member.producer->begin());
  const std::vector<TopicPartitionOffset> next = {{kA0, Offset(7)}, {kB0, Offset(8)}};
  good(until_settled([&] { return member.producer->send_offsets(next, *group, kLong); }));
  member.producer.reset();  // crashed
  const auto unstable = member.consumer->committed(which, Milliseconds(500));
  ASSERT_FALSE(unstable);
  EXPECT_EQ(unstable.error().what_to_do, ErrorClass::kTimeout);
  member.producer = ready_producer(*member.cluster);
  EXPECT_EQ(member.committed(which), (std::vector<TopicPartitionOffset>{{kA0, Offset(3)}, {kB0, Offset(4)}}));
}

TEST(Group, TwoMembersReadTheSamePartitionsOfBothTopicsAndGoOnWhereOthersStopped) {
  constexpr std::int32_t kPartitions = 4;
  const Rig rig(2, kPartitions);
  Member first(rig, "1");
  auto assigned = wait_assigned(*first.consumer);
  EXPECT_EQ(numbers(assigned.partitions), (std::vector<std::int32_t>{0, 1, 2, 3}));
  for (const TopicPartition where : both_topics(assigned.partitions)) commit_records(*first.producer, where, 0, 2);

  std::vector<TopicPartitionOffset> next;
  for (const TopicPartition where : both_topics(assigned.partitions)) next.push_back({where, Offset(0)});
  good(first.consumer->assign(next));
  for (std::size_t i = 0; i < 2 * next.size(); ++i) EXPECT_EQ(next_record(*first.consumer).offset.value() / 2, 0);
  for (auto& one : next) one.offset = Offset(3);
  good(first.commit_offsets(next, *assigned.group));

  Member second(rig, "2");
  std::optional<Revoked> revoked;
  std::optional<Assigned> mine;
  std::optional<Assigned> others;
  for (int i = 0; i < 200 && (!mine || !others); ++i) {
    auto of_first = good(first.consumer->poll(Milliseconds(50)));
    EXPECT_FALSE(std::holds_alternative<Record>(of_first)) << "a record after a rebalance, before assign()";
    if (auto* event = std::get_if<Revoked>(&of_first)) revoked = std::move(*event);
    if (auto* event = std::get_if<Assigned>(&of_first)) mine = std::move(*event);
    auto of_second = good(second.consumer->poll(Milliseconds(50)));
    if (auto* event = std::get_if<Assigned>(&of_second)) others = std::move(*event);
  }
  ASSERT_TRUE(revoked && mine && others);
  EXPECT_EQ(revoked->partitions.size(), 4U);
  EXPECT_FALSE(revoked->lost);
  EXPECT_EQ(numbers(mine->partitions), (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(numbers(others->partitions), (std::vector<std::int32_t>{2, 3}));

  for (const TopicPartition where : both_topics(others->partitions)) commit_records(*first.producer, where, 2, 1);
  const auto start = second.committed(both_topics(others->partitions));
  for (const auto& one : start) EXPECT_EQ(one.offset, Offset(3));
  good(second.consumer->assign(start));
  std::vector<TopicPartition> seen;
  for (std::size_t i = 0; i < start.size(); ++i) {
    const Record record = next_record(*second.consumer);
    EXPECT_EQ(record.payload, std::optional<std::string_view>("2"));
    seen.push_back(record.where);
  }
  std::sort(seen.begin(), seen.end());
  auto expected = both_topics(others->partitions);
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(seen, expected);

  // The membership of before the rebalance must not commit any more.
  const auto stale = first.commit_offsets({{kA0, Offset(1)}}, *assigned.group);
  ASSERT_FALSE(stale);
  EXPECT_EQ(stale.error().what_to_do, ErrorClass::kAbort) << stale.error().message;
  good(until_settled([&] { return first.producer->abort(kLong); }));
  good(first.commit_offsets({{kA0, Offset(3)}}, *mine->group));
}

TEST(Group, ASecondInstanceOfAStaticMemberFencesOffsetsAndConsumerOfTheFirst) {
  const Rig rig(2, 1);
  Member first(rig, "1");
  const auto old_group = wait_assigned(*first.consumer).group;
  good(first.commit_offsets({{kA0, Offset(5)}}, *old_group));

  const auto same = rig.cluster("1");
  const auto second = good(same->consumer(kA));
  const auto new_group = wait_assigned(*second).group;
  const auto fenced = first.commit_offsets({{kA0, Offset(6)}}, *old_group);
  ASSERT_FALSE(fenced);
  EXPECT_EQ(fenced.error().what_to_do, ErrorClass::kAbort) << fenced.error().message;
  good(until_settled([&] { return first.producer->abort(kLong); }));
  EXPECT_EQ(good(second->committed(std::span(&kA0, 1), kLong)).at(0).offset, Offset(5));
  good(first.commit_offsets({{kA0, Offset(6)}}, *new_group));

  Result<Polled> polled = Polled(Nothing{});
  for (int i = 0; i < 100 && polled; ++i) polled = first.consumer->poll(kShort);
  ASSERT_FALSE(polled);
  EXPECT_EQ(polled.error().what_to_do, ErrorClass::kFenced) << polled.error().message;
}

TEST(Group, RewindByAssignIsExactEveryTime) {
  const Rig rig(2, 1);
  Member member(rig, "1");
  constexpr int kRecords = 5'000;
  commit_records(*member.producer, kA0, 0, kRecords);
  (void)wait_assigned(*member.consumer);
  int start = 0;
  for (int round = 0; round < 30; ++round) {
    const std::vector<TopicPartitionOffset> from = {{kA0, Offset(start)}, {kB0, Offset(0)}};
    good(member.consumer->assign(from));
    const int length = 1 + round * 7;
    for (int i = start; i < start + length; ++i) ASSERT_EQ(next_record(*member.consumer).offset, Offset(i)) << round;
    if (round % 3 == 0) start += length / 2;  // sometimes forward, mostly back to where this round began
    if (round % 7 == 0) start = 0;
  }
}

// librdkafka to 2.8 ends the process when a partition is assigned again while it is still being stopped.
TEST(Group, AssignmentsInQuickSuccessionAreSurvived) {
  const Rig rig(2, 1);
  Member member(rig, "1");
  commit_records(*member.producer, kA0, 0, 500);
  (void)wait_assigned(*member.consumer);
  for (int i = 0; i < 300; ++i) {
    const std::vector<TopicPartitionOffset> from = {{kA0, Offset(i)}, {kB0, Offset(0)}};
    good(member.consumer->assign(std::span(from).first(static_cast<std::size_t>(i % 3))));
  }
  const TopicPartitionOffset last{kA0, Offset(123)};
  good(member.consumer->assign(std::span(&last, 1)));
  EXPECT_EQ(next_record(*member.consumer).offset, Offset(123));
}

TEST(Group, TheEndOfTheInputsIsReportedAndComesAgainWhenItMoved) {
  const Rig rig(2, 1);
  Member member(rig, "1");
  commit_records(*member.producer, kA0, 0, 2);
  (void)wait_assigned(*member.consumer);
  const TopicPartitionOffset start{kA0, Offset(0)};
  good(member.consumer->assign(std::span(&start, 1)));
  const auto wait_for_end = [&](Offset end) {
    for (int i = 0; i < 100; ++i) {
      const auto polled = good(member.consumer->poll(kShort));
      const auto* reached = std::get_if<EndOfLog>(&polled);
      if (reached != nullptr && reached->offset >= end) return reached->offset;
    }
    return kNoOffset;
  };
  EXPECT_EQ(wait_for_end(Offset(3)), Offset(3));
  good(member.producer->begin());
  produce(*member.producer, kA0, 2, 1);
  good(member.producer->abort(kLong));
  EXPECT_EQ(wait_for_end(Offset(5)), Offset(5));  // no record, but the end moved
}

TEST(Group, ACloseIsBoundedAndTheMemberComesBackWithItsPartitions) {
  const Rig rig(2, 2);
  const auto cluster = rig.cluster("1");
  for (int i = 0; i < 3; ++i) {
    const auto consumer = good(cluster->consumer(kA));
    EXPECT_EQ(wait_assigned(*consumer).partitions.size(), 2U);
    consumer->close(Milliseconds(2'000));
  }
}

}  // namespace
}  // namespace reseq::kafka
