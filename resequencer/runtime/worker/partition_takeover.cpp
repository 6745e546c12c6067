// The steps of a takeover (partition_task.h).
#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "runtime/application/clients.h"
#include "runtime/worker/partition_task.h"

namespace reseq::runtime {

namespace {

constexpr Milliseconds kAfterTrouble{1000};
constexpr unsigned kRebuildsUntilParked = 3;
// In one step: a few hundred pages of the copy, which a slow disk needs seconds for.
constexpr std::size_t kRowsPerLook = 10'000;

}  // namespace

void PartitionTask::step(changelog::Restorer& restorer) {
  if (clock_.steady() < step_retry_at_) return;
  if (to_wipe_) return wipe();
  switch (phase_) {
    case Phase::kOpen:
      failpoint(Failpoint::kTakeoverOpen);
      return open();
    case Phase::kRestore:
      failpoint(Failpoint::kTakeoverRestore);
      return watch_restore(restorer);
    case Phase::kCompare:
      if (to_be_born_) return;
      failpoint(Failpoint::kTakeoverCompare);
      return compare(restorer);
    case Phase::kOffsets:
    case Phase::kHighWatermark:
    case Phase::kBirth:
    case Phase::kReady:
    case Phase::kRunning:
      return;
    case Phase::kParked:
      return remind();
  }
}

Question PartitionTask::question() const {
  if (clock_.steady() < step_retry_at_ || to_wipe_) return Question::kNone;
  if (phase_ == Phase::kOffsets) return Question::kOffsets;
  if (phase_ == Phase::kHighWatermark) return Question::kChangelogEnds;
  return phase_ == Phase::kCompare && to_be_born_ ? Question::kFirstOffsets : Question::kNone;
}

void PartitionTask::restart(changelog::Restorer& restorer) {
  restorer.drop(partition_);
  if (phase_ == Phase::kParked || phase_ == Phase::kOpen) return;
  if (phase_ == Phase::kRunning || phase_ == Phase::kReady) {
    rebuilt_ = Rebuild::kNone;
    from_.reset();
  }
  take_over_again();
}

void PartitionTask::take_over_again() {
  phase_ = Phase::kOffsets;
  to_be_born_ = false;
  behind_since_ = Milliseconds(0);
  started_at_ = clock_.steady();
  rewind();
}

void PartitionTask::restore_failed(const changelog::Restorer::Failure& failure, changelog::Restorer& restorer) {
  using Trouble = changelog::Restorer::Trouble;
  switch (failure.trouble) {
    case Trouble::kPassing:
      log_waiting(Waiting::kChangelogRead, told(failure.error));
      restart(restorer);
      return wait_before_next_step(kAfterTrouble);
    case Trouble::kUnreadable:
      return park(Parked::kChangelogUnreadable, failure.error.message);
    case Trouble::kOtherLog:
      return rebuild(Rebuild::kRecord, failure.error.message, restorer);
    case Trouble::kFault:
      return rebuild(Rebuild::kFault, failure.error.message, restorer);
  }
}

void PartitionTask::rebuild(Rebuild why, std::string_view detail, changelog::Restorer& restorer) {
  restorer.drop(partition_);
  survey_ = Survey();
  // A disk that fails is tried again and again, slowly; a log that does not fit itself needs a person.
  if (why != Rebuild::kFault && ++rebuilds_ >= kRebuildsUntilParked)
    return park(Parked::kChangelogUnfit, "read from its beginning the changelog still does not fit (" +
                                             std::string(name_of(why)) + "): " + std::string(detail));
  empty_store(why, detail);
  take_over_again();
  if (why == Rebuild::kFault) wait_before_next_step(kAfterTrouble);
}

void PartitionTask::empty_store(Rebuild why, std::string_view detail) {
  spdlog::warn("partition={} recovery=rebuild reason={} detail={}", partition_.value(), name_of(why),
               log::outside(detail));
  rebuilt_ = why;
  failpoint(Failpoint::kTakeoverRebuild);
  lost_rows_ = lost_rows_ || (why != Rebuild::kForeign && store_->checkpoint());
  from_disk_ = false;
  from_.reset();
  wipe();
}

void PartitionTask::wipe() {
  const auto wiped = store_->wipe();
  to_wipe_ = !wiped;
  if (wiped) return;
  log_waiting(Waiting::kCopyNotEmptied, wiped.error().message);
  wait_before_next_step(kAfterTrouble);
}

void PartitionTask::wait_before_next_step(Milliseconds pause) {
  step_retry_at_ = Milliseconds(clock_.steady().value() + pause.value());
}

void PartitionTask::open() {
  auto taken = shelf_.take(partition_);
  if (!taken && taken.error().what_to_do == ErrorClass::kRetriable)
    return log_waiting(Waiting::kCopyUnavailable, taken.error().message);
  if (!taken) return park(Parked::kStateFolder, taken.error().message);
  store_ = std::move(taken.value().store);
  from_disk_ = taken.value().from_disk;
  rebuilt_ = taken.value().emptied;
  phase_ = Phase::kOffsets;
}

void PartitionTask::wait_longer() {
  wait_before_next_step(Milliseconds(kAfterTrouble.value() << std::min(unanswered_++, 3U)));
}

void PartitionTask::take_offsets(std::vector<InputPosition> committed) {
  unanswered_ = 0;
  failpoint(Failpoint::kTakeoverOffsets);
  offsets_ = std::move(committed);
  phase_ = Phase::kHighWatermark;
}

void PartitionTask::take_ends(const changelog::LogEnds& ends, changelog::Restorer& restorer) {
  failpoint(Failpoint::kTakeoverHighWatermark);
  unanswered_ = 0;
  const bool begins = !restorer.restoring(partition_);
  if (begins && !choose_way(ends)) return;
  restorer.aim(partition_, ends, *store_);
  const changelog::Progress& progress = restorer.progress(partition_);
  if (begins) log_way(progress);
  from_disk_ = false;
  restore_target_ = progress.target;
  phase_ = Phase::kRestore;
}

// Reuse or rebuild. False: not now.
bool PartitionTask::choose_way(const changelog::LogEnds& log) {
  if (changelog_lost(*store_, log)) {
    park(Parked::kChangelogEmpty, "the changelog is empty, but a copy of the state with " +
                                      std::to_string(store_->rows()) + " rows is here: it was deleted or emptied");
    return false;
  }
  const Rebuild why = judge(*store_, from_disk_, log, application_, clock_.now());
  if (why != Rebuild::kNone && why != Rebuild::kNoCopy)
    empty_store(why, "changelog position " + std::to_string(store_->position().value_or(Offset(0)).value()) +
                         ", changelog [" + std::to_string(log.begin.value()) + ", " +
                         std::to_string(log.high_watermark.value()) + ")");
  // A copy that never got a checkpoint, or a store that was emptied before it was parked.
  if (why == Rebuild::kNoCopy && rebuilt_ == Rebuild::kNone) rebuilt_ = why;
  if (!from_) from_ = store_->checkpoint();
  return !to_wipe_;
}

void PartitionTask::watch_restore(changelog::Restorer& restorer) {
  if (restorer.reached(partition_)) {
    phase_ = Phase::kCompare;
    return;
  }
  const changelog::Progress& progress = restorer.progress(partition_);
  if (progress.transaction_open)
    log_waiting(Waiting::kOpenTransaction, "a transaction is open in the changelog at offset " +
                                               std::to_string(progress.position.value()) + " of " +
                                               std::to_string(progress.target.value()));
}

// What becomes of a partition whose changelog is read. `vector` = positions in the meta row, `offsets` = committed to
// the group.
//   nothing at all                     -> birth
//   no meta row, but rows or offsets   -> park: the changelog is not the one that belongs to these offsets
//   the state does not fit the log     -> rebuild it; park when that does not help
//   vector == offsets                  -> ready
//   vector behind offsets              -> the transaction that moved them is not read yet: aim again, park in the end
//   vector, but no offsets             -> the group expired: resume from the vector; a missing one counts as equal
//   anything else                      -> park
void PartitionTask::compare(changelog::Restorer& restorer) {
  const bool no_offsets =
      std::all_of(offsets_.begin(), offsets_.end(), [](const InputPosition& p) { return p.next == kNoOffset; });
  if (store_->empty() && no_offsets) {
    // With the changelog and the offsets gone, a copy that was thrown away is no reason to forget what it knew.
    if (lost_rows_)
      return park(Parked::kStateGone,
                  "the changelog is empty and no offsets are committed, but this host had a copy of the state (" +
                      std::string(name_of(rebuilt_)) + ")");
    to_be_born_ = true;
    return;
  }
  if (!store_->meta())
    return park(Parked::kNoMetaRow,
                store_->empty() ? "the changelog is empty but offsets are committed: it was deleted or truncated"
                                : "the changelog has rows but no meta row: it was truncated, or its beginning torn");
  if (const Rebuild why = distrust(); why != Rebuild::kNone)
    return rebuild(why, "the state differs from what was written", restorer);
  if (const auto reason = runtime::refusal(*store_->identity(), store_->meta(), application_))
    return refuse(Parked::kIdentity, *reason);
  if (!look_for_missing_target()) return;
  const std::int64_t ahead =
      static_cast<std::int64_t>(store_->meta()->state.clock.value() >> 16U) - clock_.now().value();
  if (ahead > application_.settings.max_clock_drift_ms)
    return log_waiting(Waiting::kClockBehind, "versions are " + std::to_string(ahead) +
                                                  " ms ahead of this host's clock (max_clock_drift_ms): set the clock");
  compare_positions(restorer);
}

void PartitionTask::compare_positions(changelog::Restorer& restorer) {
  const std::vector<InputPosition>& vector = store_->meta()->positions;
  if (vector.size() != offsets_.size())
    return park(Parked::kOtherInputs, "the meta row lists other inputs than this version reads");
  // Kafka forgets offsets of topics that the group does not subscribe to, one by one, when nothing was committed for
  // offsets.retention.minutes: one that is missing says nothing.
  bool equal = true;
  bool behind = true;
  bool missing = false;
  for (std::size_t i = 0; i < vector.size(); ++i) {
    const bool none = offsets_[i].next == kNoOffset;
    missing = missing || none;
    equal = equal && vector[i].role == offsets_[i].role && (none || vector[i].next == offsets_[i].next);
    behind = behind && vector[i].role == offsets_[i].role && (none || vector[i].next <= offsets_[i].next);
  }
  if (equal && missing)
    spdlog::warn("partition={} takeover=compare offsets of the group expired: resuming from the changelog",
                 partition_.value());
  if (equal) return resume(vector, restorer);
  if (!behind) {
    // A process that slept in between asked for its offsets before another one moved them.
    if (asked_again_)
      return park(Parked::kOffsetsMoved,
                  "committed offsets are not those of the changelog: were they reset by hand? " + difference());
    asked_again_ = true;
    phase_ = Phase::kOffsets;
    return;
  }
  if (behind_since_ == Milliseconds(0)) behind_since_ = clock_.steady();
  if (clock_.steady().value() - behind_since_.value() > application_.settings.transaction_timeout_ms)
    return park(
        Parked::kOffsetsAhead,
        "committed offsets are ahead of the changelog: were they moved by hand, or is the changelog truncated? " +
            difference());
  log_waiting(Waiting::kOffsetsAhead, "changelog behind committed offsets: " + difference());
  phase_ = Phase::kHighWatermark;
}

Rebuild PartitionTask::distrust() const {
  if (store_->fault()) return Rebuild::kFault;
  const Summary& summary = store_->summary();
  const Meta& meta = *store_->meta();
  // A position inside of a transaction is one of this process: it was reading on from there, nothing came in between.
  if (from_ && from_->generation != 0 && !in_lineage(*from_, meta.lineage)) return Rebuild::kLineage;
  if (summary != meta.summary) return Rebuild::kDigest;
  return Rebuild::kNone;
}

// The first input whose offset is another one than in the meta row. REQUIRES: there is one.
std::string PartitionTask::difference() const {
  const std::vector<InputPosition>& vector = store_->meta()->positions;
  for (std::size_t i = 0; i < vector.size(); ++i)
    if (offsets_[i].next != kNoOffset && offsets_[i].next != vector[i].next)
      return application_.topics.name(application_.topics.of(offsets_[i].role)) + " committed " +
             std::to_string(offsets_[i].next.value()) + ", state " + std::to_string(vector[i].next.value());
  return "inputs in another order";
}

// A pass over all rows, but only when a target was taken out of the configuration, and step by step: of a large state
// on a slow disk it takes many minutes. False: it is not over, or the partition is refused.
bool PartitionTask::look_for_missing_target() {
  const auto& configured = application_.settings.targets;
  const auto is_configured = [&](const std::string& name) {
    return std::any_of(configured.begin(), configured.end(), [&](const auto& target) { return target.name == name; });
  };
  const std::vector<std::string>& names = store_->targets().names();
  if (std::all_of(names.begin(), names.end(), is_configured)) return true;
  if (waited_for_.at != store_->position()) waited_for_ = {.at = store_->position(), .cursor = {}, .targets = {}};
  if (!waited_for_.ended) {
    const auto walked = store_->pending_targets(waited_for_.cursor, kRowsPerLook, waited_for_.targets);
    waited_for_.cursor = walked.cursor;
    waited_for_.ended = walked.ended && !store_->fault();
    if (!waited_for_.ended) return false;  // a fault is rebuilt before the next step
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (is_configured(names[i]) || !waited_for_.targets.contains(TargetNumber(static_cast<std::uint8_t>(i)))) continue;
    refuse(Parked::kTargetMissing, target_still_waits(names[i]));
    return false;
  }
  return true;
}

void PartitionTask::take_first_offsets(std::vector<InputPosition> first, changelog::Restorer& restorer) {
  unanswered_ = 0;
  to_be_born_ = false;
  if (!store_->empty()) return;  // something was read meanwhile: it is compared again
  offsets_ = std::move(first);
  restorer.drop(partition_);  // or it would read our own rows back, and old ones over new ones
  phase_ = Phase::kBirth;
  failpoint(Failpoint::kTakeoverBirth);
}

void PartitionTask::resume(const std::vector<InputPosition>& positions, changelog::Restorer& restorer) {
  auto table = extended(application_, store_->targets());
  if (!table) return refuse(Parked::kTooManyTargets, table.error().message);
  const std::uint64_t records = restorer.progress(partition_).records;
  restorer.drop(partition_);
  from_.reset();
  asked_again_ = false;
  targets_grew_ = table.value() != store_->targets();
  targets_ = std::move(table).value();
  setting_ = partition_setting(application_, targets_);
  for (const InputPosition& position : positions) queue_.reset(position.role, position.next);
  if (application_.guards.pinned_inputs) pins_.expect(store_->meta()->pins, positions);

  lineage_ = store_->meta()->lineage;
  append_generation(lineage_, restore_target_);
  phase_ = Phase::kReady;
  spdlog::info(
      "partition={} takeover=ready recovery={} reason={} generation={} records_read={} live={} watermarks={} "
      "changelog_position={} ms={}",
      partition_.value(), rebuilt_ == Rebuild::kNone ? "reuse" : "rebuild", name_of(rebuilt_), lineage_.back().number,
      records, store_->summary().counts[Count::kLiveRows], store_->summary().counts[Count::kWatermarks],
      store_->position().value_or(Offset(0)).value(), clock_.steady().value() - started_at_.value());
  failpoint(Failpoint::kTakeoverReady);
}

}  // namespace reseq::runtime
