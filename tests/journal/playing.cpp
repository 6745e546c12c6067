#include "tests/journal/playing.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <variant>

#include "codec/held_rows.h"
#include "engine/failures/breakers.h"
#include "engine/journal/journal.h"
#include "engine/journal/journal_batch.h"

namespace reseq::journal {
namespace {

constexpr std::array<std::uint8_t, 4> kAllTurns = {engine::kLeaseTurn, engine::kExpireTurn, engine::kDispatchTurn,
                                                   engine::kAgeTurn};
constexpr std::array<std::uint8_t, 1> kDispatching = {engine::kDispatchTurn};

constexpr std::array<std::string_view, kDocuments> kIds = {"alpha", "beta", "gamma"};

std::size_t number_of_id(std::string_view id) {
  const auto found = std::find(kIds.begin(), kIds.end(), id);
  RESEQ_ASSERT(found != kIds.end(), "an id that is none of the history's");
  return static_cast<std::size_t>(found - kIds.begin());
}

OrderNumber order_number(const Order& order) {
  return order.sequence.number().value_or(0);
}

// The record that a request came with: the engine sees nothing of it, so it is made up.
codec::InputRecord record_at(Offset offset, UnixMs timestamp, std::string_view id, std::string& payload) {
  payload.assign(static_cast<std::size_t>(offset.value() * 997 % 9'001), 'x');
  codec::InputRecord record;
  record.offset = offset;
  record.timestamp = timestamp;
  record.key = id;
  record.payload = payload;
  return record;
}

// Of an input, or of what was read again.
codec::InputRecord record_of(InputIndex place, const engine::Batch& decided, const Batch& batch, std::string& payload) {
  if (place.value() < batch.inputs.size()) {
    const Input& input = batch.inputs[place.value()];
    return record_at(Offset(input.position), input.timestamp, kIds[input.document], payload);
  }
  const LetThrough& again = decided.let_through()[place.value() - batch.inputs.size()];
  const auto held = std::get<codec::HeldRow>(codec::decode_held(again.key, again.row));
  return record_at(held.offset, held.timestamp, again.id, payload);
}

// Every record of `requests` can be read again.
class ReadAgain final : public engine::References {
 public:
  [[nodiscard]] Found find(const codec::HeldRow&) override { return Found::kRead; }
};

// What is due of these kinds, behind the inputs.
void close_batch(driver::BatchDriver& driver, const engine::AgendaSource& journal, UnixMs now,
                 std::span<const std::uint8_t> kinds) {
  std::vector<driver::GateTurn> turns;
  for (const std::uint8_t kind : kinds) turns.push_back({kind, journal.until(kind, now), UINT32_MAX});
  engine::BytesLeft left;
  ReadAgain references;
  driver.close({.overdue = {}, .turns = turns, .expired = {}, .left = &left, .references = &references});
}

}  // namespace

EnginePlayer::EnginePlayer(const Rules& rules, Mode mode) {
  take(rules, mode);
}

void EnginePlayer::take(const Rules& rules, Mode mode) {
  context_.all_targets = kAllTargets;
  context_.default_targets = kDefaultTargets;
  context_.potent = rules.potent;
  context_.policies.events = engine::EventPolicy::kAll;
  engine::DispatchRules& dispatch = context_.dispatch;
  dispatch.journal = mode == Mode::kJournal;
  dispatch.in_flight_max = rules.in_flight_max;
  dispatch.default_priority = rules.default_priority;
  dispatch.idle_from_priority = rules.idle_from;
  dispatch.process_at_max = Milliseconds(rules.process_at_max_ms);
  dispatch.consolidate = Milliseconds(rules.consolidate_ms);
  dispatch.consolidate_measured = rules.consolidate_measured;
  dispatch.one_at_a_time = rules.one_at_a_time;
  dispatch.lease = Milliseconds(rules.lease_ms);
  dispatch.timeouts_max = rules.timeouts_max;
  dispatch.last_attempt_only = rules.last_attempt_only;
  dispatch.failures = mode != Mode::kAtOnce;
  dispatch.retries_max = rules.retries_max;
  dispatch.repeats_max = rules.repeats_max;
  dispatch.inherit_failed = rules.inherit_failed;
  dispatch.breaker_documents = static_cast<std::uint32_t>(rules.breaker_documents);
  dispatch.breaker_pause = Milliseconds(rules.breaker_pause_ms);
  dispatch.breaker_pause_max = Milliseconds(rules.breaker_pause_max_ms);
  dispatch.backoff = dispatch.backoff_max = Milliseconds(rules.backoff_ms);
  skips_unchanged_ = rules.skips_unchanged;
  journal_.emplace(dispatch, Milliseconds(2 * rules.lease_ms));  // what came back once is held whole soon
}

Command EnginePlayer::command_of(const Input& input) {
  const DocumentId id = kIds[input.document];
  const Sequence sequence = Sequence::of_number(input.order);
  const std::optional<Epoch> epoch(Epoch(0));
  const TargetSet targets = input.targets.value_or(TargetSet());
  switch (input.kind) {
    case Kind::kRequest: {
      Request request;
      request.what = {id, epoch, sequence, Revision(), input.deletes ? Op::kDelete : Op::kUpsert, input.targets, {}};
      request.hash = PayloadHash(input.hash);
      request.work_bytes = 10;
      const RequestPlace place{Offset(input.position), input.timestamp, input.hash, 10, 10};
      const Digest content = skips_unchanged_ ? Digest{input.hash, 1} : Digest();
      wishes_.push_back({input.priority, input.process_at, input.expires_at, place, content});
      if (context_.dispatch.journal || context_.dispatch.failures || skips_unchanged_) request.wish = &wishes_.back();
      return request;
    }
    case Kind::kExpire:
      return Expire{false, id, targets, std::nullopt};
    case Kind::kNow:
    case Kind::kPostpone:
      return DispatchByHand{false, id, targets, input.process_at, std::nullopt};
    case Kind::kResume:
      return ResumeTarget{false, targets.first()};
    case Kind::kRegister:
      return Register{{id, epoch, sequence, Revision(), input.deletes ? Op::kDelete : Op::kUpsert, input.targets, {}}};
    case Kind::kUnregister:
      return Unregister{id, epoch, sequence, Revision(), targets, !input.targets, false};
    case Kind::kFail: {
      constexpr std::array<std::string_view, 2> kErrors = {"it is down", "it is full"};
      Fail fail;
      fail.id = id;
      fail.epoch = epoch;
      fail.sequence = sequence;
      fail.everything = !input.targets;
      if (input.targets) fail.target = targets.first();
      fail.attempt = input.attempt;
      fail.kind = input.failure;
      fail.scope = input.scope;
      fail.error = kErrors[input.error];
      fail.without_effect = input.without_effect;
      return fail;
    }
    case Kind::kHeartbeat:
      return Heartbeat{id, epoch, sequence, Revision(), input.attempt, input.timestamp};
    default: {
      SequenceResult result;
      result.id = id;
      result.epoch = epoch;
      result.sequence = sequence;
      result.target = targets.first();
      result.attempt = input.attempt;
      return result;
    }
  }
}

Answer EnginePlayer::play(const Batch& batch) {
  wishes_.clear();
  context_.now = batch.now;
  driver::BatchDriver driver(rows_, state_, context_);
  for (const Input& input : batch.inputs) {
    const engine::Taken taken = driver.decide(command_of(input), Offset(input.position), true);
    RESEQ_ASSERT(taken == engine::Taken::kDecided, "an input was put off");
  }
  close_batch(driver, *journal_, batch.now, kAllTurns);
  const engine::Batch& decided = driver.batch();
  for (const Decision& decision : decided.decisions()) met_.insert(decision.table_row);
  apply(decided, batch);
  check_wake_up();
  return answer_of(decided, batch);
}

// A worker that is told to wake up for what may not leave would never sleep; one that is not would sleep for ever.
void EnginePlayer::check_wake_up() const {
  const auto next = journal_->next(engine::kDispatchTurn, {rows_, state_, context_.now});
  driver::BatchDriver again(rows_, state_, context_);
  close_batch(again, *journal_, context_.now, kDispatching);
  const bool leaves = !again.agenda_done().empty();
  RESEQ_ASSERT(leaves == (next && *next <= context_.now),
               "a worker sleeps although something may leave, or wakes up for what may not");
}

void EnginePlayer::apply(const engine::Batch& decided, const Batch& batch) {
  std::string payload;
  rows_.apply(decided, [&](InputIndex input) { return record_of(input, decided, batch, payload); });
  state_ = decided.state();
}

std::size_t EnginePlayer::document_of(const engine::Batch& decided, const Batch& batch, InputIndex input) const {
  if (input.value() < batch.inputs.size()) return batch.inputs[input.value()].document;
  return number_of_id(decided.let_through()[input.value() - batch.inputs.size()].id);
}

// In which order it was dispatched: as the row says. Records stand in the order of inputs.
std::uint64_t EnginePlayer::number_of(const Dispatched& one) const {
  const auto row = rows_.find(kIds[one.document]).row;
  if (!row) return 0;
  for (const JournalEntry& entry : row->journal)
    if (entry.state == EntryState::kProcessing && order_number(entry.order) == one.order &&
        entry.attempt == one.attempt && entry.targets == one.targets)
      return entry.number;
  return 0;
}

Answer EnginePlayer::answer_of(const engine::Batch& decided, const Batch& batch) const {
  Answer answer;
  for (const Decision& decision : decided.decisions()) answer.verdicts.push_back({decision.outcome, decision.reason});
  for (const Emission& emission : decided.emissions()) {
    if (emission.input == kNoInput) continue;
    const std::size_t document = document_of(decided, batch, emission.input);
    if (const auto* release = std::get_if<Release>(&emission.what))
      answer.released.push_back({document, release->target, order_number(release->order)});
    if (const auto* forward = std::get_if<Forward>(&emission.what))
      answer.dispatched.push_back({document, order_number(forward->order), forward->targets, forward->attempt(),
                                   forward->dispatched != nullptr ? forward->dispatched->lease_until : UnixMs()});
  }
  const auto is_given_up = [](Reason reason) {
    return reason == Reason::kTimedOut || reason == Reason::kFailed || reason == Reason::kEffectUnknown;
  };
  for (const Event& event : decided.events())
    if (is_given_up(event.decision.reason) && event.order)
      answer.timed_out.push_back({number_of_id(event.id), order_number(*event.order)});
  std::sort(answer.timed_out.begin(), answer.timed_out.end());
  std::stable_sort(answer.dispatched.begin(), answer.dispatched.end(),
                   [this](const Dispatched& a, const Dispatched& b) { return number_of(a) < number_of(b); });
  for (const auto& [id, row] : rows_.documents()) {
    answer.waiting += row.waits() ? 1U : 0U;
    answer.processing += row.processing() ? 1U : 0U;
    answer.failed += static_cast<std::size_t>(row.failed().size());
  }
  answer.down = engine::open_targets(state_.breakers);
  return answer;
}

// Attempts of what is not under way are those of entries that wait again; of what a command registered, 1.
std::vector<Pending> EnginePlayer::pending() const {
  std::vector<Pending> all;
  for (const auto& [id, row] : rows_.documents())
    for (const Group& group : row.groups)
      for (const TargetNumber target : group.pending) {
        Pending one{number_of_id(id), order_number(group.order), target, 1};
        for (const JournalEntry& entry : row.journal)
          if (entry.order == group.order && entry.targets.contains(one.target))
            one.attempt = std::max(one.attempt, entry.attempt);
        all.push_back(one);
      }
  return all;
}

std::size_t EnginePlayer::held() const {
  return rows_.others.all().size() - rows_.documents().size();
}

}  // namespace reseq::journal
