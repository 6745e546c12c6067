#include "runtime/worker/partition_batch.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "changelog/batch_rows.h"
#include "codec/keys.h"
#include "codec/row_kinds.h"
#include "engine/orders/lane_rows.h"
#include "runtime/application/pinned_inputs.h"

namespace reseq::runtime {

namespace {

// Keys of documents as a half-open range: what "from the start" and "to the end" mean in the meta row, where an empty
// key says "nothing".
constexpr std::string_view kFirstDocument = "D";
constexpr std::string_view kBehindDocuments = "E";

codec::InputRecord input_of(Role role, const kafka::Record& record) {
  return {role,
          record.where.partition,
          record.offset,
          record.timestamp,
          record.key,
          record.payload,
          {record.headers.data(), record.headers.size()},
          {},
          record.left_out.count};
}

void sort_once(std::vector<Offset>& offsets) {
  std::sort(offsets.begin(), offsets.end());
  offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
}

// The first key behind this one.
std::string behind(std::string_view key) {
  return std::string(key) + '\0';
}

}  // namespace

PartitionBatch::PartitionBatch(const Application& application, PartitionTask& task, UnixMs now,
                               std::optional<UnixMs> deadlines_at, engine::BytesLeft& left)
    : application_(application),
      task_(task),
      now_(now),
      deadlines_at_(deadlines_at),
      left_(left),
      view_(task.store()) {}

void PartitionBatch::decide() {
  context_ = task_.setting().context;
  context_.now = now_;
  context_.partition = task_.partition();
  PartitionState state = task_.store().meta()->state;
  if (!application_.guards.clock_restored && task_.new_generation()) state.clock = state.last = Version(0);
  driver_.emplace(view_, state, context_);
  driver_->expect(task_.queue().size());
  records_.reserve(task_.queue().size());
  sources_.reserve(task_.queue().size());
  // An operation that pauses the partition holds from the next batch on.
  for (const Role role : kInputs)
    if (driver_->takes(role)) decide_input(role);
  inputs_ = records_.size();
  settle_positions();
  std::vector<std::string> overdue;
  std::vector<driver::GateTurn> turns;
  std::vector<std::string> expired;
  if (!stopped_at_) turns = task_.turns(positions_, now_, deadlines_at_, inputs_);
  if (deadlines_at_ && !stopped_at_) {
    const auto until = task_.chores().may_fire(positions_, *deadlines_at_);
    if (until) overdue = task_.store().due(*until, kTimersMax);
    if (task_.chores().want_sweep(until)) expired = sweep();
  }
  driver_->close(
      {.overdue = overdue, .turns = turns, .expired = expired, .left = &left_, .references = &task_.references()});
  expired_ = expired.size();
  if (!driver_->lacking().empty()) task_.references().found_waiting(now_);
  const auto is_read = [this](std::uint8_t kind) { return task_.references().waits(kind); };
  if (!std::all_of(driver_->lacking().begin(), driver_->lacking().end(), is_read))
    look_ahead(task_.chores().turns(task_.store(), positions_, now_, deadlines_at_, 0, {}));
  read_held();
}

// What the next turns need. Played with all of them, and room of their own, or kinds would take it from each other.
void PartitionBatch::look_ahead(const std::vector<driver::GateTurn>& turns) {
  NeededRecords& needed = needed_.emplace();
  engine::BytesLeft left{static_cast<std::uint64_t>(application_.settings.batch_bytes_max)};
  const store::BatchView view(task_.store());
  driver::BatchDriver ahead(view, task_.store().meta()->state, context_);
  ahead.close({.turns = turns, .left = &left, .references = &needed});
  lacking_ = driver_->lacking();
  for (const driver::GateTurn& turn : turns)
    if (task_.references().waits(turn.kind)) lacking_.push_back(turn.kind);
}

// Not earlier: until then the batch uses what was read. What it used is not needed any more, whatever turns that were
// played ahead of it needed.
void PartitionBatch::want_references() {
  if (needed_) task_.references().want(needed_->needed(), lacking_);
  for (const Offset offset : again_) task_.references().forget(offset);
  for (const Offset offset : batch().unreadable()) task_.references().forget(offset);
  for (const Offset offset : batch().missing()) task_.references().forget(offset);
}

// Held records that are let through stand behind the inputs. A row that the disk has damaged is a fault of the store,
// which ends the transaction.
void PartitionBatch::read_held() {
  const codec::FindRow row = [this](std::string_view key) { return task_.store().row(key); };
  codec::DecodeContext reading = decoding(application_, task_.setting(), arena_, task_.store().hash(),
                                          task_.store().summary().counts.any_journaled());
  reading.content_headers = nullptr;  // what they ask for was compared when they came
  const FindAgain again = [this](Offset offset) {
    again_.push_back(offset);
    return std::optional(task_.references().at(offset));
  };
  for (const LetThrough& held : batch().let_through()) {
    const auto record = record_of(held, row, again, reading, arena_);
    if (task_.store().fault()) return;
    if (held.gone) again_.push_back(*held.gone);
    RESEQ_ASSERT(record.has_value(), "a held record without all of its rows is let through");
    records_.push_back(*record);
    records_.back().partition = task_.partition();  // the row of a place does not say it
    sources_.push_back(nullptr);
  }
}

// The ids of the piece that is swept.
std::vector<std::string> PartitionBatch::sweep() {
  const std::string& from = task_.chores().sweep_cursor();
  auto piece = task_.store().sweep(from, kSweepRowsMax, now_);
  swept_from_ = from.empty() ? std::string(kFirstDocument) : behind(from);
  swept_to_ = piece.cursor.empty() ? std::string(kBehindDocuments) : behind(piece.cursor);
  sweep_cursor_ = std::move(piece.cursor);
  return std::move(piece.expired_ids);
}

void PartitionBatch::decide_input(Role role) {
  InputQueue& queue = task_.queue();
  if (role == Role::kCommands && queue.commands_wait()) return;
  const codec::DecodeContext reading = decoding(application_, task_.setting(), arena_, task_.store().hash(),
                                                task_.store().summary().counts.any_journaled());
  std::size_t& taken = taken_[slot_of(role)];
  for (kafka::Record& source : queue.records(role)) {
    codec::InputRecord& record = records_.emplace_back(input_of(role, source));
    const bool requests_read =
        role != Role::kCommands || !application_.guards.requests_first || queue.requests_read_for(source.offset);
    const engine::Taken answer = driver_->decide(record, reading, requests_read);
    if (answer != engine::Taken::kDecided) {
      records_.pop_back();
      if (answer == engine::Taken::kRequestsFirst) queue.want_ends();
      if (answer == engine::Taken::kStop) stopped_at_ = source.offset;
      return;
    }
    sources_.push_back(&source);
    ++taken;
  }
}

// Which documents got only older requests, and which got others.
void PartitionBatch::note_requests(OlderRequests& noted, Milliseconds steady) const {
  const std::span<const InputIndex> older = batch().older_requests();
  if (older.empty() && noted.empty()) return;
  noted.forget(steady);
  auto next = older.begin();
  for (std::uint32_t i = 0; i < taken_[0]; ++i) {  // requests are the first inputs
    const Decision& decision = decisions()[i];
    const TableRow met = decision.table_row;
    const bool out_of_lanes = met == TableRow::kO1 && decision.outcome == Outcome::kDropped;
    const bool behind = met == TableRow::kR0 || met == TableRow::kR4 || out_of_lanes;
    const bool is_older = next != older.end() && next->value() == i;
    if (is_older) ++next;
    if (!records_[i].key || (!is_older && (behind || decision.outcome == Outcome::kDeadLettered))) continue;
    if (is_older)
      noted.got_older(*records_[i].key, steady);
    else
      noted.got_newest(*records_[i].key);
  }
}

LanesDone PartitionBatch::lanes_done() const {
  LanesDone done;
  for (const Emission& emission : batch().emissions()) {
    if (emission.input == kNoInput || emission.input.value() < inputs_) continue;
    const LetThrough& held = batch().let_through()[emission.input.value() - inputs_];
    if (codec::gate_of(held.key) != engine::kOrdersNumbers.gate) continue;
    const auto* const letter = std::get_if<DeadLetter>(&emission.what);
    if (std::holds_alternative<Release>(emission.what)) ++done.released;
    if (letter != nullptr) ++(letter->reason == Reason::kGap ? done.gaps : done.letters);
  }
  return done;
}

void PartitionBatch::settle_positions() {
  for (std::size_t i = 0; i < kInputs.size(); ++i)
    positions_.push_back({kInputs[i], task_.queue().after(kInputs[i], taken_[i])});
}

void PartitionBatch::encode() {
  outputs_.reserve(batch().emissions().size() + batch().events().size());
  append_outgoing(application_, task_.setting(), task_.targets(), batch().emissions(), {records_, sources_}, arena_,
                  outputs_);
  for (const Event& event : batch().events()) add_event(event);

  changelog::append_rows(batch().changes(), view_, arena_, rows_);
  changelog::append_rows(batch().holds(), records_, task_.store().hash(), arena_, rows_);
  changelog::append_rows(batch().row_changes(), view_, rows_);
  if (task_.targets_grew()) rows_.push_back(changelog::targets_row(task_.targets(), arena_));
  after_ = task_.store().after(rows_);
  RESEQ_ASSERT(task_.store().fault() || after_.counts[Count::kHeldRecords] == held_after(),
               "a held record came or went in another way than it has to");

  Meta meta;
  meta.state = batch().state();
  for (std::size_t i = 0; i < kInputs.size(); ++i)
    meta.ranges.push_back({kInputs[i], task_.queue().decided(kInputs[i]), positions_[i].next});
  meta.lineage = task_.lineage();
  meta.sweep_cursor = sweep_cursor_.value_or(task_.chores().sweep_cursor());
  meta.swept_from = swept_from_;
  meta.swept_to = swept_to_;
  meta.pins = pins();
  meta.agenda = driver_->agenda_done();
  meta.gone = gone();
  meta.gone.insert(meta.gone.end(), batch().missing().begin(), batch().missing().end());
  meta.unreadable.assign(batch().unreadable().begin(), batch().unreadable().end());
  for (std::vector<Offset>* offsets : {&meta.gone, &meta.unreadable}) sort_once(*offsets);
  meta.extensions = task_.store().meta()->extensions;
  if (after_.counts.any_rare()) meta.capabilities = task_.store().meta()->capabilities;
  breaker_changes_ = changes_between(task_.store().meta()->state.breakers, meta.state.breakers, task_.partition(),
                                     task_.targets(), now_);
  append_meta(std::move(meta));
}

// Under a key that was taken a record would have hidden another one; what is held whole from now on replaces its
// reference. What a faulty store counts is not looked at.
std::uint64_t PartitionBatch::held_after() const {
  std::uint64_t held = task_.store().summary().counts[Count::kHeldRecords];
  for (const Hold& hold : batch().holds())
    if (hold.input.value() < inputs_) ++held;
  for (const KeyedChange& change : batch().row_changes()) {
    if (codec::row_kind_of(change.key)->type != codec::KeyType::kHeld) continue;
    const bool was_there =
        change.place == kNoPlace ? view_.row(change.key).has_value() : view_.row_at(change.place).value.has_value();
    if (change.value && !was_there) ++held;
    if (!change.value && was_there) --held;
  }
  return held;
}

// Of an input of which nothing was decided the pin stays.
std::vector<InputPin> PartitionBatch::pins() const {
  std::vector<InputPin> pins = task_.store().meta()->pins;
  std::size_t behind = 0;
  for (std::size_t i = 0; i < kInputs.size(); ++i) {
    behind += taken_[i];
    if (taken_[i] == 0) continue;
    const auto known = std::find_if(pins.begin(), pins.end(), [&](const InputPin& p) { return p.role == kInputs[i]; });
    (known != pins.end() ? *known : pins.emplace_back()) =
        pin_of(records_[behind - 1].role, *sources_[behind - 1], task_.store().hash());
  }
  return pins;
}

// Where records were that were let through and are gone.
std::vector<Offset> PartitionBatch::gone() const {
  std::vector<Offset> gone;
  for (const LetThrough& held : batch().let_through())
    if (held.gone) gone.push_back(*held.gone);
  std::sort(gone.begin(), gone.end());
  return gone;
}

void PartitionBatch::append_meta(Meta meta) {
  meta.positions = positions_;
  meta.now = now_;
  meta.summary = after_;
  meta.config_hash = config_hash(application_);
  // What waits since another configuration may need more.
  if (after_.counts.any_rare()) meta.capabilities |= needed_capabilities(application_);
  rows_.push_back(changelog::meta_row(meta, arena_));
}

void PartitionBatch::add_event(const Event& event) {
  const codec::InputRecord* input = event.input == kNoInput ? nullptr : &records_[event.input.value()];
  outputs_.push_back(outgoing(application_, task_.targets(), event, input, arena_));
}

void PartitionBatch::give_birth(const HashKey& key) {
  const auto table = extended(application_, TargetTable());
  RESEQ_ASSERT(table.ok(), "more targets configured than can be numbered");
  Identity identity;
  identity.application_id = application_.settings.application_id;
  identity.cluster_id = application_.cluster_id;
  identity.partitions = application_.partitions;
  identity.sequence_kind = application_.sequence_kind;
  identity.partitioner = application_.partitioner;
  identity.hash_key = key;
  identity.born = now_;
  rows_ = {changelog::identity_row(identity, arena_), changelog::targets_row(table.value(), arena_)};

  birth_ = true;
  store::PartitionStore born;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const auto applied = born.restore(rows_[i], Offset(static_cast<std::int64_t>(i)));
    RESEQ_ASSERT(applied.ok(), "a row of our own that cannot be read");
  }
  after_ = born.summary();
  positions_ = task_.birth_positions();
  Meta meta;
  meta.state.clock = Version(static_cast<std::uint64_t>(now_.value()) << 16U);
  meta.lineage = {{1, task_.restore_target()}};
  append_meta(std::move(meta));
}

void PartitionBatch::give_up() {
  if (sweep_cursor_) task_.chores().swept(std::move(*sweep_cursor_));
  want_references();
}

void PartitionBatch::committed(Offset meta_offset, Milliseconds steady) {
  task_.committed(rows_, after_, Offset(meta_offset.value() + 1));
  if (birth_) return;
  if (sweep_cursor_) task_.chores().swept(std::move(*sweep_cursor_));
  note_requests(task_.older_requests(), steady);
  want_references();
  for (std::size_t i = 0; i < kInputs.size(); ++i) task_.queue().take(kInputs[i], taken_[i]);
}

}  // namespace reseq::runtime
