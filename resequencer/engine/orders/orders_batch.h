// OrdersBatch: what ordered targets do in one batch. A request gets a place in the lane of each of them; its result
// leaves when nothing in front of it is there any more. Table O stands at the head of orders_inputs.cpp.
//
//   orders_inputs.cpp     table O
//   orders_journal.cpp    what waits in the journal, fails and is tried again
//   orders_turns.cpp      gaps, results that are to leave, and in the end which place is the head of its lane
//
// Invariant: behind the batch the first place of each lane says when it is to be looked at again, and no other does.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "engine/batch.h"
#include "engine/context.h"
#include "engine/effects.h"
#include "engine/orders/lane_rows.h"
#include "engine/overlay.h"
#include "engine/ruling.h"
#include "engine/turn.h"
#include "model/command.h"
#include "model/partition_state.h"

namespace reseq::engine {

enum OrdersKind : std::uint8_t {
  kGapTurn = *kOrdersNumbers.kinds[0],
  kDrainTurn = *kOrdersNumbers.kinds[1],
};
[[nodiscard]] constexpr bool is_orders_kind(std::uint8_t kind) {
  return kind == kGapTurn || kind == kDrainTurn;
}
// The first place of a stall is waited for so long at least, once those in front of it have left.
inline constexpr Milliseconds kHeadPatience{1'000};

class OrdersBatch {
 public:
  // REQUIRES: all of them outlive it.
  OrdersBatch(const StateView& view, Rows& rows, Overlay& overlay, Effects& effects, PartitionState& state,
              const Context& context)
      : view_(view),
        rows_(rows),
        overlay_(overlay),
        effects_(effects),
        state_(state),
        context_(context),
        ordered_(context.lanes.targets.all()),
        places_(view, rows) {}

  // Some target is ordered.
  [[nodiscard]] bool any() const { return !ordered_.empty(); }
  [[nodiscard]] bool takes(TargetNumber target) const { return ordered_.contains(target); }

  // What a request gets in lanes, beside what table R says of its other targets; those that got one are in the list of
  // what is forwarded. `seen`: the row as table R saw it. True: it goes on, and was too late for one of its lanes.
  [[nodiscard]] bool enter(Document& document, const Request& request, Offset position, const Row* seen,
                           Ruling& ruling);
  // Where the journal has as many orders of the document for these targets as it may: each gets in when one of those
  // ends. REQUIRES: the order has places in their lanes.
  void queue(const Document& document, const JournalEntry& entry, TargetSet targets);
  // Of these ordered targets, those for which a new order has to queue.
  [[nodiscard]] TargetSet without_room(const Document& document, TargetSet targets) const;
  // What gets in next, for all of its targets that have room; none: nothing waits to, or there is no room.
  [[nodiscard]] std::optional<JournalEntry> next_of_queue(const Document& document);
  // Likewise what is the first of a lane, though there is no room. REQUIRES: the document is known.
  [[nodiscard]] std::optional<JournalEntry> queued_head(const Document& document);
  [[nodiscard]] std::optional<Place> queued_at(std::string_view key) const;
  // As if its request had been sent then. REQUIRES: it is queued.
  void look_again(Place place, UnixMs sent);
  // It gets in, and with it those of its other targets that wait for that and have room. REQUIRES: it is queued.
  [[nodiscard]] JournalEntry take_from_queue(const Document& document, const Place& first);
  // Of its places that wait to get in, what is their entry there. REQUIRES: the document is known.
  template <typename Change>
  void change_queued(const Document& document, const Order& order, const Change& change) {
    for (const TargetNumber target : of_lanes(document.known()->in_lanes())) {
      auto place = place_of(document, target, order);
      if (!place || !place->row.queued) continue;
      change(*place->row.queued);
      places_.put(place->key, place->row);
    }
  }
  [[nodiscard]] bool any_queued() const { return places_.any_queued(); }
  // Those of them that are ordered: the journal keeps an order for all of its targets, and nothing newer takes over
  // what waits in a lane.
  [[nodiscard]] TargetSet of_lanes(TargetSet targets) const { return targets & ordered_; }
  // What the journal did with ordered targets of an order: it went to `work`, it waits again, or it was given up.
  void sent(const Document& document, const Order& order, TargetSet targets);
  void came_back(const Document& document, const Order& order, TargetSet targets);
  struct GaveUp {
    InputIndex input;
    Reason reason = Reason::kNone;
    std::uint32_t attempts = 0;
    std::string_view error;
  };
  void give_up(Document& document, const Order& order, TargetSet targets, const GaveUp& why);
  // The order has a place in a lane, or had one.
  [[nodiscard]] bool knows(const Document& document, const Order& order) const;
  // What a failure says of a target that does not wait at its order in the journal; none: it does.
  [[nodiscard]] std::optional<Ruling> not_under_way(const Document& document, const Fail& command) const;
  // Why a registration by a command is refused; none: it is not.
  [[nodiscard]] std::optional<Reason> refusal(const Document& document, const Registration& what) const;
  Taken decide(Document& document, const SequenceResult& result, bool requests_read);
  // Ordered targets of the command that wait at its order; what they say goes into the ruling of the others.
  [[nodiscard]] TargetSet leaving(const Document& document, const Unregister& command, Ruling& ruling);
  // Nobody will deliver these. REQUIRES: they have places at this order that wait.
  void end(Document& document, const Order& order, TargetSet targets);
  // Applied: this order waits there, and is to end(). `no_change`: the lane has passed it, or its result is held.
  // `unregistered`: it is not known there.
  [[nodiscard]] Ruling decide_skip(const Document& document, const SkipPlace& command) const;

  // A turn of the agenda. REQUIRES: is_orders_kind.
  void take(Turn& turn);
  // Something was done by a turn so often.
  [[nodiscard]] std::size_t done() const { return done_; }
  // Behind everything: heads of lanes, and the rows of results that are held.
  void close();

 private:
  struct HeldResult {
    std::string key;
    std::string_view value;
    codec::HeldRow row;
  };
  struct FreshResult {
    InputIndex input;
    std::uint64_t bytes = 0;
    codec::ResultNote note;
  };
  // How a lane came by the head that it has.
  enum class Reached : std::uint8_t { kBehindOneThatLeft, kBehindAGap };

  // orders_inputs.cpp
  [[nodiscard]] std::optional<Place> place_of(const Document& document, TargetNumber target, const Order& order) const;
  void add(Document& document, TargetNumber target, const Order& order, Offset position, std::uint64_t bytes);
  void stand_behind(const Place& fresh, const std::optional<Place>& first);
  [[nodiscard]] Ruling judge(const Document& document, const SequenceResult& result, const std::optional<Order>& order,
                             const std::optional<Place>& place);
  [[nodiscard]] Ruling judge_waiting(const SequenceResult& result, const Document& document, const Place& place);
  // Its result came in this batch, or is held.
  [[nodiscard]] bool has_result(const Place& place) const;
  void hold(const Place& place, const SequenceResult& result, InputIndex input);
  // What ends an entry of the journal for one target.
  enum class EndedBy : std::uint8_t { kResult, kCommand, kNobody };
  void end_entry(Document& document, const Order& order, TargetNumber target, EndedBy by);
  void end_place(Document& document, const Order& order, TargetNumber target, const GaveUp* why);
  [[nodiscard]] bool was_dispatched(const Document& document, const Place& place) const;
  [[nodiscard]] bool is_head(const Document& document, const Place& place);

  [[nodiscard]] bool has_room_in_journal(const Document& document, TargetNumber target) const;

  // orders_turns.cpp
  void run(const LaneName& lane, Turn& turn, std::optional<UnixMs> gaps_until);
  [[nodiscard]] UnixMs due_from_dispatch(const Place& place);
  [[nodiscard]] bool is_overdue(const Place& head, UnixMs until);
  [[nodiscard]] bool take_room(Turn& turn, const Place& head, bool has_result) const;
  void skip(const Place& head);
  void let_go(const Place& head);
  void leave_letter(const Place& head, InputIndex input, Reason reason);
  void mark(const Place& head, const GaveUp& why);
  void pass_by(const Place& head);
  void tell(const Place& head, const Document& document, InputIndex input, const Decision& decision,
            std::optional<Version> version);
  // It is not in its lane any more.
  void leave(const Place& place, Reached next);
  [[nodiscard]] std::optional<HeldResult> find_held(const Place& place) const;
  void make_head(Place head, Reached reached);
  void hold_results();

  const StateView& view_;
  Rows& rows_;
  Overlay& overlay_;
  Effects& effects_;
  PartitionState& state_;
  const Context& context_;
  const TargetSet ordered_;  // strict and total ones
  LaneRows places_;
  std::map<std::string, FreshResult, std::less<>> fresh_;  // results of this batch, by the keys of their places
  std::map<LaneName, Reached> touched_;                    // lanes that may have another head
  std::map<LaneName, UnixMs> cut_;                         // lanes that a turn of gaps until then had no room for
  std::size_t done_ = 0;
};

}  // namespace reseq::engine
