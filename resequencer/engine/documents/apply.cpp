#include "engine/documents/apply.h"

#include <algorithm>

namespace reseq::engine {
namespace {

// A target is in at most two groups: its newest, and the one of its last release.
constexpr std::size_t kMaxGroups = 2 * kMaxTargets;

UnixMs after(UnixMs now, Milliseconds duration) {
  return duration == Milliseconds{} ? UnixMs{} : UnixMs(now.value() + duration.value());
}

// The group of that order, made if it is missing.
Group& group_at(Row& row, const Order& order) {
  auto place = row.groups.begin();
  for (; place != row.groups.end(); ++place) {
    const std::strong_ordering than = place->order <=> order;
    if (than == 0) return *place;
    if (than < 0) break;
  }
  const Group group{order, false, {}, {}, {}};
  if (place != row.groups.end()) return *row.groups.insert(place, group);
  row.groups.push_back(group);
  return row.groups.back();
}

[[gnu::noinline]] void erase_empty_groups(Row& row) {
  const auto kept =
      std::remove_if(row.groups.begin(), row.groups.end(), [](const Group& g) { return g.known().empty(); });
  row.groups.erase(kept, row.groups.end());
}

// Here and below always_inline: it has two callers, of which every decision takes one.
[[gnu::always_inline]] inline void drop_empty_groups(Row& row) {
  while (!row.groups.empty() && row.groups.back().known().empty()) row.groups.pop_back();  // the oldest, as a rule
  for (const Group& group : row.groups)
    if (group.known().empty()) return erase_empty_groups(row);
}

// What a target still had to get, or no longer gets, at older orders is void. Its last release stays known.
void leave_older(Row& row, const Order& order, TargetSet targets) {
  for (Group& group : row.groups) {
    if (group.order >= order) continue;
    group.pending = group.pending.without(targets);
    group.removed = group.removed.without(targets);
  }
}

void forget_meanwhile(Row& row, TargetSet targets) {
  if (row.meanwhile.empty()) return;
  for (Meanwhile& one : row.meanwhile) one.targets = one.targets.without(targets);
  row.meanwhile.erase_if([](const Meanwhile& one) { return one.targets.empty(); });
}

void forget_overtaken(Row& row, TargetSet targets) {
  if (row.overtaken.empty()) return;
  for (Overtaken& one : row.overtaken) one.targets = one.targets.without(targets);
  row.overtaken.erase_if([](const Overtaken& one) { return one.targets.empty(); });
}

void note_overtaken(Row& row, const Order& began, TargetSet targets, UnixMs first_registered) {
  for (Overtaken& one : row.overtaken) {
    if (one.began != began || one.first_registered != first_registered) continue;
    one.targets |= targets;
    return;
  }
  row.overtaken.push_back({targets, began, first_registered});
}

// Targets that wait for an older order will wait for this one. An order of another epoch, or the same one again with a
// new revision, begins the wait anew: nothing from before it is wanted any more.
void overtake(Row& row, const Order& order, TargetSet targets) {
  for (const Since& since : row.since) {
    const TargetSet waiting = since.targets & targets;
    if (waiting.empty()) continue;
    for (const Group& group : row.groups) {
      const TargetSet here = group.pending & waiting;
      if (here.empty()) continue;
      const bool anew = order.epoch != group.order.epoch || order.sequence == group.order.sequence;
      TargetSet noted;
      if (!anew)
        for (const Overtaken& one : row.overtaken)
          if (one.first_registered == since.first_registered) noted |= one.targets & here;
      forget_overtaken(row, here.without(noted));
      if (!anew && noted != here) note_overtaken(row, group.order, here.without(noted), since.first_registered);
    }
  }
}

void stop_waiting(Row& row, TargetSet targets) {
  forget_meanwhile(row, targets);
  forget_overtaken(row, targets);
  for (Since& since : row.since) since.targets = since.targets.without(targets);
  const auto kept =
      std::remove_if(row.since.begin(), row.since.end(), [](const Since& s) { return s.targets.empty(); });
  row.since.erase(kept, row.since.end());
}

void start_waiting(Row& row, TargetSet targets, UnixMs now) {
  Since* same_time = nullptr;
  for (Since& since : row.since) {
    targets = targets.without(since.targets);
    if (since.first_registered == now) same_time = &since;
  }
  if (targets.empty()) return;
  if (same_time != nullptr)
    same_time->targets |= targets;
  else
    row.since.push_back({targets, now});
}

void go_on_waiting(Row& row, TargetSet target, UnixMs now) {
  forget_meanwhile(row, target);
  for (const Since& since : row.since)
    if (!(since.targets & target).empty() && since.first_registered >= now) return;
  for (Meanwhile& one : row.meanwhile) {
    if (one.released != now) continue;
    one.targets |= target;
    return;
  }
  row.meanwhile.push_back({target, now});
}

void move_to(Row& row, const Order& order, TargetSet targets, const Context& context) {
  if (context.starvation_after == Milliseconds())
    forget_overtaken(row, targets);
  else if (!row.since.empty())
    overtake(row, order, targets);
  leave_older(row, order, targets);
  Group& group = group_at(row, order);
  group.pending |= targets;
  group.removed = group.removed.without(targets);  // released by hand after all
  start_waiting(row, targets, context.now);
}

// The same as it stands there: its last release counts as one of this order.
[[gnu::noinline]] void keep_served(Row& row, const Order& order, TargetSet targets) {
  for (Deletion& one : row.deletions)
    if (targets.contains(one.target) && row.still_holds(one)) one.order = order;
  for (Group& group : row.groups) group.served = group.served.without(targets);
  group_at(row, order).served |= targets;
}

void remove_at(Row& row, const Order& order, TargetSet targets) {
  leave_older(row, order, targets);
  Group& group = group_at(row, order);
  group.pending = group.pending.without(targets);
  group.removed |= targets;
  stop_waiting(row, targets);
}

// An operator gives targets up where they wait.
void expire(Row& row, TargetSet targets) {
  for (Group& group : row.groups) {
    group.removed |= group.pending & targets;
    group.pending = group.pending.without(targets);
  }
  stop_waiting(row, targets);
}

// Of a monotonic release t stays pending at its newer order, and goes on waiting for it.
[[gnu::always_inline]] inline void serve_at(Row& row, const RowEdit& edit, TargetNumber t, UnixMs now) {
  const TargetSet target = TargetSet::of(t);
  const Order& order = edit.order;
  for (Group& group : row.groups) group.served = group.served.without(target);
  Group& group = group_at(row, order);
  if (group.pending.contains(t))
    stop_waiting(row, target);
  else
    go_on_waiting(row, target, now);
  group.pending = group.pending.without(target);
  group.served |= target;
  row.last_version = edit.version;
  // Beside that of t all that an older version has overtaken: it would stay for as long as the row does.
  row.deletions.erase_if([&](const Deletion& one) { return one.target == t || !row.still_holds(one); });
  if (edit.deletes) row.deletions.push_back({t, order, now});
}

// Of two requests of one order that ask for different things, for different targets, nobody knows what it asked for.
[[gnu::noinline]] Digest content_known(const Row& row, const Order& order, const Digest& content) {
  const bool again = row.requested && row.requested->order == order;
  return again && row.requested->content != content ? Digest() : content;
}

[[gnu::always_inline]] inline void note_newest(Row& row, const Order& order, const Accepted& request) {
  if (row.requested && order < row.requested->order) return;
  const Digest content = request.content != nullptr ? content_known(row, order, *request.content) : Digest();
  row.requested = Requested{order, request.position, request.hash, request.forwarded, content};
}

// Of the deletes for all that stop requests alone the highest is enough, and none below the barrier of the row: a
// document that is deleted again and again must not grow.
void drop_lower_barriers(Row& row) {
  std::optional<Order> highest = row.barrier;
  for (const JournalEntry& entry : row.journal)
    if (entry.for_all && entry.state != EntryState::kProcessing && (!highest || *highest < entry.order))
      highest = entry.order;
  row.journal.erase_if([&](const JournalEntry& entry) {
    const bool stops_requests_alone = entry.state == EntryState::kGone && entry.for_all && entry.targets.empty();
    return stops_requests_alone && (entry.order < *highest || (row.barrier && entry.order <= *row.barrier));
  });
}

// What is gone is known for the targets that have nothing newer; and that its request came, while its order is.
void leave_gone(Row& row, JournalEntry& gone) {
  for (const Group& group : row.groups)
    if (group.order > gone.order) gone.targets = gone.targets.without(group.known());
  if (!gone.targets.empty() || gone.for_all) return;
  for (Group& group : row.groups)
    if (group.order == gone.order) group.requested = true;
}

// What is not tried again, and was not given up, has ended in another way.
[[gnu::noinline]] void forget_failures(Row& row) {
  for (Failure& one : row.failures) one.targets = row.holding(one);
  row.failures.erase_if([](const Failure& one) { return one.targets.empty(); });
}

// Until something newer comes.
[[gnu::noinline]] bool still_failed(Row& row) {
  forget_failures(row);
  return !row.failed().empty();
}

// Targets of what was dispatched are wanted, or have ended.
[[gnu::noinline]] void end_what_nobody_waits_for(Row& row) {
  for (JournalEntry& entry : row.journal) {
    if (entry.state == EntryState::kGone) leave_gone(row, entry);
    if (entry.attempt == 0 || entry.state == EntryState::kGone) continue;
    entry.targets = row.wanted(entry);
  }
  row.journal.erase_if([](const JournalEntry& entry) {
    return entry.targets.empty() && (entry.state != EntryState::kGone || !entry.for_all);
  });
  drop_lower_barriers(row);
  if (!row.failures.empty()) forget_failures(row);
}

[[gnu::always_inline]] inline void set_deadline(Row& row, bool completed, const Context& context) {
  if (completed) {
    const bool waits = !row.journal.empty() && row.waits();
    const bool failed = !row.failures.empty() && still_failed(row);
    const bool in_lane = !row.lanes.empty() && row.in_lane();
    row.deadline = waits || failed || in_lane ? UnixMs() : after(context.now, context.watermark_retention);
    row.overdue = false;
    return;
  }
  row.deadline = after(row.without_release_since().value_or(context.now), context.registration_timeout);
  if (row.overdue) row.overdue = row.deadline != UnixMs{} && row.deadline <= context.now;
}

[[gnu::always_inline]] inline void settle_all(Row& row, const Context& context) {
  if (!row.journal.empty()) end_what_nobody_waits_for(row);
  const bool completed = row.completed();
  if (completed && !context.guards.served_bits_in_watermarks)
    for (Group& group : row.groups) group.served = TargetSet();
  drop_empty_groups(row);
  set_deadline(row, completed, context);
  check_invariants(row);
}

// What the output has now is neither the last release nor its delete.
void note_marked(Row& row, const RowEdit& edit) {
  row.last_version = edit.version;
  row.deletions.erase_if([&](const Deletion& one) { return edit.removed.contains(one.target); });
}

}  // namespace

void apply(const RowEdit& edit, const Context& context, std::optional<Row>& row) {
  if (!row) row.emplace();
  if (edit.raises_barrier && context.guards.barrier) row->barrier = edit.order;
  if (!edit.moved.empty())
    edit.unchanged ? keep_served(*row, edit.order, edit.moved) : move_to(*row, edit.order, edit.moved, context);
  if (edit.requested) {
    group_at(*row, edit.order).requested = true;
    note_newest(*row, edit.order, *edit.requested);
  }
  if (!edit.removed.empty()) {
    if (!edit.fails && !row->failures.empty()) forget_failures_of(*row, edit.removed);
    edit.by_hand ? expire(*row, edit.removed) : remove_at(*row, edit.order, edit.removed);
    if (edit.version != Version()) note_marked(*row, edit);
  }
  if (edit.served) serve_at(*row, edit, *edit.served, context.now);
  settle_all(*row, context);
}

void note_requested(Row& row, const Order& order, const Accepted& request) {
  note_newest(row, order, request);
}

void forget_failures_of(Row& row, TargetSet targets) {
  for (Failure& one : row.failures) one.targets = one.targets.without(targets);
  row.failures.erase_if([](const Failure& one) { return one.targets.empty(); });
}

void forget_failures_at(Row& row, const Order& order, TargetSet targets) {
  for (Failure& one : row.failures)
    if (one.order == order) one.targets = one.targets.without(targets);
  row.failures.erase_if([](const Failure& one) { return one.targets.empty(); });
}

void settle(Row& row, const Context& context) {
  settle_all(row, context);
}

void check_invariants(const Row& row) {
  RESEQ_ASSERT(row.groups.size() <= kMaxGroups, "more groups than targets can be in");
  TargetSet newer;
  TargetSet served;
  const Order* previous = nullptr;
  for (const Group& group : row.groups) {
    RESEQ_ASSERT(previous == nullptr || group.order < *previous, "groups out of order");
    RESEQ_ASSERT(!group.known().empty(), "a group without a target");
    RESEQ_ASSERT((group.pending & (group.served | group.removed)).empty() && (group.served & group.removed).empty(),
                 "a target in two states at one order");
    RESEQ_ASSERT(((group.pending | group.removed) & newer).empty(), "a target left behind at an older order");
    RESEQ_ASSERT((group.served & served).empty(), "two last releases of one target");
    RESEQ_ASSERT(group.pending.empty() || !row.barrier || group.order >= *row.barrier, "pending below the barrier");
    newer |= group.known();
    served |= group.served;
    previous = &group.order;
  }
  TargetSet waiting;
  for (const Since& since : row.since) {
    RESEQ_ASSERT(!since.targets.empty() && (since.targets & waiting).empty(), "a target waits twice");
    waiting |= since.targets;
  }
}

}  // namespace reseq::engine
