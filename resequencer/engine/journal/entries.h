// Entries: what the journal of one document does when orders come and go. Table J stands at the head of
// journal_inputs.cpp; here is what its rows have in common.
// Thread rule: pure functions.
#pragma once

#include <optional>

#include "engine/context.h"
#include "model/command.h"
#include "model/row.h"

namespace reseq::engine {

// The row as requests see it: as if everything that waits had been dispatched when it came, and what is gone had been
// and was given up.
// Without what is gone: as operators see it.
[[nodiscard]] Row as_if_dispatched(const Row& row, const Context& context, bool with_gone = true);
// The highest order of a delete for all that waits or is gone: a barrier for requests and registrations.
[[nodiscard]] std::optional<Order> waiting_barrier(const Row& row);

// A request with this order was seen, whatever became of it.
void mark_requested(Row& row, const Order& order);
// The one that waits under this number; null: none does.
[[nodiscard]] JournalEntry* waiting_with(Row& row, std::uint64_t number);

// What a request wishes, with what it leaves open; consolidated so long.
[[nodiscard]] Urgency urgency_of(const Wish& wish, Milliseconds consolidate, const Context& context);
[[nodiscard]] UnixMs consolidate_until(UnixMs inserted, Milliseconds consolidate);
// Where a target moves on to another order, that takes over when the older one was to leave: insertion kept, the
// smallest priority, the largest process date and expiration.
void take_over(Urgency& urgency, const Urgency& older, const DispatchRules& rules);

// In its place: those that wait by rising order, in front of the others.
void add(Row& row, const JournalEntry& entry);

// The dispatch that carries the target at this order; null: none is under way.
[[nodiscard]] const JournalEntry* under_way_for(const Row& row, const Order& order, TargetNumber target);
// Why what failed for good is given up.
[[nodiscard]] Reason reason_of(const Failure& failure);
// What an ordered target waits for at this order; null: nothing of it waits, or is under way.
[[nodiscard]] const JournalEntry* entry_in_lane(const Row& row, const Order& order, TargetNumber target);
// It does not wait for it any more. The caller settles the row. REQUIRES: entry_in_lane().
void end_in_lane(Row& row, const Order& order, TargetNumber target);
// An older order that is under way keeps this one from its dispatch. Of ordered targets none does.
[[nodiscard]] bool is_blocked(const Row& row, const JournalEntry& entry, const DispatchRules& rules);

// Most urgent priority of those in this state; of those under way, with a lease.
[[nodiscard]] std::optional<std::uint8_t> most_urgent(const RareList<JournalEntry>& journal, EntryState state);

}  // namespace reseq::engine
