#include "runtime/desk/admin_replies.h"

#include <algorithm>
#include <array>
#include <unistd.h>

#include "codec/base64.h"
#include "config/print.h"
#include "config/rules.h"
#include "engine/standing.h"
#include "runtime/desk/failures_report.h"
#include "runtime/desk/queue_report.h"
#include "runtime/desk/target_report.h"
#include "runtime/worker/survey.h"

namespace reseq::runtime {

namespace {

using admin::Json;

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

Json target_down_json(const TargetDown& down) {
  Json object = {{"target", down.target}, {"since", admin::time_text(down.breaker.opened_at)}};
  if (!down.breaker.until_resume) object["tried_at"] = admin::time_text(down.breaker.probe_at);
  admin::set_bytes(object, "error", down.breaker.error);
  return object;
}

// What every query tells of a partition.
Json partition_json(const PartitionReport& partition) {
  Json object = {{"partition", partition.partition.value()},
                 {"state", name_of(partition.phase)},
                 {"generation", partition.generation}};
  if (partition.position) object["changelog_position"] = partition.position->value();
  if (partition.committed != UnixMs()) object["committed"] = admin::time_text(partition.committed);
  if (partition.state.paused) object["paused"] = true;
  if (partition.requests_stopped) object["requests_stopped"] = true;
  for (const TargetDown& down : partition.targets_down) object["targets_down"].push_back(target_down_json(down));
  if (!partition.parked.empty())
    object["parked"] = {
        {"reason", partition.parked}, {"detail", partition.detail}, {"first_step", partition.first_step}};
  return object;
}

Json counts_json(const OutcomeCounts& counts) {
  Json object = Json::object();
  for (std::size_t o = 0; o < kOutcomeNames.size(); ++o)
    for (std::size_t r = 0; r < kReasonNames.size(); ++r) {
      const std::uint64_t count = counts.of(static_cast<Outcome>(o), static_cast<Reason>(r));
      if (count != 0) object[std::string(kOutcomeNames[o])][std::string(kReasonNames[r])] = count;
    }
  return object;
}

// Per outcome, over the last seconds. A partition that has come since counts from nothing.
Json rates_json(const PartitionReport& partition, const Board::Seen& seen) {
  Json object = Json::object();
  if (!seen.before) return object;
  const double seconds = static_cast<double>(seen.now->steady.value() - seen.before->steady.value()) / 1000;
  if (seconds <= 0) return object;
  const PartitionReport* before = find_partition(*seen.before, partition.partition);
  for (std::size_t o = 0; o < kOutcomeNames.size(); ++o) {
    const auto outcome = static_cast<Outcome>(o);
    const std::uint64_t now = partition.outcomes.of(outcome);
    const std::uint64_t then = before != nullptr ? before->outcomes.of(outcome) : 0;
    if (now > then) object[std::string(kOutcomeNames[o])] = static_cast<double>(now - then) / seconds;
  }
  return object;
}

Json inputs_json(const PartitionReport& partition, Milliseconds steady) {
  Json object = Json::object();
  for (std::size_t i = 0; i < partition.inputs.size(); ++i) {
    const InputReport& input = partition.inputs[i];
    Json one = {{"decided", input.decided.value()}};
    if (const auto lag = input.lag()) one["lag"] = *lag;
    if (input.stalled_since) one["stalled_ms"] = steady.value() - input.stalled_since->value();
    object[kInputNames[i]] = std::move(one);
  }
  return object;
}

// Of those that have any; a partition without a queue says nothing of it.
void add_queue(Json& object, const PartitionReport& partition) {
  for (const QueueReport& queue : queue_report(partition)) {
    Json one = {{"waiting", queue.waiting}, {"processing", queue.processing}};
    if (queue.due_since) one["due_since"] = admin::time_text(*queue.due_since);
    object["by_priority"][std::to_string(queue.priority)] = std::move(one);
  }
  if (partition.survey && partition.survey->stuck > 0) object["stuck"] = partition.survey->stuck;
  if (partition.held_records > 0)
    object["held"] = {{"records", partition.held_records}, {"bytes", partition.held_bytes}};
}

// What lanes wait for.
Json lane_head_json(const LaneHead& head, SequenceKind kind) {
  Json one = {{"target", head.target}, {"order", admin::order_json(head.order, kind)}};
  admin::set_bytes(one, "id", head.id);
  if (head.since != codec::kNever) one["since"] = admin::time_text(head.since);
  if (head.leaves())
    one["has_result"] = true;
  else if (head.skipped_at != codec::kNever)
    one["skipped_at"] = admin::time_text(head.skipped_at);
  return one;
}

Json held_results_json(const HeldResults& held) {
  Json one = {{"results", held.count}};
  if (held.more) one["more"] = true;
  return one;
}

// Beside what the row of the document says of its lanes.
void add_standings(Json& document, const std::vector<LaneStanding>& standings, SequenceKind kind) {
  for (const LaneStanding& standing : standings)
    for (Json& lane : document["lanes"]) {
      if (lane["target"] != standing.target) continue;
      if (standing.head) lane["waits_for"] = lane_head_json(*standing.head, kind);
      if (standing.first_held) {
        lane["held"] = held_results_json(standing.held);
        lane["held"]["order"] = admin::order_json(standing.first_held->order, kind);
        if (standing.first_held->since != codec::kNever)
          lane["held"]["since"] = admin::time_text(standing.first_held->since);
        lane["held"]["came"] = admin::time_text(standing.first_held->came);
      }
      if (standing.blocks.count > 0) lane["blocks"] = held_results_json(standing.blocks);
    }
}

// A partition without places says nothing of lanes.
void add_lanes(Json& object, const PartitionReport& partition, SequenceKind kind) {
  if (partition.places == 0) return;
  Json lanes = {{"places", partition.places}};
  if (partition.places_queued > 0) lanes["queued"] = partition.places_queued;
  if (partition.lane_head) lanes["waits_for"] = lane_head_json(*partition.lane_head, kind);
  if (partition.lanes)
    for (const auto& [target, found] : *partition.lanes) {
      Json one = {
          {"places", found.places}, {"held", found.held}, {"held_bytes", found.held_bytes}, {"gaps", found.gaps}};
      if (found.head) one["waits_for"] = lane_head_json(*found.head, kind);
      lanes["by_target"][target] = std::move(one);
    }
  object["lanes"] = std::move(lanes);
}

Json documents_json(const PartitionReport& partition, const Application& application) {
  Json object = {{"live", partition.live}, {"completed", partition.watermarks}};
  if (partition.only_older > 0) object["only_older_requests"] = partition.only_older;
  add_queue(object, partition);
  add_lanes(object, partition, application.sequence_kind);
  if (!partition.survey) return object;
  object["overdue"] = partition.survey->overdue;
  object["starving"] = partition.survey->starving;
  if (partition.survey->oldest) object["oldest_waits_since"] = admin::time_text(*partition.survey->oldest);
  object["surveyed"] = admin::time_text(partition.survey->at);
  for (const WaitingForTarget& waiting : partition.targets) {
    Json one = {{"waiting", waiting.found.waiting}, {"overdue", waiting.found.overdue}};
    if (waiting.found.oldest) one["oldest_waits_since"] = admin::time_text(*waiting.found.oldest);
    object["by_target"][application.settings.targets[waiting.target].name] = std::move(one);
  }
  return object;
}

// Buckets that are not empty, of all workers since the process began. The last one has no upper end.
Json lateness_json(const std::vector<Board::Seen>& seen) {
  metrics::Histogram sum;
  for (const Board::Seen& worker : seen) sum += worker.now->totals.late_ms;
  Json buckets = Json::array();
  for (std::size_t i = 0; i < metrics::Histogram::kBuckets; ++i) {
    if (sum.in_bucket(i) == 0) continue;
    Json bucket = {{"count", sum.in_bucket(i)}};
    if (i + 1 < metrics::Histogram::kBuckets) bucket["up_to_ms"] = metrics::Histogram::upper(i);
    buckets.push_back(std::move(bucket));
  }
  return buckets;
}

// How orders that waited for their dispatch ended, since the process began.
Json waits_json(const std::vector<Board::Seen>& seen) {
  Json waits = {{"ended", Json::object()}};
  const auto dispatched = static_cast<std::size_t>(WaitEnd::kDispatched);
  std::array<std::uint64_t, kWaitEndNames.size()> ended{};
  std::uint64_t leases_lost = 0;
  std::uint64_t body_gone = 0;
  double per_s = 0;
  for (const Board::Seen& worker : seen) {
    const Totals& now = worker.now->totals;
    for (std::size_t i = 0; i < ended.size(); ++i) ended[i] += now.waits_ended[i];
    leases_lost += now.leases_lost;
    body_gone += now.body_gone;
    const std::int64_t ms = worker.before ? worker.now->steady.value() - worker.before->steady.value() : 0;
    if (ms > 0)
      per_s += static_cast<double>(now.waits_ended[dispatched] - worker.before->totals.waits_ended[dispatched]) * 1000 /
               static_cast<double>(ms);
  }
  for (std::size_t i = 0; i < ended.size(); ++i) waits["ended"][std::string(kWaitEndNames[i])] = ended[i];
  waits["leases_lost"] = leases_lost;
  waits["body_gone"] = body_gone;
  waits["dispatched_per_s"] = per_s;
  return waits;
}

// What left lanes of ordered targets, since the process began.
Json lanes_json(const std::vector<Board::Seen>& seen) {
  std::uint64_t released = 0;
  std::uint64_t gaps = 0;
  for (const Board::Seen& worker : seen) {
    released += worker.now->totals.held_released;
    gaps += worker.now->totals.gaps;
  }
  return {{"held_released", released}, {"gaps", gaps}};
}

// Of all partitions of this instance, because each has its own ten.
Json longest_waits_json(const std::vector<Board::Seen>& seen) {
  std::vector<std::pair<Partition, const Survey::Waiting*>> all;
  for (const Board::Seen& worker : seen)
    for (const PartitionReport& partition : worker.now->partitions)
      if (partition.survey)
        for (const Survey::Waiting& one : partition.survey->longest) all.emplace_back(partition.partition, &one);
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.second->since < b.second->since; });
  all.resize(std::min(all.size(), Survey::kLongestMax));
  Json documents = Json::array();
  for (const auto& [partition, one] : all) {
    Json object = {{"partition", partition.value()}};
    admin::set_bytes(object, "id", one->id);
    object["state"] = one->overdue ? "overdue" : one->starving ? "starving" : "live";
    object["since"] = admin::time_text(one->since);
    documents.push_back(std::move(object));
  }
  return documents;
}

