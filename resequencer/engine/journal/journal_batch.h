// JournalBatch: what the journal does in one batch: requests that begin to wait or merge with what waits, commands that
// end what is under way, the turns of its agenda, and in the end the rows of what waits.
//
//   journal_inputs.cpp     table J, heartbeats, operations
//   journal_turns.cpp      leases, expirations, age
//   journal_failures.cpp   what could not be done
//   journal_dispatch.cpp   what leaves, in the order of the queue (queue.h)
//   journal_batch.cpp      rows
//
// Invariant: whatever waits behind the batch has a held record under its number, with an entry of the dispatch index
// that is its rank; nothing else has one. What is held by its place has an entry of the age index.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codec/held_rows.h"
#include "engine/agenda.h"
#include "engine/batch.h"
#include "engine/context.h"
#include "engine/effects.h"
#include "engine/failures/decide_fail.h"
#include "engine/gate_numbers.h"
#include "engine/journal/rank.h"
#include "engine/orders/orders_batch.h"
#include "engine/overlay.h"
#include "engine/rows.h"
#include "engine/ruling.h"
#include "engine/turn.h"

namespace reseq::engine {

inline constexpr GateNumbers kJournalNumbers = gate_numbers("journal");
inline constexpr std::uint8_t kLeaseIndex = *kJournalNumbers.indexes[0];   // of documents: the earliest lease
inline constexpr std::uint8_t kExpireIndex = *kJournalNumbers.indexes[2];  // of held records: the date
inline constexpr std::uint8_t kAgeIndex = *kJournalNumbers.indexes[3];     // of references: when it was sent
static_assert(kAgeIndex == codec::kSentIndex);
enum JournalKind : std::uint8_t {
  kLeaseTurn = *kJournalNumbers.kinds[0],
  kExpireTurn = *kJournalNumbers.kinds[1],
  kDispatchTurn = *kJournalNumbers.kinds[2],
  kAgeTurn = *kJournalNumbers.kinds[3],  // the last one: behind it what waits stays as it is
};
[[nodiscard]] constexpr bool is_journal_kind(std::uint8_t kind) {
  return kind >= kLeaseTurn && kind <= kAgeTurn;
}
// As long as what is measured may make a request wait.
inline constexpr Milliseconds kConsolidateMax{60'000};
// Of the record that waits under this number, and back. REQUIRES: journal_key() made it.
[[nodiscard]] std::string journal_key(std::uint64_t number);
[[nodiscard]] std::uint64_t number_of(std::string_view key);

class JournalBatch {
 public:
  // REQUIRES: all of them outlive it.
  JournalBatch(const StateView& view, Rows& rows, Overlay& overlay, Effects& effects, PartitionState& state,
               const Context& context, OrdersBatch& orders)
      : view_(view),
        rows_(rows),
        overlay_(overlay),
        effects_(effects),
        state_(state),
        context_(context),
        orders_(orders),
        first_number_(state.journal_number) {}

  // Requests of this document go through the journal: they may wait, or what becomes of them has to be known.
  [[nodiscard]] bool takes(const Document& document) const {
    return context_.dispatch.keeps_under_way() || document.journaled;
  }
  Taken decide(Document& document, const Request& request, Offset position);
  // The last one decided goes on, and was too late for one of its lanes.
  [[nodiscard]] bool late_for_lane() const { return late_for_lane_; }
  // A delete for all that waits stops registrations below it as one that was dispatched does. None: there is none, or
  // none above the barrier of the row.
  [[nodiscard]] std::optional<Row> behind_waiting_barrier(const Document& document, const Registration& what) const;
  // Why a result of this attempt is not taken; none: it is.
  [[nodiscard]] std::optional<Reason> refusal_of_attempt(const Document& document, const SequenceResult& result,
                                                         const Order& order) const;
  // What a heartbeat does; `order` none: it lacks its epoch.
  [[nodiscard]] Decision beat(Document& document, const Heartbeat& command, const std::optional<Order>& order);
  // What workers could not do waits again, or is given up. REQUIRES: decide_fail() said it of one order.
  void fail(Document& document, const FailRuling& ruling);
  // Of what was removed because of it.
  void note_failure(Document& document, const Failure& failure);
  // The number of the dispatch that a result of this order comes from; 0: of none that is under way.
  [[nodiscard]] std::uint64_t dispatch_of(const Document& document, const SequenceResult& result,
                                          const Order& order) const;
  // A result was released for a target, or has its place in a lane.
  void note_release(const Document& document, TargetNumber target, const Order& order, std::uint64_t dispatch);
  // An operator gives up what waits for these targets, or for all. False: nothing does.
  bool give_up(Document& document, TargetSet targets);
  // An operator moves what waits for one of the targets of the command, an order as a whole. False: nothing moves.
  // `only_look`: nothing does, whatever would.
  bool move(Document& document, const DispatchByHand& command, bool only_look);
  // A command changes a document with a journal.
  void change_by_command(Document& document, const RowEdit& edit);

  // A turn of the agenda. REQUIRES: is_journal_kind.
  void take(Turn& turn);
  // Something was done by a turn so often.
  [[nodiscard]] std::size_t done() const { return done_; }
  // Where in `requests` records are for which something was put off.
  [[nodiscard]] const std::vector<Offset>& unreadable() const { return unreadable_; }
  // Where records were that are not there any more, of what waits still.
  [[nodiscard]] const std::vector<Offset>& missing() const { return missing_; }
  // Behind everything: rows of what waits.
  void close();

 private:
  // The first row of what waits.
  struct Held {
    std::string key;
    std::string_view value;
    codec::HeldRow row;
  };

  // journal_inputs.cpp
  void enter(Document& document, const Request& request, const Ruling& ruling, InputIndex input);
  void carry_out(Document& document, const Request& request, const Ruling& ruling, bool waits_for_older);
  void take_over_older(Document& document, JournalEntry& entry, TargetSet moved);
  static void leave_behind(JournalEntry& gone);
  void merge_same(Document& document, const Request& request, const Order& order);
  void leave_barrier(Document& document, const Order& order);
  void drop(const Document& document, const JournalEntry& entry, Reason reason);
  void expire(Document& document, std::uint64_t number);
  void tell(const Document& document, const JournalEntry& entry, const Decision& decision,
            EventKind kind = EventKind::kOutcome);
  void settle(Document& document);
  [[nodiscard]] Milliseconds consolidate(TargetSet targets) const;
  [[nodiscard]] bool is_for_lanes(TargetSet targets) const {
    return !targets.empty() && orders_.of_lanes(targets) == targets;
  }
  [[nodiscard]] bool comes_too_late(const JournalEntry& entry, UnixMs until) const;
  [[nodiscard]] InputIndex input_of(std::uint64_t number) const;

  // journal_turns.cpp
  void take_leases(Turn& turn);
  void take_expired(Turn& turn);
  void take_aged(Turn& turn);
  [[nodiscard]] bool has_entry_left(const Document& document) const;
  // False: the turn has no room for more.
  [[nodiscard]] bool let_in_aged(std::string_view place_key, Turn& turn);
  void lose(Document& document, JournalEntry entry);
  void wait_again(Document& document, JournalEntry& entry);
  [[nodiscard]] Document* document_of_key(std::string_view row_key);

  // journal_failures.cpp
  void end_under_way(Document& document, const Order& order, TargetSet targets, std::vector<JournalEntry>& ended);
  void try_again(Document& document, JournalEntry entry);
  void give_up_lost(Document& document, JournalEntry lost);
  void tell_of_target(EventKind kind, const Document& document, const Order& order, TargetNumber target);
  [[nodiscard]] GivenUp last_failure(const Row& row, const JournalEntry& entry, TargetSet targets);
  void note_timed_out(Document& document, const JournalEntry& entry, TargetSet targets);
  // Markers of it, if there are to be any: the version of the last one, else 0.
  [[nodiscard]] Version mark(const Document& document, const Order& order, Reason reason, std::uint32_t attempts,
                             TargetSet targets, InputIndex input);
  // What failed for good for all targets of the request, with the same content; empty: it did not.
  [[nodiscard]] std::vector<Failure> inherited(const Document& document, const Request& request,
                                               const Ruling& ruling) const;
  void fail_at_once(Document& document, const Ruling& ruling, InputIndex input, std::vector<Failure> failures);

  // journal_dispatch.cpp
  void dispatch(Turn& turn);
  void take_from_queue();
  void get_in_from_queue(Document& document, JournalEntry entry);
  // False: the turn has no room for more.
  [[nodiscard]] bool dispatch_new(Turn& turn);
  using CameBack = std::vector<JournalEntry>;
  // Targets of it that cannot be reached.
  [[nodiscard]] TargetSet blocked_now(const JournalEntry& entry) const;
  [[nodiscard]] bool may_not_leave(const Document& document, const JournalEntry& entry) const;
  // False: the turn has no room for it.
  [[nodiscard]] bool leave(Turn& turn, Document& document, std::uint64_t number, std::optional<Held> held);
  // For these targets, with this attempt.
  void decide(const Document& document, const JournalEntry& entry, InputIndex input, Decision decision,
              TargetSet targets = {}, std::uint32_t attempt = 0);
  void raise_barrier(Document& document, const Order& order);
  // False: as above.
  [[nodiscard]] bool put_off(Turn& turn, Document& document, std::uint64_t number, Milliseconds by);
  [[nodiscard]] bool stay(Turn& turn, Document& document, std::uint64_t number, TargetSet targets);
  void keep_rest(Document& document, JournalEntry entry, TargetSet targets, std::uint32_t attempt);
  [[nodiscard]] bool move_to_targets(Turn& turn, const JournalEntry& entry, const Held& held);
  void dead_letter(Document& document, const JournalEntry& entry, InputIndex input, TargetSet targets, bool gone);
  // The attempt that was made.
  std::uint32_t send(Document& document, const JournalEntry& entry, InputIndex input, TargetSet moved,
                     TargetSet targets);
  // From what waits.
  static void erase(Document& document, std::uint64_t number);
  void end(Document& document, std::uint64_t number);
  void count_processing();
  void note_processing(std::optional<std::uint8_t> priority, std::int64_t documents);
  [[nodiscard]] bool more_urgent_waits_or_is_processing(std::uint8_t priority, const CameBack& came_back) const;

  // journal_batch.cpp
  // Given out for the first time; of no input.
  [[nodiscard]] std::uint64_t next_number();
  void close(const Overlay::Journaled& one);
  void tell_source(std::uint64_t number, const Held& held);
  void hold(const Document& document, const JournalEntry& entry, InputIndex input);
  void refer(const Document& document, const JournalEntry& entry);
  void hold_whole(const Document& document, const JournalEntry& entry, const Held& held);
  void write_again(const JournalEntry& entry);
  void write_again(const JournalEntry& entry, const Held& held, std::optional<UnixMs> ages_from);
  // None: it has left in this batch, or the disk cannot be read, and nothing of the batch will be.
  [[nodiscard]] std::optional<Held> find_held(const std::string& key) const;
  void remove(const Held& held);
  [[nodiscard]] std::vector<IndexEntry> index_entries(const JournalEntry& entry, std::optional<UnixMs> ages_from);

  const StateView& view_;
  Rows& rows_;
  Overlay& overlay_;
  Effects& effects_;
  PartitionState& state_;
  const Context& context_;
  OrdersBatch& orders_;
  std::uint64_t first_number_;            // numbers above it are of this batch
  std::vector<InputIndex> fresh_;         // inputs by their numbers, kNoInput: of no input
  std::vector<std::int64_t> processing_;  // documents by priority, while there are turns
  std::int64_t processing_all_ = 0;
  std::uint64_t held_bytes_ = 0;  // of this batch
  bool expired_left_ = false;     // by the turn that had no room for them
  std::vector<Offset> unreadable_;
  std::vector<Offset> missing_;
  std::set<std::uint64_t> held_whole_;  // numbers
  bool late_for_lane_ = false;
  std::size_t done_ = 0;
  std::vector<Event> told_;                       // of what waited before the batch: behind those of the inputs
  std::map<std::uint64_t, std::size_t> told_of_;  // places of those that say how it ended, by its number
};

}  // namespace reseq::engine
