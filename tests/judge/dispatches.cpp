#include "tests/judge/dispatches.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>

#include "codec/header_names.h"
#include "config/rules.h"

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

Dispatches::Dispatches(const config::Settings& settings, Partition partition, Verdict& verdict)
    : settings_(settings), leases_(settings.dispatch_mode == "journal"), partition_(partition), verdict_(verdict) {
  for (std::size_t i = 0; i < settings.targets.size(); ++i)
    if (config::is_ordered(settings.targets[i])) ordered_ |= TargetSet::of(TargetNumber(static_cast<std::uint8_t>(i)));
}

bool Dispatches::is_of_lanes_alone(const JournalEntry& entry) const {
  return !entry.targets.empty() && ordered_.covers(entry.targets);
}

bool Dispatches::is_ordered(const std::string& target) const {
  return std::any_of(settings_.targets.begin(), settings_.targets.end(),
                     [&](const config::Target& one) { return one.name == target && config::is_ordered(one); });
}

void Dispatches::wrong(const std::string& what) {
  verdict_.add(Check::kDispatch, "partition " + std::to_string(partition_.value()) + ": " + what);
}

void Dispatches::take(const ReplayedBatch& batch) {
  if (!leases_ && settings_.failures_mode != "retry") return;
  now_ = batch.meta.now;
  latest_ = std::max(latest_, now_);
  const std::uint64_t under_way = batch.meta.summary.counts[Count::kProcessing];
  if (leases_ && under_way > static_cast<std::uint64_t>(settings_.dispatch_in_flight_max))
    wrong(std::to_string(under_way) + " documents are under way behind the meta row at " +
          std::to_string(batch.at.value()) + ", at most " + std::to_string(settings_.dispatch_in_flight_max) +
          " may be");
  for (const Decided& one : batch.inputs) {
    if (one.role == Role::kRequests && settings_.failures_inherit_failed) take_request(one);
    if (one.role == Role::kCommands && one.decision.outcome == Outcome::kApplied) take_command(one);
  }
  for (const Dispatched& one : batch.dispatched) take_dispatched(one);
  for (const GivenUp& one : batch.given_up) take_given_up(one);
  check_markers(batch);
  check_down(batch);
  if (leases_ && settings_.dispatch_one_at_a_time)
    for (const Journaled& one : batch.journaled) check_one_at_a_time(one);
  for (const std::string& id : batch.expired) attempts_.erase(id);
}

// Commands that are applied are heartbeats, from whose time on a lease counts, and failures, which end it.
void Dispatches::take_command(const Decided& one) {
  const Record& record = one.record;
  const auto number = [&](std::string_view name) { return number_of(record, name); };
  const Order order{Epoch(static_cast<std::uint32_t>(number(header::kEpoch))),
                    Sequence::of_number(number(header::kSeq)), Revision(number(header::kRevision))};
  const std::uint64_t attempt = std::max<std::uint64_t>(number(header::kAttempt), 1);
  const bool fails = header_of(record, header::kCommand) == "fail";
  const bool undone = header_of(record, header::kEffect) == "none";
  const auto failed = header_of(record, header::kTarget);
  const std::string id(record.key.value_or(""));
  for (auto& [target, attempts] : attempts_[id][order]) {
    if (attempts.last != attempt) continue;
    if (fails && !attempts.failed && (failed == target || failed == "*")) attempts.undone = undone;
    if (!fails)
      attempts.at = std::max(attempts.at, std::min(record.timestamp, now_));
    else if (failed == target)
      take_failure(attempts, one.decision.table_row != TableRow::kF3, id + " at " + named(order) + " for " + target);
    else if (failed == "*")  // of several targets one may wait because it cannot be reached, which is no retry
      take_failure(attempts, settings_.failures_breaker_documents == 0, id + " at " + named(order) + " for " + target);
  }
}

void Dispatches::check_down(const ReplayedBatch& batch) {
  for (const std::string& target : batch.down) {
    const auto goes_there = [&](const Dispatched& one) {
      return std::find(one.targets.begin(), one.targets.end(), target) != one.targets.end();
    };
    const auto sent = std::count_if(batch.dispatched.begin(), batch.dispatched.end(), goes_there);
    if (sent > 1)
      wrong(std::to_string(sent) + " documents were dispatched for " + target + ", which cannot be reached");
  }
}

