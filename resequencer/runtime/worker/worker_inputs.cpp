// How a worker gets its inputs: polling, assignments, takeovers, ends (worker.h).
#include <algorithm>
#include <array>
#include <utility>

#include "base/assert.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "kafka/error_questions.h"
#include "runtime/application/clients.h"
#include "runtime/worker/worker.h"

namespace reseq::runtime {

namespace {

constexpr Milliseconds kIdleWait{100};
constexpr Milliseconds kTakeoverWait{5};
constexpr Milliseconds kAskEndsLimit{1000};
constexpr Milliseconds kAfterReaderError{1000};
constexpr std::size_t kRestoreRecordsPerStep = 5000;
constexpr Milliseconds kTakeoverSlice{500};
constexpr Milliseconds kReadyWait{100};
// Records between a pin and the position, which an older version has decided, are read once more up to so many.
constexpr std::int64_t kReadAgainMax = 1'000;

}  // namespace

// Reads what has arrived, up to what one transaction may hold. Waits when there is nothing else to do, and while
// markers are written.
Result<bool> Worker::gather(bool at_once) {
  Milliseconds wait = at_once || busy()                              ? Milliseconds(0)
                      : taking_over() || reference_reader_.reading() ? kTakeoverWait
                                                                     : idle_wait();
  const std::int64_t pause_ms = marker_pause_.until().value() - clock_.steady().value();
  if (pause_ms > 0) wait = std::min(wait, Milliseconds(pause_ms));
  std::size_t records = waiting_records();
  std::uint64_t bytes = waiting_bytes();
  if (full(records, bytes) && clock_.steady() < retry_at_) {  // a poll would add to it, again and again
    producer_->poll(std::min(kIdleWait, Milliseconds(retry_at_.value() - clock_.steady().value())));
    return false;
  }
  bool any = false;
  // At least once, or the group would take us for dead.
  do {
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
      cannot_read(*failed);
    } else if (const auto* end = std::get_if<kafka::EndOfLog>(&event)) {
      reached(*end);
    } else if (auto* assignment = std::get_if<kafka::Assigned>(&event)) {
      assigned(std::move(*assignment));
    } else if (const auto* revocation = std::get_if<kafka::Revoked>(&event)) {
      revoked(*revocation);
    }
  } while (!full(records, bytes));
  return any;
}

// Not beyond the next date, once: what is due then may have to wait for something else. Short where no date is known,
// so that a clock that is set forward is noticed.
Milliseconds Worker::idle_wait() {
  const auto date = std::exchange(next_date_, std::nullopt);
  if (!date) return kIdleWait;
  const std::int64_t left = date->value() - clock_.now().value();
  return Milliseconds(std::clamp(left, std::int64_t{0}, kIdleWait.value()));
}

// As much as one transaction may hold.
bool Worker::full(std::size_t records, std::uint64_t bytes) const {
  return records >= static_cast<std::size_t>(application_.settings.batch_records_max) ||
         bytes >= static_cast<std::uint64_t>(application_.settings.batch_bytes_max);
}

bool Worker::may_begin() const {
  if (clock_.steady() < retry_at_) return false;
  return clock_.steady() >= marker_pause_.until() || full(waiting_records(), waiting_bytes());
}

// A transaction can start at once.
bool Worker::busy() const {
  if (!may_begin()) return false;
  return std::any_of(tasks_.begin(), tasks_.end(), [this](const auto& task) {
    if (task->phase() != Phase::kRunning || held(task->partition()) || task->reading_refused()) return false;
    if (task->waits_alone()) return false;
    return task->something_to_decide() || task->queue().wants_ends();
  });
}

