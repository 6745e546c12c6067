#include "tests/orders/lane_table.h"

#include <algorithm>

namespace reseq::orders {
namespace {

constexpr std::array kOrdered = {kStrict, kTotal};

Verdict dropped(Reason reason) {
  return {Outcome::kDropped, reason};
}

Verdict dead_letter(Reason reason) {
  return {Outcome::kDeadLettered, reason};
}

}  // namespace

LaneQueue& LaneTable::lane(TargetNumber target, std::size_t document) {
  return target == kTotal ? total_ : strict_[document];
}

template <typename Visit>
void LaneTable::each_lane(const Visit& visit) {
  for (LaneQueue& lane : strict_) visit(kStrict, lane);
  visit(kTotal, total_);
}

LanePlace* LaneTable::find(TargetNumber target, std::size_t document, OrderNumber order) {
  for (LanePlace& place : lane(target, document).places)
    if (place.document == document && place.order == order) return &place;
  return nullptr;
}

std::vector<Released> LaneTable::waiting() const {
  std::vector<Released> all;
  const auto note = [&](TargetNumber target, const LaneQueue& lane) {
    for (const LanePlace& place : lane.places)
      if (place.is == PlaceIs::kWaiting) all.push_back({place.document, place.order, target});
  };
  for (const LaneQueue& lane : strict_) note(kStrict, lane);
  note(kTotal, total_);
  for (std::size_t i = 0; i < kDocuments; ++i) {
    const auto& newest = documents_[i].newest;
    if (newest && newest->is == NewestOf::Is::kPending) all.push_back({i, newest->order, kNewest});
  }
  return all;
}

std::optional<OrderNumber> LaneTable::newest(std::size_t document) const {
  const auto& newest = documents_[document].newest;
  return newest ? std::optional(newest->order) : std::nullopt;
}

bool LaneTable::takes(const DocumentLanes& document, TargetNumber target, OrderNumber order) const {
  const auto mark = document.mark.find(target);
  return mark == document.mark.end() || order > mark->second;
}

bool LaneTable::is_known(const LaneQueue& lane, std::size_t document, OrderNumber order) const {
  return std::any_of(lane.places.begin(), lane.places.end(),
                     [&](const LanePlace& place) { return place.document == document && place.order == order; });
}

bool LaneTable::stands_before(const LanePlace& a, const LanePlace& b) const {
  return a.order < b.order;
}

bool LaneTable::is_head(const LaneQueue& lane, const LanePlace& place) const {
  return &lane.places.front() == &place;
}

UnixMs LaneTable::due_of(const LanePlace& head, bool behind_one_that_left, UnixMs now) const {
  const std::int64_t gap = head.dispatched_at.value() + kGapMs;
  return UnixMs(behind_one_that_left ? std::max(gap, now.value() + kPatienceMs) : gap);
}

OrderNumber LaneTable::mark_behind(OrderNumber mark, const LanePlace& left) const {
  return std::max(mark, left.order);
}

bool LaneTable::is_passed(const DocumentLanes& document, TargetNumber target, OrderNumber order) const {
  const auto mark = document.mark.find(target);
  return mark != document.mark.end() && order <= mark->second;
}

bool LaneTable::takes_again(const LanePlace& place) const {
  return place.is == PlaceIs::kWaiting;
}

OrderNumber LaneTable::skipped_by(const LaneQueue&, const Input& input) const {
  return input.order;
}

bool LaneTable::drains(const LaneQueue& lane) const {
  return !lane.places.empty() && lane.places.front().is != PlaceIs::kWaiting;
}

Answer LaneTable::play(const Batch& batch) {
  now_ = batch.now;
  answer_ = Answer();
  each_lane([](TargetNumber, LaneQueue& lane) {
    for (LanePlace& place : lane.places) place.input.reset();
  });
  for (std::size_t i = 0; i < batch.inputs.size(); ++i) {
    const Input& input = batch.inputs[i];
    switch (input.kind) {
      case Kind::kRequest:
        answer_.verdicts.push_back(request(input));
        break;
      case Kind::kResult:
        answer_.verdicts.push_back(result(input, i));
        break;
      case Kind::kUnregister:
        answer_.verdicts.push_back(unregister(input));
        break;
      case Kind::kSkip:
        answer_.verdicts.push_back(skip(input));
        break;
      case Kind::kExpire:
        answer_.verdicts.push_back(expire(input));
        break;
      case Kind::kRegister:  // of targets with a lane
        answer_.verdicts.push_back(dead_letter(Reason::kOrderedTarget));
    }
  }
  if (may_skip(batch)) each_lane([this](TargetNumber target, LaneQueue& lane) { see_gaps(target, lane); });
  each_lane([this](TargetNumber target, LaneQueue& lane) { drain(target, lane); });
  each_lane([this](TargetNumber, LaneQueue& lane) {
    answer_.places += lane.places.size();
    for (const LanePlace& place : lane.places) answer_.held += place.is == PlaceIs::kHeld ? 1U : 0U;
    if (!lane.due && !lane.places.empty()) lane.due = due_of(lane.places.front(), lane.behind_one_that_left, now_);
  });
  return answer_;
}

Verdict LaneTable::request(const Input& input) {
  DocumentLanes& document = documents_[input.document];
  const bool for_all = input.deletes && !input.has_list;
  const bool below = document.barrier && input.order < *document.barrier;
  if (!below && document.requested && document.requested->first == input.order &&
      document.requested->second != input.hash)
    return dead_letter(Reason::kSequenceReused);
  TargetSet fresh;
  bool known = false;
  for (const TargetNumber target : kOrdered) {
    if (!input.targets.contains(target)) continue;
    if (input.reprocess && !takes_a_reprocess()) {  // it is no other version
      known = true;
      continue;
    }
    const auto mark = document.mark.find(target);
    const bool was_last = mark != document.mark.end() && mark->second == input.order;
    if (was_last || is_known(lane(target, input.document), input.document, input.order))
      known = true;
    else if (takes(document, target, input.order))
      fresh |= TargetSet::of(target);
  }
  Verdict verdict = dropped(known ? Reason::kDuplicate : Reason::kSuperseded);
  TargetSet forwarded = fresh;
  if (input.targets.contains(kNewest)) {
    if (below || (document.newest && document.newest->order > input.order)) {
      verdict = dropped(Reason::kSuperseded);
    } else if (document.newest && document.newest->order == input.order) {
      verdict = dropped(Reason::kDuplicate);
    } else {
      document.newest = NewestOf{input.order, NewestOf::Is::kPending};
      forwarded |= TargetSet::of(kNewest);
    }
  }
  if (for_all && !below && (!document.barrier || *document.barrier < input.order)) document.barrier = input.order;
  if (for_all || !forwarded.empty()) document.known = true;
  if (forwarded.empty()) return verdict;
  if (!document.requested || document.requested->first <= input.order) document.requested = {input.order, input.hash};
  for (const TargetNumber target : kOrdered)
    if (fresh.contains(target)) add(target, input);
  // What a newer request of the batch took over is not forwarded any more.
  for (Forwarded& one : answer_.forwarded)
    if (one.document == input.document && one.order < input.order && forwarded.contains(kNewest)) {
      one.targets = one.targets.without(TargetSet::of(kNewest));
      if (one.targets.empty()) answer_.verdicts[one.input] = dropped(Reason::kSuperseded);
    }
  std::erase_if(answer_.forwarded, [](const Forwarded& one) { return one.targets.empty(); });
  answer_.forwarded.push_back({input.document, input.order, forwarded, answer_.verdicts.size()});
  return {Outcome::kForwarded, Reason::kNone};
}

void LaneTable::add(TargetNumber target, const Input& input) {
  LaneQueue& queue = lane(target, input.document);
  LanePlace place;
  place.document = input.document;
  place.order = input.order;
  place.dispatched_at = now_;
  auto at = queue.places.end();
  if (target == kStrict)
    at = std::find_if(queue.places.begin(), queue.places.end(),
                      [&](const LanePlace& other) { return stands_before(place, other); });
  if (at == queue.places.begin()) {  // it is the head from now on
    queue.due.reset();
    queue.behind_one_that_left = false;
  }
  queue.places.insert(at, place);
  if (target == kTotal) documents_[input.document].mark[target] = input.order;
}

Verdict LaneTable::result(const Input& input, std::size_t number) {
  const TargetNumber target = input.targets.first();
  if (target == kNewest) return newest_result(input);
  LanePlace* const place = find(target, input.document, input.order);
  if (place == nullptr) {
    if (is_passed(documents_[input.document], target, input.order)) return dropped(Reason::kStale);
    return dead_letter(Reason::kUnregistered);
  }
  if (place->is == PlaceIs::kEnded) return dropped(Reason::kStale);
  if (!takes_again(*place)) return dropped(Reason::kDuplicate);
  if (input.too_large) {
    end(target, input.document, input.order);
    return dead_letter(Reason::kTooLarge);
  }
  LaneQueue& queue = lane(target, input.document);
  if (!is_head(queue, *place)) {
    place->is = PlaceIs::kHeld;
    place->input = number;
    return {Outcome::kHeld, Reason::kNone};
  }
  answer_.released.push_back({input.document, input.order, target});
  leave(target, queue, static_cast<std::size_t>(place - queue.places.data()), false);
  return {Outcome::kReleased, Reason::kNone};
}

Verdict LaneTable::newest_result(const Input& input) {
  DocumentLanes& document = documents_[input.document];
  auto& newest = document.newest;
  const bool below = document.barrier && input.order < *document.barrier;
  if (below || (newest && newest->order > input.order))
    return dropped(newest && newest->is == NewestOf::Is::kPending ? Reason::kSuperseded : Reason::kStale);
  if (!newest || newest->order < input.order) return dead_letter(Reason::kUnregistered);
  if (newest->is == NewestOf::Is::kServed) return dropped(Reason::kDuplicate);
  if (newest->is == NewestOf::Is::kRemoved) return dead_letter(Reason::kUnregisteredTarget);
  newest->is = input.too_large ? NewestOf::Is::kRemoved : NewestOf::Is::kServed;
  if (input.too_large) return dead_letter(Reason::kTooLarge);
  document.served = input.order;
  answer_.released.push_back({input.document, input.order, kNewest});
  return {Outcome::kReleased, Reason::kNone};
}

// What it does to the target without a lane.
Verdict LaneTable::newest_unregister(const Input& input) {
  DocumentLanes& document = documents_[input.document];
  auto& newest = document.newest;
  const bool below = document.barrier && input.order < *document.barrier;
  // Of `*` that is known, too.
  if (input.targets.empty() && document.served == input.order) return dropped(Reason::kDuplicate);
  if (below || (newest && newest->order > input.order)) return dropped(Reason::kSuperseded);
  if (!newest || newest->order < input.order) return dead_letter(Reason::kUnregistered);
  if (newest->is != NewestOf::Is::kPending) return dropped(Reason::kDuplicate);
  newest->is = NewestOf::Is::kRemoved;
  return {Outcome::kRemoved, Reason::kNone};
}

Verdict LaneTable::unregister(const Input& input) {
  const bool everything = input.targets.empty();
  std::vector<TargetNumber> waits;
  bool held = false;
  bool passed = false;
  for (const TargetNumber target : kOrdered) {
    if (!everything && !input.targets.contains(target)) continue;
    const LanePlace* place = find(target, input.document, input.order);
    if (place != nullptr && place->is == PlaceIs::kWaiting)
      waits.push_back(target);
    else if (place != nullptr && place->is == PlaceIs::kHeld)
      held = true;
    else if (place != nullptr || is_passed(documents_[input.document], target, input.order))
      passed = true;
  }
  const bool others = everything || input.targets.contains(kNewest);
  Verdict verdict = others ? newest_unregister(input) : dead_letter(Reason::kUnregistered);
  const bool nothing_of_others = !others || (everything && verdict == dead_letter(Reason::kUnregistered));
  if (!waits.empty())
    verdict = {Outcome::kRemoved, Reason::kNone};
  else if (nothing_of_others && (held || passed))
    verdict = dropped(held ? Reason::kDuplicate : Reason::kStale);
  for (const TargetNumber target : waits) end(target, input.document, input.order);
  return verdict;
}

Verdict LaneTable::skip(const Input& input) {
  const TargetNumber target = input.targets.first();
  const auto order = skipped_by(lane(target, input.document), input);
  const LanePlace* const place = find(target, input.document, order);
  if (place == nullptr)
    return dropped(is_passed(documents_[input.document], target, order) ? Reason::kNoChange : Reason::kUnregistered);
  if (place->is != PlaceIs::kWaiting) return dropped(Reason::kNoChange);
  end(target, input.document, order);
  return {Outcome::kApplied, Reason::kNone};
}

// It is for targets without lanes.
Verdict LaneTable::expire(const Input& input) {
  DocumentLanes& document = documents_[input.document];
  if (!document.known) return dropped(Reason::kUnregistered);
  if (!document.newest || document.newest->is != NewestOf::Is::kPending) return dropped(Reason::kNoChange);
  document.newest->is = NewestOf::Is::kRemoved;
  return {Outcome::kApplied, Reason::kNone};
}

void LaneTable::end(TargetNumber target, std::size_t document, OrderNumber order) {
  LaneQueue& queue = lane(target, document);
  LanePlace* const place = find(target, document, order);
  const auto at = static_cast<std::size_t>(place - queue.places.data());
  if (at == 0 || !ends_in_place()) return leave(target, queue, at, false);
  place->is = PlaceIs::kEnded;
}

void LaneTable::leave(TargetNumber target, LaneQueue& queue, std::size_t at, bool by_gap) {
  const LanePlace place = queue.places[at];
  queue.places.erase(queue.places.begin() + static_cast<std::ptrdiff_t>(at));
  DocumentLanes& document = documents_[place.document];
  document.mark[target] = mark_behind(document.mark[target], place);
  if (at != 0) return;
  queue.due.reset();
  queue.behind_one_that_left = !by_gap;
}

void LaneTable::see_gaps(TargetNumber target, LaneQueue& queue) {
  if (queue.places.empty() || !queue.due || queue.places.front().is != PlaceIs::kWaiting || *queue.due > now_) return;
  bool first = true;
  while (!queue.places.empty()) {
    const LanePlace& head = queue.places.front();
    if (head.is != PlaceIs::kWaiting) {
      release(target, queue);
      continue;
    }
    if (!first && (!skips_all_that_is_due() || due_of(head, false, now_) > now_)) return;
    first = false;
    answer_.skipped.push_back({head.document, head.order, target});
    leave(target, queue, 0, true);
  }
}

// The head has its result, or has ended.
void LaneTable::release(TargetNumber target, LaneQueue& queue) {
  const LanePlace head = queue.places.front();
  if (head.is == PlaceIs::kHeld) answer_.released.push_back({head.document, head.order, target});
  if (head.is == PlaceIs::kHeld && head.input) answer_.verdicts[*head.input] = {Outcome::kReleased, Reason::kNone};
  leave(target, queue, 0, false);
}

void LaneTable::drain(TargetNumber target, LaneQueue& queue) {
  while (drains(queue)) release(target, queue);
}

}  // namespace reseq::orders