// With markers whoever is given up for good is told of, once for each of its targets, and nobody else.
void Dispatches::check_markers(const ReplayedBatch& batch) {
  std::set<std::tuple<Offset, std::string, Reason>> told;
  for (const GivenUp& one : batch.given_up)
    for (const std::string& target : one.targets)
      if (is_ordered(target)) given_up_in_lanes_.emplace(one.id, target, one.reason);
  for (const Marked& one : batch.marked) {
    if (one.reason == Reason::kGap) continue;
    if (is_ordered(one.target)) {
      const auto given_up = given_up_in_lanes_.find({one.id, one.target, one.reason});
      if (given_up != given_up_in_lanes_.end())
        given_up_in_lanes_.erase(given_up);
      else
        wrong(one.id + " is marked for " + one.target + " with " + std::string(name_of(one.reason)) + ", request " +
              std::to_string(one.request.value()) + ", and was not given up");
      continue;
    }
    if (!told.emplace(one.request, one.target, one.reason).second) wrong(one.id + " is marked twice for " + one.target);
    const bool given_up = std::any_of(batch.given_up.begin(), batch.given_up.end(), [&](const GivenUp& of) {
      return of.request == one.request && of.reason == one.reason;
    });
    if (!given_up || settings_.failures_on_failure != "marker")
      wrong(one.id + " is marked for " + one.target + " with " + std::string(name_of(one.reason)));
  }
  if (settings_.failures_on_failure != "marker" || settings_.failures_mode != "retry") return;
  for (const GivenUp& one : batch.given_up) {
    const bool failed = one.reason == Reason::kFailed || one.reason == Reason::kEffectUnknown;
    if (!failed && one.reason != Reason::kTimedOut && one.reason != Reason::kBodyGone) continue;
    const bool in_lanes = std::any_of(one.targets.begin(), one.targets.end(),
                                      [&](const std::string& target) { return is_ordered(target); });
    const bool marked = std::any_of(batch.marked.begin(), batch.marked.end(),
                                    [&](const Marked& of) { return of.request == one.request; });
    if (!marked && !in_lanes) wrong(one.id + " was given up without a marker");
    for (const std::string& target : one.targets)
      if (!is_ordered(target) && !told.contains({one.request, target, one.reason}))
        wrong(one.id + " was given up without a marker for " + target);
  }
}

// Each attempt fails once.
void Dispatches::take_failure(Attempts& attempts, bool is_retry, const std::string& what) {
  if (attempts.failed) return;  // `*` is about those that have not ended
  attempts.failed = true;
  attempts.said = true;
  if (!is_retry) return;
  if (++attempts.failures > settings_.failures_retries_max + 1)
    wrong(what + " failed " + std::to_string(attempts.failures) + " times, at most " +
          std::to_string(settings_.failures_retries_max) + " retries may be");
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
    if (before.last > 0 && !before.failed && !leases_)
      wrong(what(target) + ", and nobody said that the last one failed");
    if (leases_ && before.last > 0 && !before.failed &&
        latest_.value() < before.at.value() + settings_.dispatch_lease_ms)
      wrong(what(target) + " while the lease of the one before ran");
    if (is_potent(target) && before.last > 0 && !before.undone)
      wrong(what(target) + ", which is potent, and nobody said that nothing was done");
    before = {dispatched.attempt, now_, false, before.said, false, dispatched.request, before.failures};
  }
  by_request_[dispatched.request] = {dispatched.id, dispatched.order};
}

bool Dispatches::is_potent(const std::string& target) const {
  return std::any_of(settings_.targets.begin(), settings_.targets.end(),
                     [&](const config::Target& one) { return one.name == target && one.effect == "potent"; });
}

void Dispatches::take_request(const Decided& one) {
  contents_[one.record.offset] = std::string(one.record.payload.value_or(""));
}

// The same content, and somebody said that it failed, or nobody may do it twice.
bool Dispatches::has_failed_before(const GivenUp& given_up, const std::string& target) const {
  const auto content = contents_.find(given_up.request);
  const auto document = attempts_.find(given_up.id);
  if (!settings_.failures_inherit_failed || content == contents_.end() || document == attempts_.end()) return false;
  return std::any_of(document->second.begin(), document->second.end(), [&](const auto& of_order) {
    const auto one = of_order.second.find(target);
    if (one == of_order.second.end() || (!one->second.said && !is_potent(target))) return false;
    const auto before = contents_.find(one->second.request);
    return before != contents_.end() && before->second == content->second;
  });
}

void Dispatches::take_given_up(const GivenUp& given_up) {
  const bool failed = given_up.reason == Reason::kFailed || given_up.reason == Reason::kEffectUnknown;
  const auto request = by_request_.find(given_up.request);
  if (request == by_request_.end()) {
    // Nobody works for nothing: only what failed before fails at once.
    for (const std::string& target : given_up.targets)
      if (failed && !has_failed_before(given_up, target))
        wrong(given_up.id + " was given up for " + target + " without an attempt, and its content has not failed");
    if (given_up.reason == Reason::kTimedOut) wrong(given_up.id + " timed out without an attempt");
    return;
  }
  auto& attempts = attempts_[request->second.first][request->second.second];
  for (const std::string& target : given_up.targets) {
    const Attempts& one = attempts[target];
    if (given_up.reason == Reason::kFailed && !one.said)
      wrong(given_up.id + " was given up as failed for " + target + ", and nobody said so");
    if (given_up.reason == Reason::kEffectUnknown && (!is_potent(target) || one.last == 0 || one.undone))
      wrong(given_up.id + " was given up for " + target + ", whose effect is known");
    if (given_up.reason == Reason::kTimedOut && one.last <= settings_.dispatch_timeouts_max)
      wrong(given_up.id + " timed out for " + target + " behind " + std::to_string(one.last) + " attempts");
  }
}

// Older ones that came back may join a newer one, not the other way round.
void Dispatches::check_one_at_a_time(const Journaled& journaled) {
  for (const JournalEntry& newer : journaled.after) {
    if (!is_under_way(newer) || was_under_way(journaled, newer) || is_of_lanes_alone(newer)) continue;
    for (const JournalEntry& older : journaled.after)
      if (is_under_way(older) && !is_of_lanes_alone(older) && older.order < newer.order &&
          was_under_way(journaled, older))
        wrong(journaled.id + " at " + named(newer.order) + " was dispatched while " + named(older.order) +
              " was under way");
  }
}

}  // namespace reseq::judge
