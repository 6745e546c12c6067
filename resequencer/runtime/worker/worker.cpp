#include "runtime/worker/worker.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "kafka/error_questions.h"

namespace reseq::runtime {

namespace {

constexpr Milliseconds kInitSlice{1000};
constexpr Milliseconds kAfterError{200};
constexpr Milliseconds kAfterErrorMax{10'000};
constexpr unsigned kAbortsAloneUntilParked = 5;
constexpr Milliseconds kConsumerCloseLimit{1'000};
constexpr Milliseconds kAfterConsumerLost{1'000};
constexpr Milliseconds kServeClientsEvery{1'000};
// Behind a step of a compaction, for so many times as long: it takes a quarter of the worker's time.
constexpr std::int64_t kCompactionRests = 3;

}  // namespace

Worker::Worker(const Application& application, kafka::Cluster& cluster, const Clock& clock, Shelf& shelf,
               std::function<HashKey()> draw_key)
    : application_(application),
      cluster_(cluster),
      clock_(clock, Milliseconds(application.settings.max_clock_jump_ms)),
      shelf_(shelf),
      draw_key_(std::move(draw_key)),
      reference_reader_(application, cluster, clock_),
      questions_(application, clock_),
      rivals_(clock.steady()) {
  totals_.outputs.resize(application.topics.names().size());
}

// Queued records point into the transaction and the queues: the producer goes first.
Worker::~Worker() {
  producer_.reset();
}

Result<> Worker::step() {
  if (!transaction_) serve_clients();
  if (!producer_ || !consumer_) return open_clients();
  if (transaction_) {
    transaction_->step();
    return transaction_->ending() == Ending::kRunning ? Result<>(Done{}) : settle_transaction();
  }
  // In turn: five hundred checkpoints in a row would keep the inputs waiting for as long as the disk takes.
  const bool after_checkpoint = std::exchange(checkpointed_, false);
  if (!after_checkpoint && (checkpoint_one() || compact_one())) {
    checkpointed_ = true;
    return Done{};
  }
  return idle(after_checkpoint);
}

// The producer first: its init ends what an older self left open, before offsets and high watermarks are asked.
Result<> Worker::open_clients() {
  if (!opening_ && !producer_) {
    auto made = cluster_.producer();
    if (!made) return made.error();
    opening_ = std::move(made).value();
  }
  if (opening_) {
    failpoint(Failpoint::kTakeoverInit);
    const auto initialised = opening_->init(kInitSlice);
    if (!initialised) {
      const Error& error = initialised.error();
      if (error.what_to_do == ErrorClass::kFenced) return note_fenced();
      if (error.what_to_do == ErrorClass::kInvalid || kafka::is_forbidden(error)) return error;
      if (error.message != init_error_) spdlog::warn("producer=init error={}", log::outside(error.message));
      init_error_ = error.message;
      opening_->poll(kAfterError);  // an answer that comes at once must not make a busy loop
      if (error.what_to_do == ErrorClass::kFatal) opening_.reset();
      return Done{};
    }
    producer_ = std::move(opening_);
    init_error_.clear();
    failpoint(Failpoint::kTakeoverInitialised);
  }
  if (!reader_)
    if (auto opened = open_reader(); !opened) return opened;
  if (!consumer_) {
    if (consumer_lost_at_ && clock_.steady().value() - consumer_lost_at_->value() < kAfterConsumerLost.value()) {
      producer_->poll(kAfterError);
      return Done{};
    }
    auto made = cluster_.consumer(application_.topics.of(Role::kRequests));
    if (!made) return made.error();
    consumer_ = std::move(made).value();
  }
  return Done{};
}

Result<> Worker::open_reader() {
  auto made = cluster_.log_reader();
  if (!made) return made.error();
  restorer_.reset();
  reader_ = std::move(made).value();
  restorer_ = std::make_unique<changelog::Restorer>(
      *reader_, application_.topics.of(Role::kChangelog),
      changelog::MemoryLimit{static_cast<std::size_t>(application_.settings.checkpoint_rows_max),
                             static_cast<std::uint64_t>(application_.settings.checkpoint_bytes_max)});
  return Done{};
}

// The one to write now: first those that memory waits for, then in turn. Null: none is due.
PartitionTask* Worker::checkpoint_due() {
  PartitionTask* due = nullptr;
  std::size_t at = 0;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const std::size_t place = (next_checkpoint_ + i) % tasks_.size();
    PartitionTask& task = *tasks_[place];
    if (!task.checkpoint_due() || (due != nullptr && !task.checkpoint_urgent())) continue;
    due = &task;
    at = place;
    if (task.checkpoint_urgent()) break;
  }
  if (due != nullptr) next_checkpoint_ = at + 1;
  return due;
}

// True: one was written, or tried.
bool Worker::checkpoint_one() {
  PartitionTask* task = checkpoint_due();
  if (task == nullptr) return false;
  const Milliseconds begin = clock_.steady();
  const auto written = task->checkpoint();
  if (written) {
    ++totals_.checkpoints;
    totals_.checkpoint_rows.observe(static_cast<std::int64_t>(written.value()));
    totals_.checkpoint_ms.observe(clock_.steady().value() - begin.value());
  } else {
    ++totals_.checkpoints_failed;
    spdlog::error("partition={} checkpoint=failed folder={} error={}", task->partition().value(),
                  log::outside(task->store().folder()), log::outside(written.error().message));
  }
  return true;
}

// One after the other, so that the disk holds one copy twice at most. Null: none is due.
PartitionTask* Worker::compaction_due() {
  if (clock_.steady() < compact_at_) return nullptr;
  PartitionTask* due = nullptr;
  for (const auto& task : tasks_) {
    if (!task->compaction_due()) continue;
    if (task->compacting()) return task.get();
    if (due == nullptr) due = task.get();
  }
  return due;
}

// True: a step was made, or tried.
bool Worker::compact_one() {
  PartitionTask* task = compaction_due();
  if (task == nullptr) return false;
  const Milliseconds begin = clock_.steady();
  const auto done = task->compact();
  const std::int64_t end = clock_.steady().value();
  totals_.compaction_ms.observe(end - begin.value());
  compact_at_ = Milliseconds(end + kCompactionRests * (end - begin.value()));
  if (done) {
    totals_.compactions += done.value() ? 1 : 0;
  } else {
    ++totals_.compactions_failed;
    spdlog::warn("partition={} compaction=failed folder={} error={}", task->partition().value(),
                 log::outside(task->store().folder()), log::outside(done.error().message));
  }
  return true;
}

void Worker::look_at_clock() {
  const UnixMs now = clock_.now();
  const bool frozen = clock_.frozen();
  deadlines_at_ = frozen ? std::nullopt : std::optional(now);
  if (frozen && !clock_frozen_)
    spdlog::error(
        "clock=stepped forward by more than max_clock_jump_ms: versions go on as before, timers and sweep are frozen; "
        "set the clock back, or restart this process if the time is right");
  clock_frozen_ = frozen;
}

// States that cannot be read any more, whoever found it out; also of a restore that waits for room.
void Worker::rebuild_faulty() {
  bool any = false;
  for (const auto& task : tasks_) {
    if (!task->faulty()) continue;
    task->rebuild(Rebuild::kFault, task->store().fault()->message, *restorer_);
    any = true;
  }
  if (any) read_from_positions();
}

// After a checkpoint no input is waited for: there may be another one to write.
Result<> Worker::idle(bool after_checkpoint) {
  look_at_clock();
  rebuild_faulty();
  hold_full();
  follow_pauses();
  follow_waits();
  auto gathered = gather(after_checkpoint);
  if (!gathered) return replace_consumer(gathered.error());
  if (!producer_) return Done{};  // given up meanwhile: its init comes before all questions
  if (auto moved = move_takeovers(); !moved) return moved;
  ask_ends();
  reference_reader_.step(tasks_);
  throttle_commands();
  log_progress();
  survey_one();
  start_transaction();
  return Done{};
}

// A client that is not used tells nothing, and keeps what it would have told: an outage would be logged when it is long
// over.
void Worker::serve_clients() {
  if (clock_.steady().value() - clients_served_at_.value() < kServeClientsEvery.value()) return;
  clients_served_at_ = clock_.steady();
  if (producer_) producer_->poll(Milliseconds(0));
  if (reader_) reader_->serve();
  reference_reader_.serve();
}

void Worker::start_transaction() {
  if (!may_begin()) return;
  std::vector<Participant> ready = participants();
  if (ready.empty()) return;
  transaction_ = std::make_unique<Transaction>(application_, *producer_, *consumer_, clock_, group_,
                                               share(std::move(ready)), deadlines_at_, draw_key_);
}

// In turn: those that share a transaction, and one of those that are isolated. Whom there was no time for in the last
// one comes first: the others may have something to do for ever.
std::vector<Participant> Worker::share(std::vector<Participant> ready) {
  const auto isolated = std::stable_partition(ready.begin(), ready.end(),
                                              [](const Participant& one) { return !one.task->isolation().alone(); });
  const auto count = static_cast<std::size_t>(ready.end() - isolated);
  turn_of_isolated_ = count > 0 && (!turn_of_isolated_ || isolated == ready.begin());
  if (turn_of_isolated_) return {*(isolated + static_cast<std::ptrdiff_t>(next_alone_++ % count))};
  ready.erase(isolated, ready.end());
  const auto first = std::find_if(ready.begin(), ready.end(),
                                  [this](const Participant& one) { return one.task->partition() >= first_in_turn_; });
  std::rotate(ready.begin(), first, ready.end());
  return ready;
}

std::vector<Participant> Worker::participants() {
  std::vector<Participant> ready;
  next_date_.reset();
  for (const auto& task : tasks_) {
    if (task->waits_alone()) continue;
    if (task->phase() == Phase::kBirth) ready.push_back({task.get(), false});
    if (task->phase() != Phase::kRunning || held(task->partition()) || task->reading_refused()) continue;
    const InputQueue& queue = task->queue();
    const bool heartbeat = task->chores().want_heartbeat(task->store(), queue, clock_.steady(), clock_.now());
    std::vector<InputPosition> positions;
    for (const Role role : kInputs) positions.push_back({role, queue.after(role, 0)});
    bool chores = !task->turns(positions, clock_.now(), deadlines_at_, 0).empty();
    if (deadlines_at_) {
      task->chores().look_for_expired(task->store(), clock_.steady(), *deadlines_at_);
      const auto until = task->chores().may_fire(positions, *deadlines_at_);
      const auto earliest = task->store().earliest_deadline();
      chores = chores || task->chores().want_sweep(until) || (until && earliest && *earliest <= *until);
    }
    if (task->faulty()) continue;  // found while it was asked for chores
    if (task->something_to_decide() || heartbeat || chores) ready.push_back({task.get(), heartbeat});
    if (!ready.empty() || !deadlines_at_) continue;  // it is asked for while nothing is to do
    const auto next_date = task->chores().next_date(task->store(), *deadlines_at_);
    if (next_date && (!next_date_ || *next_date < *next_date_)) next_date_ = next_date;
  }
  return ready;
}

Result<> Worker::settle_transaction() {
  const std::unique_ptr<Transaction> done = std::move(transaction_);
  auto& batches = done->batches();
  switch (done->ending()) {
    case Ending::kRunning:
    case Ending::kEmpty:
      return done->stopped();
    case Ending::kCommitted:
      count(*done);
      first_in_turn_ = done->left_out().value_or(Partition(0));
      if (!turn_of_isolated_) aborts_in_a_row_ = 0;
      marker_pause_.committed(done->commit_called(), done->commit_returned());
      if (producer_->in_doubt()) recycle(false);
      return done->stopped();
    case Ending::kAborted:
      settle_abort(*done);
      return Done{};
    case Ending::kFault:
      decide_again(*done);  // what is faulty is rebuilt in the next step, before anything is decided
      return Done{};
    case Ending::kUnknown:
    case Ending::kFenced: {
      const bool fenced = done->ending() == Ending::kFenced;
      spdlog::warn("transaction={} error={}", fenced ? "fenced" : "unknown", log::outside(done->error().message));
      // A pause longer than the transaction's time-out makes the broker fence us, and no second process. It may have
      // been the disk: alone, a partition is decided before the broker begins to count.
      const bool paused = done->age().value() > application_.settings.transaction_timeout_ms;
      if (paused)
        for (const auto& batch : batches) batch->task().isolation().suspect();
      auto noted = !fenced || paused ? Result<>(Done{}) : note_fenced();
      recycle(true);
      return noted;
    }
  }
  return Done{};
}

// Longer and longer, so that a passing trouble of the brokers does not park a partition.
void Worker::settle_abort(const Transaction& aborted) {
  ++totals_.aborted;
  const auto& batches = aborted.batches();
  const std::string_view error = aborted.error().message;
  if (batches.size() > 1) {
    ++aborts_in_a_row_;
    spdlog::warn("transaction=aborted partitions={} in_a_row={} error={}", batches.size(), aborts_in_a_row_,
                 log::outside(error));
    for (const auto& batch : batches) batch->task().isolation().aborted_shared();
    retry_at_ = Milliseconds(clock_.steady().value() +
                             std::min(kAfterError.value() << std::min(aborts_in_a_row_, 6U), kAfterErrorMax.value()));
  } else {
    PartitionTask& task = batches.front()->task();
    task.isolation().aborted(clock_.steady());
    spdlog::warn("transaction=aborted partition={} error={}", task.partition().value(), log::outside(error));
    if (!kafka::passes_by_itself(aborted.error()) && task.aborted_alone() >= kAbortsAloneUntilParked)
      task.park(Parked::kKeepsAborting, aborted.error().message);
  }
  decide_again(aborted);
}

// Nothing of the transaction happened: what it held is read again.
void Worker::decide_again(const Transaction& undone) {
  if (producer_->in_doubt()) return recycle(true);
  for (const auto& batch : undone.batches())
    if (batch->task().phase() == Phase::kRunning) batch->task().rewind();
  read_from_positions();
}

// A new producer with the same transactional id ends what the old one left open, and fences it.
void Worker::recycle(bool take_over_again) {
  ++totals_.recycled;
  failpoint(Failpoint::kRecycle);
  producer_.reset();
  if (!take_over_again) return;
  for (const auto& task : tasks_) task->restart(*restorer_);
  throttled_.clear();
  held_.clear();
  if (const auto assigned = consumer_->assign({}); !assigned)
    spdlog::warn("assign=failed error={}", log::outside(assigned.error().message));
}

// After a fatal error a consumer never recovers: a new one joins instead. A member that was fenced need not have a
// rival: brokers that were gone for a session time-out, or an answer to a join that was lost, look the same.
Result<> Worker::replace_consumer(const Error& error) {
  const Milliseconds now = clock_.steady();
  const Milliseconds within(std::max(Rivals::kWithin.value(), application_.settings.session_timeout_ms));
  const bool fenced = error.what_to_do == ErrorClass::kFenced;
  if (!fenced && error.what_to_do != ErrorClass::kFatal) return error;
  const bool ends = fenced ? rivals_.consumer_fenced(now, within) : rivals_.consumer_lost(now, within);
  if (ends) return fenced ? same_name() : error;
  spdlog::warn("consumer=replaced partitions={} in_a_minute={} error={}", tasks_.size(), rivals_.consumers_lost(),
               log::outside(error.message));
  consumer_lost_at_ = now;
  forget_assignment();
  consumer_->close(kConsumerCloseLimit);
  consumer_.reset();
  return Done{};
}

Error Worker::same_name() const {
  return {ErrorClass::kFenced, 0,
          "another process runs with application.id " + application_.settings.application_id + " and instance.id " +
              application_.settings.instance_id + ": give each process its own instance.id"};
}

Result<> Worker::note_fenced() {
  const Milliseconds now = clock_.steady();
  opening_.reset();
  if (rivals_.producer_fenced(now)) return same_name();
  retry_at_ = Milliseconds(now.value() + kAfterError.value());
  return Done{};
}

void Worker::close(Milliseconds limit) {
  const Milliseconds until(clock_.steady().value() + limit.value());
  while (transaction_ && clock_.steady() < until) {
    transaction_->step();
    if (transaction_->ending() != Ending::kRunning) (void)settle_transaction();
  }
  producer_.reset();
  transaction_.reset();
  tasks_.clear();
  if (consumer_) consumer_->close(limit);
  restorer_.reset();
  consumer_.reset();
}

}  // namespace reseq::runtime
