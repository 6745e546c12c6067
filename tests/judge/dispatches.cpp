#include "tests/judge/dispatches.h"

#include <algorithm>

namespace reseq::judge {

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
  for (const Dispatched& one : batch.dispatched) take_dispatched(one);
  for (const GivenUp& one : batch.given_up) take_given_up(one);
  if (settings_.dispatch_one_at_a_time)
    for (const Journaled& one : batch.journaled) check_one_at_a_time(one);
  for (const std::string& id : batch.expired) attempts_.erase(id);
}

void Dispatches::take_dispatched(const Dispatched& dispatched) {
  Attempts& attempts = attempts_[dispatched.id][dispatched.order];
  const auto what = [&] {
    return dispatched.id + " at " + named(dispatched.order) + " was dispatched with attempt " +
           std::to_string(dispatched.attempt);
  };
  if (dispatched.attempt != attempts.last + 1) wrong(what() + " behind attempt " + std::to_string(attempts.last));
  if (attempts.last > 0 && latest_.value() < attempts.at.value() + settings_.dispatch_lease_ms)
    wrong(what() + " while the lease of the one before ran");
  attempts = {dispatched.attempt, now_};
  by_request_[dispatched.request] = {dispatched.id, dispatched.order};
}

void Dispatches::take_given_up(const GivenUp& given_up) {
  if (given_up.reason != Reason::kTimedOut) return;
  const auto request = by_request_.find(given_up.request);
  const std::uint32_t last =
      request == by_request_.end() ? 0 : attempts_[request->second.first][request->second.second].last;
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
