// JournalBatch: what the journal does in one batch: requests that begin to wait or merge with what waits, commands that
// end what is under way, the turns of its agenda, and in the end the rows of what waits.
//
//   journal_inputs.cpp     table J, heartbeats, operations
//   journal_turns.cpp      leases, expirations, age
//   journal_dispatch.cpp   the queue, and what leaves
//   journal_batch.cpp      rows
//
// Invariant: whatever waits behind the batch has a held record under its number, with an entry of the dispatch index
// that is its rank; nothing else has one. What is held by its place has an entry of the age index.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "codec/held_rows.h"
#include "engine/agenda.h"
#include "engine/batch.h"
#include "engine/context.h"
#include "engine/effects.h"
#include "engine/gate_numbers.h"
#include "engine/journal/rank.h"
#include "engine/overlay.h"
#include "engine/rows.h"
#include "engine/ruling.h"
#include "engine/turn.h"

namespace reseq::engine {

inline constexpr GateNumbers kJournalNumbers = gate_numbers("journal");
inline constexpr std::uint8_t kLeaseIndex = *kJournalNumbers.indexes[0];     // of documents: the earliest lease
inline constexpr std::uint8_t kDispatchIndex = *kJournalNumbers.indexes[1];  // of held records: the rank
inline constexpr std::uint8_t kExpireIndex = *kJournalNumbers.indexes[2];    // of held records: the date
inline constexpr std::uint8_t kAgeIndex = *kJournalNumbers.indexes[3];       // of references: when the record was sent
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
               const Context& context)
      : view_(view),
        rows_(rows),
        overlay_(overlay),
        effects_(effects),
        state_(state),
        context_(context),
        first_number_(state.journal_number) {}

  // Requests of this document go through the journal.
  [[nodiscard]] bool takes(const Document& document) const { return context_.dispatch.journal || document.journaled; }
  Taken decide(Document& document, const Request& request, Offset position);
  // A delete for all that waits stops registrations as one that was dispatched does. None: there is none above the
  // barrier of the row.
  [[nodiscard]] std::optional<Row> behind_waiting_barrier(const Document& document) const;
  // Why a result of this attempt is not taken; none: it is.
  [[nodiscard]] std::optional<Reason> refusal_of_attempt(const Document& document, const SequenceResult& result,
                                                         const Order& order) const;
  // What a heartbeat does; `order` none: it lacks its epoch.
  [[nodiscard]] Decision beat(Document& document, const Heartbeat& command, const std::optional<Order>& order);
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
  void take_over_older(Document& document, JournalEntry& entry, TargetSet moved);
  static void leave_behind(JournalEntry& gone);
  void merge_same(Document& document, const Request& request, const Order& order);
  void leave_barrier(Document& document, const Order& order);
  void drop(const Document& document, const JournalEntry& entry, Reason reason);
  void expire(Document& document, std::uint64_t number);
  void tell(const Document& document, const JournalEntry& entry, const Decision& decision,
            EventKind kind = EventKind::kOutcome);
  void settle(Document& document);
  [[nodiscard]] Milliseconds consolidate() const;
  [[nodiscard]] bool comes_too_late(const JournalEntry& entry, UnixMs until) const;
  [[nodiscard]] InputIndex input_of(std::uint64_t number) const;

  // journal_turns.cpp
  void take_leases(Turn& turn);
  void take_expired(Turn& turn);
  void take_aged(Turn& turn);
  void lose(Document& document, JournalEntry entry);
  [[nodiscard]] Document* document_of_key(std::string_view row_key);

  // journal_dispatch.cpp
  void dispatch(Turn& turn);
  // False: the turn has no room for it.
  [[nodiscard]] bool leave(Turn& turn, Document& document, std::uint64_t number, std::optional<Held> held);
  void decide(const Document& document, const JournalEntry& entry, InputIndex input, Decision decision);
  void raise_barrier(Document& document, const Order& order);
  // False: as above.
  [[nodiscard]] bool put_off(Turn& turn, Document& document, std::uint64_t number, Milliseconds by);
  void send(Document& document, const JournalEntry& entry, InputIndex input, TargetSet moved, TargetSet targets);
  void end(Document& document, std::uint64_t number);
  void count_processing();
  void note_processing(std::optional<std::uint8_t> priority, std::int64_t documents);
  [[nodiscard]] bool more_urgent_is_processing(std::uint8_t priority) const;

  // journal_batch.cpp
  void close(const Overlay::Journaled& one);
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
  std::uint64_t first_number_;            // numbers above it are of this batch
  std::vector<InputIndex> fresh_;         // inputs by their numbers, kNoInput: of no input
  std::vector<std::int64_t> processing_;  // documents by priority, while there are turns
  std::int64_t processing_all_ = 0;
  std::uint64_t held_bytes_ = 0;  // of this batch
  bool expired_left_ = false;     // by the turn that had no room for them
  std::vector<Offset> unreadable_;
  std::vector<Offset> missing_;
  std::set<std::uint64_t> held_whole_;  // numbers
  std::size_t done_ = 0;
  std::vector<Event> told_;  // of what waited before the batch: behind those of the inputs
};

}  // namespace reseq::engine