// Returns the bytes that wait now and did not before.
std::uint64_t Worker::accept(kafka::Record&& record) {
  PartitionTask* owner = task(record.where.partition);
  // Fetched before the assignment changed: it will be read again by whoever owns the partition.
  if (owner == nullptr || owner->phase() != Phase::kRunning) return 0;
  const Role role = application_.topics.role_of_input(record.where.topic);
  const Offset asked = owner->read_from(role);
  if (!owner->is_known_log(role, record)) {
    read_from_positions();  // without it
    return 0;
  }
  const Offset next = owner->read_from(role);
  if (next != asked && next.value() - record.offset.value() > kReadAgainMax) read_from_positions();
  const std::uint64_t before = owner->queue().bytes();
  owner->queue().push(role, std::move(record));
  const std::uint64_t more = owner->queue().bytes() - before;
  if (owner->has_read(role)) read_from_positions();
  return more;
}

void Worker::reached(const kafka::EndOfLog& end) {
  PartitionTask* owner = task(end.where.partition);
  if (owner == nullptr || owner->phase() != Phase::kRunning) return;
  const Role role = application_.topics.role_of_input(end.where.topic);
  const bool known = owner->is_known_log(role, end);
  if (known && end.offset < owner->read_from(role) && is_cut_off(*owner, role)) return;
  if (known) owner->queue().reached(role, end.offset);
  if (!known || owner->has_read(role)) read_from_positions();
}

// A refusal may end, and a damaged batch may be whole when it is read again; librdkafka would go on behind it.
void Worker::cannot_read(const kafka::PartitionFailure& failure) {
  PartitionTask* owner = task(failure.where.partition);
  if (owner == nullptr || owner->phase() != Phase::kRunning) return;
  const Role role = application_.topics.role_of_input(failure.where.topic);
  const std::string detail = application_.topics.name(failure.where.topic) + ": " + told(failure.error);
  const bool damaged = kafka::is_damage(failure.error);
  if (!damaged && !kafka::is_out_of_reach(failure.error)) {
    if (owner->cannot_read(role, detail)) read_from_positions();
    return;
  }
  if (kafka::is_out_of_range(failure.error) && !is_beyond_log(*owner, role, detail)) return read_from_positions();
  const bool stays = !damaged || owner->damage_stays(role);
  const bool is_pin = !kafka::is_out_of_range(failure.error) && stays && owner->gives_up_pin(role, detail);
  if (is_pin) return read_from_positions();
  if (stays) return owner->park(Parked::kInputUnreadable, detail);
  spdlog::warn("partition={} reading=again error={}", owner->partition().value(), log::outside(failure.error.message));
  owner->rewind();
  read_from_positions();
}

// What is read from a pin on may end in front of the position: then the log has lost what was decided there, and what
// is written next would be taken for it. A leader that does not know its end yet is no proof.
bool Worker::is_cut_off(PartitionTask& owner, Role role) {
  const std::array<kafka::TopicPartition, 1> here = {{{application_.topics.of(role), owner.partition()}}};
  const auto end = consumer_->stable_ends(here, kAskEndsLimit);
  const Offset next = owner.read_from(role);
  if (!end || end.value().front().offset >= next) return false;
  owner.park(Parked::kInputUnreadable,
             application_.topics.name(here.front().topic) + ": offset out of range: the log ends at " +
                 std::to_string(end.value().front().offset.value()) + ", in front of " + std::to_string(next.value()));
  return true;
}

// Whether the log has not what is to be read from this input. An error says less: it may be about an offset from which
// it is not read any more, and at a pin it is not known on which side of the log that lies.
bool Worker::is_beyond_log(PartitionTask& owner, Role role, const std::string& detail) {
  const std::array<kafka::TopicPartition, 1> here = {{{application_.topics.of(role), owner.partition()}}};
  const Offset next = owner.read_from(role);
  const auto begin = consumer_->begins(here, kAskEndsLimit);
  const auto end = consumer_->stable_ends(here, kAskEndsLimit);
  if (!begin || !end) return false;  // it is tried again
  if (begin.value().front().offset > next) return !owner.gives_up_pin(role, detail);
  return end.value().front().offset < next || owner.damage_stays(role);
}

