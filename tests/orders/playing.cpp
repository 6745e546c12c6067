#include "tests/orders/playing.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <variant>

#include "codec/place_row.h"
#include "driver/batch_driver.h"
#include "engine/orders/orders_batch.h"

namespace reseq::orders {
namespace {

constexpr std::array<std::string_view, kDocuments> kIds = {"alpha", "beta", "gamma"};
constexpr std::uint64_t kBytesMax = 1'000;  // of an output

std::size_t number_of_id(std::string_view id) {
  const auto found = std::find(kIds.begin(), kIds.end(), id);
  RESEQ_ASSERT(found != kIds.end(), "an id that is none of the history's");
  return static_cast<std::size_t>(found - kIds.begin());
}

OrderNumber order_number(const Order& order) {
  return order.sequence.number().value_or(0);
}

// The engine sees nothing of a record, so it is made up: some fill many rows.
codec::InputRecord record_at(const Input& input, std::string& payload) {
  payload.assign(static_cast<std::size_t>(input.position * 997 % 9'001), 'x');
  codec::InputRecord record;
  record.role = Role::kCommands;
  record.offset = Offset(input.position);
  record.key = kIds[input.document];
  record.payload = payload;
  return record;
}

Command command_of(const Input& input) {
  const DocumentId id = kIds[input.document];
  const Sequence sequence = Sequence::of_number(input.order);
  const std::optional<Epoch> epoch(Epoch(0));
  Registration what{id, epoch, sequence, Revision(), input.deletes ? Op::kDelete : Op::kUpsert, std::nullopt, {}};
  if (input.has_list) what.targets = input.targets;
  switch (input.kind) {
    case Kind::kRequest: {
      Request request;
      request.what = what;
      request.hash = PayloadHash(input.hash);
      request.reprocess = input.reprocess;
      request.work_bytes = 10;
      return request;
    }
    case Kind::kRegister:
      return Register{what};
    case Kind::kExpire:
      return Expire{false, id, {}, std::nullopt};
    case Kind::kSkip:
      return SkipPlace{false, id, epoch, sequence, Revision(), input.targets.first()};
    case Kind::kUnregister:
      return Unregister{id, epoch, sequence, Revision(), input.targets, input.targets.empty(), false};
    case Kind::kResult: {
      SequenceResult result;
      result.id = id;
      result.epoch = epoch;
      result.sequence = sequence;
      result.target = input.targets.first();
      result.output_bytes = input.too_large ? kBytesMax + 1 : 10;
      return result;
    }
  }
  return Refused{};
}

}  // namespace

EnginePlayer::EnginePlayer(std::uint32_t rows_max) : rows_max_(rows_max) {
  context_.all_targets = context_.default_targets = kAllTargets;
  context_.policies.events = engine::EventPolicy::kAll;
  context_.lanes.targets = {TargetSet::of(kStrict), TargetSet::of(kTotal)};
  context_.lanes.gap_timeout = Milliseconds(kGapMs);
  context_.output_bytes_max.fill(kBytesMax);
}

Answer EnginePlayer::play(const Batch& batch) {
  context_.now = batch.now;
  driver::BatchDriver driver(rows_, state_, context_);
  for (const Input& input : batch.inputs) {
    const engine::Taken taken = driver.decide(command_of(input), Offset(input.position), true);
    RESEQ_ASSERT(taken == engine::Taken::kDecided, "an input was put off");
  }
  std::vector<driver::GateTurn> turns;
  if (batch.fenced) turns.push_back({engine::kGapTurn, batch.now, rows_max_});
  turns.push_back({engine::kDrainTurn, batch.now, rows_max_});
  engine::BytesLeft left;
  driver.close({.overdue = {}, .turns = turns, .expired = {}, .left = &left, .references = nullptr});
  const engine::Batch& decided = driver.batch();
  for (const Decision& decision : decided.decisions()) met_.insert(decision.table_row);
  std::string payload;
  rows_.apply(decided, [&](InputIndex input) { return record_at(batch.inputs.at(input.value()), payload); });
  state_ = decided.state();
  check_heads();
  return answer_of(decided, batch);
}

bool EnginePlayer::has_more() const {
  return orders_.next(engine::kDrainTurn, {rows_, state_, context_.now}).has_value();
}

std::optional<UnixMs> EnginePlayer::next_gap() const {
  return orders_.next(engine::kGapTurn, {rows_, state_, context_.now});
}

void EnginePlayer::check_heads() const {
  using Key = std::pair<std::uint64_t, std::string>;  // as the places of a lane leave
  std::map<std::pair<TargetNumber, std::string>, std::map<Key, bool>> lanes;
  std::size_t held = 0;
  for (const auto& [key, value] : rows_.others.all()) {
    if (codec::is_held_key(key)) ++held;
    const auto decoded = codec::decode_place(key, value);
    const auto* place = std::get_if<codec::PlaceRow>(&decoded);
    if (place == nullptr) continue;
    const std::string document = place->total ? "" : std::string(place->id);
    lanes[{place->target, document}][{place->total ? place->number : 0, key}] = place->due.has_value();
    const bool has_result = rows_.others.row(codec::held_key_of_place(key)).has_value();
    RESEQ_ASSERT(!has_result || (!place->ended && !place->is_waited_for()), "a place and its result do not agree");
    RESEQ_ASSERT(!place->due || place->is_waited_for() || place->ended || has_result, "a head that leaves without one");
    if (has_result) --held;
  }
  RESEQ_ASSERT(held == 0, "a result is held without a place");
  for (const auto& [lane, places] : lanes)
    for (auto one = places.begin(); one != places.end(); ++one)
      RESEQ_ASSERT(one->second == (one == places.begin()), "a head that nobody looks at, or another one");
}

Answer EnginePlayer::answer_of(const engine::Batch& decided, const Batch& batch) const {
  Answer answer;
  for (const Decision& decision : decided.decisions()) answer.verdicts.push_back({decision.outcome, decision.reason});
  const auto document_of = [&](InputIndex input) {
    const std::size_t place = input.value();
    return place < batch.inputs.size() ? batch.inputs[place].document
                                       : number_of_id(decided.let_through()[place - batch.inputs.size()].id);
  };
  Version last;
  for (const Emission& emission : decided.emissions()) {
    if (const auto* forward = std::get_if<Forward>(&emission.what))
      answer.forwarded.push_back(
          {document_of(emission.input), order_number(forward->order), forward->targets, emission.input.value()});
    if (const auto* release = std::get_if<Release>(&emission.what)) {
      RESEQ_ASSERT(release->version > last, "versions do not rise in the order in which they leave");
      last = release->version;
      answer.released.push_back({document_of(emission.input), order_number(release->order), release->target});
    }
  }
  for (const Event& event : decided.events())
    if (event.decision.reason == Reason::kGap)
      answer.skipped.push_back({number_of_id(event.id), order_number(*event.order), *event.target});
  for (const auto& [key, value] : rows_.others.all()) {
    const auto decoded = codec::decode_place(key, value);
    const auto* place = std::get_if<codec::PlaceRow>(&decoded);
    if (place == nullptr) continue;
    ++answer.places;
    if (rows_.others.row(codec::held_key_of_place(key))) ++answer.held;
  }
  return answer;
}

}  // namespace reseq::orders
