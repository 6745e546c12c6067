#include "runtime/recovery.h"

#include <algorithm>
#include <array>

namespace reseq::runtime {

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

Rebuild judge(const store::PartitionStore& store, bool from_disk, const changelog::LogEnds& log,
              const Application& application, UnixMs now) {
  const auto standing = store.standing();
  if (!standing) return Rebuild::kNoCopy;
  if (store.fault()) return Rebuild::kFault;
  if (from_disk && standing->generation == 0) return Rebuild::kInsideTransaction;
  // Other differences are those of a configuration that must be put right: nothing is thrown away for them.
  if (store.identity() && (store.identity()->application_id != application.settings.application_id ||
                           store.identity()->cluster_id != application.cluster_id))
    return Rebuild::kForeign;
  // Tombstones younger than this are still in the log, wherever the reading stopped (RELIABILITY C22). The time in the
  // meta row is that of another host, whose clock may have been ahead of this one.
  const std::int64_t age = store.meta() ? now.value() - store.meta()->now.value() : 0;
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
  return store.standing() && log.begin == log.high_watermark && store.standing()->position > log.high_watermark;
}

std::optional<std::string_view> difference(const Identity& identity, const Application& application) {
  if (identity.application_id != application.settings.application_id) return "application.id";
  if (identity.cluster_id != application.cluster_id) return "the Kafka cluster";
  if (identity.partitions != application.partitions) return "the number of partitions";
  if (identity.sequence_kind != application.sequence_kind) return "sequence_kind";
  if (identity.partitioner != application.partitioner) return "partitioner";
  return std::nullopt;
}

}  // namespace reseq::runtime
