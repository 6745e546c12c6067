#include "tests/chaos/run/final_acts.h"

#include <string>

namespace reseq::chaos {

namespace {

const std::vector<std::string> kGoesOn = {"takeover=ready", "takeover=born"};
const std::set<int> kVictim = {0};

std::set<int> others(const Aftermath& after) {
  std::set<int> all = after.partitions();
  for (const int victim : kVictim) all.erase(victim);
  return all;
}

// One partition stands still, untouched, and the others go on.
void expect_victim_parked(Aftermath& after, const std::vector<std::string>& words) {
  after.remember(kVictim);
  after.start();
  after.expect_each_says(kVictim, words);
  after.expect_each_says(others(after), kGoesOn);
  after.stop();
  after.expect_untouched();
}

void expect_all_go_on(Aftermath& after, const std::vector<std::string>& words = kGoesOn) {
  after.start();
  after.expect_each_says(after.partitions(), words);
  after.stop();
}

void begin_anew(Aftermath& after) {
  after.begin_anew();
  expect_all_go_on(after, {"takeover=born"});
}

void offsets_reset(Aftermath& after) {
  after.tools().reset_offsets(after.application(), after.topic("requests"), *kVictim.begin(), 0);
  expect_victim_parked(after, {"parked reason=offsets_moved"});
  after.command({"seek", "--partition", "0", "--requests", "standing"});
  expect_all_go_on(after);
}

void offsets_deleted(Aftermath& after) {
  after.tools().delete_group(after.application());
  expect_all_go_on(after, {"offsets of the group expired: resuming from the changelog"});
  expect_all_go_on(after);
}

void inputs_expired(Aftermath& after) {
  after.send("requests", *kVictim.begin(), 10);
  after.tools().delete_records({{after.topic("requests"), *kVictim.begin()}});
  expect_victim_parked(after, {"parked reason=input_unreadable"});
  after.command({"seek", "--partition", "0", "--requests", "begin"});
  expect_all_go_on(after);
}

// The changelog is the only truth: a copy that was away for longer than tombstones are kept is read anew.
void tombstone_horizon(Aftermath& after) {
  const std::string changelog = after.topic("changelog");
  for (const char* setting :
       {"min.compaction.lag.ms=0", "delete.retention.ms=1000", "segment.ms=1000", "min.cleanable.dirty.ratio=0.01"})
    after.tools().configure_topic(changelog, setting);
  after.start();
  after.expect_each_says(after.partitions(), {"recovery=rebuild reason=too_old", "recovery=rebuild reason=no_copy"});
  after.expect_each_says(after.partitions(), {"takeover=ready"});
  after.stop();
  after.tools().configure_topic(changelog, "delete.retention.ms=604800000");
  expect_all_go_on(after);
}

// Brokers protect compacted topics from this: whoever does it has to mean it.
void changelog_truncated(Aftermath& after) {
  const std::string changelog = after.topic("changelog");
  after.tools().configure_topic(changelog, "cleanup.policy=delete");
  after.tools().delete_records({{changelog, *kVictim.begin()}});
  after.tools().configure_topic(changelog, "cleanup.policy=compact");
  expect_victim_parked(after, {"parked reason=changelog_empty", "parked reason=no_meta_row"});
  begin_anew(after);
}

void changelog_deleted(Aftermath& after) {
  after.delete_changelog();
  after.remember(after.partitions());
  after.expect_refused("chaos.changelog");
  after.command({"init"});
  begin_anew(after);
}

// Somebody wanted to help.
void changelog_recreated(Aftermath& after) {
  after.delete_changelog();
  after.command({"init"});
  after.remember(after.partitions());
  after.start();
  after.expect_each_says(after.partitions(), {"parked reason=changelog_empty", "parked reason=no_meta_row"});
  after.stop();
  after.expect_untouched();
  begin_anew(after);
}

// The page knows no way back: keys have moved away from their rows.
void partitions_added(Aftermath& after) {
  after.tools().add_partitions(after.topic("requests"), static_cast<int>(after.partitions().size()) + 1);
  after.remember(after.partitions());
  after.expect_refused("chaos.requests");
  after.expect_untouched();
}

}  // namespace

const std::vector<FinalAct>& final_acts() {
  static const std::vector<FinalAct> kActs = {
      {"offsets_reset",
       "offsets of an input are set back by hand: parked; seek standing",
       offsets_reset,
       {"offsets_moved"}},
      {"offsets_deleted", "the group is deleted: everything resumes from the changelog", offsets_deleted},
      {"inputs_expired",
       "an input loses records that nobody has read: parked; seek begin",
       inputs_expired,
       {"input_unreadable"}},
      {"tombstone_horizon", "tombstones are kept for a second, and compacted: copies are rebuilt", tombstone_horizon},
      {"changelog_truncated",
       "all records of a partition of the changelog are deleted: parked; begin anew",
       changelog_truncated,
       {"changelog_empty", "no_meta_row"}},
      {"changelog_deleted", "the changelog is deleted: no process starts; begin anew", changelog_deleted},
      {"changelog_recreated",
       "the changelog is deleted and created again: all parked; begin anew",
       changelog_recreated,
       {"changelog_empty", "no_meta_row"}},
      {"partitions_added", "an input gets a partition more: no process starts", partitions_added},
  };
  return kActs;
}

}  // namespace reseq::chaos
