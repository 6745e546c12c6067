#include "runtime/partition_batch.h"

#include <utility>
#include <variant>

#include "base/assert.h"
#include "changelog/batch_rows.h"

namespace reseq::runtime {

PartitionBatch::PartitionBatch(const Application& application, PartitionTask& task, UnixMs now)
    : application_(application), task_(task), now_(now) {}

void PartitionBatch::decide() {
  context_ = task_.setting().context;
  context_.now = now_;
  batch_.emplace(task_.store(), task_.store().meta()->state, context_);
  records_.reserve(task_.queue().size());
  sources_.reserve(task_.queue().size());
  for (const Role role : kInputs)
    if (!stopped_) decide_input(role);
  batch_->close(application_.events);
  inputs_ = records_.size();
  settle_positions();
}

void PartitionBatch::decide_input(Role role) {
  InputQueue& queue = task_.queue();
  if (role == Role::kCommands && queue.commands_wait()) return;
  const codec::DecodeContext decoding{&task_.setting().known, application_.sequence_kind, application_.partitioner,
                                      application_.partitions, context_.intake == engine::Intake::kTap};
  std::size_t& taken = taken_[role == Role::kRequests ? 0 : role == Role::kControl ? 1 : 2];
  for (kafka::Record& source : queue.records(role)) {
    const codec::InputRecord record{role,
                                    source.where.partition,
                                    source.offset,
                                    source.timestamp,
                                    source.key,
                                    source.payload,
                                    {source.headers.data(), source.headers.size()}};
    const bool requests_read = role != Role::kCommands || queue.requests_read_for(source.offset);
    const engine::Verdict verdict = batch_->decide(codec::decode(record, decoding), source.offset, requests_read);
    if (verdict == engine::Verdict::kRequestsFirst) return queue.want_ends();
    if (verdict == engine::Verdict::kStop) {
      stopped_ = true;
      return;
    }
    records_.push_back(record);
    sources_.push_back(&source);
    ++taken;
  }
}

void PartitionBatch::settle_positions() {
  for (std::size_t i = 0; i < kInputs.size(); ++i)
    positions_.push_back({kInputs[i], task_.queue().after(kInputs[i], taken_[i])});
}

void PartitionBatch::encode() {
  outputs_.reserve(batch_->emissions().size());
  for (const Emission& emission : batch_->emissions()) add_output(emission);

  changelog::append_rows(batch_->changes(), task_.store().hash(), arena_, rows_);
  if (task_.targets_grew()) rows_.push_back(changelog::targets_row(task_.targets(), arena_));
  const store::Summary summary = task_.store().after(rows_);

  Meta meta;
  meta.state = batch_->state();
  meta.positions = positions_;
  for (std::size_t i = 0; i < kInputs.size(); ++i)
    meta.ranges.push_back({kInputs[i], task_.queue().decided(kInputs[i]), positions_[i].next});
  meta.now = now_;
  meta.lineage = task_.lineage();
  meta.digest = summary.digest;
  meta.live_rows = summary.live_rows;
  meta.watermarks = summary.watermarks;
  meta.sweep_cursor = task_.store().meta()->sweep_cursor;
  meta.config_hash = config_hash(application_);
  meta.extensions = task_.store().meta()->extensions;
  rows_.push_back(changelog::meta_row(meta, arena_));
}

codec::EncodeContext PartitionBatch::encode_context(Role input) const {
  codec::EncodeContext context;
  context.targets = &task_.targets();
  context.sequence_kind = application_.sequence_kind;
  context.dead_letter_headers = application_.dead_letter_headers;
  context.input_topic = application_.topics.name(application_.topics.of(input));
  context.dead_letter_bytes_max = application_.record_bytes_max[application_.topics.of(Role::kDeadLetter).value()];
  return context;
}

void PartitionBatch::add_output(const Emission& emission) {
  const bool timer = emission.input == kNoInput;
  const codec::InputRecord* input = timer ? nullptr : &records_[emission.input.value()];
  const Role role = timer ? Role::kControl : input->role;
  Outgoing out;
  out.record = codec::encode(emission, input, encode_context(role), arena_);
  out.topic = topic_of(out.record, emission);
  if (out.record.takes_input_headers) out.input = sources_[emission.input.value()];
  outputs_.push_back(std::move(out));
}

kafka::TopicIndex PartitionBatch::topic_of(const codec::OutputRecord& record, const Emission& emission) const {
  if (record.role == Role::kOutput) {
    RESEQ_ASSERT(record.target.has_value(), "an output without a target");
    return task_.setting().outputs[record.target->value()];
  }
  if (std::holds_alternative<Redirect>(emission.what)) return application_.topics.missing();
  return application_.topics.of(record.role);
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

  birth_.emplace();
  for (const store::Change& row : rows_) birth_->apply(row);
  positions_ = task_.birth_positions();
  Meta meta;
  meta.state.clock = Version(static_cast<std::uint64_t>(now_.value()) << 16U);
  meta.positions = positions_;
  meta.now = now_;
  meta.lineage = {{1, task_.restore_target()}};
  meta.digest = birth_->summary().digest;
  meta.config_hash = config_hash(application_);
  rows_.push_back(changelog::meta_row(meta, arena_));
  birth_->apply(rows_.back());
}

void PartitionBatch::apply(std::optional<Offset> meta_offset) {
  const std::optional<Offset> next =
      meta_offset ? std::optional<Offset>(Offset(meta_offset->value() + 1)) : std::nullopt;
  if (birth_) {
    task_.born(std::move(*birth_), next.value_or(task_.restore_target()));
    return;
  }
  task_.committed(rows_, next);
  for (std::size_t i = 0; i < kInputs.size(); ++i) task_.queue().take(kInputs[i], taken_[i]);
  if (stopped_) task_.park("a result without id or sequence was met and on_missing = \"stop\"");
}

}  // namespace reseq::runtime
