// Rows and timers: the state kept for a document says exactly what its history says, and keeps the invariants of
// model/row.h.
#include <algorithm>
#include <utility>

#include "tests/property/oracle.h"

namespace reseq::property {
namespace {

// Empty if the row keeps the invariants of model/row.h.
std::string broken_invariant(const Row& row) {
  TargetSet seen;
  TargetSet served;
  const Order* newer = nullptr;
  for (const Group& group : row.groups) {
    if (newer && !(group.order < *newer)) return "orders of groups do not fall";
    newer = &group.order;
    if (group.known().empty()) return "an empty group";
    const bool disjoint = (group.pending & group.served).empty() && (group.pending & group.removed).empty() &&
                          (group.served & group.removed).empty();
    if (!disjoint) return "a target twice in one group";
    if (!((group.pending | group.removed) & seen).empty()) return "a target pending or removed behind its newest order";
    if (!(group.served & served).empty()) return "a target with two last releases";
    seen |= group.known();
    served |= group.served;
  }
  TargetSet waiting;
  for (const Since& since : row.since) {
    if (since.targets.empty()) return "an empty entry in the since list";
    if (!(since.targets & waiting).empty()) return "a target twice in the since list";
    waiting |= since.targets;
  }
  if (!row.pending().covers(waiting)) return "a target in the since list that does not wait";
  return {};
}

const Group* newest_group(const Row& row, TargetNumber t) {
  for (const Group& group : row.groups)
    if (group.known().contains(t)) return &group;
  return nullptr;
}

Standing standing_in(const Group& group, TargetNumber t) {
  if (group.pending.contains(t)) return Standing::kPending;
  return group.served.contains(t) ? Standing::kServed : Standing::kRemoved;
}

std::string target_differs(const Row& row, const Past& past, TargetNumber t, const engine::Context& context) {
  const Group* group = newest_group(row, t);
  if ((group != nullptr) != past.newest(t).has_value()) return "a target known to one of row and history";
  if (!group) return {};
  if (group->order != *past.newest(t)) return "the newest order of a target";
  if (standing_in(*group, t) != past.standing(t)) return "pending, served or removed";
  const auto last =
      std::find_if(row.groups.begin(), row.groups.end(), [&](const Group& each) { return each.served.contains(t); });
  if ((last != row.groups.end()) != past.last_release(t).has_value()) return "whether a target had a release";
  if (last != row.groups.end() && last->order != *past.last_release(t)) return "the last release of a target";
  const Deletion* deletion = row.deletion_of(t);
  if ((deletion != nullptr) != past.deleted_at(t).has_value()) return "whether the last release was a delete";
  if (deletion != nullptr && deletion->at != *past.deleted_at(t)) return "when a target was deleted";
  if (context.starvation_after == Milliseconds(0) || past.standing(t) != Standing::kPending) return {};
  const auto since =
      std::find_if(row.since.begin(), row.since.end(), [&](const Since& each) { return each.targets.contains(t); });
  if (since == row.since.end() || since->first_registered != past.waits_since(t)) return "since when a target waits";
  return {};
}

// Of a live row: one time-out behind the moment since when a target of it waits and got nothing.
// Of a watermark: one retention behind its last change.
UnixMs deadline_of(const Past& past, const engine::Context& context) {
  if (!past.live()) return UnixMs(past.last_change().value() + context.watermark_retention.value());
  if (context.registration_timeout == Milliseconds(0)) return UnixMs();
  return UnixMs(past.gets_nothing_since().value() + context.registration_timeout.value());
}

// Empty if the row says what the history says.
std::string differs(const Row& row, const Past& past, const engine::Context& context) {
  for (std::size_t i = 0; i < kTargets; ++i) {
    const std::string what = target_differs(row, past, TargetNumber(static_cast<std::uint8_t>(i)), context);
    if (!what.empty()) return what;
  }
  if (row.barrier != past.barrier()) return "the barrier";
  const Version last = past.releases().empty() ? Version(0) : past.releases().back().version;
  if (row.last_version != last) return "the version of the last release";
  for (const Group& group : row.groups)
    if (!past.holds(group.order)) return "a group that nothing is at";
  if (row.deadline != deadline_of(past, context)) return "the deadline";
  const auto asked = past.newest_asked();
  if (row.requested.has_value() != asked.has_value()) return "whether a request was seen";
  if (asked && (row.requested->order != asked->order || row.requested->hash != asked->hash))
    return "the newest requested order";
  if (asked && row.requested->content != past.content_asked(asked->order)) return "what the newest request asks for";
  return {};
}

}  // namespace

void Oracle::judge_rows(const Rows& rows) {
  for (std::size_t document = 0; document < kDocuments; ++document) {
    const Past& past = pasts_[document];
    const std::optional<Row>& row = rows[document];
    const std::string id(kIds[document]);
    require(row.has_value() == past.exists(), id + ": a row without a history, or a history without a row");
    if (!row || !past.exists()) continue;
    if (const std::string what = broken_invariant(*row); !what.empty()) require(false, id + ": " + what);
    if (judged_ != Judged::kAll) continue;
    const std::string what = differs(*row, past, model_.context);
    require(what.empty(), id + ": row and history differ in " + what);
    require(row->overdue == reported_overdue_[document], id + ": overdue from the report until a target got something");
  }
}

bool Oracle::waits_too_long(const Past& past) const {
  if (model_.context.registration_timeout == Milliseconds(0) || !past.live()) return false;
  return batch_->now.value() - past.gets_nothing_since().value() >= kTimeoutMs;
}

TargetSet Oracle::targets_that_wait_too_long(const Past& past) const {
  return those(past.with(Standing::kPending),
               [&](TargetNumber t) { return batch_->now.value() - past.gets_nothing_since(t).value() >= kTimeoutMs; });
}

// Who got something, or waits for nothing any more.
void Oracle::forget_overdue() {
  for (std::size_t document = 0; document < kDocuments; ++document) {
    const Past& past = pasts_[document];
    if (std::exchange(judged_changes_[document], past.changes()) == past.changes()) continue;
    if (!waits_too_long(past)) reported_overdue_[document] = false;
  }
}

// A live document is reported overdue once for each time that a target of it waits and gets nothing for the time-out,
// however often it is requested meanwhile.
void Oracle::judge_timers(const BatchRecord& batch) {
  forget_overdue();
  std::size_t reported = 0;
  for (const std::size_t document : batch.timers) {
    const bool due = waits_too_long(pasts_[document]) && !reported_overdue_[document];
    const auto report = std::find_if(batch.overdue.begin(), batch.overdue.end(),
                                     [&](const auto& one) { return one.first == document; });
    const bool said = report != batch.overdue.end();
    require(due == said, std::string(kIds[document]) + ": overdue exactly when the time-out of a live row has passed");
    if (said) {
      reported_overdue_[document] = true;
      require(
          report->second == targets_that_wait_too_long(pasts_[document]),
          std::string(kIds[document]) + ": overdue of the targets that got nothing for the time-out, and of no others");
    }
    if (said) ++reported;
  }
  require(reported == batch.overdue.size(), "an overdue event without a timer");
  if (hits_) hits_->overdue += reported;
}

}  // namespace reseq::property
