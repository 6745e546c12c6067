// The ways in which an engine can be wrong.
#include "tests/property/wrong_engines.h"

#include <algorithm>
#include <utility>

#include "tests/property/model.h"
#include "tests/property/past.h"
#include "tests/property/wrong_gates.h"

namespace reseq::property {
namespace {

template <typename What>
What* produced(Decided& decided, std::size_t input) {
  for (Emission& emission : decided.emissions)
    if (emission.input.value() == input)
      if (auto* what = std::get_if<What>(&emission.what)) return what;
  return nullptr;
}

void forget_records(Decided& decided, std::size_t input) {
  std::erase_if(decided.emissions, [&](const Emission& each) { return each.input.value() == input; });
}

void produce(Decided& decided, std::size_t input, const decltype(Emission::what)& what) {
  forget_records(decided, input);
  decided.emissions.push_back({InputIndex(static_cast<std::uint32_t>(input)), what});
}

void drop(Decided& decided, std::size_t input, Reason reason, TableRow row) {
  forget_records(decided, input);
  decided.decisions[input] = {Outcome::kDropped, reason, row};
}

template <typename What>
const What* command_of(const Plan& plan, std::size_t input) {
  return std::get_if<What>(&plan.inputs[input].input->command);
}

// Releases a result that was stopped.
void release(Decided& decided, const Plan& plan, std::size_t input) {
  const auto* result = command_of<SequenceResult>(plan, input);
  if (!result) return;
  const Version version(decided.state.last.value() + 1);
  const Order order{result->epoch.value_or(Epoch(0)), result->sequence, result->revision};
  produce(decided, input, Release{result->target, order, result->op, version});
  decided.decisions[input] = {Outcome::kReleased, Reason::kNone, TableRow::kS1};
  decided.state.last = version;
}

// Calls change(decision, index) for every decision.
template <typename Change>
Corruption every_decision(Change change) {
  return [change](Decided& decided, const Plan& plan, const Rows&) {
    for (std::size_t i = 0; i < decided.decisions.size(); ++i) change(decided, plan, i);
  };
}

template <typename Change>
WrongEngine hidden_rows(Change change) {
  WrongEngine engine;
  engine.judged = Judged::kOutcomes;
  engine.corrupt = [change](Decided& decided, const Plan&, const Rows&) {
    for (ChangedRow& changed : decided.changes)
      if (changed.row) change(*changed.row);
  };
  return engine;
}

void dead_letter_everything(Decided& decided, const Plan&, std::size_t i) {
  if (decided.decisions[i].table_row == TableRow::kControl) return;
  produce(decided, i, DeadLetter{Reason::kUnregistered, std::nullopt});
  decided.decisions[i] = {Outcome::kDeadLettered, Reason::kUnregistered, decided.decisions[i].table_row};
  decided.changes.clear();
}

void drop_everything(Decided& decided, const Plan&, std::size_t i) {
  if (decided.decisions[i].table_row == TableRow::kControl) return;
  drop(decided, i, Reason::kSuperseded, decided.decisions[i].table_row);
  decided.changes.clear();
}

void release_superseded(Decided& decided, const Plan& plan, std::size_t i) {
  if (decided.decisions[i].reason == Reason::kSuperseded) release(decided, plan, i);
}

void release_stale(Decided& decided, const Plan& plan, std::size_t i) {
  if (decided.decisions[i].reason == Reason::kStale) release(decided, plan, i);
}

void release_twice(Decided& decided, const Plan& plan, std::size_t i) {
  if (decided.decisions[i].reason == Reason::kDuplicate) release(decided, plan, i);
}

void drop_due_result(Decided& decided, const Plan&, std::size_t i) {
  if (decided.decisions[i].table_row == TableRow::kS1 && decided.decisions[i].outcome == Outcome::kReleased)
    drop(decided, i, Reason::kSuperseded, TableRow::kS4);
}

void call_due_result_duplicate(Decided& decided, const Plan&, std::size_t i) {
  if (decided.decisions[i].outcome == Outcome::kReleased) drop(decided, i, Reason::kDuplicate, TableRow::kS2);
}

void drop_new_request(Decided& decided, const Plan& plan, std::size_t i) {
  if (command_of<Request>(plan, i) && decided.decisions[i].outcome == Outcome::kForwarded)
    drop(decided, i, Reason::kSuperseded, TableRow::kR4);
}

void call_reuse_duplicate(Decided& decided, const Plan&, std::size_t i) {
  if (decided.decisions[i].reason == Reason::kSequenceReused) drop(decided, i, Reason::kDuplicate, TableRow::kR3);
}

void swap_reasons(Decided& decided, const Plan& plan, std::size_t i) {
  if (!command_of<SequenceResult>(plan, i)) return;
  Reason& reason = decided.decisions[i].reason;
  if (reason == Reason::kSuperseded)
    reason = Reason::kStale;
  else if (reason == Reason::kStale)
    reason = Reason::kSuperseded;
}

void take_copied_list(Decided& decided, const Plan&, std::size_t i) {
  if (decided.decisions[i].reason != Reason::kAmbiguousTargets) return;
  forget_records(decided, i);
  decided.decisions[i] = {Outcome::kRemoved, Reason::kNone, TableRow::kU1};
}

void call_unregistered_stale(Decided& decided, const Plan& plan, std::size_t i) {
  if (!command_of<SequenceResult>(plan, i)) return;
  if (decided.decisions[i].reason == Reason::kUnregistered) drop(decided, i, Reason::kStale, TableRow::kS6);
}

void keep_to_itself(Decided& decided, const Plan&, std::size_t i) {
  if (decided.decisions[i].outcome != Outcome::kForwarded) return;
  forget_records(decided, i);
  decided.decisions[i].outcome = Outcome::kRegistered;
}

void confuse_unregistered(Decided& decided, const Plan& plan, std::size_t i) {
  if (!command_of<SequenceResult>(plan, i)) return;
  Reason& reason = decided.decisions[i].reason;
  if (reason == Reason::kUnregistered) reason = Reason::kUnregisteredTarget;
}

void misplace_last_version(Decided& decided, const Plan&, const Rows&) {
  for (ChangedRow& change : decided.changes)
    if (change.row) change.row->last_version = Version(1);
}

void narrow_forward(Decided& decided, const Plan&, std::size_t i) {
  auto* forward = produced<Forward>(decided, i);
  if (forward && forward->targets.size() > 1)
    forward->targets = forward->targets.without(TargetSet::of(forward->targets.first()));
}

void widen_forward(Decided& decided, const Plan&, std::size_t i) {
  if (auto* forward = produced<Forward>(decided, i)) forward->targets |= TargetSet::of(TargetNumber(0));
}

void keep_withdrawn(Decided& decided, const Plan& plan, std::size_t i) {
  const auto* request = command_of<Request>(plan, i);
  if (!request || decided.decisions[i].reason != Reason::kSuperseded) return;
  const Order order{request->what.epoch.value_or(Epoch(0)), request->what.sequence, Revision(0)};
  produce(decided, i, Forward{order, request->what.op, TargetSet::of(TargetNumber(0))});
  decided.decisions[i] = {Outcome::kForwarded, Reason::kNone, TableRow::kR2};
}

void repeat_versions(Decided& decided, const Plan&, const Rows&) {
  std::optional<Version> first;
  for (Emission& emission : decided.emissions)
    if (auto* released = std::get_if<Release>(&emission.what)) {
      if (!first) first = released->version;
      released->version = *first;
    }
}

void lower_versions(Decided& decided, const Plan&, const Rows&) {
  for (Emission& emission : decided.emissions)
    if (auto* released = std::get_if<Release>(&emission.what)) released->version = Version(1);
}

void produce_twice(Decided& decided, const Plan&, const Rows&) {
  if (!decided.emissions.empty()) decided.emissions.push_back(decided.emissions.front());
}

void lose_an_outcome(Decided& decided, const Plan&, const Rows&) {
  if (!decided.decisions.empty()) decided.decisions.pop_back();
}

void forget_epoch(Decided& decided, const Plan&, const Rows&) {
  decided.state.default_epoch = Epoch(0);
}

void drop_empty_groups(Row& row) {
  const auto empty = [](const Group& group) { return group.known().empty(); };
  row.groups.erase(std::remove_if(row.groups.begin(), row.groups.end(), empty), row.groups.end());
}

void forget_released(Row& row) {
  for (Group& group : row.groups) {
    group.pending |= group.served;
    group.served = TargetSet();
  }
  // A target waits at its newest order alone.
  TargetSet seen;
  for (Group& group : row.groups) {
    group.pending = group.pending.without(seen);
    seen |= group.known();
  }
  drop_empty_groups(row);
}

void forget_removed(Row& row) {
  for (Group& group : row.groups) {
    group.pending |= group.removed;
    group.removed = TargetSet();
  }
}

void forget_older_releases(Row& row) {
  TargetSet seen;
  for (Group& group : row.groups) {
    group.served = group.served.without(seen);
    seen |= group.known();
  }
  drop_empty_groups(row);
}

Order order_of(const Registration& what) {
  return {what.epoch.value_or(Epoch(0)), what.sequence, what.revision};
}

// Calls change(decided, index, its REGISTER, row after the batch) for every REGISTER that has one.
template <typename Change>
Corruption every_register(Change change) {
  return [change](Decided& decided, const Plan& plan, const Rows& rows) {
    for (std::size_t i = 0; i < decided.decisions.size(); ++i) {
      const auto* command = command_of<Register>(plan, i);
      if (!command || document_of(command->what.id) == kCollider) continue;
      const std::size_t document = document_of(command->what.id);
      const auto changed = std::find_if(decided.changes.begin(), decided.changes.end(),
                                        [&](const ChangedRow& each) { return each.document == document; });
      std::optional<Row> row = changed != decided.changes.end() ? changed->row : rows[document];
      if (!row || row->groups.empty() || !change(decided, i, command->what, *row)) continue;
      drop_empty_groups(*row);
      if (changed != decided.changes.end())
        changed->row = row;
      else
        decided.changes.push_back({document, row});
    }
  };
}

// The unit of order is the document and a target, not the document.
bool refuse_late_register(Decided& decided, std::size_t i, const Registration& what, Row& row) {
  const Order order = order_of(what);
  if (decided.decisions[i].outcome != Outcome::kRegistered || row.groups.front().order <= order) return false;
  drop(decided, i, Reason::kSuperseded, TableRow::kR0);
  for (Group& group : row.groups)
    if (group.order == order) group.pending = group.pending.without(what.targets.value_or(kEveryTarget));
  row.since.clear();
  return true;
}

bool register_below_newer(Decided& decided, std::size_t i, const Registration& what, Row& row) {
  if (decided.decisions[i].table_row != TableRow::kR4) return false;
  const Order order = order_of(what);
  TargetSet moved;
  for (Group& group : row.groups) {
    if (group.order <= order) continue;
    moved |= group.known() & what.targets.value_or(TargetSet());
    group.pending = group.pending.without(moved);
    group.served = group.served.without(moved);
    group.removed = group.removed.without(moved);
  }
  if (moved.empty()) return false;
  decided.decisions[i] = {Outcome::kRegistered, Reason::kNone, TableRow::kR2};
  const auto older = [&](const Group& group) { return group.order <= order; };
  auto at = std::find_if(row.groups.begin(), row.groups.end(), older);
  if (at == row.groups.end() || at->order != order) at = row.groups.insert(at, Group{order, false, {}, {}, {}});
  at->pending |= moved;
  for (auto behind = at; behind != row.groups.end(); ++behind) behind->served = behind->served.without(moved);
  return true;
}

void forget_deletes(Decided& decided, const Plan&, const Rows&) {
  for (ChangedRow& change : decided.changes)
    if (change.row) change.row->deletions.clear();
}

void starve_everything(Row& row) {
  for (Since& since : row.since) since.first_registered = UnixMs(1);
}

void forget_where_waits_began(Row& row) {
  for (Overtaken& one : row.overtaken) one.began = Order();
}

// As if the document had waited for nothing before.
void start_clock_anew(Decided& decided, const Plan&, const Rows& rows) {
  const auto now = static_cast<std::int64_t>(decided.state.clock.value() >> 16);
  for (ChangedRow& change : decided.changes) {
    const std::optional<Row>& before = rows[change.document];
    if (!change.row || !before || change.row->completed() || before->completed()) continue;
    const bool newer = change.row->groups.front().order > before->groups.front().order;
    if (newer && change.row->deadline != UnixMs()) change.row->deadline = UnixMs(now + kTimeoutMs);
  }
}

void forget_who_waits(Row& row) {
  for (Group& group : row.groups) group.pending = TargetSet();
  row.since.clear();
  drop_empty_groups(row);
}

// What is asked for is taken for what was released last, without looking at it.
void call_everything_unchanged(Decided& decided, const Plan& plan, const Rows& rows) {
  for (std::size_t i = 0; i < decided.decisions.size(); ++i) {
    const auto* request = command_of<Request>(plan, i);
    const auto* forward = produced<Forward>(decided, i);
    if (request == nullptr || request->wish == nullptr || forward == nullptr) continue;
    for (ChangedRow& change : decided.changes) {
      const std::optional<Row>& before = rows[change.document];
      if (kIds[change.document] != request->what.id || !change.row || !before || !before->completed()) continue;
      if (change.row->groups.front().order != forward->order) continue;
      for (Group& group : change.row->groups) group.served = group.served.without(forward->targets);
      Group& newest = change.row->groups.front();
      newest.served |= std::exchange(newest.pending, TargetSet());
      change.row->since.clear();
      drop_empty_groups(*change.row);
      forget_records(decided, i);
      decided.decisions[i] = {Outcome::kUnchanged, Reason::kNone, TableRow::kR7};
      break;
    }
  }
}

void overlook_headers(Row& row) {
  if (row.requested && row.requested->content.high > 2) row.requested->content.high -= 2;
}

void forget_payload(Row& row) {
  if (row.requested) row.requested->hash = PayloadHash(0);
}

void forget_payload_check(Row& row) {
  row.requested.reset();
}

std::vector<NamedWrongEngine> make_spoiling() {
  return {
      {"drops everything", {every_decision(drop_everything)}},
      {"releases a superseded result", {every_decision(release_superseded)}},
      {"releases a stale result", {every_decision(release_stale)}},
      {"releases twice", {every_decision(release_twice)}},
      {"drops a due result as superseded", {every_decision(drop_due_result)}},
      {"drops a due result as duplicate", {every_decision(call_due_result_duplicate)}},
      {"drops the newest request", {every_decision(drop_new_request)}},
      {"refuses a REGISTER behind the newest order of its document", {every_register(refuse_late_register)}},
      {"takes a REGISTER for targets that have something newer", {every_register(register_below_newer)}},
      {"registers a request without forwarding it", {every_decision(keep_to_itself)}},
      {"forwards without one of the targets", {every_decision(narrow_forward)}},
      {"calls everything unchanged", {call_everything_unchanged}},
      {"gives a version twice", {repeat_versions}},
      {"gives a version below the last", {lower_versions}},
      {"forgets the barrier", hidden_rows([](Row& row) { row.barrier.reset(); })},
      {"forgets who waits", hidden_rows(forget_who_waits)},
      {"forgets what was released", hidden_rows(forget_released)},
      {"forgets the last release behind a newer order", hidden_rows(forget_older_releases)},
  };
}

std::vector<NamedWrongEngine> make_untruthful() {
  WrongEngine impatient;
  impatient.never_asks_for_requests = true;
  WrongEngine moody;
  moody.differs_each_time = true;
  moody.judged = Judged::kEnd;
  return {
      {"dead-letters everything", {every_decision(dead_letter_everything)}},
      {"overlooks a reused sequence", {every_decision(call_reuse_duplicate)}},
      {"confuses superseded and stale", {every_decision(swap_reasons)}},
      {"confuses unregistered and unregistered_target", {every_decision(confuse_unregistered)}},
      {"takes a copied list as it says", {every_decision(take_copied_list)}},
      {"calls an unregistered result stale", {every_decision(call_unregistered_stale)}},
      {"forwards a target that does not wait", {every_decision(widen_forward)}},
      {"forwards what was withdrawn", {every_decision(keep_withdrawn)}},
      {"produces a record twice", {produce_twice}},
      {"loses an outcome", {lose_an_outcome}},
      {"forgets the default epoch", {forget_epoch}},
      {"decides differently each time", moody},
      {"never reads requests first", impatient},
      {"keeps another last version", {misplace_last_version}},
      {"forgets what was given up", hidden_rows(forget_removed)},
      {"forgets what was deleted", {forget_deletes}},
      {"takes every target for starving", hidden_rows(starve_everything)},
      {"forgets with which order a wait began", hidden_rows(forget_where_waits_began)},
      {"confuses payloads", hidden_rows(forget_payload)},
      {"overlooks headers that count", hidden_rows(overlook_headers)},
      {"forgets what was asked for", hidden_rows([](Row& row) {
         if (row.requested) row.requested->content = Digest();
       })},
      {"forgets the requested order", hidden_rows(forget_payload_check)},
      {"reports overdue at once", hidden_rows([](Row& row) { row.deadline = UnixMs(1); })},
      {"waits anew with each request", {start_clock_anew, false, false, Judged::kOutcomes}},
      {"overlooks what a target got while it waits", hidden_rows([](Row& row) { row.meanwhile.clear(); })},
      {"never reports overdue", hidden_rows([](Row& row) { row.deadline = UnixMs(0); })},
  };
}

std::vector<NamedWrongEngine> joined(std::vector<NamedWrongEngine> engines, const std::vector<NamedWrongEngine>& more) {
  engines.insert(engines.end(), more.begin(), more.end());
  return engines;
}

}  // namespace

const std::vector<NamedWrongEngine>& spoiling_engines() {
  static const std::vector<NamedWrongEngine> engines = joined(make_spoiling(), gates_that_spoil());
  return engines;
}

const std::vector<NamedWrongEngine>& untruthful_engines() {
  static const std::vector<NamedWrongEngine> engines = joined(make_untruthful(), untruthful_gates());
  return engines;
}

}  // namespace reseq::property
