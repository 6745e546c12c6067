// A script played to its end.
#include "tests/property/world.h"

#include <algorithm>
#include <utility>

#include "codec/held_rows.h"
#include "engine/gate.h"

namespace reseq::property {
namespace {

constexpr std::size_t kAllDocuments[] = {0, 1, 2, 3};
constexpr int kWindowsMax = 400;  // more than it takes to let everything through

}  // namespace

World::World(const Script& script, const WrongEngine& wrong, Hits* hits)
    : script_(script),
      wrong_(wrong),
      hits_(hits),
      model_(model_of(script)),
      context_(model_.context),
      producers_(model_, logs_),
      pipeline_(model_, logs_),
      oracle_(model_, hits, wrong.judged),
      state_(model_.state) {
  context_.now = kStart;
  if (!wrong_.is_right()) model_.events = engine::EventPolicy::kNone;  // what is broken shows in the records, not there
  context_.policies.events = model_.events;
}

std::string World::play() {
  for (const Step& step : script_.steps) {
    play(step);
    if (!violation_.empty()) return violation_;
  }
  finish();
  if (violation_.empty()) replay();
  return violation_;
}

void World::play(const Step& step) {
  producers_.play(step);
  if (model_.tap())
    for (; taken_by_tap_ < logs_.requests.size(); ++taken_by_tap_)
      if (const auto* request = std::get_if<Request>(&logs_.requests[taken_by_tap_].command)) pipeline_.take(*request);
  pipeline_.play(step, {context_.now, state_});
  switch (step.action) {
    case Action::kBatch: {
      const auto part = [](std::uint8_t amount) { return amount % 4 == 0 ? std::size_t{64} : amount % std::size_t{8}; };
      return run_batch({part(step.pick), part(step.amount), step.flavour % 4 == 1});
    }
    case Action::kClock:
      return step_clock(step);
    case Action::kFloor:
      return raise_floor(step);
    case Action::kOverdue:
      timers_due_ = true;
      return;
    default:
      return;
  }
}

void World::step_clock(const Step& step) {
  const bool back = step.flavour % 4 == 3;
  const std::int64_t by = back ? -std::int64_t{step.amount} * 100 : std::int64_t{step.amount} * 1'000;
  context_.now = UnixMs(context_.now.value() + by);
}

void World::raise_floor(const Step& step) {
  const std::uint64_t above = std::max(state_.clock.value(), state_.last.value()) + step.amount;
  const TargetNumber target(static_cast<std::uint8_t>(step.targets % model_.targets));
  Floors& floors = state_.floors;
  if (step.flavour >= 230)
    floors.by_target[target] = Version(kVersionLimit - 1 - step.amount % 4U);
  else if (step.flavour % 2 == 1)
    floors.by_target[target] = std::max(floors.by_target[target], Version(above));
  else
    floors.global = std::max(floors.global, Version(above));
}

std::vector<PlannedInput> World::plan_inputs(const BatchSize& size) const {
  std::vector<PlannedInput> inputs;
  const std::size_t requests_end = std::min(logs_.requests.size(), requests_next_ + size.requests);
  for (std::size_t i = requests_next_; i < requests_end; ++i) inputs.push_back({&logs_.requests[i], false});
  if (requests_end < requests_first_) return inputs;  // a command waits for the requests before it
  const std::size_t commands_end = std::min(logs_.commands.size(), commands_next_ + size.commands);
  for (std::size_t i = commands_next_; i < commands_end; ++i)
    inputs.push_back({&logs_.commands[i], i < fetched_before_});
  return inputs;
}

void World::run_batch(const BatchSize& size) {
  const std::vector<PlannedInput> inputs = plan_inputs(size);
  Plan plan{inputs, {}};
  if (timers_due_) plan.timers = {kAllDocuments, model_.documents};
  const std::vector<driver::GateTurn> turns = turns_now();
  plan.turns = turns;
  plan.bytes_max = kBatchBytes;
  if (inputs.empty() && plan.timers.empty() && turns.empty()) return;
  Decided decided = decide(plan, rows_, state_, context_, wrong_);
  plan.inputs = plan.inputs.first(decided.taken);
  if (decided.last != engine::Taken::kDecided) plan.timers = {};
  if (decided.last != engine::Taken::kDecided) plan.turns = {};
  if (size.twice || decided.last != engine::Taken::kDecided) {
    const Decided again = decide(plan, rows_, state_, context_, wrong_);
    if (again.last != engine::Taken::kDecided) wrong("an input decided once is put off the second time");
    if (const std::string what = difference(decided, again); !what.empty())
      wrong("the same inputs, state and context differ in " + what);
  }
  if (decided.last != engine::Taken::kDecided) take_back(decided, {inputs, {}});
  if (wrong_.corrupt) wrong_.corrupt(decided, plan, rows_);
  record(decided, plan);
  if (!plan.timers.empty()) timers_due_ = false;
}

// Of the gate, everything that is due.
std::vector<driver::GateTurn> World::turns_now() const {
  std::vector<driver::GateTurn> turns;
  if (context_.gate == nullptr) return turns;
  for (const engine::AgendaKind& kind : context_.gate->agenda())
    turns.push_back({kind.number, context_.now, kTurnRows});
  return rows_.others.all().empty() ? std::vector<driver::GateTurn>() : turns;
}

// The engine put an input off: what the runtime does about it.
void World::take_back(const Decided& decided, const Plan& plan) {
  const PlannedInput& put_off = plan.inputs[decided.taken];
  const auto* refused = std::get_if<Refused>(&put_off.input->command);
  if (decided.last == engine::Taken::kStop) {
    if (context_.policies.on_missing != engine::OnMissing::kStop || !refused || !refused->sequence_without_id_or_seq)
      wrong("stopped without a reason");
    if (hits_) ++hits_->stopped;
    context_.policies.on_missing = engine::OnMissing::kDeadLetter;  // the operator's answer
    return;
  }
  if (hits_) ++hits_->requests_first;
  if (put_off.input->log == Log::kRequests) wrong("a request was put off");
  if (put_off.requests_read) wrong("a command was put off although requests had been read");
  requests_first_ = logs_.requests.size();
  fetched_before_ = logs_.commands.size();
}

void World::record(const Decided& decided, const Plan& plan) {
  BatchRecord batch;
  batch.now = context_.now;
  batch.on_missing = context_.policies.on_missing;
  batch.before = state_;
  batch.after = decided.state;
  batch.timers.assign(plan.timers.begin(), plan.timers.end());
  if (decided.decisions.size() != plan.inputs.size()) return wrong("inputs and outcomes differ in number");
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
    Entry& entry = batch.entries.emplace_back();
    entry.input = *plan.inputs[i].input;
    entry.requests_read = plan.inputs[i].requests_read;
    entry.decision = decided.decisions[i];
    ++(entry.input.log == Log::kRequests ? requests_next_ : commands_next_);
  }
  for (const InputIndex input : decided.held) {
    if (input.value() >= batch.entries.size()) return wrong("an input is held that was not decided");
    batch.entries[input.value()].held = true;
  }
  batch.agenda = decided.agenda;
  batch.generated = decided.generated.size();
  for (const std::string& key : decided.let_through) batch.let_through.push_back(let_through(key));
  for (const Emission& emission : decided.emissions) record_emission(emission, batch);
  for (const auto& [input, bytes] : decided.bytes_gone)
    if (input - batch.entries.size() < batch.let_through.size())
      batch.let_through[input - batch.entries.size()].gone = bytes;
  for (const Event& event : decided.events) record_event(event, batch);
  for (const ChangedRow& change : decided.changes) rows_[change.document] = change.row;
  for (const OtherRow& change : decided.others) rows_.others.put(change.key, change.value);
  state_ = decided.state;
  for (const LetThrough& one : batch.let_through)
    if (one.forward) pipeline_.take(document_at(one.position), *one.forward);
  for (const Entry& entry : batch.entries) {
    if (hits_) hits_->count(entry);
    if (entry.forward) pipeline_.take(document_of(id_of(entry.input.command)), *entry.forward);
  }
  batches_.push_back(std::move(batch));
  if (violation_.empty()) oracle_.observe(batches_.back(), rows_);
  if (violation_.empty()) violation_ = oracle_.violation();
}

