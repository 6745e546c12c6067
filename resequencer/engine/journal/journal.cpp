#include "engine/journal/journal.h"

#include <algorithm>
#include <array>
#include <variant>
#include <vector>

#include "codec/held_rows.h"
#include "engine/failures/breakers.h"
#include "engine/journal/entries.h"
#include "engine/journal/journal_batch.h"
#include "engine/journal/queue.h"

namespace reseq::engine {
namespace {

// A lease is lost when nothing that would renew or end it stands undecided; an order expires when nothing that wants it
// longer does. Retention does not wait for an operator.
constexpr std::array<AgendaKind, 4> kJournalKinds = {{
    {kLeaseTurn, "lease", {.control = true, .commands = true}},
    {kExpireTurn, "expire", {.requests = true, .control = true}},
    {kDispatchTurn, "dispatch", {}, true},
    {kAgeTurn, "age", {}, false, true},
}};

std::optional<UnixMs> first_date(const StateView& view, std::uint8_t index) {
  std::optional<UnixMs> first;
  view.index(index, {}, 1, [&](std::string_view entry, std::string_view) {
    first = decode_date(entry);
    return true;
  });
  return first;
}

// What waits under this rank, and may leave from `at` on.
struct Next {
  Rank rank;
  UnixMs at;
  bool stops = false;  // nothing behind it leaves from then on, nor does it: it has no room, or is idle and has to wait
};

// How the journal stands: what is under way.
struct NowUnderWay {
  bool full = false;  // as much as may be
  unsigned most_urgent = UINT16_MAX;
};

// When a breaker lets something go for one of these targets; none: not before something else happens.
std::optional<UnixMs> let_by_breakers(const Moment& moment, TargetSet targets, UnixMs from,
                                      const DispatchRules& rules) {
  const std::vector<Breaker>& breakers = moment.state.breakers;
  const bool down = has_breakers(rules) && !targets.empty() && open_targets(breakers).covers(targets);
  if (!down) return from;
  const auto probe = next_probe(breakers, targets, moment.now);
  return probe ? std::optional(std::max(*probe, from)) : std::nullopt;
}

// None: it may not leave before something else happens.
std::optional<Next> next_of(const Moment& moment, const Run& run, const Rank& rank, const NowUnderWay& under_way,
                            const DispatchRules& rules) {
  const std::string key = journal_key(rank.number);
  const auto value = moment.view.row(key);
  const auto decoded = value ? codec::decode_held(key, *value) : codec::Decoded<codec::HeldRow>();
  const auto* held = std::get_if<codec::HeldRow>(&decoded);
  if (!value || held == nullptr) return std::nullopt;
  Lookup document = moment.view.find(held->note);
  const JournalEntry* entry = document.row ? waiting_with(*document.row, rank.number) : nullptr;
  if (entry == nullptr) return std::nullopt;
  // What is kept by a breaker where its targets are not known is moved to where they are: that is something to do.
  const auto at = let_by_breakers(moment, run.targets().value_or(TargetSet()), rank.process_at, rules);
  if (!at) return std::nullopt;
  if (is_timed_out(*entry, rules)) return Next{rank, *at};
  if (is_blocked(*document.row, *entry, rules)) return std::nullopt;
  const std::uint8_t priority = entry->urgency.priority;
  const bool idle = rules.journal && priority >= rules.idle_from_priority && under_way.most_urgent < priority;
  // A document that is under way takes no further room.
  return Next{rank, *at, idle || (under_way.full && !document.row->processing())};
}

// The first of each urgency of a run that may leave by its date: what is behind it is due later.
void note_first(const Moment& moment, Run& run, const NowUnderWay& under_way, const DispatchRules& rules,
                std::vector<Next>& found) {
  constexpr int kLooksWhileFull = 64;  // then nearly nothing may leave, and each step of the worker asks
  for (int looks = 0; !under_way.full || looks < kLooksWhileFull; ++looks) {
    const Rank* const first = run.first();
    if (first == nullptr) return;
    const Rank rank = *first;
    run.drop_first();
    const auto next = next_of(moment, run, rank, under_way, rules);
    if (!next) continue;
    found.push_back(*next);
    if (next->stops && next->at <= moment.now) return;
    run.skip_to(first_behind(rank.urgency));
  }
}

}  // namespace

std::uint64_t Journal::capability() const {
  return kJournalNumbers.capability_bit() | kFailureNumbers.capability_bit();
}

std::uint64_t Journal::needs() const {
  return rules_.failures ? capability() : kJournalNumbers.capability_bit();
}

std::span<const AgendaKind> Journal::agenda() const {
  return kJournalKinds;
}

std::optional<UnixMs> Journal::next(std::uint8_t kind, const Moment& moment) const {
  switch (kind) {
    case kLeaseTurn:
      return first_date(moment.view, kLeaseIndex);
    case kExpireTurn:
      return first_date(moment.view, kExpireIndex);
    case kAgeTurn:
      return next_aged(moment.view);
    default:
      return next_dispatch(moment);
  }
}

// Its index has the timestamps of the records.
std::optional<UnixMs> Journal::next_aged(const StateView& view) const {
  const auto oldest = reference_age_ ? first_date(view, kAgeIndex) : std::nullopt;
  if (!oldest) return std::nullopt;
  return UnixMs(oldest->value() + std::min(reference_age_->value(), INT64_MAX - oldest->value()));
}

UnixMs Journal::until(std::uint8_t kind, UnixMs now) const {
  if (kind != kAgeTurn || !reference_age_) return now;
  return UnixMs(now.value() - reference_age_->value());
}

// As dispatch() goes through the queue.
std::optional<UnixMs> Journal::next_dispatch(const Moment& moment) const {
  const Summary& summary = moment.view.summary();
  if (summary.counts[Count::kWaiting] == 0) return std::nullopt;
  NowUnderWay under_way;
  under_way.full = rules_.journal && summary.counts[Count::kProcessing] >= rules_.in_flight_max;
  for (const PriorityCount& one : summary.priorities)
    if (one.processing > 0) under_way.most_urgent = std::min<unsigned>(under_way.most_urgent, one.priority);
  constexpr Pieces kOfStep = {1, 64};  // nearly always the first tells it, and each step of the worker asks
  std::vector<Next> found;
  for (Run& run : runs_of(moment.view, kOfStep)) note_first(moment, run, under_way, rules_, found);
  std::sort(found.begin(), found.end(), [](const Next& a, const Next& b) { return a.rank < b.rank; });
  std::optional<UnixMs> next;
  std::optional<UnixMs> nothing_from;
  for (const Next& one : found) {
    if (one.stops && (!nothing_from || one.at < *nothing_from)) nothing_from = one.at;
    const bool may_leave = !one.stops && (!nothing_from || std::max(one.at, moment.now) < *nothing_from);
    if (may_leave && (!next || one.at < *next)) next = one.at;
  }
  return next;
}

}  // namespace reseq::engine
