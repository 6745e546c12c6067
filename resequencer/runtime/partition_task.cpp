#include "runtime/partition_task.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/assert.h"
#include "base/log.h"

namespace reseq::runtime {

namespace {

// One question to a broker. Short, so that the worker keeps serving its other partitions while offsets are unstable.
constexpr Milliseconds kAskLimit{500};
constexpr Milliseconds kLogEvery{5000};

bool same_identity(const Identity& identity, const Application& application, std::string& difference) {
  const auto differs = [&](const char* what, const auto& then, const auto& now) {
    if (then == now) return false;
    difference = what;
    return true;
  };
  return !differs("application.id", identity.application_id, application.settings.application_id) &&
         !differs("the Kafka cluster", identity.cluster_id, application.cluster_id) &&
         !differs("the number of partitions", identity.partitions, application.partitions) &&
         !differs("sequence_kind", identity.sequence_kind, application.sequence_kind) &&
         !differs("partitioner", identity.partitioner, application.partitioner);
}

std::string target_still_waits(const std::string& name) {
  return "documents still wait for target " + name + ", which is not configured: add [[target]] name = \"" + name +
         "\" until they are done";
}

}  // namespace

std::string_view name_of(Phase phase) {
  static constexpr std::array<std::string_view, 8> kNames = {"offsets", "high_watermark", "restore", "compare",
                                                             "birth",   "ready",          "running", "parked"};
  return kNames[static_cast<std::size_t>(phase)];
}

PartitionTask::PartitionTask(const Application& application, const Clock& clock, Partition partition)
    : application_(application),
      clock_(clock),
      partition_(partition),
      logged_at_(clock.steady()),
      started_at_(clock.steady()) {}

void PartitionTask::step(kafka::Consumer& consumer, changelog::Restorer& restorer) {
  switch (phase_) {
    case Phase::kOffsets:
      return ask_offsets(consumer);
    case Phase::kHighWatermark:
      return aim(restorer);
    case Phase::kRestore:
      return watch_restore(restorer);
    case Phase::kCompare:
      return compare(consumer, restorer);
    case Phase::kBirth:
    case Phase::kReady:
    case Phase::kRunning:
    case Phase::kParked:
      return;
  }
}

void PartitionTask::restart(changelog::Restorer& restorer) {
  restorer.drop(partition_);
  if (phase_ == Phase::kParked) return;
  phase_ = Phase::kOffsets;
  behind_since_ = Milliseconds(0);
  started_at_ = clock_.steady();
  rewind();
}

void PartitionTask::park(std::string reason) {
  phase_ = Phase::kParked;
  rewind();
  parked_reason_ = std::move(reason);
  spdlog::error("partition={} parked reason={}", partition_.value(), log::outside(parked_reason_));
}

void PartitionTask::log_waiting(std::string_view what) {
  if (clock_.steady().value() - logged_at_.value() < kLogEvery.value()) return;
  logged_at_ = clock_.steady();
  spdlog::info("partition={} takeover={} waiting={}", partition_.value(), name_of(phase_), what);
}

void PartitionTask::ask_offsets(kafka::Consumer& consumer) {
  std::vector<kafka::TopicPartition> inputs;
  for (const Role role : kInputs) inputs.push_back({application_.topics.of(role), partition_});
  const auto committed = consumer.committed(inputs, kAskLimit);
  if (!committed) return log_waiting("stable committed offsets: " + committed.error().message);
  offsets_.clear();
  for (std::size_t i = 0; i < kInputs.size(); ++i) offsets_.push_back({kInputs[i], committed.value()[i].offset});
  phase_ = Phase::kHighWatermark;
}

void PartitionTask::aim(changelog::Restorer& restorer) {
  const auto aimed = restorer.aim(partition_, applied_, store_, kAskLimit);
  if (!aimed) return log_waiting("high watermark of the changelog: " + aimed.error().message);
  restore_target_ = restorer.progress(partition_).target;
  if (applied_ && restore_target_ < *applied_) {
    spdlog::warn("partition={} takeover=high_watermark changelog ends at {} before {}, which was read: reading it anew",
                 partition_.value(), restore_target_.value(), applied_->value());
    restorer.drop(partition_);
    store_ = store::PartitionStore();
    applied_.reset();
    return;
  }
  phase_ = Phase::kRestore;
}

void PartitionTask::watch_restore(changelog::Restorer& restorer) {
  const changelog::Progress& progress = restorer.progress(partition_);
  applied_ = progress.position;
  if (progress.position >= progress.target) {
    phase_ = Phase::kCompare;
    return;
  }
  const auto done = static_cast<double>(progress.position.value() - progress.from.value());
  const auto left = static_cast<double>(progress.target.value() - progress.position.value());
  const auto spent = static_cast<double>(clock_.steady().value() - started_at_.value());
  if (clock_.steady().value() - logged_at_.value() < kLogEvery.value()) return;
  logged_at_ = clock_.steady();
  spdlog::info("partition={} takeover=restore position={} target={} seconds_left={:.0f}", partition_.value(),
               progress.position.value(), progress.target.value(), done > 0 ? spent / done * left / 1000.0 : 0.0);
}

// The table of DESIGN 7. `vector` = positions in the meta row, `offsets` = committed to the group.
//   nothing at all                     -> birth
//   no meta row, but rows or offsets   -> park: the changelog is not the one that belongs to these offsets
//   vector == offsets                  -> ready
//   vector behind offsets              -> the transaction that moved them is not read yet: aim again, park in the end
//   vector, but no offsets             -> the group expired: resume from the vector; a missing one counts as equal
//   anything else                      -> park
void PartitionTask::compare(kafka::Consumer& consumer, changelog::Restorer& restorer) {
  const bool no_offsets =
      std::all_of(offsets_.begin(), offsets_.end(), [](const InputPosition& p) { return p.next == kNoOffset; });
  if (store_.empty() && no_offsets) return prepare_birth(consumer, restorer);
  if (!store_.meta())
    return park("the changelog has no meta row but offsets are committed or rows exist: it was deleted or truncated");
  if (const auto reason = refusal()) return park(*reason);

  const std::vector<InputPosition>& vector = store_.meta()->positions;
  if (vector.size() != offsets_.size()) return park("the meta row lists other inputs than this version reads");
  if (vector == offsets_) return resume(vector, restorer);
  if (no_offsets) {
    spdlog::warn("partition={} takeover=compare offsets of the group expired: resuming from the changelog",
                 partition_.value());
    return resume(vector, restorer);
  }
  // Kafka forgets offsets of topics that the group does not subscribe to, one by one, when nothing was committed for
  // offsets.retention.minutes: one that is missing says nothing.
  bool equal = true;
  bool behind = true;
  for (std::size_t i = 0; i < vector.size(); ++i) {
    const bool missing = offsets_[i].next == kNoOffset;
    equal = equal && vector[i].role == offsets_[i].role && (missing || vector[i].next == offsets_[i].next);
    behind = behind && vector[i].role == offsets_[i].role && (missing || vector[i].next <= offsets_[i].next);
  }
  if (equal) return resume(vector, restorer);
  if (!behind) return park("committed offsets are not those of the changelog: were they reset by hand?");
  if (behind_since_ == Milliseconds(0)) behind_since_ = clock_.steady();
  if (clock_.steady().value() - behind_since_.value() > application_.settings.transaction_timeout_ms)
    return park(
        "committed offsets are ahead of the changelog: were they moved by hand, or is the changelog truncated?");
  log_waiting("changelog behind committed offsets");
  phase_ = Phase::kHighWatermark;
}

std::optional<std::string> PartitionTask::refusal() const {
  std::string difference;
  if (!same_identity(*store_.identity(), application_, difference))
    return "the state was born with another value of " + difference + ": use the old value, or a new application.id";
  const store::Summary& summary = store_.summary();
  const Meta& meta = *store_.meta();
  if (summary.digest != meta.digest || summary.live_rows != meta.live_rows || summary.watermarks != meta.watermarks)
    return "the restored rows are not those that were written (digest differs): the changelog is damaged";
  const std::int64_t ahead = static_cast<std::int64_t>(meta.state.clock.value() >> 16U) - clock_.now().value();
  if (ahead > application_.settings.max_clock_drift_ms)
    return "versions are " + std::to_string(ahead) +
           " ms ahead of this host's clock (max_clock_drift_ms): set the clock";
  const TargetSet pending = store_.pending_targets();
  for (std::size_t i = 0; i < store_.targets().names().size(); ++i) {
    const std::string& name = store_.targets().names()[i];
    const auto& configured = application_.settings.targets;
    const bool known = std::any_of(configured.begin(), configured.end(),
                                   [&](const config::Target& target) { return target.name == name; });
    if (!known && pending.contains(TargetNumber(static_cast<std::uint8_t>(i)))) return target_still_waits(name);
  }
  return std::nullopt;
}

void PartitionTask::prepare_birth(kafka::Consumer& consumer, changelog::Restorer& restorer) {
  std::vector<kafka::TopicPartition> inputs;
  for (const Role role : kInputs) inputs.push_back({application_.topics.of(role), partition_});
  const auto begins = consumer.begins(inputs, kAskLimit);
  if (!begins) return log_waiting("first offsets of the inputs: " + begins.error().message);
  for (std::size_t i = 0; i < kInputs.size(); ++i) offsets_[i].next = begins.value()[i].offset;
  restorer.drop(partition_);  // or it would read our own rows back, and old ones over new ones
  phase_ = Phase::kBirth;
}

void PartitionTask::resume(const std::vector<InputPosition>& positions, changelog::Restorer& restorer) {
  auto table = extended(application_, store_.targets());
  if (!table) return park(table.error().message);
  restorer.drop(partition_);
  targets_grew_ = table.value() != store_.targets();
  targets_ = std::move(table).value();
  setting_ = partition_setting(application_, targets_);
  for (const InputPosition& position : positions) queue_.reset(position.role, position.next);

  lineage_ = store_.meta()->lineage;
  const std::uint64_t number = lineage_.empty() ? 1 : lineage_.back().number + 1;
  lineage_.push_back({number, restore_target_});
  if (lineage_.size() > kMaxLineage) lineage_.erase(lineage_.begin());
  phase_ = Phase::kReady;
  spdlog::info("partition={} takeover=ready generation={} rows={} live={} watermarks={} changelog_position={} ms={}",
               partition_.value(), number, store_.rows(), store_.summary().live_rows, store_.summary().watermarks,
               applied_ ? applied_->value() : 0, clock_.steady().value() - started_at_.value());
}

void PartitionTask::born(store::PartitionStore born, Offset changelog_next) {
  store_ = std::move(born);
  applied_ = changelog_next;
  targets_ = store_.targets();
  targets_grew_ = false;
  setting_ = partition_setting(application_, targets_);
  for (const InputPosition& position : offsets_) queue_.reset(position.role, position.next);
  lineage_ = store_.meta()->lineage;
  phase_ = Phase::kReady;
  spdlog::info("partition={} takeover=born generation=1", partition_.value());
}

void PartitionTask::committed(std::span<const store::Change> changes, std::optional<Offset> changelog_next) {
  for (const store::Change& change : changes) store_.apply(change);
  if (changelog_next) applied_ = *changelog_next;
  targets_grew_ = false;
  aborts_alone = 0;
}

void PartitionTask::rewind() {
  for (const Role role : kInputs) queue_.reset(role, queue_.decided(role));
}

}  // namespace reseq::runtime