// What is held under a key.
LetThrough World::let_through(const std::string& key) {
  LetThrough one;
  const auto value = rows_.others.row(key);
  const auto held = value ? codec::decode_held(key, *value) : codec::Decoded<codec::HeldRow>(codec::RowError::kInvalid);
  const auto* row = std::get_if<codec::HeldRow>(&held);
  if (row == nullptr) {
    wrong("what is let through was not held");
    return one;
  }
  one.position = row->offset;
  one.bytes = row->record_bytes;
  one.reference = row->reference;
  return one;
}

std::size_t World::document_at(Offset request) const {
  return document_of(id_of(logs_.requests[static_cast<std::size_t>(request.value())].command));
}

void World::record_emission(const Emission& emission, BatchRecord& batch) {
  const std::size_t behind =
      emission.input.value() - std::min<std::size_t>(emission.input.value(), batch.entries.size());
  if (emission.input.value() >= batch.entries.size()) {
    const auto* forward = std::get_if<Forward>(&emission.what);
    const auto* letter = std::get_if<DeadLetter>(&emission.what);
    if (behind >= batch.let_through.size() || (forward == nullptr && letter == nullptr))
      return wrong("a record for an input that was not decided");
    if (forward != nullptr) batch.let_through[behind].forward = *forward;
    if (letter != nullptr) batch.let_through[behind].dead_letter = *letter;
    ++batch.let_through[behind].produced;
    return;
  }
  Entry& entry = batch.entries[emission.input.value()];
  ++entry.produced;
  if (const auto* forward = std::get_if<Forward>(&emission.what)) entry.forward = *forward;
  if (const auto* release = std::get_if<Release>(&emission.what)) entry.release = *release;
  if (const auto* dead_letter = std::get_if<DeadLetter>(&emission.what)) entry.dead_letter = *dead_letter;
  if (std::holds_alternative<Redirect>(emission.what)) entry.redirected = true;
}

