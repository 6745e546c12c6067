// What a gate does in a batch: effects are a function of rows and turn, and something leaves once.
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <utility>

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
  // `at`: of its requests.
  void commit(const engine::Batch& batch, std::span<const std::string> payloads, Offset at = Offset(0)) {
    for (const RowChange& change : batch.changes())
      if (change.row != nullptr) documents.insert_or_assign(std::string(change.id), *change.row);
    Arena arena;
    std::vector<KeyedChange> rows;
    for (const Hold& hold : batch.holds()) {
      codec::InputRecord record;
      record.offset = at;
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

std::vector<std::string> keys_of(const engine::Batch& batch) {
  std::vector<std::string> keys;
  for (const LetThrough& held : batch.let_through()) keys.emplace_back(held.key);
  return keys;
}

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
    views.commit(driver.batch(), payloads, Offset(position));
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
  const std::vector<driver::GateTurn> turns = {{200, UnixMs(5000), 1000}};
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
  const std::vector<driver::GateTurn> turns = {{200, UnixMs(5000), 1000}};
  driver::BatchDriver first(views, views.partition, context);
  engine::BytesLeft left{500};
  first.close({.turns = turns, .left = &left});
  const AgendaDone done = first.agenda_done().front();
  const std::vector<driver::GateTurn> again = {{done.kind, done.until, done.rows}};
  driver::BatchDriver replay(views, views.partition, context);
  replay.close({.turns = again});
  EXPECT_EQ(keys_of(first.batch()), keys_of(replay.batch()));
}

// Each of its kinds takes what the committed state has, and does not look whether the other had it.
class TwoKinds final : public LatestGate {
 public:
  TwoKinds() : LatestGate(1000) {}
  static constexpr std::array<engine::AgendaKind, 2> kTwo = {{{200, "window", {}}, {201, "by hand", {}}}};
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
  const std::vector<driver::GateTurn> turns = {{200, UnixMs(5000), 1000}, {201, UnixMs(5000), 1000}};
  driver::BatchDriver driver(views, views.partition, context);
  driver.close({.turns = turns});
  EXPECT_EQ(driver.batch().emissions().size(), 1U);
}

// Holds by reference, and lets through in the order of the ids.
class ByReference final : public LatestGate {
 public:
  ByReference() : LatestGate(1000) {}
  [[nodiscard]] std::optional<Hold> holds(const engine::Leaving& leaving, Arena& arena) const override {
    auto hold = LatestGate::holds(leaving, arena);
    hold->reference = true;
    return hold;
  }
};

// Of some, by their places, it is said that they have not been read or are gone.
class Said final : public engine::References {
 public:
  explicit Said(std::map<std::int64_t, Found> otherwise) : otherwise_(std::move(otherwise)) {}
  [[nodiscard]] Found find(const codec::HeldRow& held) override {
    const auto other = otherwise_.find(held.offset.value());
    return other == otherwise_.end() ? Found::kRead : other->second;
  }

 private:
  std::map<std::int64_t, Found> otherwise_;
};

class GateOfReferences : public GateInABatch {
 protected:
  GateOfReferences() {
    context.gate = &gate;
    for (const char* id : {"document-a", "document-b", "document-c"}) requested(id);  // at 1, 2, 3
    context.now = UnixMs(5000);
  }
  void turn(std::map<std::int64_t, engine::References::Found> otherwise) {
    Said said(std::move(otherwise));
    driver.emplace(views, views.partition, context);
    driver->close({.turns = turns, .references = &said});
  }
  std::vector<std::string> let_through() {
    std::vector<std::string> ids;
    for (const LetThrough& held : driver->batch().let_through()) ids.emplace_back(held.id);
    return ids;
  }
  using Found = engine::References::Found;
  using Ids = std::vector<std::string>;
  const ByReference gate;
  const std::vector<driver::GateTurn> turns = {{200, UnixMs(5000), 1000}};
  std::optional<driver::BatchDriver> driver;
};

TEST_F(GateOfReferences, LetsNothingPassOneThatHasNotBeenRead) {
  turn({{2, Found::kUnread}});
  EXPECT_EQ(let_through(), Ids{"document-a"});
  EXPECT_EQ(driver->lacking(), std::vector<std::uint8_t>{200});
  EXPECT_EQ(driver->agenda_done().front().rows, 1U) << "the meta row says more than was done";
  turn({});
  EXPECT_EQ(let_through(), (Ids{"document-a", "document-b", "document-c"}));
  EXPECT_TRUE(driver->lacking().empty());
}

TEST_F(GateOfReferences, DoesNothingWhileTheFirstHasNotBeenRead) {
  turn({{1, Found::kUnread}});
  EXPECT_TRUE(let_through().empty());
  EXPECT_TRUE(driver->agenda_done().empty());
  EXPECT_TRUE(driver->batch().changes().empty());
  EXPECT_EQ(driver->lacking(), std::vector<std::uint8_t>{200});
}

// It had no room anyway: to read it now would be too early.
TEST_F(GateOfReferences, LacksNoRecordThatItHasNoRoomFor) {
  Said said({{2, Found::kUnread}});
  driver.emplace(views, views.partition, context);
  const std::vector<driver::GateTurn> one = {{200, UnixMs(5000), 1}};
  driver->close({.turns = one, .references = &said});
  EXPECT_EQ(let_through(), Ids{"document-a"});
  EXPECT_TRUE(driver->lacking().empty());
}

TEST_F(GateOfReferences, MakesADeadLetterOfOneThatIsGone) {
  turn({{2, Found::kGone}});
  EXPECT_EQ(let_through(), (Ids{"document-a", "document-b", "document-c"}));
  EXPECT_EQ(driver->batch().let_through()[1].gone, Offset(2));
  const auto emissions = driver->batch().emissions();
  ASSERT_EQ(emissions.size(), 3U);
  const auto* letter = std::get_if<DeadLetter>(&emissions[1].what);
  ASSERT_NE(letter, nullptr);
  EXPECT_EQ(letter->reason, Reason::kBodyGone);
  ASSERT_NE(letter->given_up, nullptr);
  EXPECT_GT(letter->given_up->gone, 0U);
  const auto changes = driver->batch().changes();
  const auto of_b =
      std::find_if(changes.begin(), changes.end(), [](const RowChange& change) { return change.id == "document-b"; });
  ASSERT_NE(of_b, changes.end());
  EXPECT_TRUE(of_b->row->completed()) << "somebody waits for a result that nobody works for";
  ASSERT_EQ(driver->batch().events().size(), 1U);
  EXPECT_EQ(driver->batch().events().front().decision.outcome, Outcome::kDeadLettered);
}

// Nobody waits for it, so nobody misses it.
TEST_F(GateOfReferences, SaysNothingOfOneThatIsGoneWhenNobodyWaitsForIt) {
  {
    driver::BatchDriver before(views, views.partition, context);
    Unregister all;
    all.id = "document-b";
    all.sequence = Sequence::of_number(1);
    all.everything = true;
    ASSERT_EQ(before.decide(all, Offset(1), true), engine::Taken::kDecided);
    before.close();
    views.commit(before.batch(), {});
  }
  turn({{2, Found::kGone}});
  for (const Emission& emission : driver->batch().emissions())
    EXPECT_TRUE(std::holds_alternative<Forward>(emission.what)) << "a dead letter of what nobody waits for";
}

}  // namespace
}  // namespace reseq::runtime
