#include "runtime/takeover/takeover.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "runtime/application/clients.h"

namespace reseq::runtime {

namespace {

constexpr Milliseconds kLogWaitingEvery{5000};
constexpr Milliseconds kAfterTrouble{1000};
constexpr unsigned kRebuildsUntilParked = 3;
// In one step: a few hundred pages of the copy, which a slow disk needs seconds for.
constexpr std::size_t kRowsPerLook = 10'000;

}  // namespace

Takeover::Takeover(const Application& application, const Clock& clock, Shelf& shelf, Parking& parking,
                   Partition partition)
    : application_(application),
      clock_(clock),
      shelf_(shelf),
      parking_(parking),
      partition_(partition),
      started_at_(clock.steady()),
      logged_at_(clock.steady()) {}

Takeover::~Takeover() {
  if (store_) shelf_.give_back(partition_, std::move(store_), read_since_);
}

void Takeover::step(changelog::Restorer& restorer) {
  if (parking_.parked() || clock_.steady() < step_retry_at_) return;
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
    case Phase::kParked:
      return;
  }
}

TakeoverQuestion Takeover::question() const {
  if (parking_.parked() || clock_.steady() < step_retry_at_ || to_wipe_) return TakeoverQuestion::kNone;
  if (phase_ == Phase::kOffsets) return TakeoverQuestion::kOffsets;
  if (phase_ == Phase::kHighWatermark) return TakeoverQuestion::kChangelogEnds;
  return phase_ == Phase::kCompare && to_be_born_ ? TakeoverQuestion::kFirstOffsets : TakeoverQuestion::kNone;
}

void Takeover::restart(changelog::Restorer& restorer) {
  restorer.drop(partition_);
  if (parking_.parked() || phase_ == Phase::kOpen) return;
  if (phase_ == Phase::kReady) {
    rebuilt_ = Rebuild::kNone;
    from_.reset();
  }
  begin_again();
}

void Takeover::begin_again() {
  phase_ = Phase::kOffsets;
  to_be_born_ = false;
  behind_since_ = Milliseconds(0);
  no_meta_row_up_to_.reset();
  started_at_ = clock_.steady();
}

void Takeover::restore_failed(const changelog::Restorer::Failure& failure, changelog::Restorer& restorer) {
  using Trouble = changelog::Restorer::Trouble;
  switch (failure.trouble) {
    case Trouble::kPassing:
      log_waiting(Waiting::kChangelogRead, told(failure.error));
      restart(restorer);
      return wait_before_next_step(kAfterTrouble);
    case Trouble::kUnreadable:
      return parking_.park(Parked::kChangelogUnreadable, failure.error.message);
    case Trouble::kOtherLog:
      return rebuild(Rebuild::kRecord, failure.error.message, restorer);
    case Trouble::kFault:
      return rebuild(Rebuild::kFault, failure.error.message, restorer);
  }
}

void Takeover::rebuild(Rebuild why, std::string_view detail, changelog::Restorer& restorer) {
  restorer.drop(partition_);
  forgot_ = true;
  // A disk that fails is tried again and again, slowly; a log that does not fit itself needs a person.
  if (why != Rebuild::kFault && ++rebuilds_ >= kRebuildsUntilParked)
    return parking_.park(Parked::kChangelogUnfit, "read from its beginning the changelog still does not fit (" +
                                                      std::string(name_of(why)) + "): " + std::string(detail));
  empty_store(why, detail);
  begin_again();
  if (why == Rebuild::kFault) wait_before_next_step(kAfterTrouble);
}

void Takeover::empty_store(Rebuild why, std::string_view detail) {
  spdlog::warn("partition={} recovery=rebuild reason={} detail={}", partition_.value(), name_of(why),
               log::outside(detail));
  rebuilt_ = why;
  failpoint(Failpoint::kTakeoverRebuild);
  lost_rows_ = lost_rows_ || (why != Rebuild::kForeign && store_->checkpoint());
  from_disk_ = false;
  from_.reset();
  wipe();
}

void Takeover::wipe() {
  const auto wiped = store_->wipe();
  to_wipe_ = !wiped;
  if (wiped) return;
  log_waiting(Waiting::kCopyNotEmptied, wiped.error().message);
  wait_before_next_step(kAfterTrouble);
}

void Takeover::wait_before_next_step(Milliseconds pause) {
  step_retry_at_ = Milliseconds(clock_.steady().value() + pause.value());
}

void Takeover::open() {
  auto taken = shelf_.take(partition_);
  if (!taken && taken.error().what_to_do == ErrorClass::kRetriable)
    return log_waiting(Waiting::kCopyUnavailable, taken.error().message);
  if (!taken) return parking_.park(Parked::kStateFolder, taken.error().message);
  store_ = std::move(taken.value().store);
  from_disk_ = taken.value().from_disk;
  read_since_ = taken.value().read_since;
  rebuilt_ = taken.value().emptied;
  phase_ = Phase::kOffsets;
}

