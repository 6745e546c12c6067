#include "observe/ledger.h"

#include <algorithm>
#include <optional>
#include <random>
#include <span>
#include <utility>

#include "base/assert.h"
#include "changelog/batch_rows.h"
#include "codec/byte_reader.h"
#include "codec/byte_writer.h"
#include "driver/batch_driver.h"
#include "engine/standing.h"
#include "store/batch_view.h"

namespace reseq::observe {

namespace {

// Optional extension of the meta row, of a store that only a ledger opens.
constexpr std::uint64_t kNoteTag = 1024;
// A timestamp that is no time must not use up the versions.
constexpr std::int64_t kLatestMs = std::int64_t{1} << 46;

std::string packed(const Json& note) {
  std::string out;
  codec::ByteWriter writer(out);
  writer.varint(kNoteTag);
  writer.bytes(note.dump());
  writer.finish();
  return out;
}

// Discarded when the bytes are none of ours.
Json unpacked(std::string_view extensions) {
  codec::ByteReader reader(extensions);
  const std::uint64_t tag = reader.varint();
  const std::string_view text = reader.bytes();
  if (!reader.ok() || tag != kNoteTag) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, false);
}

HashKey drawn_key() {
  HashKey key;
  std::random_device random;
  for (std::uint8_t& byte : key.bytes) byte = static_cast<std::uint8_t>(random());
  return key;
}

Order order_of(const SequenceResult& result) {
  return {result.epoch.value_or(Epoch()), result.sequence, result.revision};
}

}  // namespace

Result<std::unique_ptr<Ledger>> Ledger::open(std::unique_ptr<store::PartitionStore> store, engine::Context context,
                                             const TargetTable& targets, SequenceKind kind, bool wrong) {
  context.monotonic = context.all_targets;
  context.policies = {};
  context.lanes = {};
  context.starvation_after = Milliseconds();
  context.registration_timeout = Milliseconds();
  context.watermark_retention = Milliseconds();  // for ever: a row on disk costs less than a wrong count
  context.work_bytes_max = UINT64_MAX;
  context.output_bytes_max.fill(UINT64_MAX);
  std::unique_ptr<Ledger> made(new Ledger(std::move(store), std::move(context), kind, wrong));
  const auto ready = made->store_->empty() ? made->begin(targets) : made->take_up();
  if (!ready) return ready.error();
  return made;
}

Result<> Ledger::begin(const TargetTable& targets) {
  Identity identity;
  identity.partitions = 1;
  identity.sequence_kind = kind_;
  identity.hash_key = drawn_key();
  Arena arena;
  std::vector<store::Change> rows = {changelog::identity_row(identity, arena), changelog::targets_row(targets, arena)};
  apply(rows);
  return Done{};
}

Result<> Ledger::take_up() {
  const Error unreadable{ErrorClass::kInvalid, 0, "the observer's state in " + store_->folder() + " cannot be read"};
  if (!store_->meta()) return unreadable;
  const Json saved = unpacked(store_->meta()->extensions);
  if (saved.is_discarded()) return unreadable;
  try {
    tally_ = from_json(saved.at("tally"));
    for (const Json& one : saved.at("epochs"))
      default_epochs_[Partition(one.at(0).get<std::int32_t>())] = Epoch(one.at(1).get<std::uint32_t>());
    note_ = saved.at("note");
  } catch (const Json::exception&) {
    return unreadable;
  }
  next_ = store_->position()->value();
  return Done{};
}

void Ledger::apply(std::vector<store::Change>& rows) {
  if (rows.empty()) return;
  next_ += static_cast<std::int64_t>(rows.size());
  store_->apply(rows, store_->after(rows), Offset(next_));
}

Ledger::Settled Ledger::settle(const Command& command, const Source& source, bool requests_read) {
  context_.now = UnixMs(std::clamp<std::int64_t>(source.timestamp.value(), 0, kLatestMs));
  // Its clock begins anew with each record: a stamp is then the time of the record that it was given to.
  PartitionState state;
  if (const auto known = default_epochs_.find(source.partition); known != default_epochs_.end())
    state.default_epoch = known->second;
  const store::BatchView view(*store_);
  driver::BatchDriver driver(view, state, context_);
  const engine::Taken answer = driver.decide(command, source.offset, requests_read);
  if (answer != engine::Taken::kDecided) return {answer, {}};
  driver.close();
  const engine::Batch& batch = driver.batch();
  RESEQ_ASSERT(batch.row_changes().empty() && batch.holds().empty(), "a ledger keeps documents alone");
  if (batch.state().default_epoch > state.default_epoch)
    default_epochs_[source.partition] = batch.state().default_epoch;
  Arena arena;
  std::vector<store::Change> rows;
  changelog::append_rows(batch.changes(), view, arena, rows);
  apply(rows);
  return {answer, batch.decisions().front()};
}

void Ledger::request(const Command& command, const Source& source) {
  ++tally_.requests;
  // What a row remembers of its newest request is here when it was made, not where it stands.
  const Source when{source.partition, Offset(std::clamp<std::int64_t>(source.timestamp.value(), 0, kLatestMs)),
                    source.timestamp};
  const Decision decision = settle(command, when, true).decision;
  if (decision.outcome == Outcome::kApplied)
    ++tally_.resets;
  else if (decision.outcome == Outcome::kForwarded || decision.outcome == Outcome::kRegistered)
    ++tally_.registered;
  else if (decision.table_row == TableRow::kR3)
    ++tally_.repeated;
  else if (decision.table_row == TableRow::kR0 || decision.table_row == TableRow::kR4)
    ++tally_.behind;
  else if (decision.table_row == TableRow::kR5)
    ++tally_.reused;
  else
    ++tally_.requests_refused[static_cast<std::size_t>(decision.reason)];
}

