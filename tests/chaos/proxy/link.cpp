#include "tests/chaos/proxy/link.h"

#include <algorithm>
#include <array>
#include <poll.h>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/chaos/proxy/proxy.h"

namespace reseq::chaos {

namespace {

constexpr std::chrono::milliseconds kTrickle{10};  // between two pieces of a throttled message

// How much of a message may go now.
std::size_t allowance(const Message& message, Clock::time_point now) {
  const std::size_t rest = message.bytes.size() - message.sent;
  if (message.rate == 0) return rest;
  const auto passed = std::chrono::duration<double>(now - message.began).count();
  const auto earned = static_cast<std::size_t>(passed * static_cast<double>(message.rate));
  return std::min(rest, earned - std::min(earned, message.sent));
}

}  // namespace

Link::Link(Exchange& exchange, int broker, Socket client, Socket upstream)
    : exchange_(exchange),
      origin_{.broker = broker, .client_id = {}, .transactional_id = {}},
      client_(std::move(client)),
      upstream_(std::move(upstream)) {}

Link::~Link() {
  forget(to_broker_);
  forget(to_client_);
  for (const Asked& one : asked_) exchange_.rules.lost(one.held);
  client_.reset();
  upstream_.reset();
}

short Link::events(Side side) const {
  // What comes from one side goes into the lane to the other.
  const Lane& filled = lane_to(side == Side::kClient ? Side::kBroker : Side::kClient);
  int events = filled.bytes < kBufferedMax ? POLLIN : 0;
  if (lane_to(side).blocked) events |= POLLOUT;
  return static_cast<short>(events);
}

void Link::on_events(Side side, short events, Clock::time_point now) {
  if ((events & POLLOUT) != 0) (side == Side::kClient ? to_client_ : to_broker_).blocked = false;
  const bool ended = (events & (POLLERR | POLLHUP)) != 0;
  if ((events & POLLIN) != 0)
    read(side, now);
  else if (ended)
    side == Side::kClient ? end_client() : upstream_.close();
}

void Link::read(Side side, Clock::time_point now) {
  std::array<char, 65'536> room;
  const auto [outcome, bytes] = socket(side).receive(room.data(), room.size());
  if (outcome == Socket::Outcome::kWait) return;
  if (outcome == Socket::Outcome::kEnded) return side == Side::kClient ? end_client() : upstream_.close();
  std::vector<std::string> frames;
  FrameCutter& cutter = side == Side::kClient ? from_client_ : from_broker_;
  if (!cutter.append(std::string_view(room.data(), bytes), frames)) return doom();
  for (std::string& frame : frames) {
    if (doomed_) return;
    side == Side::kClient ? request_came(std::move(frame), now) : response_came(std::move(frame), now);
  }
}

// Nobody reads the responses any more; requests that came before are still delivered, as TCP does.
void Link::end_client() {
  client_.close();
  forget(to_client_);
}

void Link::forget(Lane& lane) {
  for (const Message& message : lane.queue) exchange_.rules.lost(message.held);
  lane = {};
}

void Link::request_came(std::string frame, Clock::time_point now) {
  auto facts = read_request(frame);
  if (!facts) return doom();
  origin_.client_id = facts->client_id;
  if (!facts->transactional_id.empty()) origin_.transactional_id = facts->transactional_id;
  Message message{.bytes = std::move(frame), .request = std::move(*facts), .order = ++exchange_.requests};
  const Fate fate = exchange_.rules.on_request(origin_, message, now);
  settle(fate, to_broker_, std::move(message));
}

void Link::response_came(std::string frame, Clock::time_point now) {
  const auto correlation = read_correlation(frame);
  if (!correlation) return doom();
  auto answers = asked(*correlation);
  if (!answers) return doom();
  exchange_.rules.answered(answers->held, end_txn_error(answers->request, frame));
  if (!client_.open()) return;
  if (answers->loses_reply != 0) {
    exchange_.rules.reply_lost(answers->loses_reply);
    client_.reset();
    return end_client();
  }
  Message message{.bytes = std::move(frame), .request = std::move(answers->request), .order = answers->order};
  const Fate fate = exchange_.rules.on_response(origin_, message, now);
  settle(fate, to_client_, std::move(message));
}

void Link::settle(const Fate& fate, Lane& lane, Message message) {
  if (fate.reset) return doom();
  if (fate.swallowed_by != 0) torn_by_.insert(fate.swallowed_by);
  if (!fate.drop) {
    lane.bytes += message.bytes.size();
    lane.queue.push_back(std::move(message));
  }
  if (fate.reset_client) {
    client_.reset();
    end_client();
  }
}

// A broker answers the requests of a connection in order, those of Produce without acknowledgement never.
std::optional<Link::Asked> Link::asked(std::int32_t correlation) {
  while (!asked_.empty()) {
    Asked first = std::move(asked_.front());
    asked_.pop_front();
    if (first.request.correlation == correlation) return first;
    exchange_.rules.lost(first.held);
  }
  return std::nullopt;
}

void Link::flush(Clock::time_point now) {
  if (doomed_) return;
  send(Side::kBroker, to_broker_, now);
  send(Side::kClient, to_client_, now);
}

void Link::send(Side side, Lane& lane, Clock::time_point now) {
  while (!lane.queue.empty() && !lane.blocked && socket(side).open()) {
    Message& message = lane.queue.front();
    if (message.due > now || !exchange_.rules.may_go(message)) return;
    if (message.began == Clock::time_point{}) message.began = now;
    const std::size_t allowed = allowance(message, now);
    if (allowed == 0) return;
    const auto [outcome, bytes] = socket(side).send(std::string_view(message.bytes).substr(message.sent, allowed));
    if (outcome == Socket::Outcome::kWait) lane.blocked = true;
    if (outcome == Socket::Outcome::kEnded) return side == Side::kClient ? end_client() : upstream_.close();
    message.sent += bytes;
    if (message.sent < message.bytes.size()) continue;
    sent(side, message);
    lane.bytes -= message.bytes.size();
    lane.queue.pop_front();
  }
}

void Link::sent(Side side, Message& message) {
  if (side == Side::kClient) return exchange_.rules.response_delivered(message.held);
  exchange_.rules.request_delivered(message.held);
  ++exchange_.forwarded[message.request.api];
  asked_.push_back({.request = std::move(message.request),
                    .order = message.order,
                    .held = message.held,
                    .loses_reply = message.loses_reply});
}

std::optional<Clock::time_point> Link::next_due(Clock::time_point now) const {
  std::optional<Clock::time_point> next;
  for (const Lane* lane : {&to_client_, &to_broker_}) {
    if (lane->queue.empty() || lane->blocked) continue;
    const Message& front = lane->queue.front();
    if (!exchange_.rules.may_go(front)) continue;  // something else has to happen first
    const auto due = front.due > now ? front.due : now + kTrickle;
    if (!next || due < *next) next = due;
  }
  return next;
}

bool Link::owes_answer() const {
  return std::any_of(asked_.begin(), asked_.end(), [](const Asked& one) { return one.held.rule != 0; });
}

bool Link::over() {
  if (doomed_) return true;
  const bool torn =
      std::any_of(torn_by_.begin(), torn_by_.end(), [this](RuleId rule) { return exchange_.rules.in_force(rule); });
  if (!torn && !torn_by_.empty()) return true;
  if (!client_.open() && !upstream_.open()) return true;
  if (torn) return false;  // neither side is told that the other has ended
  if (!upstream_.open()) {
    if (!to_client_.queue.empty()) return false;
    client_.close();  // in order: the broker may have ended it in order
    return true;
  }
  return !client_.open() && to_broker_.queue.empty() && !owes_answer();
}

}  // namespace reseq::chaos
