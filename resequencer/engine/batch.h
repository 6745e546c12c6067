// Batch: decides the inputs of one partition that will share one transaction.
// Inputs come in the fixed order: requests, control, commands; then timers, turns of a gate, and the watermark sweep.
// Nothing leaves before the batch is closed, so a request that a later one of the same batch supersedes never reaches
// `work`.
//
// Invariants: every input decided has exactly one Decision; decide() that answers kRequestsFirst changed nothing; same
// inputs, state and context give the same effects in the same order, on any machine.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/context.h"
#include "engine/state_view.h"
#include "model/effects.h"
#include "model/partition_state.h"

namespace reseq::engine {

class Turn;

// Whether an input was taken into the batch.
enum class Taken : std::uint8_t {
  kDecided,
  kRequestsFirst,  // a command met no registration: read `requests` to its end first, then decide again
  kStop,           // policy on_missing = stop: leave this input unread, park the partition
};

// A result that was dropped because a newer order of its document is known: S4 and S6.
struct LateResult {
  Order order;
  Order newest;          // order known then
  Version last_version;  // of the last release of the document, 0 = nothing newer was released
};

class Batch {
 public:
  // REQUIRES: view and context outlive the batch.
  Batch(const StateView& view, const PartitionState& state, const Context& context);
  ~Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  // Room for so many inputs, before the first: cheaper than to grow.
  void expect(std::size_t inputs);

  // Decides the next input. `position` is its offset. `requests_read` says that `requests` was read up to an end asked
  // after this command had been fetched: then a miss is final. Inputs are numbered in the order they were decided;
  // one that answered kRequestsFirst or kStop got no number.
  // REQUIRES: the views in `command` live until the batch is destroyed; not closed.
  [[nodiscard]] Taken decide(const Command& command, Offset position, bool requests_read);

  // Timer: marks a live row whose deadline has passed as overdue, with an event (whatever the event policy). Rows that
  // are gone, completed, not due or marked already stay as they are: false.
  // REQUIRES: all inputs of the batch are decided.
  bool fire_overdue(DocumentId id);

  // Watermark sweep: removes a completed row that has been kept long enough. Rows that are gone, live again or kept
  // until later stay as they are. REQUIRES: all inputs of the batch are decided.
  void expire_watermark(DocumentId id);

  // One kind of the gate's agenda. REQUIRES: there is a gate; all inputs of the batch are decided.
  void take(Turn& turn);

  // Settles withdrawn and narrowed forwards. After it nothing can be decided.
  void close();

  // One per input decided, by InputIndex. Final after close().
  [[nodiscard]] std::span<const Decision> decisions() const;
  // REQUIRES for the following: closed.
  [[nodiscard]] std::span<const Emission> emissions() const;       // in input order, those without one anywhere
  [[nodiscard]] std::span<const Event> events() const;             // in input order, those of timers last
  [[nodiscard]] std::span<const RowChange> changes() const;        // one per document changed, in order of first change
  [[nodiscard]] std::span<const KeyedChange> row_changes() const;  // rows of other kinds, in order of first change
  // Inputs that the gate keeps: their rows are made of their records.
  [[nodiscard]] std::span<const Hold> holds() const;
  // Held records that are let through or dropped: the n-th has the InputIndex behind the inputs and n others.
  [[nodiscard]] std::span<const LetThrough> let_through() const;
  // Where in `requests` records are that could not be read, for which something was put off; as it came.
  [[nodiscard]] std::span<const Offset> unreadable() const;
  // Where records were that are gone, of what waits by its place still; as it came.
  [[nodiscard]] std::span<const Offset> missing() const;
  [[nodiscard]] std::span<const LateResult> late_results() const;
  // Requests that came behind something newer of their document and were dropped for that, in input order. Not those
  // that lie in the log before its newest request: they are read again.
  [[nodiscard]] std::span<const InputIndex> older_requests() const;
  [[nodiscard]] const PartitionState& state() const;  // after the batch

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

}  // namespace reseq::engine