bool Ledger::result(const Command& command, const Source& source, bool final) {
  const auto* result = std::get_if<SequenceResult>(&command);
  const store::BatchView view(*store_);
  const engine::Lookup before = result != nullptr ? view.find(result->id) : engine::Lookup{};
  Settled settled = settle(command, source, final);
  if (settled.answer != engine::Taken::kDecided) return false;
  if (result == nullptr && !std::holds_alternative<Refused>(command)) {
    ++tally_.other_commands;
    tally_.other_commands_bad += settled.decision.reason == Reason::kNone ? 0U : 1U;
    return true;
  }
  ++tally_.results;
  if (result == nullptr) {
    ++tally_.results_refused[static_cast<std::size_t>(settled.decision.reason)];
    return true;
  }
  if (settled.decision.table_row == TableRow::kS5) {
    ++tally_.unregistered;
    Register own;
    own.what.id = result->id;
    own.what.epoch = result->epoch;
    own.what.sequence = result->sequence;
    own.what.revision = result->revision;
    own.what.targets = context_.all_targets;
    (void)settle(own, source, true);
    settled = settle(command, source, true);
  }
  count(*result, settled.decision, before.row ? &*before.row : nullptr, context_.now);
  return true;
}

void Ledger::count(const SequenceResult& result, const Decision& decision, const Row* before, UnixMs now) {
  ++tally_.table_rows[static_cast<std::size_t>(decision.table_row)];
  if (decision.outcome == Outcome::kReleased) {
    ++tally_.in_order;
    note_last(result, false, now);
    if (before == nullptr || !before->requested) return;
    const std::int64_t since_request = now.value() - before->requested->position.value();
    if (decision.table_row == TableRow::kS4 && since_request >= 0) ++tally_.superseded;
    if (decision.table_row != TableRow::kS1 || before->requested->order != order_of(result)) return;
    tally_.answer_ms.observe(since_request);
    tally_.answer_ms_max = std::max(tally_.answer_ms_max, since_request);
    return;
  }
  const Order* last = before != nullptr ? engine::last_release(*before, result.target) : nullptr;
  const bool compared =
      decision.table_row == TableRow::kS2 || decision.table_row == TableRow::kS4 || decision.table_row == TableRow::kS6;
  if (!compared && decision.table_row == TableRow::kNone)
    ++tally_.results_refused[static_cast<std::size_t>(decision.reason)];
  else if (!compared || last == nullptr || order_of(result) > *last)
    ++tally_.withdrawn;
  else if (order_of(result) == *last) {
    ++tally_.duplicates;
    note_last(result, false, now);
  } else {
    count_stale(result, *before, *last, now);
    note_last(result, true, now);
  }
}

void Ledger::note_last(const SequenceResult& result, bool overwrites, UnixMs now) {
  if (!wrong_) return;
  const store::BatchView view(*store_);
  const engine::Lookup found = view.find(result.id);
  if (!found.row || (!overwrites && found.row->extensions.view().empty())) return;
  OverwrittenTargets all = overwritten_in(*found.row);
  if (overwrites)
    all[result.target] = {order_json(order_of(result), kind_).dump(), now};
  else if (all.erase(result.target) == 0)
    return;
  Row row = *found.row;
  note_overwritten(all, row);
  const RowChange change{result.id, &row, found.place};
  Arena arena;
  std::vector<store::Change> rows;
  changelog::append_rows(std::span(&change, 1), view, arena, rows);
  apply(rows);
}

WrongCounts Ledger::tell_wrong_now(const WrongLine& line) const {
  constexpr std::size_t kRowsAtOnce = 1'000;
  WrongCounts counts;
  store::PartitionStore::Walked at;
  while (!at.ended && !store_->fault())
    at = store_->documents(at.cursor, "", store::PartitionStore::Which::kAll, kRowsAtOnce,
                           [&](const std::string& id, const Row& row) {
                             tell_wrong(id, row, store_->targets(), kind_, line, counts);
                             return true;
                           });
  return counts;
}

void Ledger::count_stale(const SequenceResult& result, const Row& before, const Order& newest, UnixMs now) {
  ++tally_.out_of_order;
  tally_.worst.add(result.id);
  const std::int64_t written = time_of(before.last_version).value();
  const std::int64_t late = std::max<std::int64_t>(0, now.value() - written);
  tally_.lateness_ms.observe(late);
  tally_.lateness_ms_max = std::max(tally_.lateness_ms_max, late);
  const auto mine = result.sequence.number();
  const auto highest = newest.sequence.number();
  if (kind_ != SequenceKind::kU64 || !mine || !highest || *mine > *highest) return;
  if (newest.epoch != order_of(result).epoch) return;
  const std::uint64_t distance = *highest - *mine;
  tally_.reorder_distance.observe(static_cast<std::int64_t>(std::min<std::uint64_t>(distance, INT64_MAX)));
  tally_.reorder_distance_max = std::max(tally_.reorder_distance_max, distance);
}

Result<> Ledger::save(const Json& note) {
  note_ = note;
  Json epochs = Json::array();
  for (const auto& [partition, epoch] : default_epochs_) epochs.push_back({partition.value(), epoch.value()});
  Meta meta;
  meta.summary = store_->summary();
  meta.extensions = packed({{"tally", to_json(tally_)}, {"epochs", std::move(epochs)}, {"note", note}});
  Arena arena;
  std::vector<store::Change> rows = {changelog::meta_row(meta, arena)};
  apply(rows);
  return store_->write_checkpoint();
}

}  // namespace reseq::observe
