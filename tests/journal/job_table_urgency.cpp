// When a request wants to be dispatched, what becomes of that when several are one, and what goes with it when nobody
// wants it any more.
#include <algorithm>

#include "tests/journal/job_table.h"

namespace reseq::journal {

// Absent: default priority, at once, never expires.
Urgency JobTable::wish_of(const Input& input) const {
  Urgency wish;
  wish.inserted = std::min(input.timestamp, now_);
  wish.priority = input.priority.value_or(rules_.default_priority);
  wish.process_at = std::max(input.process_at.value_or(wish.inserted), wish.inserted);
  wish.expires_at = input.expires_at.value_or(UnixMs());
  wish.consolidate_until = consolidated(wish.inserted);
  return wish;
}

// Open: it is refused before any table, and counts from now.
bool JobTable::is_too_far(const Input& input) const {
  return input.process_at && input.process_at->value() > now_.value() + rules_.process_at_max_ms;
}

// J2, J5: insertion kept, expiration the largest (never is largest), priority the smallest, process date the largest.
// Open: of several insertions, or where the newer request has an earlier one, the earliest is kept. Who asked for no
// process date is to go at once, so it moves nothing: else a document that is written often would stay behind.
Urgency JobTable::merged(const Urgency& older, const Urgency& newer) const {
  const auto asked_for = [](const Urgency& one) { return one.process_at > one.inserted ? one.process_at : UnixMs(); };
  Urgency both;
  both.inserted = std::min(older.inserted, newer.inserted);
  both.priority = std::min(older.priority, newer.priority);
  const UnixMs latest(both.inserted.value() + rules_.process_at_max_ms);
  both.process_at = std::max(both.inserted, std::min(std::max(asked_for(older), asked_for(newer)), latest));
  const bool never = older.expires_at == UnixMs() || newer.expires_at == UnixMs();
  // Open: what an operator let go at once is not consolidated with what takes it over, either.
  both.consolidate_until = std::min(older.consolidate_until, newer.consolidate_until);
  both.expires_at = never ? UnixMs() : std::max(older.expires_at, newer.expires_at);
  return both;
}

// J4: what is pending at it, or at older orders that it took over.
TargetSet JobTable::goes_with(const DocumentJob& document, const Waiting& entry, TargetSet targets) const {
  TargetSet pending;
  for (const auto& [target, job] : document.targets)
    if (job.state == TargetState::kPending &&
        (job.newest == entry.order || (job.newest < entry.order && entry.took_over.contains(target))))
      pending |= TargetSet::of(target);
  return pending & targets;
}

}  // namespace reseq::journal
