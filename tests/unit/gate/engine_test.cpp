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

class Views final : public engine::StateView {
 public:
  [[nodiscard]] engine::Lookup find(DocumentId id) const override {
    engine::Lookup found;
    if (const auto place = documents.find(id); place != documents.end()) found.row = place->second;
    return found;
  }
  [[nodiscard]] std::optional<std::string_view> row(std::string_view key) const override { return others.row(key); }
  void scan(std::string_view prefix, std::string_view cursor, std::size_t rows_max,
            const engine::RowVisit& visit) const override {
    others.scan(prefix, cursor, rows_max, visit);
  }
  void index(std::uint8_t index, std::string_view from, std::size_t entries_max,
             const engine::IndexVisit& visit) const override {
    others.index(index, from, entries_max, visit);
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
  gate::KeyedRows others;
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

// The same rows, what the meta row says of the agenda: the same effects.
class SmallFirst final : public engine::Gate {
 public:
  static constexpr std::array<engine::AgendaKind, 1> kKinds = {{{1, "leave", {}}}};
  [[nodiscard]] std::uint64_t capability() const override { return 1; }
  [[nodiscard]] std::span<const engine::AgendaKind> agenda() const override { return kKinds; }
  [[nodiscard]] std::optional<UnixMs> next(std::uint8_t, const engine::StateView&) const override { return UnixMs(); }
  [[nodiscard]] std::optional<Hold> holds(const engine::Leaving& leaving, Arena& arena) const override {
    return kLatest.holds(leaving, arena);
  }
  void take(engine::Turn& turn, engine::GateBatch& batch) const override {
    std::vector<std::string> keys;
    batch.view().index(1, {}, SIZE_MAX, [&](std::string_view, std::string_view key) {
      keys.emplace_back(key);
      return true;
    });
    for (const std::string& key : keys) {
      const auto decoded = codec::decode_held(key, *batch.rows().find(key));
      const auto& held = std::get<codec::HeldRow>(decoded);
      if (!turn.take(held.record_bytes)) continue;  // perhaps a smaller one
      const gate::Note note = gate::decode_note(held.note);
      (void)batch.let_through(key, note.id, note.forward);
    }
  }
};

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

class TwoKinds final : public engine::Gate {
 public:
  static constexpr std::array<engine::AgendaKind, 2> kKinds = {{{1, "window", {}}, {2, "by hand", {}}}};
  [[nodiscard]] std::uint64_t capability() const override { return 1; }
  [[nodiscard]] std::span<const engine::AgendaKind> agenda() const override { return kKinds; }
  [[nodiscard]] std::optional<UnixMs> next(std::uint8_t, const engine::StateView&) const override { return UnixMs(); }
  [[nodiscard]] std::optional<Hold> holds(const engine::Leaving& leaving, Arena& arena) const override {
    return kLatest.holds(leaving, arena);
  }
  void take(engine::Turn& turn, engine::GateBatch& batch) const override {
    std::vector<std::string> keys;
    batch.view().index(1, {}, SIZE_MAX, [&](std::string_view, std::string_view key) {
      keys.emplace_back(key);
      return true;
    });
    for (const std::string& key : keys) {
      const auto decoded = codec::decode_held(key, *batch.view().row(key));
      const auto& held = std::get<codec::HeldRow>(decoded);
      if (!turn.take(held.record_bytes)) return;
      const gate::Note note = gate::decode_note(held.note);
      (void)batch.let_through(key, note.id, note.forward);
    }
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
