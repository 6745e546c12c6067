#include "runtime/worker.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/log.h"

namespace reseq::runtime {

namespace {

constexpr Milliseconds kInitSlice{1000};
constexpr Milliseconds kIdleWait{100};
constexpr Milliseconds kTakeoverWait{5};
constexpr Milliseconds kAskEndsLimit{1000};
constexpr Milliseconds kAfterError{200};
constexpr Milliseconds kAfterErrorMax{10'000};
constexpr std::size_t kRestoreRecordsPerStep = 5000;
// Aborts in a row after which partitions get transactions of their own, to find the one that causes them.
constexpr unsigned kAbortsUntilAlone = 3;
constexpr unsigned kAbortsAloneUntilParked = 5;
// Fenced twice within this time = two processes with one instance.id, not a leftover of ourselves (RELIABILITY A5).
constexpr Milliseconds kFencedTwiceWithin{60'000};

}  // namespace

Worker::Worker(const Application& application, kafka::Cluster& cluster, const Clock& clock, Shelf& shelf,
               std::function<HashKey()> draw_key)
    : application_(application),
      cluster_(cluster),
      clock_(clock),
      shelf_(shelf),
      draw_key_(std::move(draw_key)),
      clock_watch_(Milliseconds(application.settings.max_clock_jump_ms)) {}

// Queued records point into the transaction and the queues: the producer goes first.
Worker::~Worker() {
  producer_.reset();
}

Result<> Worker::step() {
  if (!producer_ || !consumer_) return open_clients();
  if (!transaction_ && checkpoint_one()) return Done{};
  if (!transaction_) return idle();
  transaction_->step();
  return transaction_->ending() == Ending::kRunning ? Result<>(Done{}) : settle_transaction();
}

// The producer first: its init ends what an older self left open, before offsets and high watermarks are asked.
Result<> Worker::open_clients() {
  if (!opening_ && !producer_) {
    auto made = cluster_.producer();
    if (!made) return made.error();
    opening_ = std::move(made).value();
  }
  if (opening_) {
    const auto initialised = opening_->init(kInitSlice);
    if (!initialised) {
      const Error& error = initialised.error();
      if (error.what_to_do == ErrorClass::kFenced) return note_fenced();
      if (error.what_to_do == ErrorClass::kInvalid) return error;
      spdlog::warn("producer=init error={}", log::outside(error.message));
      opening_->poll(kAfterError);  // an answer that comes at once must not make a busy loop
      if (error.what_to_do == ErrorClass::kFatal) opening_.reset();
      return Done{};
    }
    producer_ = std::move(opening_);
  }
  if (!reader_)
    if (auto opened = open_reader(); !opened) return opened;
  if (!consumer_) {
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

// True: one was written, or tried.
bool Worker::checkpoint_one() {
  if (clock_.steady() < checkpoint_at_) return false;
  for (const auto& task : tasks_) {
    if (!task->checkpoint_due()) continue;
    const auto written = task->checkpoint();
    if (written) {
      ++totals_.checkpoints;
      return true;
    }
    spdlog::error("partition={} checkpoint=failed error={}", task->partition().value(),
                  log::outside(written.error().message));
    checkpoint_at_ = Milliseconds(clock_.steady().value() + kAfterErrorMax.value());
    if (written.error().what_to_do == ErrorClass::kFatal) {
      task->rebuild(Rebuild::kFault, written.error().message, *restorer_);
      if (!read_from_positions()) recycle(true);
    }
    return true;
  }
  return false;
}

void Worker::look_at_clock() {
  const ClockWatch::Seen seen = clock_watch_.look(clock_.now(), clock_.steady());
  deadlines_at_ = seen.now;
  if (seen.stepped)
    spdlog::error(
        "clock=stepped forward by more than max_clock_jump_ms: timers and the watermark sweep are frozen; set the "
        "clock back, or restart this process if the time is right");
}

Result<> Worker::idle() {
  look_at_clock();
  auto gathered = gather();
  if (!gathered) return gathered.error();
  if (auto moved = move_takeovers(); !moved) return moved;
  ask_ends();
  throttle_commands();
  start_transaction();
  return Done{};
}

// Reads what has arrived, up to what one transaction may hold. Waits only when there is nothing else to do.
Result<bool> Worker::gather() {
  const bool busy = std::any_of(tasks_.begin(), tasks_.end(), [](const auto& task) {
    return task->phase() == Phase::kRunning && (task->queue().something_to_decide() || task->queue().wants_ends());
  });
  Milliseconds wait = busy ? Milliseconds(0) : taking_over() ? kTakeoverWait : kIdleWait;
  const auto records_max = static_cast<std::size_t>(application_.settings.batch_records_max);
  const auto bytes_max = static_cast<std::uint64_t>(application_.settings.batch_bytes_max);
  std::size_t records = waiting_records();
  std::uint64_t bytes = waiting_bytes();
  bool any = false;
  while (records < records_max && bytes < bytes_max) {
    auto polled = consumer_->poll(wait);
    if (!polled) return polled.error();
    wait = Milliseconds(0);
    auto& event = polled.value();
    if (std::holds_alternative<kafka::Nothing>(event)) return any;
    any = true;
    if (auto* record = std::get_if<kafka::Record>(&event)) {
      ++records;
      bytes += accept(std::move(*record));
    } else if (const auto* failed = std::get_if<kafka::PartitionFailure>(&event)) {
      if (PartitionTask* owner = task(failed->where.partition); owner != nullptr && owner->phase() == Phase::kRunning)
        owner->park(failed->error.message);
    } else if (const auto* end = std::get_if<kafka::EndOfLog>(&event)) {
      if (PartitionTask* owner = task(end->where.partition); owner != nullptr && owner->phase() == Phase::kRunning)
        owner->queue().reached(application_.topics.role_of_input(end->where.topic), end->offset);
    } else if (auto* assignment = std::get_if<kafka::Assigned>(&event)) {
      assigned(std::move(*assignment));
    } else if (const auto* revocation = std::get_if<kafka::Revoked>(&event)) {
      revoked(*revocation);
    }
  }
  return any;
}

// Returns the bytes that wait now and did not before.
std::uint64_t Worker::accept(kafka::Record record) {
  PartitionTask* owner = task(record.where.partition);
  // Fetched before the assignment changed: it will be read again by whoever owns the partition.
  if (owner == nullptr || owner->phase() != Phase::kRunning) return 0;
  const Role role = application_.topics.role_of_input(record.where.topic);
  const std::uint64_t before = owner->queue().bytes();
  owner->queue().push(role, std::move(record));
  return owner->queue().bytes() - before;
}

void Worker::assigned(kafka::Assigned assignment) {
  RESEQ_ASSERT(tasks_.empty(), "partitions assigned before the old ones were revoked");
  group_ = std::move(assignment.group);
  for (const Partition partition : assignment.partitions)
    tasks_.push_back(std::make_unique<PartitionTask>(application_, clock_, shelf_, partition));
  std::sort(tasks_.begin(), tasks_.end(), [](const auto& a, const auto& b) { return a->partition() < b->partition(); });
  for (const auto& task : tasks_)
    if (task->partition().value() >= application_.partitions)
      task->park(
          "the topic has grown since this process started; keys moved to other partitions: see docs/recovery.md");
  spdlog::info("group=assigned partitions={}", tasks_.size());
}

void Worker::revoked(const kafka::Revoked& revocation) {
  for (const auto& task : tasks_) restorer_->drop(task->partition());
  spdlog::info("group=revoked partitions={} lost={}", tasks_.size(), revocation.lost);
  tasks_.clear();
  throttled_.clear();
  group_.reset();
}

Result<> Worker::move_takeovers() {
  for (const auto& task : tasks_)
    if (task->phase() == Phase::kParked) restorer_->drop(task->partition());
  if (restorer_->restoring()) {
    auto failures = restorer_->step(kRestoreRecordsPerStep, kTakeoverWait);
    if (!failures) {
      spdlog::warn("restore=failed error={}", log::outside(failures.error().message));
      if (auto opened = open_reader(); !opened) return opened;
      for (const auto& task : tasks_)
        if (task->phase() != Phase::kRunning) task->restart(*restorer_);
      return Done{};
    }
    for (const auto& failure : failures.value())
      if (PartitionTask* owner = task(failure.partition))
        owner->rebuild(Rebuild::kRecord, failure.error.message, *restorer_);
  }
  for (const auto& task : tasks_) task->step(*consumer_, *restorer_);
  assign_ready();
  return Done{};
}

void Worker::assign_ready() {
  bool grew = false;
  for (const auto& task : tasks_) {
    if (task->phase() != Phase::kReady) continue;
    RESEQ_ASSERT(!restorer_->restoring(task->partition()), "a running partition whose changelog is still applied");
    task->run();
    ++(task->rebuilt() == Rebuild::kNone ? totals_.reuses
                                         : totals_.rebuilds[static_cast<std::size_t>(task->rebuilt())]);
    grew = true;
  }
  if (!grew) return;
  if (const auto assigned = read_from_positions(); !assigned) {
    spdlog::warn("assign=failed error={}", log::outside(assigned.error().message));
    recycle(true);
  }
}

Result<> Worker::read_from_positions() {
  std::vector<kafka::TopicPartitionOffset> positions;
  for (const auto& task : tasks_) {
    if (task->phase() != Phase::kRunning) continue;
    const bool throttled = std::find(throttled_.begin(), throttled_.end(), task->partition()) != throttled_.end();
    for (const Role role : kInputs)
      if (role != Role::kCommands || !throttled)
        positions.push_back({{application_.topics.of(role), task->partition()}, task->queue().read(role)});
  }
  return consumer_->assign(positions);
}

// One question for all partitions that have a command which met no registration, or a timer that is due.
void Worker::ask_ends() {
  std::vector<kafka::TopicPartition> which;
  std::vector<PartitionTask*> timers;
  for (const auto& task : tasks_) {
    if (task->phase() != Phase::kRunning) continue;
    if (deadlines_at_ && task->chores().want_ends(task->store(), *deadlines_at_)) timers.push_back(task.get());
    if (task->queue().wants_ends()) which.push_back({application_.topics.of(Role::kRequests), task->partition()});
  }
  const std::size_t misses = which.size();
  for (const PartitionTask* task : timers)
    for (const Role role : kInputs) which.push_back({application_.topics.of(role), task->partition()});
  if (which.empty()) return;
  const auto ends = consumer_->stable_ends(which, kAskEndsLimit);
  if (!ends) {
    spdlog::warn("ends=failed error={}", log::outside(ends.error().message));
    return;
  }
  ++totals_.ends_asked;
  for (std::size_t i = 0; i < misses; ++i)
    task(ends.value()[i].where.partition)->queue().set_fence(ends.value()[i].offset);
  for (std::size_t i = 0; i < timers.size(); ++i) {
    const auto* of_task = &ends.value()[misses + i * kInputs.size()];
    timers[i]->chores().set_ends({of_task[0].offset, of_task[1].offset, of_task[2].offset}, *deadlines_at_);
  }
}

// While commands wait for requests to be read to their end, fetched commands must not fill the memory: above a quarter
// of a batch they are not read, and read again when requests have caught up.
void Worker::throttle_commands() {
  const auto bytes_max = static_cast<std::uint64_t>(application_.settings.batch_bytes_max) / 4;
  const auto records_max = static_cast<std::size_t>(application_.settings.batch_records_max) / 4;
  bool changed = false;
  for (const auto& task : tasks_) {
    if (task->phase() != Phase::kRunning) continue;
    const auto at = std::find(throttled_.begin(), throttled_.end(), task->partition());
    const InputQueue& queue = task->queue();
    const bool full = queue.commands_wait() &&
                      (queue.bytes(Role::kCommands) > bytes_max || queue.records(Role::kCommands).size() > records_max);
    if (full && at == throttled_.end()) {
      throttled_.push_back(task->partition());
      changed = true;
    } else if (at != throttled_.end() && !queue.commands_wait()) {
      throttled_.erase(at);
      changed = true;
    }
  }
  if (!changed) return;
  if (const auto assigned = read_from_positions(); !assigned)
    spdlog::warn("assign=failed error={}", log::outside(assigned.error().message));
}

void Worker::start_transaction() {
  if (clock_.steady() < retry_at_) return;
  std::vector<Participant> ready = participants();
  if (ready.empty()) return;
  if (aborts_in_a_row_ >= kAbortsUntilAlone) ready = {ready[next_alone_++ % ready.size()]};
  transaction_ = std::make_unique<Transaction>(application_, *producer_, *consumer_, clock_, group_, ready,
                                               deadlines_at_, draw_key_);
}

std::vector<Participant> Worker::participants() {
  std::vector<Participant> ready;
  for (const auto& task : tasks_) {
    if (task->phase() == Phase::kBirth) ready.push_back({task.get(), false});
    if (task->phase() != Phase::kRunning || task->memory_full()) continue;
    const InputQueue& queue = task->queue();
    const bool heartbeat = task->chores().want_heartbeat(task->store(), queue, clock_.steady(), clock_.now());
    bool chores = false;
    if (deadlines_at_) {
      task->chores().look_for_expired(task->store(), clock_.steady(), *deadlines_at_);
      std::vector<InputPosition> positions;
      for (const Role role : kInputs) positions.push_back({role, queue.after(role, 0)});
      const auto until = task->chores().may_fire(positions, *deadlines_at_);
      const auto earliest = task->store().earliest_deadline();
      chores = task->chores().want_sweep() || (until && earliest && *earliest <= *until);
    }
    if (queue.something_to_decide() || heartbeat || chores) ready.push_back({task.get(), heartbeat});
  }
  return ready;
}

Result<> Worker::settle_transaction() {
  const std::unique_ptr<Transaction> done = std::move(transaction_);
  auto& batches = done->batches();
  switch (done->ending()) {
    case Ending::kRunning:
    case Ending::kEmpty:
      return Done{};
    case Ending::kCommitted:
      count(*done, batches);
      aborts_in_a_row_ = 0;
      if (producer_->in_doubt()) recycle(false);
      if (std::any_of(batches.begin(), batches.end(), [](const auto& batch) { return batch->stopped(); }))
        if (!read_from_positions()) recycle(true);
      return Done{};
    case Ending::kAborted: {
      ++totals_.aborted;
      ++aborts_in_a_row_;
      spdlog::warn("transaction=aborted in_a_row={} error={}", aborts_in_a_row_, log::outside(done->error().message));
      if (batches.size() == 1 && ++batches.front()->task().aborts_alone >= kAbortsAloneUntilParked)
        batches.front()->task().park("its transactions keep aborting: " + done->error().message);
      // Longer and longer, so that a passing trouble of the brokers does not park a partition.
      retry_at_ = Milliseconds(clock_.steady().value() +
                               std::min(kAfterError.value() << std::min(aborts_in_a_row_, 6U), kAfterErrorMax.value()));
      if (producer_->in_doubt()) {
        recycle(true);
      } else {
        rewind_all();
      }
      return Done{};
    }
    case Ending::kFault:
      for (const auto& task : tasks_)
        if (task->has_store() && task->store().fault())
          task->rebuild(Rebuild::kFault, task->store().fault()->message, *restorer_);
      rewind_all();
      return Done{};
    case Ending::kUnknown:
      spdlog::warn("transaction=unknown step_error={}", log::outside(done->error().message));
      recycle(true);
      return Done{};
    case Ending::kFenced: {
      spdlog::warn("transaction=fenced error={}", log::outside(done->error().message));
      // A pause longer than the transaction's time-out makes the broker fence us, and no second process.
      const bool paused = done->age().value() > application_.settings.transaction_timeout_ms;
      auto noted = paused ? Result<>(Done{}) : note_fenced();
      recycle(true);
      return noted;
    }
  }
  return Done{};
}

// Reads everything again that was fetched and not committed.
void Worker::rewind_all() {
  for (const auto& task : tasks_)
    if (task->phase() == Phase::kRunning) task->rewind();
  if (!read_from_positions()) recycle(true);
}

// A new producer with the same transactional id ends what the old one left open, and fences it (RELIABILITY A1, A3).
void Worker::recycle(bool take_over_again) {
  ++totals_.recycled;
  producer_.reset();
  if (!take_over_again) return;
  for (const auto& task : tasks_) task->restart(*restorer_);
  throttled_.clear();
  if (const auto assigned = consumer_->assign({}); !assigned)
    spdlog::warn("assign=failed error={}", log::outside(assigned.error().message));
}

Result<> Worker::note_fenced() {
  const Milliseconds now = clock_.steady();
  opening_.reset();
  if (fenced_at_ && now.value() - fenced_at_->value() < kFencedTwiceWithin.value())
    return Error{ErrorClass::kFenced, 0,
                 "another process runs with application.id " + application_.settings.application_id +
                     " and instance.id " + application_.settings.instance_id +
                     ": give each process its own instance.id"};
  fenced_at_ = now;
  retry_at_ = Milliseconds(now.value() + kAfterError.value());
  return Done{};
}

void Worker::count(const Transaction&, std::vector<std::unique_ptr<PartitionBatch>>& batches) {
  ++totals_.transactions;
  for (const auto& batch : batches) {
    totals_.inputs += batch->inputs();
    totals_.timers += batch->timers();
    totals_.expired += batch->expired();
    if (batch->birth() || batch->inputs() == 0) continue;
    for (const Decision& decision : batch->decisions()) {
      ++totals_.outcomes[static_cast<std::size_t>(decision.outcome)];
      ++totals_.reasons[static_cast<std::size_t>(decision.reason)];
    }
  }
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

PartitionTask* Worker::task(Partition partition) {
  for (const auto& task : tasks_)
    if (task->partition() == partition) return task.get();
  return nullptr;
}

bool Worker::taking_over() const {
  return std::any_of(tasks_.begin(), tasks_.end(), [](const auto& task) {
    return task->phase() != Phase::kRunning && task->phase() != Phase::kParked;
  });
}

// Commands that wait for requests do not count: requests must still come in beside them (throttle_commands bounds
// them).
std::uint64_t Worker::waiting_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& task : tasks_)
    bytes += task->queue().bytes() - (task->queue().commands_wait() ? task->queue().bytes(Role::kCommands) : 0);
  return bytes;
}

std::size_t Worker::waiting_records() const {
  std::size_t records = 0;
  for (const auto& task : tasks_)
    records +=
        task->queue().size() - (task->queue().commands_wait() ? task->queue().records(Role::kCommands).size() : 0);
  return records;
}

}  // namespace reseq::runtime
