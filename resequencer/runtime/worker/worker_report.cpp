// What a worker counts, and what it tells of itself (report.h).
#include <algorithm>
#include <utility>

#include "base/log.h"
#include "codec/row_kinds.h"
#include "engine/journal/journal_batch.h"
#include "runtime/worker/lane_heads.h"
#include "runtime/worker/worker.h"

namespace reseq::runtime {

namespace {

constexpr Milliseconds kSurveyPause{100};
// A version holds the milliseconds of its stamp above this.
constexpr unsigned kVersionMsShift = 16;

bool contains(const std::vector<Partition>& partitions, Partition partition) {
  return std::find(partitions.begin(), partitions.end(), partition) != partitions.end();
}

std::optional<std::uint64_t> number_of(const Sequence& sequence) {
  if (sequence.bytes().size() != sizeof(std::uint64_t)) return std::nullopt;
  std::uint64_t number = 0;
  for (const char byte : sequence.bytes()) number = number << 8U | static_cast<unsigned char>(byte);
  return number;
}

void count_late(std::span<const engine::LateResult> late, UnixMs now, SequenceKind kind, Totals& totals) {
  for (const engine::LateResult& one : late) {
    const auto released = static_cast<std::int64_t>(one.last_version.value() >> kVersionMsShift);
    // Above a floor that an operator has raised a version says nothing about time.
    if (released != 0 && released <= now.value()) totals.late_ms.observe(now.value() - released);
    if (kind != SequenceKind::kU64 || one.order.epoch != one.newest.epoch) continue;
    const auto mine = number_of(one.order.sequence);
    const auto newest = number_of(one.newest.sequence);
    if (!mine || !newest || *mine > *newest) continue;
    totals.late_sequences.observe(static_cast<std::int64_t>(std::min<std::uint64_t>(*newest - *mine, INT64_MAX)));
  }
}

// Held records that wait no longer behind the batch.
std::int64_t removed_of(const PartitionBatch& batch) {
  const auto was_held = [](const store::Change& change) {
    return !change.value && change.key.front() == static_cast<char>(codec::KeyType::kHeld);
  };
  return std::count_if(batch.rows().begin(), batch.rows().end(), was_held);
}

std::int64_t done_of(const std::vector<AgendaDone>& agenda, std::uint8_t kind) {
  for (const AgendaDone& done : agenda)
    if (done.kind == kind) return done.rows;
  return 0;
}

// From what left, what of it the inputs of the batch account for, and what the agenda did: nobody pays for it who has
// nothing that waits.
void count_waits(const PartitionBatch& batch, const OutcomeCounts& outcomes, const Topics& topics, Totals& totals) {
  const auto written = [&](Role role) {
    return std::count_if(batch.outputs().begin(), batch.outputs().end(),
                         [&](const Outgoing& out) { return out.topic == topics.of(role); });
  };
  const auto beyond = [](std::int64_t all, std::uint64_t known) {
    return std::max<std::int64_t>(0, all - static_cast<std::int64_t>(known));
  };
  const std::vector<AgendaDone>& agenda = batch.task().store().meta()->agenda;
  const std::int64_t dispatched = beyond(written(Role::kWork), outcomes.of(Outcome::kForwarded));
  const bool same_topic = topics.missing() == topics.of(Role::kDeadLetter);
  const std::uint64_t redirected = same_topic ? outcomes.of(Outcome::kRedirected) : 0;
  const LanesDone lanes = batch.lanes_done();
  const std::int64_t dead =
      beyond(written(Role::kDeadLetter) - lanes.gaps - lanes.letters, outcomes.of(Outcome::kDeadLettered) + redirected);
  const std::int64_t expired = done_of(agenda, engine::kExpireTurn);
  const std::int64_t dropped =
      std::max<std::int64_t>(0, removed_of(batch) - lanes.released - lanes.letters - dispatched - dead - expired);
  const auto add = [&](WaitEnd end, std::int64_t count) {
    totals.waits_ended[static_cast<std::size_t>(end)] += static_cast<std::uint64_t>(count);
  };
  add(WaitEnd::kDispatched, dispatched);
  add(WaitEnd::kExpired, expired);
  add(WaitEnd::kDropped, dropped);
  add(WaitEnd::kDeadLettered, dead);
  totals.leases_lost += static_cast<std::uint64_t>(done_of(agenda, engine::kLeaseTurn));
  const std::int64_t outputs = std::count_if(batch.outputs().begin(), batch.outputs().end(),
                                             [](const Outgoing& out) { return out.record.role == Role::kOutput; });
  totals.markers += static_cast<std::uint64_t>(beyond(outputs - lanes.released, outcomes.of(Outcome::kReleased)));
  totals.held_released += static_cast<std::uint64_t>(lanes.released);
  totals.gaps += static_cast<std::uint64_t>(lanes.gaps);
}

}  // namespace

void Worker::count(const Transaction& done) {
  ++totals_.transactions;
  totals_.commit_ms.observe(done.commit_returned().value() - done.commit_called().value());
  const std::uint64_t before = totals_.inputs;
  const UnixMs committed = clock_.now();
  for (const auto& batch : done.batches()) {
    totals_.inputs += batch->inputs();
    totals_.timers += batch->timers();
    totals_.expired += batch->expired();
    for (const Outgoing& out : batch->outputs()) ++totals_.outputs[out.topic.value()];
    totals_.outputs[application_.topics.of(Role::kChangelog).value()] += batch->rows().size();
    if (!batch->birth()) count(*batch, committed);
  }
  if (totals_.inputs != before) totals_.transaction_inputs.observe(static_cast<std::int64_t>(totals_.inputs - before));
}

void Worker::count(const PartitionBatch& batch, UnixMs committed) {
  for (std::size_t i = 0; i < kInputs.size(); ++i) totals_.inputs_by_role[i] += batch.inputs(i);
  OutcomeCounts outcomes;
  const auto decisions = batch.decisions();
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    outcomes.add(decisions[i]);
    const bool released = decisions[i].outcome == Outcome::kReleased;
    if (!released && decisions[i].outcome != Outcome::kForwarded) continue;
    if (batch.timestamp(i) == UnixMs()) continue;  // it has none
    (released ? totals_.release_ms : totals_.forward_ms).observe(committed.value() - batch.timestamp(i).value());
  }
  totals_.outcomes += outcomes;
  batch.task().count(outcomes);
  if (!batch.breaker_changes().empty()) breaker_log_.add(batch.breaker_changes());
  const store::PartitionStore& store = batch.task().store();
  const bool waits = application_.keeps_under_way || store.summary().counts.any_rare() || !store.meta()->agenda.empty();
  if (waits) count_waits(batch, outcomes, application_.topics, totals_);
  const std::vector<Offset> gone = batch.gone();
  totals_.body_gone += gone.size();
  if (!gone.empty())
    spdlog::error(
        "partition={} alarm=body_gone records={} first_offset={} requests that waited by reference are not in the "
        "topic any more: each is a dead letter, ask their producers again; its retention is too short",
        batch.task().partition().value(), gone.size(), gone.front().value());
  totals_.older_requests += batch.older_requests();
  count_late(batch.late_results(), batch.now(), application_.sequence_kind, totals_);
}

