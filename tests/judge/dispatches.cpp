#include "tests/judge/dispatches.h"

#include <algorithm>
#include <string_view>

#include "codec/header_names.h"

namespace reseq::judge {

namespace header = codec::header;

namespace {

std::string named(const Order& order) {
  return std::to_string(order.epoch.value()) + "/" + std::to_string(order.sequence.number().value_or(0)) + "/" +
         std::to_string(order.revision.value());
}

bool is_under_way(const JournalEntry& entry) {
  return entry.state == EntryState::kProcessing;
}

bool was_under_way(const Journaled& journaled, const JournalEntry& entry) {
  return std::any_of(journaled.before.begin(), journaled.before.end(),
                     [&](const JournalEntry& one) { return is_under_way(one) && one.number == entry.number; });
}

}  // namespace

void Dispatches::wrong(const std::string& what) {
  verdict_.add(Check::kDispatch, "partition " + std::to_string(partition_.value()) + ": " + what);
}

void Dispatches::take(const ReplayedBatch& batch) {
  if (settings_.dispatch_mode != "journal") return;
  now_ = batch.meta.now;
  latest_ = std::max(latest_, now_);
  const std::uint64_t under_way = batch.meta.summary.counts[Count::kProcessing];
  if (under_way > static_cast<std::uint64_t>(settings_.dispatch_in_flight_max))
    wrong(std::to_string(under_way) + " documents are under way behind the meta row at " +
          std::to_string(batch.at.value()) + ", at most " + std::to_string(settings_.dispatch_in_flight_max) +
          " may be");
  for (const Decided& one : batch.inputs)
    if (one.role == Role::kCommands && one.decision.outcome == Outcome::kApplied) take_heartbeat(one.record);
  for (const Dispatched& one : batch.dispatched) take_dispatched(one);
  for (const GivenUp& one : batch.given_up) take_given_up(one);
  if (settings_.dispatch_one_at_a_time)
    for (const Journaled& one : batch.journaled) check_one_at_a_time(one);
  for (const std::string& id : batch.expired) attempts_.erase(id);
}

// Commands that are applied are heartbeats. Its lease counts from its time.
void Dispatches::take_heartbeat(const Record& record) {
  const auto number = [&](std::string_view name) { return number_of(record, name); };
  const Order order{Epoch(static_cast<std::uint32_t>(number(header::kEpoch))),
                    Sequence::of_number(number(header::kSeq)), Revision(number(header::kRevision))};
  const std::uint64_t attempt = std::max<std::uint64_t>(number(header::kAttempt), 1);
  for (auto& [target, one] : attempts_[std::string(record.key.value_or(""))][order])
    if (one.last == attempt) one.at = std::max(one.at, std::min(record.timestamp, now_));
}

// Targets that came to an order later on begin with its first attempt, when nobody remembers the others.
void Dispatches::take_dispatched(const Dispatched& dispatched) {
  const auto what = [&](const std::string& target) {
    return dispatched.id + " at " + named(dispatched.order) + " was dispatched for " + target + " with attempt " +
           std::to_string(dispatched.attempt);
  };
  auto& attempts = attempts_[dispatched.id][dispatched.order];
  std::uint32_t last = 0;
  for (const auto& [target, one] : attempts) last = std::max(last, one.last);
  if (dispatched.attempt == 0 || dispatched.attempt > last + 1)
    wrong(what("some") + " behind attempt " + std::to_string(last));
  for (const std::string& target : dispatched.targets) {
    Attempts& before = attempts[target];
    if (dispatched.attempt <= before.last) wrong(what(target) + " behind attempt " + std::to_string(before.last));
    if (before.last > 0 && latest_.value() < before.at.value() + settings_.dispatch_lease_ms)
      wrong(what(target) + " while the lease of the one before ran");
    before = {dispatched.attempt, now_};
  }
  by_request_[dispatched.request] = {dispatched.id, dispatched.order};
}

void Dispatches::take_given_up(const GivenUp& given_up) {
  if (given_up.reason != Reason::kTimedOut) return;
  const auto request = by_request_.find(given_up.request);
  std::uint32_t last = 0;
  if (request != by_request_.end())
    for (const auto& [target, one] : attempts_[request->second.first][request->second.second])
      last = std::max(last, one.last);
  if (last <= settings_.dispatch_timeouts_max)
    wrong(given_up.id + " timed out behind " + std::to_string(last) + " attempts");
}

// Older ones that came back may join a newer one, not the other way round.
void Dispatches::check_one_at_a_time(const Journaled& journaled) {
  for (const JournalEntry& newer : journaled.after) {
    if (!is_under_way(newer) || was_under_way(journaled, newer)) continue;
    for (const JournalEntry& older : journaled.after)
      if (is_under_way(older) && older.order < newer.order && was_under_way(journaled, older))
        wrong(journaled.id + " at " + named(newer.order) + " was dispatched while " + named(older.order) +
              " was under way");
  }
}

}  // namespace reseq::judge
