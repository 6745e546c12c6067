#include "changelog/inventory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "changelog/batch_rows.h"
#include "tests/support/changelog_rows.h"
#include "written_log.h"

namespace reseq::changelog {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class InventoryTest : public testing::Test {
 protected:
  InventoryTest() {
    Identity identity;
    identity.application_id = "shop";
    identity.partitions = 4;
    hash_ = std::make_unique<codec::KeyedHash>(identity.hash_key);
    log_.write(0, identity_row(identity, arena_));
    log_.write(1, targets_row(TargetTable({"search", "catalogue"}), arena_));
    meta_.lineage = {{1, Offset(0)}};
    log_.write(2, meta_row(meta_, arena_));
    log_.end = Offset(100);
  }

  // A document that waits for these targets; none = it is gone.
  void write(std::int64_t offset, const std::string& id, std::optional<TargetSet> pending) {
    Row row;
    if (pending) {
      Group group;
      group.requested = true;
      group.pending = *pending;
      group.served = TargetSet(3).without(*pending);
      row.groups.push_back(group);
    }
    const RowChange change{id, pending ? &row : nullptr};
    std::vector<store::Change> rows;
    test::append_rows(std::span(&change, 1), *hash_, arena_, rows);
    log_.write(offset, rows.front());
  }

  Result<Inventory> inventory_with(std::vector<std::string> configured) {
    return take_inventory(
        log_, {.where = kWhere, .configured_targets = std::move(configured), .stall_limit = Milliseconds(50)});
  }

  Arena arena_;
  std::unique_ptr<codec::KeyedHash> hash_;
  Meta meta_;
  WrittenLog log_;
};

TEST_F(InventoryTest, KnowsIdentityTargetsAndTheNewestMetaRow) {
  meta_.now = UnixMs(7);
  log_.write(8, meta_row(meta_, arena_));
  const auto found = inventory_with({"search", "catalogue"});
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found.value().identity->application_id, "shop");
  EXPECT_EQ(found.value().meta->now, UnixMs(7));
  EXPECT_EQ(found.value().records, 4U);
  EXPECT_EQ(found.value().end, Offset(100));
}

TEST_F(InventoryTest, CountsDocumentsThatWaitForATargetThatIsNotConfigured) {
  write(3, "both", TargetSet(3));
  write(4, "search only", TargetSet(1));
  write(5, "done meanwhile", TargetSet(2));
  write(6, "done meanwhile", TargetSet(0));
  write(7, "gone meanwhile", TargetSet(2));
  write(8, "gone meanwhile", std::nullopt);
  EXPECT_THAT(inventory_with({"search"}).value().waiting, ElementsAre(Pair("catalogue", 1U)));
  log_.said_end = false;
  EXPECT_THAT(inventory_with({"search", "catalogue"}).value().waiting, IsEmpty());
}

TEST_F(InventoryTest, CountsDocumentsThatStandBeforeTheRowOfTheirTarget) {
  write(3, "book", TargetSet(4));
  log_.write(4, targets_row(TargetTable({"search", "catalogue", "feed"}), arena_));
  EXPECT_THAT(inventory_with({"search", "catalogue"}).value().waiting, ElementsAre(Pair("feed", 1U)));
  log_.said_end = false;
  EXPECT_THAT(inventory_with({"search", "catalogue", "feed"}).value().waiting, IsEmpty());
}

TEST_F(InventoryTest, OfAnEmptyChangelogKnowsNothing) {
  log_.entries.clear();
  log_.end = Offset(0);
  const auto found = inventory_with({"search"});
  ASSERT_TRUE(found.ok());
  EXPECT_FALSE(found.value().identity);
  EXPECT_FALSE(found.value().meta);
}

TEST_F(InventoryTest, GivesUpWhenATransactionStaysOpen) {
  log_.said_end = true;  // never says that it reached the high watermark
  const auto found = inventory_with({"search"});
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().what_to_do, ErrorClass::kTimeout);
  EXPECT_THAT(found.error().message, HasSubstr("behind offset 3 of 100"));
}

TEST_F(InventoryTest, NamesTheRecordThatCannotBeRead) {
  log_.entries.push_back({9, log_.entries[2].key, "rubbish"});
  const auto found = inventory_with({"search"});
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().message, HasSubstr("record at offset 9 cannot be read"));
}

// A restore refuses it, so nobody may be told that this log can be read.
TEST_F(InventoryTest, RefusesTheEndOfADocumentWhoseKeyIsNone) {
  log_.entries.push_back({9, "D", std::nullopt});
  log_.entries.back().key = std::string("D\0\0id", 5);
  const auto found = inventory_with({"search"});
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().what_to_do, ErrorClass::kInvalid);
  EXPECT_THAT(found.error().message, HasSubstr("record at offset 9 has a key of a type"));
}

}  // namespace
}  // namespace reseq::changelog
