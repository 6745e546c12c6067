#include "runtime/application/wiring.h"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/runtime/simulated_application.h"

namespace reseq::runtime {
namespace {

// Two requests that were read, with a header of their producer each.
class WiringTest : public SimulatedApplication {
 protected:
  WiringTest() {
    const codec::DecodeContext reading = decoding(application, setting_, arena_, hash_, false);
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

  const codec::KeyedHash hash_{HashKey{}};
  Arena arena_;
  TargetTable table_ = extended(application, TargetTable()).value();
  PartitionSetting setting_ = partition_setting(application, table_);
  std::vector<codec::InputRecord> records_{2};
  std::vector<kafka::Record> sources_{2};
  std::vector<kafka::Record*> pointers_{sources_.data(), sources_.data() + 1};
};

TEST_F(WiringTest, WishesAreReadWithAJournalAndKnowTheHash) {
  EXPECT_FALSE(decoding(application, setting_, arena_, hash_, false).journal);
  config::Settings settings = application.settings;
  settings.dispatch_mode = "journal";
  Application with(settings);
  with.partitions = application.partitions;
  const codec::DecodeContext reading = decoding(with, setting_, arena_, hash_, false);
  EXPECT_TRUE(reading.journal);
  EXPECT_EQ(reading.hash, &hash_);
  EXPECT_EQ(decoding(with, table_, false, arena_).hash, nullptr);
}

TEST_F(WiringTest, TheRulesOfTheDispatchAreThoseOfTheSettings) {
  EXPECT_FALSE(setting_.context.dispatch.journal);
  application.settings.dispatch_mode = "journal";
  application.settings.dispatch_in_flight_max = 2;
  application.settings.dispatch_default_priority = 255;
  application.settings.dispatch_idle_from_priority = 256;
  application.settings.dispatch_process_at_max_ms = 5;
  application.settings.dispatch_consolidate_ms = 6;
  application.settings.dispatch_one_at_a_time = false;
  application.settings.dispatch_lease_ms = 7;
  application.settings.dispatch_timeouts_max = 8;
  application.settings.dispatch_attempts = "last";
  application.settings.held_bytes_max = 9;
  const engine::DispatchRules rules = partition_setting(application, table_).context.dispatch;
  EXPECT_TRUE(rules.journal);
  EXPECT_EQ(rules.in_flight_max, 2U);
  EXPECT_EQ(rules.default_priority, 255);
  EXPECT_EQ(rules.idle_from_priority, 256U);
  EXPECT_EQ(rules.process_at_max, Milliseconds(5));
  EXPECT_EQ(rules.consolidate, Milliseconds(6));
  EXPECT_FALSE(rules.consolidate_measured);
  EXPECT_FALSE(rules.one_at_a_time);
  EXPECT_EQ(rules.lease, Milliseconds(7));
  EXPECT_EQ(rules.timeouts_max, 8U);
  EXPECT_TRUE(rules.last_attempt_only);
  EXPECT_EQ(rules.held_bytes_max, 9U);
  application.settings.dispatch_consolidate_ms = config::kWord;
  const engine::DispatchRules measured = partition_setting(application, table_).context.dispatch;
  EXPECT_TRUE(measured.consolidate_measured);
  EXPECT_EQ(measured.consolidate, Milliseconds(0));
}

TEST_F(WiringTest, WhoChangesTheDispatchHasAnotherHashOfTheConfiguration) {
  const auto hash_with = [this](auto change) {
    config::Settings settings = application.settings;
    change(settings);
    return config_hash(Application(settings));
  };
  const std::uint64_t usual = config_hash(application);
  std::set<std::uint64_t> hashes = {usual};
  const std::vector<std::function<void(config::Settings&)>> changes = {
      [](auto& s) { s.dispatch_mode = "journal"; },
      [](auto& s) { s.dispatch_attempts = "last"; },
      [](auto& s) { s.dispatch_in_flight_max = 7; },
      [](auto& s) { s.dispatch_default_priority = 7; },
      [](auto& s) { s.dispatch_idle_from_priority = 7; },
      [](auto& s) { s.dispatch_process_at_max_ms = 7; },
      [](auto& s) { s.dispatch_consolidate_ms = 7; },
      [](auto& s) { s.dispatch_one_at_a_time = false; },
      [](auto& s) { s.dispatch_lease_ms = 7; },
      [](auto& s) { s.dispatch_timeouts_max = 7; },
      [](auto& s) { s.held_bytes_max = 7; },
  };
  for (const auto& change : changes) hashes.insert(hash_with(change));
  EXPECT_EQ(hashes.size(), changes.size() + 1);
}

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