Json owned_json(const std::vector<Board::Seen>& seen) {
  Json partitions = Json::array();
  for (const Board::Seen& worker : seen)
    for (const PartitionReport& partition : worker.now->partitions) {
      Json object = partition_json(partition);
      object["worker"] = worker.now->worker;
      partitions.push_back(std::move(object));
    }
  return partitions;
}

// What waits for them is told by partition.
Json targets_json(const Application& application, const std::vector<Board::Seen>& seen) {
  Json targets = Json::array();
  if (seen.empty()) return targets;
  auto configured = application.settings.targets.begin();
  for (const TargetReport& one : target_reports(application, seen)) {
    targets.push_back(
        {{"target", one.target}, {"released", one.released}, {"per_s", one.per_s}, {"quiet_ms", one.quiet.value()}});
    if (config::is_ordered(*configured)) targets.back()["order"] = configured->order;
    ++configured;
  }
  return targets;
}

Json stats_json(const PartitionReport& partition, const Application& application, const Board::Seen& seen) {
  Json object = partition_json(partition);
  object["worker"] = seen.now->worker;
  object["documents"] = documents_json(partition, application);
  if (partition.phase == Phase::kRunning) object["inputs"] = inputs_json(partition, seen.now->steady);
  object["outcomes"] = counts_json(partition.outcomes);
  object["per_s"] = rates_json(partition, seen);
  if (partition.restore)
    object["restore"] = {{"from", partition.restore->from.value()},
                         {"position", partition.restore->position.value()},
                         {"target", partition.restore->target.value()}};
  object["rows_not_on_disk"] = partition.dirty_rows;
  if (!partition.checkpoint_error.empty()) object["checkpoint_error"] = partition.checkpoint_error;
  if (partition.disk)
    object["disk"] = {{"file_bytes", partition.disk->file_bytes}, {"free_bytes", partition.disk->free_bytes}};
  object["last_version"] = std::to_string(partition.state.last.value());
  object["version_floor"] = std::to_string(partition.state.floors.global.value());
  object["default_epoch"] = partition.state.default_epoch.value();
  return object;
}

