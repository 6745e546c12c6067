// Lanes go on: what has its result leaves, what has ended is passed by, and a head that was waited for too long is
// skipped. With it goes, in the same turn, whatever behind it has been waited for as long: so many results that were
// lost together hold a lane up for one time-out.
#include <algorithm>
#include <array>
#include <variant>
#include <vector>

#include "base/big_endian.h"
#include "codec/keys.h"
#include "codec/record_size.h"
#include "engine/journal/entries.h"
#include "engine/orders/orders_batch.h"
#include "engine/stamp.h"

namespace reseq::engine {
namespace {

constexpr std::size_t kHeadsMax = 1'000;  // of one turn: more than it may do

UnixMs behind(UnixMs time, Milliseconds by) {
  return UnixMs(time.value() + by.value());
}

// Heads in the order of an index, up to this date; keys of their places.
std::vector<std::string> heads(const StateView& view, std::uint8_t index, std::uint64_t until) {
  std::vector<std::string> keys;
  view.index(index, {}, kHeadsMax, [&](std::string_view entry, std::string_view key) {
    if (read_big_endian(entry) > until) return false;
    keys.emplace_back(key);
    return true;
  });
  return keys;
}

}  // namespace

void OrdersBatch::take(Turn& turn) {
  if (turn.kind() == kGapTurn) {
    const auto until = static_cast<std::uint64_t>(std::max(turn.until(), UnixMs()).value());
    for (const std::string& key : heads(view_, codec::kGapIndex, until)) {
      const auto head = places_.find(key);
      if (head && head->row.is_waited_for() && *head->row.due <= turn.until())
        run(LaneRows::lane_of(*head), turn, turn.until());
    }
    return;
  }
  for (const std::string& key : heads(view_, codec::kReadyIndex, UINT64_MAX))
    if (const auto head = places_.find(key)) run(LaneRows::lane_of(*head), turn, std::nullopt);
  const std::map<LaneName, Reached> touched = touched_;  // a run touches its own
  for (const auto& [lane, reached] : touched) run(lane, turn, std::nullopt);
}

void OrdersBatch::run(const LaneName& lane, Turn& turn, std::optional<UnixMs> gaps_until) {
  while (const auto head = places_.first(lane)) {
    const bool has_result = this->has_result(*head);
    const bool waits = !has_result && !head->row.ended;
    if (waits && !(gaps_until && is_overdue(*head, *gaps_until))) return;
    if (!take_room(turn, *head, has_result)) {
      if (gaps_until) cut_.insert_or_assign(lane, *gaps_until);
      return;
    }
    ++done_;
    if (waits)
      skip(*head);
    else if (has_result)
      let_go(*head);
    else
      pass_by(*head);
  }
}

void OrdersBatch::pass_by(const Place& head) {
  if (const auto reason = reason_named(head.row.reason))
    mark(head, {effects_.let_through({head.key, head.row.id, {}, {}}), *reason, head.row.attempts, {}});
  leave(head, Reached::kBehindOneThatLeft);
}

// Its clock stands while it waits for a dispatch, and where that has a lease, which ends by itself. What went to work
// before there was a journal has none.
UnixMs OrdersBatch::due_from_dispatch(const Place& place) {
  if (place.row.dispatched_at == codec::kNever) return codec::kNever;
  const bool leases = context_.dispatch.journal || view_.summary().counts[Count::kProcessing] > 0;
  if (const Row* const row = leases ? overlay_.find_copied(place.row.id).known() : nullptr) {
    const JournalEntry* const entry = entry_in_lane(*row, place.row.order, place.row.target);
    if (entry != nullptr && (entry->state == EntryState::kWaiting || entry->lease_until != UnixMs()))
      return codec::kNever;
  }
  return behind(place.row.dispatched_at, context_.lanes.gap_timeout);
}

// It may have become the head in this turn.
bool OrdersBatch::is_overdue(const Place& head, UnixMs until) {
  return head.row.due.value_or(due_from_dispatch(head)) <= until;
}

bool OrdersBatch::take_room(Turn& turn, const Place& head, bool has_result) const {
  const auto held = has_result && !fresh_.contains(head.key) ? find_held(head) : std::nullopt;
  return held ? turn.take(held->row) : turn.take(0);  // the bytes of a fresh one are an input's
}

void OrdersBatch::skip(const Place& head) {
  const InputIndex input = effects_.let_through({head.key, head.row.id, {}, {}});
  leave_letter(head, input, Reason::kGap);
  Document& document = overlay_.find_copied(head.row.id);
  const Row* const row = document.known();
  const JournalEntry* const entry = row != nullptr ? entry_in_lane(*row, head.row.order, head.row.target) : nullptr;
  const std::uint32_t attempts = entry != nullptr ? std::max(entry->attempt, 1U) : 1;
  if (context_.lanes.markers) mark(head, {input, Reason::kGap, attempts, {}});
  end_entry(document, head.row.order, head.row.target, EndedBy::kNobody);
  leave(head, Reached::kBehindAGap);
}

// With a version of its own: a sink takes it as it takes a result. An error that has no room there is left out.
void OrdersBatch::mark(const Place& head, const GaveUp& why) {
  const std::uint64_t room = context_.output_bytes_max[head.row.target.value()];
  const bool known = context_.all_targets.contains(head.row.target);
  if (!known || codec::marker_bytes_max(head.row.id.size(), 0) > room) return;
  const auto stamp = next_stamp(state_, head.row.target, std::nullopt, context_.now, context_.max_clock_drift);
  const auto* const version = std::get_if<Version>(&stamp);
  if (version == nullptr) return;
  state_.last = *version;
  const bool fits = codec::marker_bytes_max(head.row.id.size(), why.error.size()) <= room;
  const NoResult what{head.row.id,
                      head.row.order,
                      *version,
                      why.reason,
                      why.attempts,
                      context_.now,
                      fits ? why.error : std::string_view()};
  const auto kept = effects_.arena().copy(std::span<const NoResult>(&what, 1));
  effects_.send(why.input, Marker{head.row.target, kept.data()});
}

// What a place without a result, or a result that its output cannot take, leaves behind.
void OrdersBatch::leave_letter(const Place& head, InputIndex input, Reason reason) {
  const Document& document = overlay_.find_copied(head.row.id);
  const Decision decision{Outcome::kDeadLettered, reason, TableRow::kO4};
  GivenUp given_up;
  given_up.targets = TargetSet::of(head.row.target);
  given_up.gone = reason == Reason::kGap ? head.row.bytes : 0;
  effects_.send(input, DeadLetter{reason, document.newest_order(), effects_.kept(given_up)});
  tell(head, document, input, decision, {});
}

// Of an input of this batch it is said instead of that it is held.
void OrdersBatch::tell(const Place& head, const Document& document, InputIndex input, const Decision& decision,
                       std::optional<Version> version) {
  Event* event = nullptr;
  if (input < effects_.next())
    event = effects_.decide_again(input, decision, document.id, head.row.order, document.newest_order());
  else if (effects_.tells_of(decision.outcome))
    event = &effects_.tell(input, decision, document.id);
  if (event == nullptr) return;
  event->order = head.row.order;
  event->expected = document.newest_order();
  event->target = head.row.target;
  event->version = version;
}

void OrdersBatch::let_go(const Place& head) {
  const auto fresh = fresh_.find(head.key);
  Document& document = overlay_.find_copied(head.row.id);
  const auto held = fresh == fresh_.end() ? find_held(head) : std::nullopt;
  if (fresh == fresh_.end() && !held) return leave(head, Reached::kBehindOneThatLeft);  // as in find_held()
  const codec::ResultNote note = held ? codec::decode_result_note(held->row.note) : fresh->second.note;
  const auto stamp = next_stamp(state_, head.row.target, note.observed, context_.now, context_.max_clock_drift);
  const auto* const version = std::get_if<Version>(&stamp);
  const std::uint64_t bytes = held ? held->row.bytes : fresh->second.bytes;
  const bool too_large = bytes > context_.output_bytes_max[head.row.target.value()];
  InputIndex input = kNoInput;
  if (held) {
    input = effects_.let_through({held->key, document.id, {}, held->value});
    for (std::uint32_t piece = 1; piece <= held->row.further_pieces; ++piece)
      rows_.remove(codec::piece_key(held->key, piece));
    rows_.remove(held->key);
  } else {
    input = fresh->second.input;
    fresh_.erase(fresh);
  }
  const bool unknown = !context_.all_targets.contains(head.row.target);  // it is configured no more
  if (unknown || too_large || version == nullptr) {
    leave_letter(head, input,
                 unknown     ? Reason::kUnknownTarget
                 : too_large ? Reason::kTooLarge
                             : *std::get_if<Reason>(&stamp));
    return leave(head, Reached::kBehindOneThatLeft);
  }
  tell(head, document, input, {Outcome::kReleased, Reason::kNone, held ? TableRow::kO2 : TableRow::kO3}, *version);
  state_.last = *version;
  effects_.send(input, Release{head.row.target, head.row.order, note.op, *version});
  if (document.now.row) document.now.row->last_version = *version;
  leave(head, Reached::kBehindOneThatLeft);
}

void OrdersBatch::leave(const Place& place, Reached next) {
  Document& document = overlay_.find_copied(place.row.id);
  places_.remove(place);
  const LaneName name = LaneRows::lane_of(place);
  touched_[name] = next;
  if (!document.now.row) return;
  for (Lane& lane : document.now.row->lanes) {
    if (lane.target != place.row.target) continue;
    RESEQ_ASSERT(lane.places > 0, "a place that its document does not know");
    --lane.places;
    lane.mark = std::max(lane.mark, place.row.order);
    if (lane.places == 0 && !place.row.total) touched_.erase(name);  // nothing is behind it
  }
  overlay_.settle(document, context_);
}

// Of a head that is waited for, none is.
bool OrdersBatch::has_result(const Place& place) const {
  if (place.row.ended || place.row.is_waited_for()) return false;
  if (place.row.due || fresh_.contains(place.key)) return true;
  return view_.summary().counts[Count::kResultBytes] != 0 && rows_.find(codec::held_key_of_place(place.key));
}

// None: the disk cannot be read, and nothing of the batch will be.
std::optional<OrdersBatch::HeldResult> OrdersBatch::find_held(const Place& place) const {
  const std::string key = codec::held_key_of_place(place.key);
  const auto value = rows_.find(key);
  if (!value) return std::nullopt;
  const auto decoded = codec::decode_held(key, *value);
  const auto* const row = std::get_if<codec::HeldRow>(&decoded);
  return row == nullptr ? std::nullopt : std::optional(HeldResult{key, *value, *row});
}

void OrdersBatch::close() {
  for (const auto& [lane, reached] : touched_)
    if (auto head = places_.first(lane); head && !head->row.due) make_head(std::move(*head), reached);
  hold_results();
}

// What a turn of gaps would have skipped, had there been room, goes with the next one: else each thousand results that
// were lost together would take a second more.
void OrdersBatch::make_head(Place head, Reached reached) {
  const bool waits = !head.row.ended && !has_result(head);
  UnixMs due = waits ? due_from_dispatch(head) : UnixMs();
  const auto cut = cut_.find(LaneRows::lane_of(head));
  const bool was_due = cut != cut_.end() && due <= cut->second;
  if (waits && !was_due && reached == Reached::kBehindOneThatLeft)
    due = std::max(due, behind(context_.now, kHeadPatience));
  head.row.due = due;
  places_.put(head.key, head.row);
}

void OrdersBatch::hold_results() {
  for (const auto& [key, result] : fresh_) {
    Hold hold;
    hold.input = result.input;
    hold.key = effects_.arena().copy(codec::held_key_of_place(key));
    hold.bytes = result.bytes;
    hold.note = effects_.arena().copy(codec::encode_result_note(result.note));
    effects_.hold(std::move(hold));
  }
}

}  // namespace reseq::engine
