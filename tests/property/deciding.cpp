// One batch through the engine.
#include "tests/property/deciding.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/arena.h"
#include "codec/held_rows.h"
#include "engine/gate.h"
#include "tests/property/model.h"

namespace reseq::property {
namespace {

class RowsView final : public engine::StateView {
 public:
  explicit RowsView(const Rows& rows) : rows_(rows) {}

  [[nodiscard]] engine::Lookup find(DocumentId id) const override {
    const std::size_t document = document_of(id);
    if (document == kCollider) return {std::nullopt, true};
    return {rows_[document], false};
  }
  [[nodiscard]] std::optional<std::string_view> row(std::string_view key) const override {
    return rows_.others.row(key);
  }
  void scan(std::string_view prefix, std::string_view cursor, std::size_t rows_max,
            const engine::RowVisit& visit) const override {
    rows_.others.scan(prefix, cursor, rows_max, visit);
  }
  void index(std::uint8_t index, std::string_view from, std::size_t entries_max,
             const engine::IndexVisit& visit) const override {
    rows_.others.index(index, from, entries_max, visit);
  }

 private:
  const Rows& rows_;
};

struct SameEmission {
  bool operator()(const Forward& a, const Forward& b) const {
    return a.order == b.order && a.op == b.op && a.targets == b.targets;
  }
  bool operator()(const Release& a, const Release& b) const {
    return a.target == b.target && a.order == b.order && a.op == b.op && a.version == b.version;
  }
  bool operator()(const DeadLetter& a, const DeadLetter& b) const {
    return a.reason == b.reason && a.expected == b.expected;
  }
  bool operator()(const Redirect& a, const Redirect& b) const { return a.reason == b.reason; }
  template <typename A, typename B>
  bool operator()(const A&, const B&) const {
    return false;
  }
};

bool same_emission(const Emission& a, const Emission& b) {
  return a.input == b.input && a.partition == b.partition && std::visit(SameEmission{}, a.what, b.what);
}

bool same_event(const Event& a, const Event& b) {
  return a.input == b.input && a.kind == b.kind && a.id == b.id && a.decision == b.decision && a.order == b.order &&
         a.expected == b.expected && a.target == b.target && a.version == b.version;
}

// Another version for every release, each time it is asked.
void differ(Decided& decided) {
  static std::uint64_t times = 0;
  ++times;
  for (Emission& emission : decided.emissions)
    if (auto* release = std::get_if<Release>(&emission.what))
      release->version = Version(release->version.value() + times);
}

std::string told(const Emission& emission, const GeneratedRecord& record) {
  std::string text = "to " + std::to_string(static_cast<int>(record.to)) + "[" +
                     std::to_string(emission.partition.value_or(Partition(-1)).value()) + "]";
  for (const Header& header : record.headers)
    text += " " + std::string(header.name) + "=" + std::string(header.value.value_or("null"));
  return text;
}

// The record that a request came with: the engine sees nothing of it, so it is made up.
codec::InputRecord record_of(const Input& input, std::string& payload) {
  payload.assign(static_cast<std::size_t>(input.position.value() * 997 % 9'001), 'x');
  codec::InputRecord record;
  record.offset = input.position;
  record.key = id_of(input.command);
  record.payload = payload;
  return record;
}

// What was referred to was read again, or is gone.
class ReadAgain final : public engine::References {
 public:
  explicit ReadAgain(bool takes_gone_for_read) : takes_gone_for_read_(takes_gone_for_read) {}
  [[nodiscard]] Found find(const codec::HeldRow& held) override {
    return is_gone(held.offset) && !takes_gone_for_read_ ? Found::kGone : Found::kRead;
  }

 private:
  bool takes_gone_for_read_;
};

// What is held, and what the gate changed, as rows.
void add_others(const engine::Batch& batch, const Plan& plan, Decided& decided) {
  Arena arena;
  std::vector<KeyedChange> rows;
  std::string payload;
  for (const Hold& hold : batch.holds()) {
    decided.held.push_back(hold.input);
    codec::append_held(hold, record_of(*plan.inputs[hold.input.value()].input, payload), codec::KeyedHash(HashKey()),
                       arena, rows);
  }
  rows.insert(rows.end(), batch.row_changes().begin(), batch.row_changes().end());
  for (const KeyedChange& row : rows)
    decided.others.push_back({std::string(row.key), row.value ? std::optional(std::string(*row.value)) : std::nullopt});
  for (const reseq::LetThrough& held : batch.let_through()) decided.let_through.emplace_back(held.key);
  for (const Emission& emission : batch.emissions()) {
    if (const auto* generated = std::get_if<Generated>(&emission.what)) {
      decided.generated.push_back(told(emission, *generated->record));
      continue;
    }
    decided.emissions.push_back(emission);
    auto* letter = std::get_if<DeadLetter>(&decided.emissions.back().what);
    const GivenUp* given_up = letter != nullptr ? std::exchange(letter->given_up, nullptr) : nullptr;
    if (given_up != nullptr) decided.bytes_gone[emission.input.value()] = given_up->gone;
  }
}

}  // namespace

Decided decide(const Plan& plan, const Rows& rows, const PartitionState& state, const engine::Context& context,
               const WrongEngine& wrong) {
  const RowsView view(rows);
  driver::BatchDriver driver(view, state, context);
  Decided decided;
  for (const PlannedInput& next : plan.inputs) {
    const bool requests_read = next.requests_read || wrong.never_asks_for_requests;
    decided.last = driver.decide(next.input->command, next.input->position, requests_read);
    if (decided.last != engine::Taken::kDecided) break;
    ++decided.taken;
  }
  std::vector<std::string> overdue;
  if (decided.last == engine::Taken::kDecided)
    for (const std::size_t document : plan.timers) overdue.emplace_back(kIds[document]);
  std::vector<driver::GateTurn> turns;
  if (decided.last == engine::Taken::kDecided) turns.assign(plan.turns.begin(), plan.turns.end());
  for (driver::GateTurn& turn : turns) {
    turn.until = UnixMs(turn.until.value() + wrong.turns_early.value());
    if (wrong.ignores_rows) turn.rows_max = UINT32_MAX;
  }
  engine::BytesLeft left{wrong.ignores_bytes ? UINT64_MAX : plan.bytes_max};
  ReadAgain references(wrong.sends_what_is_gone);
  driver.close({.overdue = overdue, .turns = turns, .expired = {}, .left = &left, .references = &references});
  const engine::Batch& batch = driver.batch();
  decided.decisions.assign(batch.decisions().begin(), batch.decisions().end());
  add_others(batch, plan, decided);
  decided.agenda = driver.agenda_done();
  decided.events.assign(batch.events().begin(), batch.events().end());
  for (Event& event : decided.events)
    if (!event.id.empty()) event.id = kIds[document_of(event.id)];
  for (const RowChange& change : batch.changes())
    decided.changes.push_back(
        {document_of(change.id), change.row != nullptr ? std::optional(*change.row) : std::nullopt});
  decided.state = batch.state();
  if (wrong.differs_each_time) differ(decided);
  return decided;
}

std::string difference(const Decided& a, const Decided& b) {
  if (a.taken != b.taken) return "the number of inputs decided";
  if (a.decisions != b.decisions) return "the decisions";
  if (!std::equal(a.emissions.begin(), a.emissions.end(), b.emissions.begin(), b.emissions.end(), same_emission))
    return "the records produced";
  if (!std::equal(a.events.begin(), a.events.end(), b.events.begin(), b.events.end(), same_event)) return "the events";
  if (a.changes != b.changes || a.others != b.others) return "the rows";
  if (a.let_through != b.let_through || a.agenda != b.agenda) return "what the gate let through";
  if (a.generated != b.generated) return "the records made by the gate";
  if (a.state != b.state) return "the partition state";
  return {};
}

}  // namespace reseq::property