// What keeps each order of a document that waits from its dispatch.
std::vector<admin::PlaceInQueue> places_of(const Row& row, const StateAnswer& answer, UnixMs now) {
  std::vector<admin::PlaceInQueue> places;
  for (const JournalEntry& entry : row.journal) {
    admin::PlaceInQueue& place = places.emplace_back();
    place.stuck = is_order_stuck(entry, answer.dispatch);
    if (entry.state != EntryState::kWaiting) continue;
    place.waits_for = name_of(
        obstacle_of(row, entry, now, answer.dispatch, answer.partition.priorities, answer.partition.state.breakers));
    place.due = due_of(entry, answer.dispatch);
  }
  return places;
}

// Of a reply about one instance.
Json instance_head(const Application& application, std::string_view query, UnixMs now) {
  Json reply = reply_head(application, query, now);
  reply["host"] = host_name();
  reply["workers"] = application.settings.workers;
  return reply;
}

}  // namespace

Json reply_head(const Application& application, std::string_view query, UnixMs now) {
  return {{"protocol", admin::kProtocol},
          {"query", query},
          {"application", application.settings.application_id},
          {"instance", application.settings.instance_id},
          {"version", RESEQ_VERSION},
          {"time", admin::time_text(now)},
          {"partitions_total", application.partitions}};
}

