#include "runtime/takeover/recovery.h"

#include <algorithm>
#include <array>
#include <bit>

#include "codec/sequence_text.h"

namespace reseq::runtime {

namespace {

// As in the configuration.
std::string word_of(Partitioner partitioner) {
  switch (partitioner) {
    case Partitioner::kMurmur2:
      return "murmur2";
    case Partitioner::kCrc32:
      return "crc32";
    case Partitioner::kUnchecked:
      return "unchecked";
  }
  return "";
}

}  // namespace

std::string_view name_of(Rebuild why) {
  static constexpr std::array<std::string_view, static_cast<std::size_t>(Rebuild::kCount)> kNames = {
      "none",    "no_copy", "other_boot", "poisoned",  "damaged", "inside_transaction",
      "foreign", "too_old", "truncated",  "log_start", "record",  "lineage",
      "digest",  "fault"};
  return kNames[static_cast<std::size_t>(why)];
}

Rebuild judge(store::StateFolder::Copy found) {
  switch (found) {
    case store::StateFolder::Copy::kNone:
      return Rebuild::kNoCopy;
    case store::StateFolder::Copy::kClean:
    case store::StateFolder::Copy::kSameBoot:
      return Rebuild::kNone;
    case store::StateFolder::Copy::kOtherBoot:
      return Rebuild::kOtherBoot;
    case store::StateFolder::Copy::kPoisoned:
      return Rebuild::kPoisoned;
  }
  return Rebuild::kDamaged;
}

Rebuild judge(const store::PartitionStore& store, const Origin& origin, const changelog::LogEnds& log,
              const Application& application, UnixMs now) {
  const auto standing = store.checkpoint();
  if (!standing) return Rebuild::kNoCopy;
  if (store.fault()) return Rebuild::kFault;
  if (origin.from_disk && standing->generation == 0) return Rebuild::kInsideTransaction;
  // Other differences are those of a configuration that must be put right: nothing is thrown away for them.
  if (store.identity() && (store.identity()->application_id != application.settings.application_id ||
                           store.identity()->cluster_id != application.cluster_id))
    return Rebuild::kForeign;
  // Tombstones younger than this are still in the log, wherever the reading stopped. The time in the
  // meta row is that of another host, whose clock may have been ahead of this one. Without a meta row it was being read
  // from the beginning: a row that was still there has its tombstone in the log for that long from then on.
  const UnixMs known_at = store.meta() ? store.meta()->now : origin.read_since;
  const std::int64_t age = now.value() - known_at.value();
  const std::int64_t young = application.delete_retention.value() / 2 - application.settings.max_clock_drift_ms;
  if (application.guards.tombstone_horizon && age > young) return Rebuild::kTooOld;
  if (standing->position > log.high_watermark) return Rebuild::kTruncated;
  if (standing->position < log.begin) return Rebuild::kLogStart;
  return Rebuild::kNone;
}

bool in_lineage(const store::Checkpoint& from, const std::vector<Generation>& lineage) {
  const auto mine = std::find_if(lineage.begin(), lineage.end(),
                                 [&](const Generation& generation) { return generation.number == from.generation; });
  if (mine == lineage.end()) return lineage.size() == kMaxLineage && from.generation < lineage.front().number;
  if (from.position < mine->restore_target) return false;
  const auto next = std::next(mine);
  return next == lineage.end() || from.position <= next->restore_target;
}

bool changelog_lost(const store::PartitionStore& store, const changelog::LogEnds& log) {
  return store.checkpoint() && log.begin == log.high_watermark;
}

std::optional<std::string> refusal(const Identity& identity, const std::optional<Meta>& meta,
                                   const Application& application) {
  const config::Settings& settings = application.settings;
  const auto differs = [](const std::string& what, const std::string& was, const std::string& is) {
    return "the state was born with " + what + " = \"" + was + "\", not \"" + is + "\": set " + what + " = \"" + was +
           "\", or a new application.id, which begins with a state of its own";
  };
  if (identity.application_id != settings.application_id)
    return differs("application.id", identity.application_id, settings.application_id);
  if (identity.cluster_id != application.cluster_id)
    return "the state belongs to Kafka cluster " + identity.cluster_id + ", but this is cluster " +
           application.cluster_id + ": correct bootstrap.servers, or set a new application.id";
  if (identity.partitions != application.partitions)
    return "the state was born with " + std::to_string(identity.partitions) + " partitions, the inputs have " +
           std::to_string(application.partitions) + " now, so keys have moved away from their rows: name topics with " +
           std::to_string(identity.partitions) + " partitions, or set a new application.id";
  if (identity.sequence_kind != application.sequence_kind)
    return differs("sequence_kind", std::string(codec::name_of(identity.sequence_kind)), settings.sequence_kind);
  if (identity.partitioner != application.partitioner)
    return differs("partitioner", word_of(identity.partitioner), settings.partitioner);
  const std::uint64_t lacks = meta ? meta->capabilities & ~capabilities(application) : 0;
  if (lacks != 0)
    return "something waits in the state that this process does not know (capability " +
           std::to_string(std::countr_zero(lacks)) + "): run the version and the configuration that wrote it";
  return std::nullopt;
}

std::optional<std::string> refusal_of_lanes(const Counts& counts, const Application& application) {
  const config::Target* const ordered = first_ordered(application.settings);
  const config::Settings& settings = application.settings;
  const bool keeps_journal = settings.dispatch_mode == "journal" || settings.failures_mode == "retry";
  if (ordered == nullptr || keeps_journal || !(counts.any_journaled() || counts[Count::kQueued] > 0))
    return std::nullopt;
  return "documents still wait in the journal or for a retry, and target " + ordered->name + " is " + ordered->order +
         ": run with dispatch.mode and failures.mode as they were, and without requests, until none does";
}

std::string target_still_waits(const std::string& name) {
  return "documents still wait for target " + name + ", which is not configured: add [[target]] name = \"" + name +
         "\" until they are done";
}

void append_generation(std::vector<Generation>& lineage, Offset restore_target) {
  lineage.push_back({lineage.empty() ? 1 : lineage.back().number + 1, restore_target});
  if (lineage.size() > kMaxLineage) lineage.erase(lineage.begin());
}

}  // namespace reseq::runtime