// A pin that retention took would be an error of its input, and everything assigned anew, at each takeover: an input
// that rests for longer than its records are kept has one. Unanswered, they are found out by reading.
void Worker::drop_pins_behind_begins() {
  std::vector<kafka::TopicPartition> pinned;
  for (const auto& task : tasks_)
    for (const Role role : kInputs)
      if (task->phase() == Phase::kReady && task->has_pin(role))
        pinned.push_back({application_.topics.of(role), task->partition()});
  if (pinned.empty()) return;
  const auto begins = consumer_->begins(pinned, kAskEndsLimit);
  if (!begins) return;
  for (const kafka::TopicPartitionOffset& begin : begins.value()) {
    PartitionTask& owner = *task(begin.where.partition);
    const Role role = application_.topics.role_of_input(begin.where.topic);
    if (begin.offset > owner.read_from(role))
      (void)owner.gives_up_pin(role, application_.topics.name(begin.where.topic) + " begins behind it");
  }
}

void Worker::assigned(kafka::Assigned assignment) {
  RESEQ_ASSERT(tasks_.empty(), "partitions assigned before the old ones were revoked");
  group_ = std::move(assignment.group);
  for (const Partition partition : assignment.partitions)
    tasks_.push_back(std::make_unique<PartitionTask>(application_, clock_, shelf_, partition));
  std::sort(tasks_.begin(), tasks_.end(), [](const auto& a, const auto& b) { return a->partition() < b->partition(); });
  for (const auto& task : tasks_)
    if (task->partition().value() >= application_.partitions)
      task->park(Parked::kTopicGrew, application_.topics.name(application_.topics.of(Role::kRequests)) + " had " +
                                         std::to_string(application_.partitions) +
                                         " partitions when this process started");
  spdlog::info("group=assigned partitions={}", tasks_.size());
  failpoint(Failpoint::kGroupAssigned);
}

void Worker::revoked(const kafka::Revoked& revocation) {
  spdlog::info("group=revoked partitions={} lost={}", tasks_.size(), revocation.lost);
  forget_assignment();
  failpoint(Failpoint::kGroupRevoked);
}

void Worker::forget_assignment() {
  for (const auto& task : tasks_) restorer_->drop(task->partition());
  tasks_.clear();
  throttled_.clear();
  held_.clear();
  group_.reset();
}

Result<> Worker::move_takeovers() {
  for (const auto& task : tasks_)
    if (task->phase() == Phase::kParked) restorer_->drop(task->partition());
  const auto read = read_changelogs();
  if (!read) return read.error();
  if (!read.value()) return Done{};
  if (auto stepped = step_takeovers(); !stepped) return stepped;
  std::vector<Takeover*> takeovers;
  for (const auto& task : tasks_) takeovers.push_back(&task->takeover());
  questions_.ask(takeovers, *consumer_, *restorer_);
  assign_ready();
  return Done{};
}

// False: they cannot be read, and all begins again.
Result<bool> Worker::read_changelogs() {
  // A restore that fills the memory waits for its checkpoint, and the others with it: the disk is in trouble.
  const bool full = std::any_of(tasks_.begin(), tasks_.end(), [this](const auto& task) {
    return restorer_->restoring(task->partition()) && task->memory_full();
  });
  if (!restorer_->busy() || full || clock_.steady() < reader_retry_at_) return true;
  auto failures = restorer_->step(kRestoreRecordsPerStep, kTakeoverWait);
  if (!failures) {
    spdlog::warn("restore=failed error={}", log::outside(failures.error().message));
    reader_retry_at_ = Milliseconds(clock_.steady().value() + kAfterReaderError.value());
    if (auto opened = open_reader(); !opened) return opened.error();
    for (const auto& task : tasks_)
      if (task->phase() != Phase::kRunning) task->restart(*restorer_);
    return false;
  }
  for (const auto& failure : failures.value())
    if (PartitionTask* owner = task(failure.partition)) owner->restore_failed(failure, *restorer_);
  return true;
}