Json refusal_json(const admin::Refused& refused) {
  return {{"reason", name_of(refused.why)}, {"detail", refused.detail}};
}

Json state_json(const StateAnswer& answer, const Application& application, UnixMs now) {
  Json object = partition_json(answer.partition);
  if (answer.refused) {
    object["refused"] = refusal_json(*answer.refused);
    return object;
  }
  const admin::DocumentContext context{&answer.targets, application.sequence_kind};
  const Milliseconds starvation_after(application.settings.starvation_after_ms);
  if (answer.dispatch.journal)
    object["in_flight"] = {{"documents", documents_under_way(answer.partition.priorities)},
                           {"max", answer.dispatch.in_flight_max}};
  object["documents"] = Json::array();
  for (const FoundDocument& one : answer.documents) {
    object["documents"].push_back(admin::document_json(
        one.id, one.row, {engine::overdue_targets(one.row, now), starving_targets(one.row, now, starvation_after)},
        context, places_of(one.row, answer, now)));
    add_standings(object["documents"].back(), one.lanes, application.sequence_kind);
  }
  if (!answer.ended && !answer.cursor.empty()) object["cursor"] = codec::base64(answer.cursor);
  return object;
}

Json stats_reply(const Application& application, const std::vector<Board::Seen>& seen, UnixMs now) {
  Json reply = instance_head(application, "stats", now);
  reply["lateness"] = lateness_json(seen);
  reply["longest_waits"] = longest_waits_json(seen);
  reply["targets"] = targets_json(application, seen);
  reply["waits"] = waits_json(seen);
  const auto& targets = application.settings.targets;
  if (std::any_of(targets.begin(), targets.end(), config::is_ordered)) reply["lanes"] = lanes_json(seen);
  if (Json failures = failures_json(seen); !failures.is_null()) reply["failures"] = std::move(failures);
  if (Json changes = breaker_changes_json(seen); !changes.empty()) reply["breaker_changes"] = std::move(changes);
  reply["partitions"] = Json::array();
  for (const Board::Seen& worker : seen)
    for (const PartitionReport& partition : worker.now->partitions)
      reply["partitions"].push_back(stats_json(partition, application, worker));
  return reply;
}

Json topology_reply(const Application& application, const std::vector<Board::Seen>& seen, UnixMs now) {
  Json reply = instance_head(application, "topology", now);
  reply["partitions"] = owned_json(seen);
  return reply;
}

// With the partitions, so that a client knows when it has heard every instance that has some.
Json config_reply(const Application& application, const std::vector<Board::Seen>& seen, UnixMs now) {
  Json reply = reply_head(application, "config", now);
  reply["toml"] = config::print(application.settings);
  reply["partitions"] = owned_json(seen);
  return reply;
}

}  // namespace reseq::runtime
