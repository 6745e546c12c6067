// One batch through the engine.
#include "tests/property/deciding.h"

#include <algorithm>
#include <type_traits>

#include "driver/batch_driver.h"

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
  bool operator()(const Generated& a, const Generated& b) const { return a.record == b.record; }
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
  driver.close({.overdue = overdue});
  const engine::Batch& batch = driver.batch();
  decided.decisions.assign(batch.decisions().begin(), batch.decisions().end());
  decided.emissions.assign(batch.emissions().begin(), batch.emissions().end());
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
  if (a.changes != b.changes) return "the rows";
  if (a.state != b.state) return "the partition state";
  return {};
}

}  // namespace reseq::property
