#include "admin/document_json.h"

#include <gtest/gtest.h>

namespace reseq::admin {
namespace {

JournalEntry entry_at(EntryState state, std::uint64_t sequence) {
  JournalEntry entry;
  entry.order.sequence = Sequence::of_number(sequence);
  entry.state = state;
  entry.targets = TargetSet(2);
  entry.number = 1;
  entry.urgency = {7, UnixMs(1'709'164'800'000), UnixMs(1'709'164'800'001), UnixMs(), UnixMs()};
  return entry;
}

Json json_of(const Row& row) {
  const TargetTable targets({"search", "catalogue"});
  return document_json("doc-1", row, {}, {&targets, SequenceKind::kU64});
}

TEST(DocumentJson, OfARowWithoutAJournalSaysNothingOfOne) {
  const Json document = json_of(Row());
  EXPECT_FALSE(document.contains("journal"));
  EXPECT_EQ(document["state"], "completed");
}

TEST(DocumentJson, SaysWhichOrdersWaitAndWhichAreUnderWay) {
  Row row;
  row.journal.push_back(entry_at(EntryState::kWaiting, 18));
  JournalEntry under_way = entry_at(EntryState::kProcessing, 17);
  under_way.attempt = 2;
  under_way.urgency.expires_at = UnixMs(1'709'164'800'003);
  under_way.lease_until = UnixMs(1'709'164'800'002);
  row.journal.push_back(under_way);
  row.journal.push_back(entry_at(EntryState::kGone, 16));
  const Json document = json_of(row);
  EXPECT_EQ(document["state"], "live");
  const Json expected = Json::parse(R"([
    {"state": "waiting", "order": {"epoch": 0, "seq": "18", "revision": "0"}, "targets": ["catalogue"], "priority": 7,
     "process_at": "2024-02-29T00:00:00.001Z"},
    {"state": "processing", "order": {"epoch": 0, "seq": "17", "revision": "0"}, "targets": ["catalogue"],
     "priority": 7, "process_at": "2024-02-29T00:00:00.001Z", "expires_at": "2024-02-29T00:00:00.003Z", "attempt": 2,
     "lease_until": "2024-02-29T00:00:00.002Z"}])");
  EXPECT_EQ(document["journal"], expected);
}

TEST(DocumentJson, SaysWhatKeepsAnOrderAndWhetherItIsStuck) {
  Row row;
  JournalEntry waits = entry_at(EntryState::kWaiting, 18);
  waits.timeouts = 1;
  waits.losses = 2;
  row.journal.push_back(waits);
  row.journal.push_back(entry_at(EntryState::kGone, 16));
  row.journal.push_back(entry_at(EntryState::kProcessing, 17));
  const TargetTable targets({"search", "catalogue"});
  const std::vector<PlaceInQueue> places = {{"room", false, UnixMs(0)}, {}, {"", true, UnixMs(0)}};
  const Json document = document_json("doc-1", row, {}, {&targets, SequenceKind::kU64}, places);
  ASSERT_EQ(document["journal"].size(), 2U);
  EXPECT_EQ(document["journal"][0]["waits_for"], "room");
  EXPECT_EQ(document["journal"][0]["leases_lost"], 3);
  EXPECT_FALSE(document["journal"][0].contains("stuck"));
  EXPECT_EQ(document["journal"][1]["stuck"], true);
  EXPECT_FALSE(document["journal"][1].contains("waits_for"));
  EXPECT_FALSE(document["journal"][1].contains("leases_lost"));
}

TEST(DocumentJson, SaysWhenWhatFailedIsTriedAgain) {
  Row row;
  Group group;
  group.order = entry_at(EntryState::kWaiting, 17).order;
  group.requested = true;
  group.pending = TargetSet(7);
  row.groups.push_back(group);
  JournalEntry waits = entry_at(EntryState::kWaiting, 17);
  waits.attempt = 1;
  row.journal.push_back(waits);
  JournalEntry under_way = entry_at(EntryState::kProcessing, 17);
  under_way.targets = TargetSet(1);
  row.journal.push_back(under_way);
  for (const std::uint64_t target : {1U, 2U, 4U}) {
    Failure failure;
    failure.order = group.order;
    failure.targets = TargetSet(target);
    failure.at = UnixMs(1'709'164'800'000);
    failure.for_good = target == 4;
    row.failures.push_back(failure);
  }
  const TargetTable targets({"search", "catalogue", "lake"});
  const std::vector<PlaceInQueue> places = {{"date", false, UnixMs(1'709'164'805'000)}, {}};
  const Json document = document_json("doc-1", row, {}, {&targets, SequenceKind::kU64}, places);
  ASSERT_EQ(document["failures"].size(), 3U) << document;
  EXPECT_FALSE(document["failures"][0].contains("next_at")) << "it is tried now";
  EXPECT_EQ(document["failures"][1]["next_at"], "2024-02-29T00:00:05.000Z");
  EXPECT_FALSE(document["failures"][2].contains("next_at")) << "nobody tries it";
}

TEST(DocumentJson, OfWhatIsGoneAloneIsCompleted) {
  Row row;
  row.journal.push_back(entry_at(EntryState::kGone, 16));
  row.deadline = UnixMs(1'709'164'800'000);
  const Json document = json_of(row);
  EXPECT_FALSE(document.contains("journal"));
  EXPECT_EQ(document["state"], "completed");
  EXPECT_EQ(document["remembered_until"], "2024-02-29T00:00:00.000Z");
}

}  // namespace
}  // namespace reseq::admin