// One piece of one partition, now and then: a fraction of a percent of the time.
void Worker::survey_one() {
  if (tasks_.empty() || clock_.steady().value() - surveyed_at_.value() < kSurveyPause.value()) return;
  surveyed_at_ = clock_.steady();
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    PartitionTask& task = *tasks_[next_survey_++ % tasks_.size()];
    if (task.phase() != Phase::kRunning || task.faulty()) continue;
    const bool lanes_due = task.lane_survey().due(surveyed_at_);
    const bool documents_due = task.survey().due(surveyed_at_);
    if (!lanes_due && !documents_due) continue;
    if (lanes_due) task.lane_survey().look(task.store(), surveyed_at_);
    if (!documents_due) return;
    task.survey().look(task.store(), surveyed_at_, clock_.now(),
                       Milliseconds(application_.settings.starvation_after_ms), task.setting().context.dispatch);
    return;
  }
}

// Those that no configuration has any more cannot be told of by name here; a start would refuse to leave them out.
std::vector<WaitingForTarget> Worker::waiting_of(const PartitionTask& task) const {
  std::vector<WaitingForTarget> all;
  const auto& found = task.survey().found();
  if (!found || task.phase() != Phase::kRunning) return all;
  const auto& configured = application_.settings.targets;
  const std::vector<std::string>& names = task.targets().names();
  for (std::size_t number = 0; number < std::min(found->targets.size(), names.size()); ++number) {
    if (found->targets[number].waiting == 0) continue;
    const auto place = std::find_if(configured.begin(), configured.end(),
                                    [&](const auto& target) { return target.name == names[number]; });
    if (place == configured.end()) continue;
    all.push_back({static_cast<std::size_t>(place - configured.begin()), found->targets[number]});
  }
  return all;
}