void World::record_event(const Event& event, BatchRecord& batch) {
  if (event.input == kNoInput) {
    if (event.kind != EventKind::kOverdue) return wrong("an event without an input that is no timer's");
    batch.overdue.emplace_back(document_of(event.id), event.targets);
    return;
  }
  const std::size_t input = event.input.value();
  if (input >= batch.entries.size() + batch.let_through.size())
    return wrong("an event of an input that was not decided");
  ++(input < batch.entries.size() ? batch.entries[input].events
                                  : batch.let_through[input - batch.entries.size()].events);
}

// Everything arrives: the logs are decided to their ends, then the pipeline delivers what it still has, and again.
void World::finish() {
  int windows = 0;
  for (int round = 0; round < 10'000; ++round) {
    if (!violation_.empty()) return;
    const bool waits = requests_next_ < logs_.requests.size() || commands_next_ < logs_.commands.size();
    if (waits) {
      run_batch({64, 64, false});
      continue;
    }
    if (!rows_.others.all().empty() && windows++ < kWindowsMax) {
      context_.now = UnixMs(context_.now.value() + kWindowMs / 2);
      run_batch({0, 0, false});
      continue;
    }
    if (pipeline_.deliver_all(static_cast<std::uint8_t>(round + script_.setting(Setting::kEvents)))) continue;
    oracle_.finish(pipeline_.lost(), rows_);
    violation_ = oracle_.violation();
    return;
  }
  wrong("inputs are never read to their end");
}

// The state is a function of the log: the same batches, decided from nothing, give the same rows.
void World::replay() {
  if (!wrong_.is_right() || script_.steps.size() % 4 != 0) return;
  Rows rows;
  PartitionState state = model_.state;
  for (const BatchRecord& batch : batches_) {
    std::vector<PlannedInput> inputs;
    for (const Entry& entry : batch.entries) inputs.push_back({&entry.input, entry.requests_read});
    state.floors = batch.before.floors;
    context_.now = batch.now;
    context_.policies.on_missing = batch.on_missing;
    std::vector<driver::GateTurn> turns;
    for (const AgendaDone& done : batch.agenda) turns.push_back({done.kind, done.until, done.rows});
    const Decided decided = decide({inputs, batch.timers, turns}, rows, state, context_, wrong_);
    for (const ChangedRow& change : decided.changes) rows[change.document] = change.row;
    for (const OtherRow& change : decided.others) rows.others.put(change.key, change.value);
    state = decided.state;
  }
  state.floors = state_.floors;  // those that an operator raised after the last batch
  if (rows != rows_) wrong("replaying the log gives other rows");
  if (state != state_) wrong("replaying the log gives another partition state");
}

void World::wrong(std::string_view what) {
  if (violation_.empty()) violation_ = what;
}

std::string World::story() const {
  std::string story;
  for (const BatchRecord& batch : batches_) story += describe(batch);
  return story;
}

}  // namespace reseq::property
