#include "runtime/application/wiring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tests/unit/runtime/simulated_application.h"

namespace reseq::runtime {
namespace {

// Two requests that were read, with a header of their producer each.
class WiringTest : public SimulatedApplication {
 protected:
  WiringTest() {
    const codec::DecodeContext reading = decoding(application, setting_, arena_);
    for (std::size_t i = 0; i < 2; ++i) {
      sources_[i].headers = {{"reseq-seq", "7"}, {"trace", "abc"}};
      records_[i].key = i == 0 ? "a" : "b";
      records_[i].payload = "text";
      records_[i].headers = {sources_[i].headers.data(), sources_[i].headers.size()};
      (void)codec::decode(records_[i], reading);
    }
  }

  static Emission forward(std::uint32_t input) {
    const Order order{Epoch(0), Sequence::of_number(7), Revision(0)};
    return {InputIndex(input), Forward{order, Op::kUpsert, TargetSet::of(TargetNumber(0))}};
  }
  std::vector<Outgoing> outgoing_of(const std::vector<Emission>& emissions) {
    std::vector<Outgoing> out;
    append_outgoing(application, setting_, table_, emissions, {records_, pointers_}, arena_, out);
    return out;
  }

  Arena arena_;
  TargetTable table_ = extended(application, TargetTable()).value();
  PartitionSetting setting_ = partition_setting(application, table_);
  std::vector<codec::InputRecord> records_{2};
  std::vector<kafka::Record> sources_{2};
  std::vector<kafka::Record*> pointers_{sources_.data(), sources_.data() + 1};
};

TEST_F(WiringTest, HeadersOfAnInputGoOverToTheOnlyRecordThatHasThem) {
  const auto out = outgoing_of({forward(0), forward(1)});
  ASSERT_EQ(out.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(out[i].headers_from, pointers_[i]);
    EXPECT_TRUE(out[i].headers.empty());
    EXPECT_EQ(out[i].partition, std::nullopt);
  }
}

TEST_F(WiringTest, EveryRecordOfAnInputHasItsHeaders) {
  const GeneratedRecord between{Role::kControl, "k", "p", {}};
  const auto out = outgoing_of({forward(0), forward(0), {kNoInput, Generated{&between}}, forward(0), forward(1)});
  ASSERT_EQ(out.size(), 5U);
  for (const std::size_t copy : {0U, 1U}) {
    EXPECT_EQ(out[copy].headers_from, nullptr);
    ASSERT_EQ(out[copy].headers.size(), 2U);
    EXPECT_EQ(out[copy].headers[1].name, "trace");
  }
  EXPECT_EQ(out[3].headers_from, pointers_[0]);
  EXPECT_EQ(out[4].headers_from, pointers_[1]);
}

// By their names: the worker and the judge share what is tested here, so neither would notice a wrong one.
TEST_F(WiringTest, EveryKindOfRecordGoesToItsTopic) {
  const Order order{Epoch(0), Sequence::of_number(7), Revision(0)};
  const auto topic_of = [&](const Emission& emission) {
    return application.topics.name(outgoing_of({emission}).front().topic);
  };
  EXPECT_EQ(topic_of(forward(0)), "app.work");
  EXPECT_EQ(topic_of({InputIndex(0), Release{TargetNumber(0), order, Op::kUpsert, Version(1)}}), "app.output.search");
  EXPECT_EQ(topic_of({InputIndex(0), DeadLetter{Reason::kStale, std::nullopt}}), "app.dead-letter");
  Event event;
  event.input = InputIndex(0);
  EXPECT_EQ(application.topics.name(outgoing(application, table_, event, records_.data(), arena_).topic), "app.events");
}

TEST_F(WiringTest, WhatWasGeneratedGoesWhereItSays) {
  const std::vector<Header> headers = {{"reseq-control", "share"}, {"reseq-control", std::nullopt}};
  const GeneratedRecord generated{Role::kControl, "key", std::nullopt, headers};
  const auto out = outgoing_of({{kNoInput, Generated{&generated}, Partition(3)}});
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].topic, application.topics.of(Role::kControl));
  EXPECT_EQ(out[0].partition, Partition(3));
  EXPECT_EQ(out[0].record.key, "key");
  EXPECT_EQ(out[0].record.payload, std::nullopt);
  EXPECT_EQ(out[0].headers_from, nullptr);
  ASSERT_EQ(out[0].headers.size(), 2U);
  EXPECT_EQ(out[0].headers[1].value, std::nullopt);
}

}  // namespace
}  // namespace reseq::runtime