PartitionReport Worker::report_of(const PartitionTask& task) const {
  PartitionReport report;
  report.partition = task.partition();
  report.phase = task.phase();
  report.outcomes = task.outcomes();
  report.survey = task.survey().found();
  report.only_older = task.older_requests().documents(clock_.steady());
  report.targets = waiting_of(task);
  if (task.phase() == Phase::kParked) {
    report.parked = name_of(task.parked());
    report.detail = task.parked_reason();
    report.first_step = first_step(task.parked());
  }
  if (restorer_ && restorer_->restoring(task.partition())) report.restore = restorer_->progress(task.partition());
  if (task.phase() == Phase::kRunning)
    for (std::size_t i = 0; i < kInputs.size(); ++i) {
      InputReport& input = report.inputs[i];
      input.decided = task.queue().decided(kInputs[i]);
      input.read = task.queue().read(kInputs[i]);
      const bool unread =
          (task.paused() && kInputs[i] != Role::kControl) || (task.leaves_requests() && kInputs[i] == Role::kRequests);
      input.paused = unread || held(task.partition()) || !task.queue().records(kInputs[i]).empty() ||
                     (kInputs[i] == Role::kCommands && contains(throttled_, task.partition()));
      // Nothing is fetched of it, so that nobody tells its end.
      if (consumer_ && !unread)
        input.end = consumer_->known_end({application_.topics.of(kInputs[i]), task.partition()});
    }
  if (!task.has_store()) return report;
  report.checkpoint_error = task.checkpoint_error();
  const store::PartitionStore& store = task.store();
  report.live = store.summary().counts[Count::kLiveRows];
  report.watermarks = store.summary().counts[Count::kWatermarks];
  report.priorities = store.summary().priorities;
  report.held_records = store.summary().counts[Count::kHeldRecords];
  report.held_bytes = store.summary().counts[Count::kHeldBytes];
  report.requests_stopped = task.requests_stopped();
  report.places = store.summary().counts[Count::kPlaces];
  report.places_queued = store.summary().counts[Count::kQueued];
  if (report.places > 0) report.lane_head = next_gap_of(task);
  report.lanes = task.lane_survey().found();
  report.position = store.position();
  report.dirty_rows = store.dirty_rows();
  if (const auto last = store.checkpointed()) report.checkpointed = last->position;
  report.disk = store.disk_size();
  if (!store.meta()) return report;
  report.committed = store.meta()->now;
  report.state = store.meta()->state;
  const std::vector<std::string>& names = task.targets().names();
  for (const Breaker& breaker : report.state.breakers)
    if (breaker.open && breaker.target.value() < names.size())
      report.targets_down.push_back({names[breaker.target.value()], breaker});
  // That of this takeover is in the log from its first commit on.
  const bool taken_over = task.phase() == Phase::kReady || task.phase() == Phase::kRunning;
  const std::vector<Generation>& lineage = taken_over ? task.lineage() : store.meta()->lineage;
  if (!lineage.empty()) report.generation = lineage.back().number;
  return report;
}

WorkerReport Worker::report() const {
  WorkerReport report;
  report.at = clock_.now();
  report.steady = clock_.steady();
  report.connected = producer_ && consumer_;
  report.member = group_ != nullptr && consumer_;
  report.clock_frozen = clock_frozen_;
  report.totals = totals_;
  report.breaker_changes = breaker_log_.changes();
  for (const auto& task : tasks_) report.partitions.push_back(report_of(*task));
  return report;
}

}  // namespace reseq::runtime