// As many as there is time for: to open a copy can take as long as the disk needs, and the group wants to hear from us.
Result<> Worker::step_takeovers() {
  const Milliseconds begin = clock_.steady();
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    PartitionTask& task = *tasks_[next_takeover_++ % tasks_.size()];
    task.step(*restorer_);
    if (task.refused()) return Error{ErrorClass::kInvalid, 0, *task.refused()};
    if (clock_.steady().value() - begin.value() >= kTakeoverSlice.value()) break;
  }
  return Done{};
}

// Every assign stops all that is read, so partitions that get ready one after the other wait for each other a little.
bool Worker::let_ready_wait() {
  const auto phases = [this](auto what) {
    return std::any_of(tasks_.begin(), tasks_.end(), [&](const auto& task) { return what(task->phase()); });
  };
  const bool ready = phases([](Phase phase) { return phase == Phase::kReady; });
  const bool more = phases([](Phase phase) { return phase < Phase::kReady; });
  if (!ready) {
    ready_since_.reset();
    return false;
  }
  if (!ready_since_) ready_since_ = clock_.steady();
  if (more && clock_.steady().value() - ready_since_->value() < kReadyWait.value()) return true;
  ready_since_.reset();
  return false;
}

void Worker::assign_ready() {
  bool changed = false;
  const bool wait = let_ready_wait();
  if (!wait) drop_pins_behind_begins();
  for (const auto& task : tasks_) {
    changed = task->try_to_read() || changed;
    if (wait || task->phase() != Phase::kReady) continue;
    RESEQ_ASSERT(!restorer_->restoring(task->partition()), "a running partition whose changelog is still applied");
    task->run();
    ++(task->rebuilt() == Rebuild::kNone ? totals_.reuses
                                         : totals_.rebuilds[static_cast<std::size_t>(task->rebuilt())]);
    changed = true;
  }
  if (!changed) return;
  failpoint(Failpoint::kTakeoverAssign);
  read_from_positions();
}

// What cannot be assigned is taken over again: nobody knows what is read now.
void Worker::read_from_positions() {
  std::vector<kafka::TopicPartitionOffset> positions;
  for (const auto& task : tasks_) {
    const bool left_out = task->is_left_out();
    if (task->phase() != Phase::kRunning || held(task->partition()) || left_out) continue;
    const bool throttled = std::find(throttled_.begin(), throttled_.end(), task->partition()) != throttled_.end();
    const auto reads = [&](Role role) {
      if (task->reading_refused()) return task->reading_refused(role);  // also of a paused one: it has to end
      if (task->paused()) return role == Role::kControl;
      if (role == Role::kRequests) return !task->leaves_requests();
      return role != Role::kCommands || !throttled;
    };
    for (const Role role : kInputs)
      if (reads(role)) positions.push_back({{application_.topics.of(role), task->partition()}, task->read_from(role)});
  }
  const auto assigned = consumer_->assign(positions);
  if (assigned) return;
  spdlog::warn("assign=failed error={}", log::outside(assigned.error().message));
  recycle(true);
}

// One question for all partitions that have a command which met no registration; another for those with something due,
// because one input that cannot be asked fails the whole question. What is due waits for high watermarks: behind the
// last stable offset may stand what it waits for, while somebody's transaction is open (docs/decisions/0149).
void Worker::ask_ends() {
  std::vector<kafka::TopicPartition> which;
  std::vector<kafka::TopicPartition> of_timers;
  for (const auto& task : tasks_) {
    if (task->phase() != Phase::kRunning || task->reading_refused()) continue;
    if (task->queue().wants_ends()) which.push_back({application_.topics.of(Role::kRequests), task->partition()});
    if (deadlines_at_ && task->chores().want_ends(task->store(), task->queue().next_to_decide(), *deadlines_at_))
      for (const Role role : kInputs) of_timers.push_back({application_.topics.of(role), task->partition()});
  }
  for (const kafka::TopicPartitionOffset& end : ends_of(which, End::kStable))
    task(end.where.partition)->queue().set_fence(end.offset);
  const auto ends = ends_of(of_timers, End::kHighWatermark);
  for (std::size_t i = 0; i + kInputs.size() <= ends.size(); i += kInputs.size()) {
    PartitionTask& owner = *task(ends[i].where.partition);
    owner.chores().set_ends({ends[i].offset, ends[i + 1].offset, ends[i + 2].offset}, owner.queue().next_to_decide(),
                            *deadlines_at_);
  }
}

