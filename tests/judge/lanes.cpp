#include "tests/judge/lanes.h"

#include <algorithm>

#include "codec/header_names.h"
#include "config/rules.h"

namespace reseq::judge {

namespace header = codec::header;

namespace {

std::string place_text(const Order& order) {
  return std::to_string(order.epoch.value()) + "/" + std::to_string(order.sequence.number().value_or(0)) + "/" +
         std::to_string(order.revision.value());
}

Order order_said_by(const Record& record) {
  return {Epoch(static_cast<std::uint32_t>(number_of(record, header::kEpoch))),
          Sequence::of_number(number_of(record, header::kSeq)), Revision(number_of(record, header::kRevision))};
}

}  // namespace

Lanes::Lanes(const config::Settings& settings, Partition partition, Verdict& verdict)
    : settings_(settings), partition_(partition), verdict_(verdict) {
  for (const config::Target& target : settings.targets)
    if (config::is_ordered(target)) targets_[target.name].total = target.order == "total";
}

void Lanes::wrong(const std::string& what) {
  verdict_.add(Check::kEnd, "partition " + std::to_string(partition_.value()) + ": " + what);
}

// Requests come before operations, those before commands; what is due comes behind them.
void Lanes::take(const ReplayedBatch& batch) {
  if (targets_.empty()) return;
  for (const Decided& one : batch.inputs)
    if (one.role == Role::kRequests) note_asked(one);
  for (const Journaled& one : batch.journaled) take_waiting(one);
  std::set<Offset> reprocessed;
  for (const Decided& one : batch.inputs)
    if (one.role == Role::kRequests && header_of(one.record, header::kReprocess) == "true")
      reprocessed.insert(one.record.offset);
  for (const Dispatched& one : batch.dispatched)
    take_dispatched(one, batch.meta.now, reprocessed.contains(one.request));
  for (const Decided& one : batch.inputs) {
    if (one.role == Role::kControl) take_skip(one);
    if (one.role == Role::kCommands) take_command(one);
  }
  for (const Journaled& one : batch.journaled) take_expired(one, batch.meta.now);
  for (const GivenUp& one : batch.given_up) {
    if (one.reason == Reason::kGap)
      take_gap(one, batch.meta.now);
    else
      take_given_up(one);
  }
  for (const Released& one : batch.releases) take_release(one);
  for (const GivenUp& one : batch.given_up)  // a turn skips, releases and skips again
    if (one.reason == Reason::kGap) leave_gap(one);
  for (const std::string& id : batch.expired)
    for (auto& [name, target] : targets_) {
      const auto document = target.documents.find(id);
      if (document == target.documents.end()) continue;
      if (!document->second.waits.empty()) wrong(id + " for " + name + ": forgotten while it is waited for");
      target.documents.erase(document);
    }
}

// Null: it cannot have one.
Lanes::Place* Lanes::enter(const std::string& name, const std::string& id, const Order& order, Offset request) {
  const auto target = targets_.find(name);
  if (target == targets_.end()) return nullptr;
  Lane& lane = target->second.documents[id];
  const auto [place, is_new] = lane.waits.try_emplace(order);
  if (!is_new) return &place->second;
  place->second.number = static_cast<std::uint64_t>(request.value()) + 1;
  if (lane.left && order <= *lane.left)
    wrong(id + " for " + name + ": " + place_text(order) + " came behind " + place_text(*lane.left));
  return &place->second;
}

std::vector<std::string> Lanes::ordered_of(const JournalEntry& entry) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < settings_.targets.size(); ++i)
    if (entry.targets.contains(TargetNumber(static_cast<std::uint8_t>(i))) &&
        targets_.contains(settings_.targets[i].name))
      names.push_back(settings_.targets[i].name);
  return names;
}

void Lanes::take_waiting(const Journaled& one) {
  for (const JournalEntry& entry : one.after) {
    if (entry.state != EntryState::kWaiting) continue;
    requests_[entry.request.offset] = {one.id, entry.order};
    for (const std::string& name : ordered_of(entry)) enter(name, one.id, entry.order, entry.request.offset);
  }
}

