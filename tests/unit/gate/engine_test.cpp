// What a gate does in a batch: effects are a function of rows and turn, and something leaves once.
#include <gtest/gtest.h>
#include <map>

#include "driver/batch_driver.h"
#include "latest_gate.h"
#include "tests/gate/keyed_rows.h"

namespace reseq::runtime {
namespace {

using gate::LatestGate;

const LatestGate kLatest(1000);

class Views final : public gate::WithOthers<> {
 public:
  [[nodiscard]] engine::Lookup find(DocumentId id) const override {
    engine::Lookup found;
    if (const auto place = documents.find(id); place != documents.end()) found.row = place->second;
    return found;
  }
  void commit(const engine::Batch& batch, std::span<const std::string> payloads) {
    for (const RowChange& change : batch.changes())
      if (change.row != nullptr) documents.insert_or_assign(std::string(change.id), *change.row);
    Arena arena;
    std::vector<KeyedChange> rows;
    for (const Hold& hold : batch.holds()) {
      codec::InputRecord record;
      record.payload = payloads[hold.input.value()];
      codec::append_held(hold, record, codec::KeyedHash(HashKey()), arena, rows);
    }
    others.apply(rows);
    others.apply(batch.row_changes());
    partition = batch.state();
  }
  std::map<std::string, Row, std::less<>> documents;
  PartitionState partition;
};

Request asked(DocumentId id, std::uint64_t number) {
  Request request;
  request.what.id = id;
  request.what.sequence = Sequence::of_number(number);
  return request;
}

class GateInABatch : public testing::Test {
 protected:
  GateInABatch() {
    context.now = UnixMs(1000);
    context.all_targets = TargetSet(1);
    context.default_targets = TargetSet(1);
    context.gate = &kLatest;
    context.registration_timeout = Milliseconds(100);
    context.policies.events = engine::EventPolicy::kDrops;
  }
  void requested(const std::string& id, const std::string& payload = "x") {
    driver::BatchDriver driver(views, views.partition, context);
    ASSERT_EQ(driver.decide(asked(id, 1), Offset(++position), true), engine::Taken::kDecided);
    driver.close();
    const std::string payloads[] = {payload};
    views.commit(driver.batch(), payloads);
  }
  engine::Context context;
  Views views;
  std::int64_t position = 0;
};

// "events(): in input order, those of timers last" (engine/batch.h)
TEST_F(GateInABatch, EventsOfTimersStandLastWhateverElseIsTold) {
  requested("document-a");
  requested("document-b");
  {  // nobody waits for a any more
    driver::BatchDriver driver(views, views.partition, context);
    Unregister all;
    all.id = "document-a";
    all.sequence = Sequence::of_number(1);
    all.everything = true;
    ASSERT_EQ(driver.decide(all, Offset(1), true), engine::Taken::kDecided);
    driver.close();
    views.commit(driver.batch(), {});
  }
  context.now = UnixMs(5000);
  driver::BatchDriver driver(views, views.partition, context);
  const std::vector<std::string> overdue = {"document-b"};
  const std::vector<driver::GateTurn> turns = {{1, UnixMs(5000), 1000}};
  driver.close({.overdue = overdue, .turns = turns});
  const auto events = driver.batch().events();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events.back().kind, EventKind::kOverdue) << "the timer is told of in front of what is let through";
  // and what it says of the one that nobody waits for
  const Event& dropped = events.front().kind == EventKind::kOverdue ? events.back() : events.front();
  EXPECT_EQ(dropped.decision.reason, Reason::kDuplicate) << name_of(dropped.decision.reason);
}

// Goes on with what is smaller when the turn has no room.
class SmallFirst final : public LatestGate {
 public:
  SmallFirst() : LatestGate(1000) {}
  void take(engine::Turn& turn, engine::GateBatch& batch) const override {
    for (const std::string& key : due(turn, batch)) (void)take_one(key, *batch.rows().find(key), turn, batch);
  }
};

// The same rows, what the meta row says of the agenda: the same effects.
TEST_F(GateInABatch, ATurnThatHadNoRoomOnceHasNoneForSmallerOnes) {
  const SmallFirst gate;
  context.gate = &gate;
  requested("document-a", "small");
  requested("document-b", std::string(900, 'l'));
  requested("document-c", "small");
  context.now = UnixMs(5000);
  const std::vector<driver::GateTurn> turns = {{1, UnixMs(5000), 1000}};
  driver::BatchDriver first(views, views.partition, context);
  engine::BytesLeft left{500};
  first.close({.turns = turns, .left = &left});
  const AgendaDone done = first.agenda_done().front();
  const std::vector<driver::GateTurn> again = {{done.kind, done.until, done.rows}};
  driver::BatchDriver replay(views, views.partition, context);
  replay.close({.turns = again});
  std::vector<std::string> a(first.batch().let_through().begin(), first.batch().let_through().end());
  std::vector<std::string> b(replay.batch().let_through().begin(), replay.batch().let_through().end());
  EXPECT_EQ(a, b);
}

// Each of its kinds takes what the committed state has, and does not look whether the other had it.
class TwoKinds final : public LatestGate {
 public:
  TwoKinds() : LatestGate(1000) {}
  static constexpr std::array<engine::AgendaKind, 2> kTwo = {{{1, "window", {}}, {2, "by hand", {}}}};
  [[nodiscard]] std::span<const engine::AgendaKind> agenda() const override { return kTwo; }
  void take(engine::Turn& turn, engine::GateBatch& batch) const override {
    for (const std::string& key : due(turn, batch))
      if (!take_one(key, *batch.view().row(key), turn, batch)) return;
  }
};

TEST_F(GateInABatch, WhatTwoKindsLetThroughInABatchLeavesOnce) {
  const TwoKinds gate;
  context.gate = &gate;
  requested("document-a");
  const std::vector<driver::GateTurn> turns = {{1, UnixMs(5000), 1000}, {2, UnixMs(5000), 1000}};
  driver::BatchDriver driver(views, views.partition, context);
  driver.close({.turns = turns});
  EXPECT_EQ(driver.batch().emissions().size(), 1U);
}

}  // namespace
}  // namespace reseq::runtime
