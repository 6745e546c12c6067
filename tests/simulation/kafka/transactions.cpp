#include "tests/simulation/kafka/transactions.h"

#include <algorithm>
#include <utility>

namespace reseq::simulation {

TransactionAnswer Transactions::init(const std::string& id, Milliseconds timeout, ProducerIdentity& identity) {
  auto state = std::find_if(states_.begin(), states_.end(), [&](const State& one) { return one.id == id; });
  if (state == states_.end()) {
    State fresh;
    fresh.id = id;
    fresh.producer.id = ProducerId(static_cast<std::int64_t>(states_.size()) + 1);
    states_.push_back(std::move(fresh));
    state = states_.end() - 1;
  }
  if (state->phase == Phase::kEnding) return TransactionAnswer::kConcurrent;
  ++state->producer.epoch;
  if (state->phase == Phase::kOngoing) {
    state->phase = Phase::kEnding;
    state->outcome = Fate::kAborted;
    return TransactionAnswer::kConcurrent;
  }
  state->timeout = timeout;
  state->outcome = Fate::kOpen;
  identity = state->producer;
  return TransactionAnswer::kGood;
}

TransactionAnswer Transactions::open(ProducerIdentity who, std::optional<Place> place, UnixMs now) {
  State* state = find(who.id);
  if (state == nullptr) return TransactionAnswer::kInvalidState;
  if (state->producer.epoch != who.epoch) return TransactionAnswer::kFenced;
  if (state->phase == Phase::kEnding) return TransactionAnswer::kConcurrent;
  if (state->phase == Phase::kEmpty) {
    state->phase = Phase::kOngoing;
    state->started = now;
  }
  if (std::find(state->places.begin(), state->places.end(), place) == state->places.end())
    state->places.push_back(place);
  return TransactionAnswer::kGood;
}

TransactionAnswer Transactions::add(ProducerIdentity who, Place place, UnixMs now) {
  return open(who, place, now);
}

TransactionAnswer Transactions::add_offsets(ProducerIdentity who, UnixMs now) {
  return open(who, std::nullopt, now);
}

TransactionAnswer Transactions::verify(ProducerIdentity who, Place place) const {
  const State* state = find(who.id);
  if (state == nullptr) return TransactionAnswer::kInvalidState;
  if (state->producer.epoch != who.epoch) return TransactionAnswer::kFenced;
  const bool added = std::find(state->places.begin(), state->places.end(), place) != state->places.end();
  return state->phase == Phase::kOngoing && added ? TransactionAnswer::kGood : TransactionAnswer::kInvalidState;
}

TransactionAnswer Transactions::end(ProducerIdentity who, Fate fate) {
  State* state = find(who.id);
  if (state == nullptr) return TransactionAnswer::kInvalidState;
  if (state->producer.epoch != who.epoch) return TransactionAnswer::kFenced;
  if (state->phase == Phase::kOngoing) {
    state->phase = Phase::kEnding;
    state->outcome = fate;
    return TransactionAnswer::kGood;
  }
  if (state->outcome != fate) return TransactionAnswer::kInvalidState;
  return state->phase == Phase::kEnding ? TransactionAnswer::kConcurrent : TransactionAnswer::kGood;
}

std::vector<Marker> Transactions::land(Draw& draw, std::uint32_t per_mille) {
  std::vector<Marker> landed;
  for (State& state : states_) {
    if (state.phase != Phase::kEnding) continue;
    std::erase_if(state.places, [&](const std::optional<Place>& place) {
      if (!draw.chance(per_mille)) return false;
      landed.push_back({place, state.producer.id, state.outcome});
      return true;
    });
    if (state.places.empty()) state.phase = Phase::kEmpty;
  }
  return landed;
}

std::size_t Transactions::sweep(UnixMs now) {
  std::size_t aborted = 0;
  for (State& state : states_) {
    if (state.phase != Phase::kOngoing || now.value() - state.started.value() <= state.timeout.value()) continue;
    ++state.producer.epoch;
    state.phase = Phase::kEnding;
    state.outcome = Fate::kAborted;
    ++aborted;
  }
  return aborted;
}

bool Transactions::quiet() const {
  return std::all_of(states_.begin(), states_.end(), [](const State& one) { return one.phase == Phase::kEmpty; });
}

std::size_t Transactions::ongoing() const {
  return static_cast<std::size_t>(
      std::count_if(states_.begin(), states_.end(), [](const State& one) { return one.phase == Phase::kOngoing; }));
}

Transactions::State* Transactions::find(ProducerId id) {
  const auto found = std::find_if(states_.begin(), states_.end(), [&](const State& s) { return s.producer.id == id; });
  return found == states_.end() ? nullptr : &*found;
}

const Transactions::State* Transactions::find(ProducerId id) const {
  const auto found = std::find_if(states_.begin(), states_.end(), [&](const State& s) { return s.producer.id == id; });
  return found == states_.end() ? nullptr : &*found;
}

}  // namespace reseq::simulation
