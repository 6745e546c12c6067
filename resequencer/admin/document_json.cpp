#include "admin/document_json.h"

#include <algorithm>

#include "codec/base64.h"
#include "codec/json_writer.h"
#include "codec/sequence_text.h"
#include "codec/timestamp_text.h"

namespace reseq::admin {

namespace {

Json names_of(TargetSet set, const TargetTable& targets) {
  Json names = Json::array();
  for (const TargetNumber target : set) names.push_back(targets.name(target));
  return names;
}

Json group_json(const Group& group, const DocumentContext& context) {
  return {{"order", order_json(group.order, context.sequence_kind)},
          {"requested", group.requested},
          {"pending", names_of(group.pending, *context.targets)},
          {"served", names_of(group.served, *context.targets)},
          {"removed", names_of(group.removed, *context.targets)}};
}

void add_deletions(Json& object, const Row& row, const DocumentContext& context) {
  Json deleted = Json::array();
  for (const Deletion& deletion : row.deletions)
    if (row.still_holds(deletion))
      deleted.push_back({{"target", context.targets->name(deletion.target)},
                         {"order", order_json(deletion.order, context.sequence_kind)},
                         {"at", time_text(deletion.at)}});
  if (!deleted.empty()) object["deleted"] = std::move(deleted);
}

UnixMs leaves_from(const JournalEntry& entry, const PlaceInQueue& place) {
  return std::max(entry.urgency.process_at, place.due);
}

// Orders that wait or are under way; what is gone is nothing to wait for.
void add_journal(Json& object, const Row& row, const DocumentContext& context, std::span<const PlaceInQueue> places) {
  Json journal = Json::array();
  std::size_t number = 0;
  for (const JournalEntry& entry : row.journal) {
    const PlaceInQueue place = number < places.size() ? places[number] : PlaceInQueue();
    ++number;
    if (entry.state == EntryState::kGone) continue;
    Json one = {{"state", entry.state == EntryState::kWaiting ? "waiting" : "processing"},
                {"order", order_json(entry.order, context.sequence_kind)},
                {"targets", names_of(entry.targets, *context.targets)},
                {"priority", entry.urgency.priority},
                {"process_at", time_text(leaves_from(entry, place))}};
    if (entry.urgency.expires_at != UnixMs()) one["expires_at"] = time_text(entry.urgency.expires_at);
    if (entry.attempt != 0) one["attempt"] = entry.attempt;
    if (entry.lease_until != UnixMs()) one["lease_until"] = time_text(entry.lease_until);
    const bool given_up = entry.timeouts == kGivenUp;
    const std::uint64_t lost = std::uint64_t{given_up ? 0 : entry.timeouts} + entry.losses;
    if (lost != 0) one["leases_lost"] = lost;
    if (place.stuck) one["stuck"] = true;
    if (!place.waits_for.empty()) one["waits_for"] = place.waits_for;
    journal.push_back(std::move(one));
  }
  if (!journal.empty()) object["journal"] = std::move(journal);
}

// When what failed may be tried again; none: it is tried now, or with something newer, or when its target can be
// reached.
std::optional<UnixMs> next_try(const Row& row, const Failure& failure, TargetSet targets,
                               std::span<const PlaceInQueue> places) {
  std::optional<UnixMs> next;
  std::size_t number = 0;
  for (const JournalEntry& entry : row.journal) {
    const PlaceInQueue place = number < places.size() ? places[number] : PlaceInQueue();
    ++number;
    if (entry.state != EntryState::kWaiting || entry.order != failure.order || (entry.targets & targets).empty())
      continue;
    if (place.waits_for == "target") continue;  // whenever that can be reached
    next = std::min(next.value_or(leaves_from(entry, place)), leaves_from(entry, place));
  }
  return next;
}

// Work that could not be done, by targets.
void add_failures(Json& object, const Row& row, const DocumentContext& context, std::span<const PlaceInQueue> places) {
  Json failures = Json::array();
  for (const Failure& failure : row.failures) {
    const TargetSet targets = row.holding(failure);
    if (targets.empty()) continue;
    Json one = {{"state", failure.for_good ? "failed" : "retrying"},
                {"order", order_json(failure.order, context.sequence_kind)},
                {"targets", names_of(targets, *context.targets)},
                {"attempt", failure.attempt},
                {"retries", failure.retries},
                {"at", time_text(failure.at)}};
    const auto next = failure.for_good ? std::nullopt : next_try(row, failure, targets, places);
    if (next) one["next_at"] = time_text(*next);
    if (failure.effect_unknown) one["effect_unknown"] = true;
    if (!failure.error.empty()) set_bytes(one, "error", failure.error);
    failures.push_back(std::move(one));
  }
  if (!failures.empty()) object["failures"] = std::move(failures);
}

// Of targets that get every version.
void add_lanes(Json& object, const Row& row, const DocumentContext& context) {
  for (const Lane& lane : row.lanes) {
    Json one = {{"target", context.targets->name(lane.target)}, {"places", lane.places}};
    if (lane.mark != Order()) one["mark"] = order_json(lane.mark, context.sequence_kind);
    object["lanes"].push_back(std::move(one));
  }
}

std::string_view state_of(const Row& row, TargetSet starving) {
  if (!row.live()) return "completed";
  if (row.overdue) return "overdue";
  return starving.empty() ? "live" : "starving";
}

// It went nowhere, because its targets had what it asks for: what they have is an older release.
bool is_unchanged(const Row& row) {
  if (!row.requested || row.requested->content == Digest() || !row.requested->forwarded.empty()) return false;
  return std::any_of(row.groups.begin(), row.groups.end(),
                     [&](const Group& group) { return group.order == row.requested->order && !group.served.empty(); });
}

}  // namespace

Json order_json(const Order& order, SequenceKind kind) {
  Json object = {{"epoch", order.epoch.value()}};
  if (!order.sequence.bytes().empty()) set_bytes(object, "seq", codec::format_sequence(kind, order.sequence));
  object["revision"] = std::to_string(order.revision.value());
  return object;
}

std::string time_text(UnixMs time) {
  return codec::format_timestamp_ms(time.value());
}

void set_bytes(Json& object, const std::string& name, std::string_view bytes) {
  if (codec::is_utf8(bytes))
    object[name] = bytes;
  else
    object[name + "_base64"] = codec::base64(bytes);
}

Json document_json(std::string_view id, const Row& row, const Neglected& neglected, const DocumentContext& context,
                   std::span<const PlaceInQueue> places) {
  Json object = Json::object();
  set_bytes(object, "id", id);
  object["state"] = state_of(row, neglected.starving);
  object["groups"] = Json::array();
  for (const Group& group : row.groups) object["groups"].push_back(group_json(group, context));
  object["waiting"] = Json::array();
  for (const Since& since : row.since)
    object["waiting"].push_back(
        {{"targets", names_of(since.targets, *context.targets)}, {"since", time_text(since.first_registered)}});
  for (const Meanwhile& one : row.meanwhile)
    object["meanwhile"].push_back(
        {{"targets", names_of(one.targets, *context.targets)}, {"at", time_text(one.released)}});
  if (!neglected.overdue.empty()) object["overdue"] = names_of(neglected.overdue, *context.targets);
  if (!neglected.starving.empty()) object["starving"] = names_of(neglected.starving, *context.targets);
  if (!row.deletions.empty()) add_deletions(object, row, context);
  if (!row.journal.empty()) add_journal(object, row, context, places);
  if (!row.failures.empty()) add_failures(object, row, context, places);
  if (!row.lanes.empty()) add_lanes(object, row, context);
  if (row.barrier) object["barrier"] = order_json(*row.barrier, context.sequence_kind);
  if (row.last_version != Version()) object["last_version"] = std::to_string(row.last_version.value());
  if (row.deadline != UnixMs()) object[row.live() ? "overdue_from" : "remembered_until"] = time_text(row.deadline);
  if (row.requested)
    object["request"] = {{"order", order_json(row.requested->order, context.sequence_kind)},
                         {"offset", row.requested->position.value()},
                         {"forwarded", names_of(row.requested->forwarded, *context.targets)}};
  if (is_unchanged(row)) object["request"]["unchanged"] = true;
  return object;
}

}  // namespace reseq::admin
