#include "engine/effects.h"

#include <algorithm>

#include "base/assert.h"

namespace reseq::engine {
namespace {

// Sorts their places, because an event is large. Those of timers stay last, in the order they have.
std::vector<Event> in_input_order(const std::vector<Event>& events) {
  std::vector<std::pair<InputIndex, std::size_t>> places;
  places.reserve(events.size());
  for (const Event& event : events) places.emplace_back(event.input, places.size());
  std::sort(places.begin(), places.end());
  std::vector<Event> sorted;
  sorted.reserve(events.size());
  for (const auto& [input, place] : places) sorted.push_back(events[place]);
  return sorted;
}

bool is_withdrawn(const Emission& emission) {
  const Forward* forward = std::get_if<Forward>(&emission.what);
  return forward != nullptr && forward->targets.empty();
}

}  // namespace

Event& Effects::tell(InputIndex input, const Decision& decision, DocumentId id) {
  Event& event = events_.emplace_back();
  event.input = input;
  event.id = id;
  event.decision = decision;
  return event;
}

Event& Effects::tell_operation(const Decision& would_be, bool dry_run, DocumentId id) {
  const Decision decision = dry_run ? Decision{Outcome::kDropped, Reason::kDryRun, TableRow::kControl} : would_be;
  Event& event = tell(number(decision), would_be, id);
  event.kind = EventKind::kOperation;
  event.dry_run = dry_run;
  return event;
}

void Effects::drop_as_superseded(InputIndex input, DocumentId id, const Order& order, const Order& newer) {
  Decision decision = decisions_[input.value()];
  decision.outcome = Outcome::kDropped;
  decision.reason = Reason::kSuperseded;
  decide_again(input, decision, id, order, newer);
}

Event* Effects::decide_again(InputIndex input, const Decision& decision, DocumentId id, const Order& order,
                             const std::optional<Order>& newest) {
  decisions_[input.value()] = decision;
  if (policies_.events == EventPolicy::kAll) {
    Event& event = events_[input.value()];
    RESEQ_ASSERT(event.input == input, "the event of another input");
    event.decision = decision;
    event.expected = newest;
    return &event;
  }
  if (tells_of(decision.outcome)) {
    Event& event = tell(input, decision, id);
    event.order = order;
    event.expected = newest;
    late_events_ = true;
    return &event;
  }
  return nullptr;
}

void Effects::keep(Hold hold) {
  RESEQ_ASSERT(!emissions_.empty() && std::holds_alternative<Forward>(emissions_.back().what), "nothing to keep");
  hold.input = emissions_.back().input;
  emissions_.pop_back();
  Decision& decision = decisions_[hold.input.value()];
  decision.outcome = Outcome::kRegistered;
  if (policies_.events == EventPolicy::kAll) events_[hold.input.value()].decision = decision;
  this->hold(std::move(hold));
}

void Effects::hold(Hold hold) {
  const std::size_t before = held_keys_.size();
  held_keys_.insert(held_keys_.end(), hold.key);  // most rise
  RESEQ_ASSERT(held_keys_.size() > before, "two records are held under one key");
  holds_.push_back(std::move(hold));
}

InputIndex Effects::let_through(const LetThrough& held) {
  const std::size_t place = decisions_.size() + let_through_.size();
  RESEQ_ASSERT(place < kNoInput.value(), "more held records in a batch than can be numbered");
  let_through_.push_back({arena_.copy(held.key), held.id, held.gone, held.row});
  late_events_ = true;  // those of timers were told before
  return InputIndex(static_cast<std::uint32_t>(place));
}

void Effects::generate(const GeneratedRecord& record, Partition to) {
  const auto kept = [this](std::optional<std::string_view> bytes) {
    return bytes ? std::optional(arena_.copy(*bytes)) : std::nullopt;
  };
  std::vector<Header> headers;
  for (const Header& header : record.headers) headers.push_back({arena_.copy(header.name), kept(header.value)});
  const GeneratedRecord copy{record.to, kept(record.key), kept(record.payload),
                             arena_.copy(std::span<const Header>(headers))};
  emissions_.push_back({kNoInput, Generated{arena_.copy(std::span<const GeneratedRecord>(&copy, 1)).data()}, to});
}

void Effects::close() {
  emissions_.erase(std::remove_if(emissions_.begin(), emissions_.end(), is_withdrawn), emissions_.end());
  if (late_events_) events_ = in_input_order(events_);
}

}  // namespace reseq::engine
