// States that do not belong to the configuration, written byte by byte as another application would have written them.
#include "runtime/application/clock.h"
#include "tests/recovery/recovering.h"
#include "tests/recovery/stranger.h"

namespace reseq::test {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kHourMs = 3'600'000;

class RefusedTest : public Recovering {
 protected:
  void SetUp() override {
    init(2);
    identity_.application_id = shop.application_id();
    identity_.cluster_id = Stranger(shop).cluster_id();
    identity_.partitions = 2;
    identity_.hash_key.bytes.fill(7);
    targets_ = TargetTable(std::vector<std::string>{"search"});
    const UnixMs now = runtime::SystemClock().now();
    meta_.now = now;
    meta_.state.clock = Version(static_cast<std::uint64_t>(now.value()) << 16U);
    meta_.lineage = {{1, Offset(0)}};
    meta_.positions = {{Role::kRequests, Offset(0)}, {Role::kControl, Offset(0)}, {Role::kCommands, Offset(0)}};
  }

  // Points the configuration to a changelog of its own, with this state in both partitions.
  void write(const std::string& name, const Identity& identity, const TargetTable& targets, const Meta& meta,
             const Meta& meta_of_1) {
    shop.create_topic(name, 2, {{"cleanup.policy", "compact"}, {"delete.retention.ms", "604800000"}});
    write_log(shop.connection(), shop.topic(name), 0, born(identity, targets, meta));
    write_log(shop.connection(), shop.topic(name), 1, born(identity, targets, meta_of_1));
    shop.keys += "topic.changelog = \"" + shop.topic(name) + "\"\n";
    shop.state_dir = shop.path("state-" + name);
  }

  void expect_refused(const std::string& word, const std::string& fix) {
    const Ran ran = shop.run({"run"});
    EXPECT_EQ(ran.code, EX_CONFIG) << ran.text;
    EXPECT_THAT(ran.text, HasSubstr(" parked reason=" + word + " "));
    EXPECT_THAT(ran.last_line, HasSubstr(fix));
  }

  Identity identity_;
  TargetTable targets_;
  Meta meta_;
};

TEST_F(RefusedTest, IsAStateOfAnotherClusterApplicationOrNumberOfPartitions) {
  const std::string keys = shop.keys;
  Identity other = identity_;
  other.cluster_id = "another-cluster";
  write("of-another-cluster", other, targets_, meta_, meta_);
  expect_refused("identity", "the state belongs to Kafka cluster another-cluster");
  shop.keys = keys;
  other = identity_;
  other.application_id = "another-application";
  write("of-another-application", other, targets_, meta_, meta_);
  expect_refused("identity", "set application.id = \"another-application\"");
  shop.keys = keys;
  other = identity_;
  other.partitions = 3;
  write("of-three-partitions", other, targets_, meta_, meta_);
  expect_refused("identity", "born with 3 partitions, the inputs have 2 now");
}

TEST_F(RefusedTest, IsATargetForWhichNoNumberIsLeft) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kMaxTargets; ++i) names.push_back("target-" + std::to_string(i));
  write("full", identity_, TargetTable(names), meta_, meta_);
  expect_refused("too_many_targets", "partition ");
}

TEST_F(RefusedTest, IsAStateWithOtherInputsAndOneAheadOfTheClockWaits) {
  Meta other = meta_;
  other.positions.pop_back();
  Meta ahead = meta_;
  ahead.state.clock = Version(static_cast<std::uint64_t>(meta_.now.value() + kHourMs) << 16U);
  write("odd", identity_, targets_, other, ahead);
  start();
  expect_says(0, "parked reason=other_inputs");
  expect_says(1, "takeover=compare waiting=clock_behind");
  stop();
  shop.environment = {"LD_PRELOAD=" + program("libreseq_clock_shift.so"), "RESEQ_TEST_CLOCK_SHIFT_S=3600"};
  start();
  expect_says(1, "offsets of the group expired: resuming from the changelog");
  expect_says(1, "takeover=ready");
  stop();
}

}  // namespace
}  // namespace reseq::test
