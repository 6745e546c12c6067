#include "tests/chaos/proxy/rule_book.h"

#include <algorithm>
#include <fnmatch.h>
#include <utility>

namespace reseq::chaos {

namespace {

bool fits(const std::string& pattern, const std::string& text) {
  return pattern.empty() || ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

bool same_producer(const Origin& one, const Origin& other) {
  if (!one.transactional_id.empty()) return one.transactional_id == other.transactional_id;
  return one.client_id == other.client_id;
}

}  // namespace

bool fits(const Match& match, const Origin& from) {
  return (!match.broker || *match.broker == from.broker) && fits(match.client, from.client_id) &&
         fits(match.transactional_id, from.transactional_id);
}

RuleId RuleBook::add(Rule rule) {
  Entry& entry = entries_[++last_id_];
  entry.rule = std::move(rule);
  in_force_[last_id_] = &entry;
  return last_id_;
}

void RuleBook::remove(RuleId id) {
  in_force_.erase(id);
  release(id);
}

void RuleBook::release(RuleId id) {
  Entry& entry = entries_.at(id);
  ++entry.turn;
  entry.triggers_seen = 0;
}

void RuleBook::clear() {
  while (!in_force_.empty()) remove(in_force_.begin()->first);
}

RuleCounts RuleBook::counts(RuleId id) const {
  return entries_.at(id).counts;
}

bool RuleBook::refuses(int broker) {
  for (auto& [id, entry] : in_force_) {
    if (!std::holds_alternative<Refuse>(entry->rule.action) || entry->taken == entry->rule.limit) continue;
    if (entry->rule.match.broker.value_or(broker) != broker) continue;
    ++entry->taken;
    ++entry->counts.acted;
    return true;
  }
  return false;
}

bool RuleBook::takes(Entry& entry, const Origin& from, const Message& message, Way way) {
  const Rule& rule = entry.rule;
  if (entry.taken == rule.limit) return false;
  if (rule.way != Way::kBoth && rule.way != way) return false;
  if (rule.after != 0 && entries_.at(rule.after).counts.acted == 0) return false;
  if (!fits(rule.match, from)) return false;
  const auto& apis = rule.match.apis;
  if (!apis.empty() && std::find(apis.begin(), apis.end(), message.request.api) == apis.end()) return false;
  if (rule.share < 1 && std::uniform_real_distribution<>(0, 1)(random_) >= rule.share) return false;
  ++entry.taken;
  return true;
}

void RuleBook::hold(RuleId id, Entry& entry, const Origin& from, Message& message) {
  if (entry.unfinished[entry.turn]++ == 0) {
    entry.held_order = message.order;
    entry.held_from = from;
  }
  message.held = {.rule = id, .turn = entry.turn};
}

// False: nothing more can happen to this message.
bool RuleBook::apply(RuleId id, Entry& entry, const Origin& from, Message& message, Clock::time_point now, Fate& fate) {
  if (std::holds_alternative<LoseReply>(entry.rule.action)) {
    message.loses_reply = id;  // counted when the reply is lost
    return true;
  }
  ++entry.counts.acted;
  if (const auto* delay = std::get_if<Delay>(&entry.rule.action)) {
    const auto jitter = std::uniform_int_distribution<std::int64_t>(0, delay->jitter.count())(random_);
    message.due = std::max(message.due, now) + delay->by + std::chrono::milliseconds(jitter);
    return true;
  }
  if (const auto* throttle = std::get_if<Throttle>(&entry.rule.action)) {
    const std::uint64_t rate = std::max<std::uint64_t>(1, throttle->bytes_per_second);
    message.rate = message.rate == 0 ? rate : std::min(message.rate, rate);
    return true;
  }
  if (const auto* held = std::get_if<Hold>(&entry.rule.action)) {
    hold(id, entry, from, message);
    fate.reset_client = held->cut_client;
    return false;
  }
  if (std::holds_alternative<Swallow>(entry.rule.action)) fate.swallowed_by = id;
  if (std::holds_alternative<Cut>(entry.rule.action)) fate.reset = true;
  fate.drop = true;
  return false;
}

Fate RuleBook::decide(const Origin& from, Message& message, Way way, Clock::time_point now) {
  Fate fate;
  for (auto& [id, entry] : in_force_) {
    const Action& action = entry->rule.action;
    if (std::holds_alternative<Refuse>(action)) continue;
    if (std::holds_alternative<LoseReply>(action) && way != Way::kRequests) continue;
    if (takes(*entry, from, message, way) && !apply(id, *entry, from, message, now, fate)) break;
  }
  return fate;
}

Fate RuleBook::on_request(const Origin& from, Message& request, Clock::time_point now) {
  return decide(from, request, Way::kRequests, now);
}

Fate RuleBook::on_response(const Origin& from, Message& response, Clock::time_point now) {
  watch_triggers(from, response);
  return decide(from, response, Way::kResponses, now);
}

void RuleBook::watch_triggers(const Origin& from, Message& response) {
  for (auto& [id, entry] : in_force_) {
    const auto* held = std::get_if<Hold>(&entry->rule.action);
    if (held == nullptr || !held->until || !entry->unfinished.contains(entry->turn)) continue;
    if (response.request.api != held->until->api || response.order <= entry->held_order) continue;
    if (!same_producer(entry->held_from, from)) continue;
    if (++entry->triggers_seen < held->until->count) continue;
    response.behind = {.rule = id, .turn = entry->turn};
    release(id);
  }
}

bool RuleBook::may_go(const Message& message) const {
  if (message.held.rule != 0 && entries_.at(message.held.rule).turn <= message.held.turn) return false;
  return message.behind.rule == 0 || !entries_.at(message.behind.rule).unfinished.contains(message.behind.turn);
}

void RuleBook::request_delivered(Ticket held) {
  if (held.rule != 0) ++entries_.at(held.rule).counts.delivered;
}

void RuleBook::response_delivered(Ticket held) {
  if (held.rule == 0) return;
  ++entries_.at(held.rule).counts.delivered;
  finished(held);
}

void RuleBook::answered(Ticket held, std::int16_t end_txn_error) {
  if (held.rule == 0) return;
  RuleCounts& counts = entries_.at(held.rule).counts;
  ++counts.answered;
  if (end_txn_error >= 0) counts.last_error = end_txn_error;
  finished(held);
}

void RuleBook::lost(Ticket held) {
  if (held.rule == 0) return;
  ++entries_.at(held.rule).counts.lost;
  finished(held);
}

void RuleBook::finished(Ticket held) {
  auto& unfinished = entries_.at(held.rule).unfinished;
  const auto turn = unfinished.find(held.turn);
  if (--turn->second == 0) unfinished.erase(turn);
}

}  // namespace reseq::chaos
