#include "runtime/desk/metrics_text.h"

#include <algorithm>
#include <functional>
#include <map>

#include "metrics/exposition.h"
#include "runtime/desk/queue_report.h"
#include "runtime/desk/target_report.h"

namespace reseq::runtime {

namespace {

using metrics::Exposition;
using metrics::Histogram;

constexpr double kSecondsPerMs = 0.001;

using Workers = std::vector<Board::Seen>;

double number(std::uint64_t value) {
  return static_cast<double>(value);
}

double seconds_between(UnixMs from, UnixMs to) {
  return static_cast<double>(std::max<std::int64_t>(0, to.value() - from.value())) * kSecondsPerMs;
}

// A counter of the whole process: its workers together.
void add_counter(Exposition& out, const char* name, const char* help, const Workers& workers,
                 std::uint64_t Totals::*count) {
  std::uint64_t sum = 0;
  for (const Board::Seen& worker : workers) sum += worker.now->totals.*count;
  out.counter(name, help);
  out.add(number(sum));
}

void add_histogram(Exposition& out, const char* name, const char* help, const Workers& workers,
                   Histogram Totals::*histogram, double unit) {
  Histogram sum;
  for (const Board::Seen& worker : workers) sum += worker.now->totals.*histogram;
  out.histogram(name, help);
  out.add({}, sum, unit);
}

// One partition as its worker sees it.
struct Owned {
  const PartitionReport* partition;
  const WorkerReport* worker;
};
using Partitions = std::vector<Owned>;

// Each partition once: one that has just moved to another worker of the process is still in the older report.
Partitions partitions_of(const Workers& workers) {
  std::map<Partition, Owned> newest;
  for (const Board::Seen& seen : workers)
    for (const PartitionReport& partition : seen.now->partitions) {
      const auto [known, is_new] = newest.try_emplace(partition.partition, Owned{&partition, seen.now.get()});
      if (!is_new && known->second.worker->steady < seen.now->steady) known->second = {&partition, seen.now.get()};
    }
  Partitions all;
  for (const auto& [number, owned] : newest) all.push_back(owned);
  return all;
}

std::string label(const Owned& owned) {
  return std::to_string(owned.partition->partition.value());
}

// A gauge per partition; nothing where it is unknown.
using PartitionNumber = std::function<std::optional<double>(const PartitionReport&, const WorkerReport&)>;
void add_partitions(Exposition& out, const char* name, const char* help, const Partitions& all,
                    const PartitionNumber& value_of) {
  out.gauge(name, help);
  for (const Owned& owned : all)
    if (const auto value = value_of(*owned.partition, *owned.worker)) out.add({{"partition", label(owned)}}, *value);
}

// The same per input.
using InputNumber = std::function<std::optional<double>(const InputReport&, const WorkerReport&)>;
void add_inputs(Exposition& out, const char* name, const char* help, const Partitions& all,
                const InputNumber& value_of) {
  out.gauge(name, help);
  for (const Owned& owned : all) {
    if (owned.partition->phase != Phase::kRunning) continue;
    for (std::size_t i = 0; i < owned.partition->inputs.size(); ++i)
      if (const auto value = value_of(owned.partition->inputs[i], *owned.worker))
        out.add({{"role", kInputNames[i]}, {"partition", label(owned)}}, *value);
  }
}

void add_records(Exposition& out, const Application& application, const Workers& workers) {
  out.counter("reseq_records_in_total", "Records decided, by input.");
  for (std::size_t i = 0; i < kInputs.size(); ++i) {
    std::uint64_t sum = 0;
    for (const Board::Seen& worker : workers) sum += worker.now->totals.inputs_by_role[i];
    out.add({{"role", kInputNames[i]}}, number(sum));
  }
  out.counter("reseq_records_out_total", "Records written in committed transactions, by topic.");
  const Topics& topics = application.topics;
  for (std::size_t i = 0; i < topics.names().size(); ++i) {
    const kafka::TopicIndex topic(static_cast<std::uint16_t>(i));
    if (std::any_of(kInputs.begin(), kInputs.end(), [&](Role role) { return topics.of(role) == topic; })) continue;
    std::uint64_t sum = 0;
    for (const Board::Seen& worker : workers) sum += worker.now->totals.outputs[i];
    out.add({{"topic", topics.name(topic)}}, number(sum));
  }
}

void add_outcomes(Exposition& out, const Workers& workers) {
  OutcomeCounts sum;
  for (const Board::Seen& worker : workers) sum += worker.now->totals.outcomes;
  out.counter("reseq_outcomes_total", "Inputs by what became of them; each has exactly one outcome.");
  for (std::size_t o = 0; o < kOutcomeNames.size(); ++o)
    for (std::size_t r = 0; r < kReasonNames.size(); ++r) {
      const std::uint64_t count = sum.of(static_cast<Outcome>(o), static_cast<Reason>(r));
      // What never happened is told for the reasons that stand alone, so that a rate has a beginning.
      if (count != 0 || r == 0) out.add({{"outcome", kOutcomeNames[o]}, {"reason", kReasonNames[r]}}, number(count));
    }
  std::uint64_t bad = 0;
  for (std::size_t r = 0; r < kReasonNames.size(); ++r)
    for (const Outcome outcome : {Outcome::kDeadLettered, Outcome::kRedirected})
      bad += sum.of(outcome, static_cast<Reason>(r));
  // It is there before the first one: the growth of a series that begins with a burst is not seen.
  out.counter("reseq_bad_records_total", "Inputs that could not be used, whatever the reason.");
  out.add({}, number(bad));
}

void add_work(Exposition& out, const Workers& workers) {
  add_counter(out, "reseq_transactions_total", "Transactions committed.", workers, &Totals::transactions);
  add_counter(out, "reseq_transactions_aborted_total", "Transactions aborted; what was in them is decided again.",
              workers, &Totals::aborted);
  add_counter(out, "reseq_producers_recycled_total", "Producers replaced, after an outcome that was not known.",
              workers, &Totals::recycled);
  add_counter(out, "reseq_overdue_total", "Documents that became overdue.", workers, &Totals::timers);
  add_counter(out, "reseq_older_requests_total",
              "Requests dropped because something newer of their document was known.", workers,
              &Totals::older_requests);
  add_counter(out, "reseq_watermarks_expired_total", "Completed documents forgotten after watermark_retention_ms.",
              workers, &Totals::expired);
  add_counter(out, "reseq_checkpoints_total", "Checkpoints written to disk.", workers, &Totals::checkpoints);
  add_counter(out, "reseq_checkpoints_failed_total", "Checkpoints that failed; the state stays in memory.", workers,
              &Totals::checkpoints_failed);
  add_counter(out, "reseq_compactions_total", "Copies written anew because most of their file was free.", workers,
              &Totals::compactions);
  add_counter(out, "reseq_compactions_failed_total", "Of these, those that failed; the old file stays.", workers,
              &Totals::compactions_failed);
  out.counter("reseq_takeovers_total", "Takeovers of partitions: reuse, or why the state was read anew.");
  for (std::size_t i = 0; i < static_cast<std::size_t>(Rebuild::kCount); ++i) {
    std::uint64_t sum = 0;
    for (const Board::Seen& worker : workers)
      sum += i == 0 ? worker.now->totals.reuses : worker.now->totals.rebuilds[i];
    const auto why = static_cast<Rebuild>(i);
    out.add({{"decision", i == 0 ? std::string_view("reuse") : name_of(why)}}, number(sum));
  }
  out.gauge("reseq_bad_records_per_second", "Records that could not be used, over the last ten seconds.");
  double bad = 0;
  for (const Board::Seen& worker : workers) bad += worker.now->bad_per_s;
  out.add(bad);
}

void add_times(Exposition& out, const Workers& workers) {
  add_histogram(out, "reseq_commit_seconds", "Time of the call that commits a transaction.", workers,
                &Totals::commit_ms, kSecondsPerMs);
  add_histogram(out, "reseq_transaction_inputs", "Inputs decided in one transaction.", workers,
                &Totals::transaction_inputs, 1);
  add_histogram(out, "reseq_checkpoint_seconds", "Time of writing a checkpoint.", workers, &Totals::checkpoint_ms,
                kSecondsPerMs);
  add_histogram(out, "reseq_checkpoint_rows", "Changed rows that a checkpoint wrote to disk.", workers,
                &Totals::checkpoint_rows, 1);
  add_histogram(out, "reseq_compaction_step_seconds", "Time of one step of writing a copy anew.", workers,
                &Totals::compaction_ms, kSecondsPerMs);
  add_histogram(out, "reseq_forward_seconds",
                "Added latency: from the timestamp of a request to the commit of its work.", workers,
                &Totals::forward_ms, kSecondsPerMs);
  add_histogram(out, "reseq_release_seconds",
                "Added latency: from the timestamp of a result to the commit of its output.", workers,
                &Totals::release_ms, kSecondsPerMs);
  add_histogram(out, "reseq_lateness_seconds",
                "Results dropped behind a newer one that was released: time since the last release of the document.",
                workers, &Totals::late_ms, kSecondsPerMs);
  add_histogram(out, "reseq_reorder_distance",
                "Results dropped as superseded or stale: sequence numbers behind the newest (sequence_kind u64).",
                workers, &Totals::late_sequences, 1);
}

void add_documents(Exposition& out, const Partitions& all) {
  const auto surveyed = [](std::uint64_t Survey::Found::*count) {
    return [count](const PartitionReport& partition, const WorkerReport&) -> std::optional<double> {
      if (!partition.survey) return std::nullopt;
      return number((*partition.survey).*count);
    };
  };
  add_partitions(out, "reseq_documents_live", "Documents that wait for a result.", all,
                 [](const PartitionReport& p, const WorkerReport&) { return number(p.live); });
  add_partitions(out, "reseq_documents_completed", "Documents that wait for nothing and are remembered.", all,
                 [](const PartitionReport& p, const WorkerReport&) { return number(p.watermarks); });
  add_partitions(out, "reseq_documents_overdue",
                 "Live documents that wait and got nothing for registration_timeout_ms.", all,
                 surveyed(&Survey::Found::overdue));
  add_partitions(out, "reseq_documents_starving",
                 "Live documents that got nothing for starvation_after_ms while newer requests came.", all,
                 surveyed(&Survey::Found::starving));
  add_partitions(out, "reseq_documents_only_older_requests",
                 "Documents that got only requests older than what is known, for two minutes or longer; at most 1000.",
                 all, [](const PartitionReport& p, const WorkerReport&) { return number(p.only_older); });
  add_partitions(out, "reseq_oldest_document_seconds",
                 "How long the waiting document got nothing that got nothing for longest; 0 = none waits.", all,
                 [](const PartitionReport& p, const WorkerReport& worker) -> std::optional<double> {
                   if (!p.survey) return std::nullopt;
                   return p.survey->oldest ? seconds_between(*p.survey->oldest, worker.at) : 0;
                 });
  add_partitions(out, "reseq_survey_age_seconds",
                 "How old the last count of overdue, starving and oldest documents is.", all,
                 [](const PartitionReport& p, const WorkerReport& worker) -> std::optional<double> {
                   if (!p.survey) return std::nullopt;
                   return seconds_between(p.survey->at, worker.at);
                 });
}

void add_targets(Exposition& out, const Application& application, const Workers& workers) {
  const std::vector<TargetReport> all =
      workers.empty() ? std::vector<TargetReport>() : target_reports(application, workers);
  const auto add = [&](const char* name, const char* help, const std::function<double(const TargetReport&)>& value_of) {
    out.gauge(name, help);
    for (const TargetReport& one : all)
      if (one.surveyed) out.add({{"target", one.target}}, value_of(one));
  };
  add("reseq_target_documents_waiting", "Documents that wait for a result for this target.",
      [](const TargetReport& one) { return number(one.waits.waiting); });
  add("reseq_target_documents_overdue", "Of them, those that wait for longer than registration_timeout_ms.",
      [](const TargetReport& one) { return number(one.waits.overdue); });
  UnixMs now;
  for (const Board::Seen& worker : workers) now = std::max(now, worker.now->at);
  add("reseq_target_oldest_document_seconds", "How long the document waits that waits for this target longest.",
      [&](const TargetReport& one) { return one.waits.oldest ? seconds_between(*one.waits.oldest, now) : 0; });
  out.counter("reseq_target_released_total", "Results released to this target.");
  for (const TargetReport& one : all) out.add({{"target", one.target}}, number(one.released));
  out.gauge("reseq_target_down", "Partitions in which the target cannot be reached, and is only tried now and then.");
  for (const TargetReport& one : all) out.add({{"target", one.target}}, number(one.down));
  out.gauge("reseq_target_quiet_seconds", "Since the last release to this target by this instance, or its start.");
  for (const TargetReport& one : all)
    out.add({{"target", one.target}}, static_cast<double>(one.quiet.value()) * kSecondsPerMs);
}

// By priority, of all partitions of the instance.
void add_queue(Exposition& out, const Application& application, const Partitions& all) {
  std::vector<const PartitionReport*> partitions;
  UnixMs now;
  for (const Owned& owned : all) {
    partitions.push_back(owned.partition);
    now = std::max(now, owned.worker->at);
  }
  const auto always = static_cast<std::uint8_t>(application.settings.dispatch_default_priority);
  const std::vector<QueueReport> queue = queue_report(partitions, always);
  const auto add = [&](const char* name, const char* help, const std::function<double(const QueueReport&)>& value_of) {
    out.gauge(name, help);
    for (const QueueReport& one : queue) out.add({{"priority", std::to_string(one.priority)}}, value_of(one));
  };
  add("reseq_documents_waiting", "Documents of which an order waits for its dispatch to work.",
      [](const QueueReport& one) { return number(one.waiting); });
  add("reseq_documents_processing", "Documents of which an order was dispatched and is under way.",
      [](const QueueReport& one) { return number(one.processing); });
  add("reseq_oldest_due_seconds", "How long the waiting order is due that is due for longest; 0 = none is.",
      [&](const QueueReport& one) { return one.due_since ? seconds_between(*one.due_since, now) : 0; });
}

void add_failures(Exposition& out, const Partitions& all) {
  const auto counted = [](std::uint64_t FailureCounts::*count) {
    return [count](const PartitionReport& p, const WorkerReport&) -> std::optional<double> {
      if (!p.survey) return std::nullopt;
      return p.survey->failures ? number(p.survey->failures->documents().*count) : 0;
    };
  };
  add_partitions(out, "reseq_documents_retrying", "Documents whose work failed for a target and is tried again.", all,
                 counted(&FailureCounts::retrying));
  add_partitions(out, "reseq_documents_failed",
                 "Documents whose work failed for a target for good, and nothing newer came since.", all,
                 counted(&FailureCounts::failed));
}

void add_held(Exposition& out, const Partitions& all) {
  add_partitions(out, "reseq_held_records",
                 "Orders that wait for their dispatch, and results that wait in a lane: each is held as a record.", all,
                 [](const PartitionReport& p, const WorkerReport&) { return number(p.held_records); });
  add_partitions(out, "reseq_held_bytes", "Bytes of what is held.", all,
                 [](const PartitionReport& p, const WorkerReport&) { return number(p.held_bytes); });
  add_partitions(out, "reseq_requests_stopped", "1: requests are not read until half of held_bytes_max is free again.",
                 all, [](const PartitionReport& p, const WorkerReport&) { return p.requests_stopped ? 1.0 : 0.0; });
  add_partitions(out, "reseq_lane_places", "Requests that strict and total targets wait for, with those that are held.",
                 all, [](const PartitionReport& p, const WorkerReport&) { return number(p.places); });
  add_partitions(out, "reseq_lane_places_queued",
                 "Of these, versions that wait until fewer of their document are in the journal.", all,
                 [](const PartitionReport& p, const WorkerReport&) { return number(p.places_queued); });
  add_partitions(out, "reseq_lane_head_seconds", "How long what is skipped next is waited for; 0 = nothing is.", all,
                 [](const PartitionReport& p, const WorkerReport& worker) {
                   return p.lane_head ? seconds_between(p.lane_head->since, worker.at) : 0;
                 });
  add_partitions(out, "reseq_documents_stuck",
                 "Documents with an order whose leases were lost while nobody was answered.", all,
                 [](const PartitionReport& p, const WorkerReport&) -> std::optional<double> {
                   if (!p.survey) return std::nullopt;
                   return number(p.survey->stuck);
                 });
}

void add_waits(Exposition& out, const Workers& workers) {
  out.counter("reseq_waits_ended_total", "Orders that waited for their dispatch, by how that ended.");
  for (std::size_t i = 0; i < kWaitEndNames.size(); ++i) {
    std::uint64_t sum = 0;
    for (const Board::Seen& worker : workers) sum += worker.now->totals.waits_ended[i];
    out.add({{"end", kWaitEndNames[i]}}, number(sum));
  }
  add_counter(out, "reseq_leases_lost_total", "Dispatched documents whose lease was lost: they wait again.", workers,
              &Totals::leases_lost);
  add_counter(out, "reseq_markers_total", "Records of outputs that tell of a document that failed.", workers,
              &Totals::markers);
  add_counter(out, "reseq_held_released_total", "Results that were held in a lane and released.", workers,
              &Totals::held_released);
  add_counter(out, "reseq_gaps_total", "Results that a strict or total target did not wait for any longer.", workers,
              &Totals::gaps);
  add_counter(out, "reseq_body_gone_total", "Requests that waited and were not in their topic any more.", workers,
              &Totals::body_gone);
}

void add_state(Exposition& out, const Partitions& all) {
  add_partitions(out, "reseq_partition_running", "1: the partition is worked on; 0: taken over, or parked.", all,
                 [](const PartitionReport& p, const WorkerReport&) { return p.phase == Phase::kRunning ? 1.0 : 0.0; });
  add_partitions(out, "reseq_partition_paused", "1: the partition decides nothing until an operator resumes it.", all,
                 [](const PartitionReport& p, const WorkerReport&) { return p.state.paused ? 1.0 : 0.0; });
  add_partitions(out, "reseq_partition_parked", "1: the partition stands still until a person acts.", all,
                 [](const PartitionReport& p, const WorkerReport&) { return p.phase == Phase::kParked ? 1.0 : 0.0; });
  add_partitions(out, "reseq_restore_left_offsets", "Offsets of the changelog that a takeover still has to read.", all,
                 [](const PartitionReport& p, const WorkerReport&) -> std::optional<double> {
                   if (!p.restore) return 0;
                   const std::int64_t left = p.restore->target.value() - p.restore->position.value();
                   return static_cast<double>(std::max<std::int64_t>(0, left));
                 });
  add_partitions(out, "reseq_last_commit_age_seconds", "Since the last batch that is committed.", all,
                 [](const PartitionReport& p, const WorkerReport& worker) -> std::optional<double> {
                   if (p.committed == UnixMs()) return std::nullopt;
                   return seconds_between(p.committed, worker.at);
                 });
  add_partitions(out, "reseq_rows_not_on_disk", "Changed rows that only memory and the changelog have.", all,
                 [](const PartitionReport& p, const WorkerReport&) { return number(p.dirty_rows); });
  add_partitions(out, "reseq_state_file_bytes", "Size of the copy of the state on disk.", all,
                 [](const PartitionReport& p, const WorkerReport&) -> std::optional<double> {
                   return p.disk ? std::optional(number(p.disk->file_bytes)) : std::nullopt;
                 });
  add_partitions(out, "reseq_state_free_bytes", "Of it, pages that the next writes can use.", all,
                 [](const PartitionReport& p, const WorkerReport&) -> std::optional<double> {
                   return p.disk ? std::optional(number(p.disk->free_bytes)) : std::nullopt;
                 });
  add_partitions(out, "reseq_version_floor", "Versions are above it; raised by an operator.", all,
                 [](const PartitionReport& p, const WorkerReport&) { return number(p.state.floors.global.value()); });
}

void add_process(Exposition& out, const Application& application, const Workers& workers, Milliseconds steady) {
  out.gauge("reseq_build_info", "Constant 1; what runs.");
  out.add({{"version", RESEQ_VERSION},
           {"application", application.settings.application_id},
           {"instance_id", application.settings.instance_id}},
          1);
  out.gauge("reseq_worker_report_age_seconds", "Since a worker told of itself; large: it hangs in one step.");
  for (const Board::Seen& worker : workers)
    out.add({{"worker", std::to_string(worker.now->worker)}},
            static_cast<double>(steady.value() - worker.now->steady.value()) * kSecondsPerMs);
  out.gauge("reseq_clock_frozen", "1: the clock has jumped, timers wait.");
  for (const Board::Seen& worker : workers)
    out.add({{"worker", std::to_string(worker.now->worker)}}, worker.now->clock_frozen ? 1 : 0);
}

}  // namespace

std::string metrics_text(const Application& application, const std::vector<Board::Seen>& seen, Milliseconds steady,
                         Milliseconds brokers_away) {
  Exposition out;
  add_process(out, application, seen, steady);
  out.gauge("reseq_brokers_away_seconds", "Since no broker answers; 0: they do.");
  out.add(static_cast<double>(brokers_away.value()) * kSecondsPerMs);
  add_records(out, application, seen);
  add_outcomes(out, seen);
  add_work(out, seen);
  add_times(out, seen);
  const Partitions all = partitions_of(seen);
  add_documents(out, all);
  add_failures(out, all);
  add_queue(out, application, all);
  add_held(out, all);
  add_waits(out, seen);
  add_targets(out, application, seen);
  add_state(out, all);
  add_inputs(out, "reseq_input_lag_offsets", "Offsets from what is decided to the end of an input.", all,
             [](const InputReport& input, const WorkerReport&) -> std::optional<double> {
               const auto lag = input.lag();
               return lag ? std::optional(static_cast<double>(*lag)) : std::nullopt;
             });
  add_inputs(out, "reseq_input_stalled_seconds",
             "Since reading stands still below the end of an input: a transaction of somebody else is open.", all,
             [](const InputReport& input, const WorkerReport& worker) -> std::optional<double> {
               if (!input.stalled_since) return 0.0;
               return static_cast<double>(worker.steady.value() - input.stalled_since->value()) * kSecondsPerMs;
             });
  return out.text();
}

}  // namespace reseq::runtime