void Takeover::wait_longer() {
  wait_before_next_step(Milliseconds(kAfterTrouble.value() << std::min(unanswered_++, 3U)));
}

void Takeover::take_offsets(std::vector<InputPosition> committed) {
  unanswered_ = 0;
  failpoint(Failpoint::kTakeoverOffsets);
  offsets_ = std::move(committed);
  phase_ = Phase::kHighWatermark;
}

void Takeover::take_ends(const changelog::LogEnds& ends, changelog::Restorer& restorer) {
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
bool Takeover::choose_way(const changelog::LogEnds& log) {
  if (changelog_lost(*store_, log)) {
    parking_.park(Parked::kChangelogEmpty, "the changelog is empty, but a copy of the state with " +
                                               std::to_string(store_->rows()) +
                                               " rows is here: it was deleted or emptied");
    return false;
  }
  const Rebuild why = judge(*store_, {from_disk_, read_since_}, log, application_, clock_.now());
  if (why != Rebuild::kNone && why != Rebuild::kNoCopy)
    empty_store(why, "changelog position " + std::to_string(store_->position().value_or(Offset(0)).value()) +
                         ", changelog [" + std::to_string(log.begin.value()) + ", " +
                         std::to_string(log.high_watermark.value()) + ")");
  // A copy that never got a checkpoint, or a store that was emptied before it was parked.
  if (why == Rebuild::kNoCopy && rebuilt_ == Rebuild::kNone) rebuilt_ = why;
  if (!from_) from_ = store_->checkpoint();
  if (!store_->checkpoint()) read_since_ = clock_.now();
  return !to_wipe_;
}

void Takeover::watch_restore(changelog::Restorer& restorer) {
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
//   no meta row, but rows or offsets   -> ask again; park when the log ends there: it is not that of these offsets
//   the state does not fit the log     -> rebuild it; park when that does not help
//   vector == offsets                  -> ready
//   vector behind offsets              -> the transaction that moved them is not read yet: aim again, park in the end
//   vector, but no offsets             -> the group expired: resume from the vector; a missing one counts as equal
//   anything else                      -> park
void Takeover::compare(changelog::Restorer& restorer) {
  const bool no_offsets =
      std::all_of(offsets_.begin(), offsets_.end(), [](const InputPosition& p) { return p.next == kNoOffset; });
  if (store_->empty() && no_offsets) {
    // With the changelog and the offsets gone, a copy that was thrown away is no reason to forget what it knew.
    if (lost_rows_)
      return parking_.park(
          Parked::kStateGone,
          "the changelog is empty and no offsets are committed, but this host had a copy of the state (" +
              std::string(name_of(rebuilt_)) + ")");
    to_be_born_ = true;
    return;
  }
  if (!store_->meta()) return miss_meta_row();
  if (const Rebuild why = distrust(); why != Rebuild::kNone)
    return rebuild(why, "the state differs from what was written", restorer);
  if (const auto reason = runtime::refusal(*store_->identity(), store_->meta(), application_))
    return parking_.refuse(Parked::kIdentity, *reason);
  if (const auto same = check_orders(application_, store_->targets()); !same)
    return parking_.refuse(Parked::kIdentity, same.error().message);
  if (const auto reason = refusal_of_lanes(store_->summary().counts, application_))
    return parking_.refuse(Parked::kIdentity, *reason);
  if (!look_for_missing_target()) return;
  const std::int64_t ahead =
      static_cast<std::int64_t>(store_->meta()->state.clock.value() >> 16U) - clock_.now().value();
  if (ahead > application_.settings.max_clock_drift_ms)
    return log_waiting(Waiting::kClockBehind, "versions are " + std::to_string(ahead) +
                                                  " ms ahead of this host's clock (max_clock_drift_ms): set the clock");
  compare_positions(restorer);
}

// Of a process that slept, others wrote on, and compaction took away the meta row in front of the end that it knew:
// a newer one stands behind that end. Where the log does end there, none does.
void Takeover::miss_meta_row() {
  if (no_meta_row_up_to_ != restore_target_) {
    no_meta_row_up_to_ = restore_target_;
    phase_ = Phase::kOffsets;
    return;
  }
  parking_.park(Parked::kNoMetaRow,
                store_->empty() ? "the changelog is empty but offsets are committed: it was deleted or truncated"
                                : "the changelog has rows but no meta row: it was truncated, or its beginning torn");
}

void Takeover::compare_positions(changelog::Restorer& restorer) {
  const std::vector<InputPosition>& vector = store_->meta()->positions;
  if (vector.size() != offsets_.size())
    return parking_.park(Parked::kOtherInputs, "the meta row lists other inputs than this version reads");
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
  if (equal) return get_ready(restorer);
  if (!behind) {
    // A process that slept in between asked for its offsets before another one moved them.
    if (asked_again_)
      return parking_.park(
          Parked::kOffsetsMoved,
          "committed offsets are not those of the changelog: were they reset by hand? " + difference());
    asked_again_ = true;
    phase_ = Phase::kOffsets;
    return;
  }
  if (behind_since_ == Milliseconds(0)) behind_since_ = clock_.steady();
  if (clock_.steady().value() - behind_since_.value() > application_.settings.transaction_timeout_ms)
    return parking_.park(
        Parked::kOffsetsAhead,
        "committed offsets are ahead of the changelog: were they moved by hand, or is the changelog truncated? " +
            difference());
  log_waiting(Waiting::kOffsetsAhead, "changelog behind committed offsets: " + difference());
  phase_ = Phase::kHighWatermark;
}

Rebuild Takeover::distrust() const {
  if (store_->fault()) return Rebuild::kFault;
  const Summary& summary = store_->summary();
  const Meta& meta = *store_->meta();
  // A position inside of a transaction is one of this process: it was reading on from there, nothing came in between.
  if (from_ && from_->generation != 0 && !in_lineage(*from_, meta.lineage)) return Rebuild::kLineage;
  if (summary != meta.summary) return Rebuild::kDigest;
  return Rebuild::kNone;
}

// The first input whose offset is another one than in the meta row. REQUIRES: there is one.
std::string Takeover::difference() const {
  const std::vector<InputPosition>& vector = store_->meta()->positions;
  for (std::size_t i = 0; i < vector.size(); ++i)
    if (offsets_[i].next != kNoOffset && offsets_[i].next != vector[i].next)
      return application_.topics.name(application_.topics.of(offsets_[i].role)) + " committed " +
             std::to_string(offsets_[i].next.value()) + ", state " + std::to_string(vector[i].next.value());
  return "inputs in another order";
}

// A pass over all rows, but only when a target was taken out of the configuration, and step by step: of a large state
// on a slow disk it takes many minutes. False: it is not over, or the partition is refused.
bool Takeover::look_for_missing_target() {
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
    parking_.refuse(Parked::kTargetMissing, target_still_waits(names[i]));
    return false;
  }
  return true;
}

void Takeover::take_first_offsets(std::vector<InputPosition> first, changelog::Restorer& restorer) {
  unanswered_ = 0;
  to_be_born_ = false;
  if (!store_->empty()) return;  // something was read meanwhile: it is compared again
  offsets_ = std::move(first);
  restorer.drop(partition_);  // or it would read our own rows back, and old ones over new ones
  phase_ = Phase::kBirth;
  failpoint(Failpoint::kTakeoverBirth);
}

void Takeover::get_ready(changelog::Restorer& restorer) {
  if (const auto table = extended(application_, store_->targets()); !table)
    return parking_.refuse(Parked::kTooManyTargets, table.error().message);
  const std::uint64_t records = restorer.progress(partition_).records;
  restorer.drop(partition_);
  from_.reset();
  asked_again_ = false;
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

void Takeover::born() {
  RESEQ_ASSERT(phase_ == Phase::kBirth, "a partition is born that was not asked for");
  lineage_ = store_->meta()->lineage;
  phase_ = Phase::kReady;
  spdlog::info("partition={} takeover=born generation=1", partition_.value());
}

bool Takeover::forgot() {
  return std::exchange(forgot_, false);
}

// What was decided, why, and what it costs, before it begins. The marker of its last transaction stands behind a state
// that lacks nothing.
void Takeover::log_way(const changelog::Progress& progress) const {
  const bool rebuild = rebuilt_ != Rebuild::kNone;
  const std::int64_t stands = store_->position().value_or(progress.from).value();
  const bool reuse = !rebuild && stands + 1 >= progress.target.value();
  spdlog::info("partition={} takeover=restore decision={} reason={} offsets_to_read={} from={} to={} rows={}",
               partition_.value(),
               rebuild ? "rebuild"
               : reuse ? "reuse"
                       : "catch_up",
               rebuild      ? name_of(rebuilt_)
               : from_disk_ ? store::name_of(store_->found())
                            : "warm",
               progress.target.value() - progress.from.value(), progress.from.value(), progress.target.value(),
               store_->rows());
}

void Takeover::log_waiting(Waiting what, std::string_view detail) {
  if (clock_.steady().value() - logged_at_.value() < kLogWaitingEvery.value()) return;
  logged_at_ = clock_.steady();
  spdlog::info("partition={} takeover={} waiting={} seconds={} detail={}", partition_.value(), name_of(phase_),
               name_of(what), (logged_at_.value() - started_at_.value()) / 1000, log::outside(detail));
}

}  // namespace reseq::runtime