// What waited and expires, or did so when it lost its lease or failed.
void Lanes::take_expired(const Journaled& one, UnixMs now) {
  for (const JournalEntry& entry : one.before) {
    const UnixMs wanted_until = entry.urgency.expires_at;
    const bool stays = std::any_of(one.after.begin(), one.after.end(), [&](const JournalEntry& after) {
      return after.order == entry.order && after.state != EntryState::kGone && !(after.targets & entry.targets).empty();
    });
    if (entry.state != EntryState::kGone && !stays && wanted_until != UnixMs() && wanted_until <= now)
      for (const std::string& name : ordered_of(entry)) end(name, one.id, entry.order);
  }
}

void Lanes::take_dispatched(const Dispatched& one, UnixMs now, bool reprocessed) {
  requests_[one.request] = {one.id, one.order};
  const bool again = one.attempt > 1;
  for (const std::string& name : one.targets) {
    Place* const place = enter(name, one.id, one.order, one.request);
    if (place == nullptr) continue;
    const std::string what = one.id + " for " + name + ": " + place_text(one.order);
    if (reprocessed) wrong(what + " went to work because it was requested once more: that is no other version");
    if (place->has_result) wrong(what + " went to work although it has its result");
    if (place->dispatched_at && !again) wrong(what + " went to work twice");
    place->dispatched_at = now;
  }
}

// What stays without a result for good.
void Lanes::take_given_up(const GivenUp& one) {
  const auto request = requests_.find(one.request);
  if (request == requests_.end()) return;
  for (const std::string& name : one.targets)
    if (targets_.contains(name)) end(name, request->second.first, request->second.second);
}

void Lanes::take_command(const Decided& one) {
  const auto command = header_of(one.record, header::kCommand);
  const auto name = header_of(one.record, header::kTarget);
  if (!one.record.key || !command) return;
  const std::string id(*one.record.key);
  const Order order = order_said_by(one.record);
  const bool too_large = one.decision.reason == Reason::kTooLarge;
  if (*command == "unregister" && one.decision.outcome == Outcome::kRemoved)
    for (const auto& [each, target] : targets_)
      if (name == each || name == "*") end(each, id, order);
  if (*command != "sequence") return;
  const std::string only(name.value_or(settings_.targets.front().name));
  const auto target = targets_.find(only);
  if (target == targets_.end()) return;
  if (too_large) return end(only, id, order);
  const bool taken = one.decision.outcome == Outcome::kReleased || one.decision.outcome == Outcome::kHeld;
  const auto place = target->second.documents[id].waits.find(order);
  if (!taken || place == target->second.documents[id].waits.end()) return;
  if (place->second.has_result) wrong(id + " for " + only + ": a second result of " + place_text(order) + " was taken");
  place->second.has_result = true;
}

// The order that it names, and no other, however often it is said.
void Lanes::take_skip(const Decided& one) {
  if (header_of(one.record, header::kControl) != "skip") return;
  const bool applied = one.decision.outcome == Outcome::kApplied;
  if (!applied && one.decision.reason != Reason::kNoChange) return;
  const std::string id(*one.record.key);
  const std::string name(header_of(one.record, header::kTarget).value_or(""));
  const Order order = order_said_by(one.record);
  const auto& waits = targets_[name].documents[id].waits;
  const auto place = waits.find(order);
  const bool is_waited_for = place != waits.end() && !place->second.has_result;
  const std::string what = id + " for " + name + ": " + place_text(order);
  // What stands in its lane alone, behind as many as the journal has, or came in this batch, is not seen.
  const bool is_unseen =
      place == waits.end() && (settings_.dispatch_mode == "journal" || settings_.failures_mode == "retry");
  if (applied && !is_waited_for && !is_unseen) wrong(what + " was skipped although nobody waits for it");
  if (!applied && is_waited_for) wrong(what + " was not skipped although it is waited for");
  if (applied) end(name, id, order);
}

void Lanes::end(const std::string& name, const std::string& id, const Order& order) {
  Lane& lane = targets_[name].documents[id];
  const auto place = lane.waits.find(order);
  if (place != lane.waits.end() && !place->second.has_result) lane.waits.erase(place);
}

