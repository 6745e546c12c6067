#include "engine/journal/journal.h"

#include <algorithm>
#include <array>
#include <variant>

#include "codec/held_rows.h"
#include "engine/journal/entries.h"
#include "engine/journal/journal_batch.h"

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

// It may not leave before something else happens.
bool waits_for_another(const StateView& view, std::string_view held_key, const DispatchRules& rules) {
  const auto value = view.row(held_key);
  const auto decoded = value ? codec::decode_held(held_key, *value) : codec::Decoded<codec::HeldRow>();
  const auto* held = std::get_if<codec::HeldRow>(&decoded);
  if (!value || held == nullptr) return true;
  Lookup document = view.find(held->note);
  const JournalEntry* entry = document.row ? waiting_with(*document.row, number_of(held_key)) : nullptr;
  return entry == nullptr || (!is_timed_out(*entry, rules) && is_blocked(*document.row, *entry, rules));
}

}  // namespace

std::uint64_t Journal::capability() const {
  return kJournalNumbers.capability_bit();
}

std::span<const AgendaKind> Journal::agenda() const {
  return kJournalKinds;
}

std::optional<UnixMs> Journal::next(std::uint8_t kind, const StateView& view) const {
  switch (kind) {
    case kLeaseTurn:
      return first_date(view, kLeaseIndex);
    case kExpireTurn:
      return first_date(view, kExpireIndex);
    case kAgeTurn:
      return next_aged(view);
    default:
      return next_dispatch(view);
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

// The earliest date of all urgencies, those left out that wait for something else than the time.
std::optional<UnixMs> Journal::next_dispatch(const StateView& view) const {
  const Summary& summary = view.summary();
  if (summary.counts[Count::kWaiting] == 0) return std::nullopt;
  const bool full = rules_.journal && summary.counts[Count::kProcessing] >= rules_.in_flight_max;
  unsigned most_urgent_processing = UINT16_MAX;
  for (const PriorityCount& one : summary.priorities)
    if (one.processing > 0) most_urgent_processing = std::min<unsigned>(most_urgent_processing, one.priority);
  std::optional<UnixMs> next;
  std::optional<UnixMs> nothing_from;  // an idle one is due then that has to wait, and what is behind it waits, too
  Rank from;
  std::size_t most = 1;  // nearly always the first tells it, and each step of the worker asks
  for (bool more = true; more; most = 64) {
    more = false;
    std::vector<std::string> keys;
    std::vector<Rank> ranks;
    view.index(kDispatchIndex, encode_rank(from), most, [&](std::string_view entry, std::string_view key) {
      ranks.push_back(decode_rank(entry));
      keys.emplace_back(key);
      return true;
    });
    for (std::size_t i = 0; i < keys.size() && !more; ++i) {
      const Rank& rank = ranks[i];
      if (full && rank.urgency >= kFirstRank) return next;  // what is given up needs no room
      const unsigned priority = (rank.urgency - kFirstRank) % kStuckRank;
      const bool idle = rank.urgency >= kFirstRank && rules_.journal && priority >= rules_.idle_from_priority &&
                        most_urgent_processing < priority;
      if (waits_for_another(view, keys[i], rules_)) {
        from = {rank.urgency, rank.process_at, rank.number + 1};
        more = i + 1 == keys.size();
        continue;
      }
      if (idle && (!nothing_from || rank.process_at < *nothing_from)) nothing_from = rank.process_at;
      const bool may_leave = !idle && (!nothing_from || rank.process_at < *nothing_from);
      if (may_leave && (!next || rank.process_at < *next)) next = rank.process_at;
      from = {static_cast<std::uint16_t>(rank.urgency + 1), UnixMs(), 0};
      more = true;
    }
  }
  return next;
}

}  // namespace reseq::engine