// Empty when nothing is asked, or nobody answers.
std::vector<kafka::TopicPartitionOffset> Worker::ends_of(const std::vector<kafka::TopicPartition>& which, End end) {
  if (which.empty()) return {};
  auto ends = end == End::kStable ? consumer_->stable_ends(which, kAskEndsLimit)
                                  : reader_->high_watermarks(which, kAskEndsLimit);
  if (!ends) {
    spdlog::warn("ends=failed error={}", log::outside(ends.error().message));
    return {};
  }
  ++totals_.ends_asked;
  return std::move(ends).value();
}

void Worker::follow_pauses() {
  bool changed = false;
  for (const auto& task : tasks_)
    if (task->phase() == Phase::kRunning) {
      changed = task->pause_changed() || changed;
      changed = task->leaves_requests_changed() || changed;
    }
  if (changed) read_from_positions();
}

void Worker::follow_waits() {
  if (std::any_of(tasks_.begin(), tasks_.end(), [](const auto& task) { return task->left_out_changed(); }))
    read_from_positions();
}

// A partition whose memory is full (its checkpoint fails) is not read until there is room again.
void Worker::hold_full() {
  bool changed = false;
  for (const auto& task : tasks_) {
    if (task->phase() != Phase::kRunning) continue;
    const bool full = task->memory_full();
    if (full == held(task->partition())) continue;
    changed = true;
    spdlog::warn("partition={} reading={} rows_in_memory={} bytes_in_memory={}", task->partition().value(),
                 full ? "held" : "resumed", task->store().dirty_rows(), task->store().dirty_bytes());
    if (full) {
      held_.push_back(task->partition());
      task->rewind();
    } else {
      std::erase(held_, task->partition());
    }
  }
  if (changed) read_from_positions();
}

bool Worker::held(Partition partition) const {
  return std::find(held_.begin(), held_.end(), partition) != held_.end();
}

// While commands wait for requests to be read to their end, fetched commands must not fill the memory: when those of
// all partitions are more than a quarter of a batch no partition's are read, or the next ones would come to wait, too.
// Where they wait they are read again when requests have caught up.
void Worker::throttle_commands() {
  std::uint64_t bytes = 0;
  std::size_t records = 0;
  for (const auto& task : tasks_) {
    if (!task->queue().commands_wait()) continue;
    bytes += task->queue().bytes(Role::kCommands);
    records += task->queue().records(Role::kCommands).size();
  }
  const bool full = bytes > static_cast<std::uint64_t>(application_.settings.batch_bytes_max) / 4 ||
                    records > static_cast<std::size_t>(application_.settings.batch_records_max) / 4;
  bool changed = false;
  for (const auto& task : tasks_) {
    if (task->phase() != Phase::kRunning) continue;
    const auto at = std::find(throttled_.begin(), throttled_.end(), task->partition());
    if (full && at == throttled_.end()) {
      throttled_.push_back(task->partition());
      changed = true;
    } else if (!full && at != throttled_.end() && !task->queue().commands_wait()) {
      throttled_.erase(at);
      changed = true;
    }
  }
  if (changed) read_from_positions();
}

PartitionTask* Worker::task(Partition partition) {
  const auto found = std::lower_bound(tasks_.begin(), tasks_.end(), partition,
                                      [](const auto& task, Partition wanted) { return task->partition() < wanted; });
  return found != tasks_.end() && (*found)->partition() == partition ? found->get() : nullptr;
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