void Lanes::take_gap(const GivenUp& one, UnixMs now) {
  const auto request = requests_.find(one.request);
  if (request == requests_.end()) return wrong("something was skipped that did not go to work");
  const auto& [id, order] = request->second;
  for (const std::string& name : one.targets) {
    Lane& lane = targets_[name].documents[id];
    const auto place = lane.waits.find(order);
    const std::string what = id + " for " + name + ": " + place_text(order);
    if (place == lane.waits.end()) {
      wrong(what + " was skipped although it was not waited for");
      continue;
    }
    if (place->second.has_result) wrong(what + " was skipped although its result is held");
    if (!place->second.dispatched_at ||
        now.value() - place->second.dispatched_at->value() < settings_.orders_gap_timeout_ms)
      wrong(what + " was skipped early");
    if (settings_.dispatch_mode == "journal") wrong(what + " was skipped although it has a lease");
    lane.waits.erase(place);
  }
}

void Lanes::leave_gap(const GivenUp& one) {
  const auto request = requests_.find(one.request);
  if (request == requests_.end()) return;
  const auto& [id, order] = request->second;
  for (const std::string& name : one.targets) {
    std::optional<Order>& left = targets_[name].documents[id].left;
    left = std::max(left.value_or(order), order);
  }
}

void Lanes::note_asked(const Decided& one) {
  const std::uint64_t number = static_cast<std::uint64_t>(one.record.offset.value()) + 1;
  for (auto& [name, target] : targets_) {
    if (!target.total) continue;
    auto& asked = target.documents[std::string(one.record.key.value_or(""))].asked;
    asked.try_emplace(order_said_by(one.record).sequence, Numbers{number, number}).first->second.last = number;
  }
}

Lanes::Numbers Lanes::numbers_of(const Lane& lane, const Order& order, const Place& place) {
  const auto asked = lane.asked.find(order.sequence);
  if (asked == lane.asked.end()) return {place.number, place.number};
  return {std::min(place.number, asked->second.first), std::max(place.number, asked->second.last)};
}

// What stands in front of it and is still waited for.
std::optional<std::string> Lanes::in_front_of(const Target& target, const std::string& id, const Order& order,
                                              std::uint64_t number) const {
  if (!target.total) {
    const auto& waits = target.documents.at(id).waits;
    return waits.begin()->first < order ? std::optional(place_text(waits.begin()->first)) : std::nullopt;
  }
  for (const auto& [other, lane] : target.documents)
    for (const auto& [waits, place] : lane.waits)
      if (numbers_of(lane, waits, place).last < number) return other + " " + place_text(waits);
  return std::nullopt;
}

void Lanes::take_release(const Released& one) {
  const auto found = targets_.find(std::string(one.target));
  if (found == targets_.end()) return;
  Target& target = found->second;
  const std::string id(one.id);
  const Order order{Epoch(one.epoch), Sequence::of_number(one.sequence), Revision(one.revision)};
  Lane& lane = target.documents[id];
  const auto place = lane.waits.find(order);
  const std::string what = id + " for " + std::string(one.target) + ": " + place_text(order);
  if (place == lane.waits.end()) return wrong(what + " was released although it was not waited for");
  if (lane.left && order <= *lane.left) wrong(what + " was released behind " + place_text(*lane.left));
  const Numbers numbers = numbers_of(lane, order, place->second);
  if (target.total && numbers.last < target.left) wrong(what + " was released behind a later request");
  if (const auto first = in_front_of(target, id, order, numbers.first))
    wrong(what + " was released in front of " + *first);
  target.left = std::max(target.left, numbers.first);
  lane.left = std::max(lane.left.value_or(order), order);
  lane.waits.erase(place);
  lane.asked.erase(order.sequence);
}

void Lanes::finish() {
  for (const auto& [name, target] : targets_)
    for (const auto& [id, lane] : target.documents)
      for (const auto& [order, place] : lane.waits)
        wrong(id + " for " + name + ": " + place_text(order) + " is waited for, for ever");
}

}  // namespace reseq::judge
