#include "runtime/worker/reference_reader.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "base/log.h"
#include "kafka/error_questions.h"

namespace reseq::runtime {

namespace {

constexpr std::size_t kRecordsPerStep = 5000;
// So many records are read over: to begin anew takes about as long.
constexpr std::int64_t kReadOverMax = 1000;
constexpr Milliseconds kAfterUnread{1000};
constexpr Milliseconds kTellEvery{60'000};
constexpr Milliseconds kAskBeginsLimit{1000};
constexpr Milliseconds kSilent{1000};          // many times what a fetch waits at the broker
constexpr Milliseconds kAfterSilence{10'000};  // a tenth of the time others wait for who is silent
constexpr Milliseconds kUnused{10'000};
constexpr Milliseconds kForgotten{30'000};   // an outage in which nothing was wanted for so long is another one
constexpr Milliseconds kUnreadable{10'000};  // a broker that restarts, or is slow, does not change the order

}  // namespace

PartitionTask* ReferenceReader::task(const Tasks& tasks, Partition partition) const {
  const auto found =
      std::find_if(tasks.begin(), tasks.end(), [&](const auto& task) { return task->partition() == partition; });
  if (found == tasks.end() || (*found)->phase() != Phase::kRunning) return nullptr;
  return found->get();
}

void ReferenceReader::step(const Tasks& tasks) {
  if (failed_at_ && !passed(*failed_at_, kAfterUnread)) return;
  if (reading()) leave_round(tasks);
  if (!reading()) begin_round(tasks);
  if (!reading() || !open(tasks)) return;
  // More may be wanted since, of what was read over.
  for (const auto& [partition, reading] : round_)
    if (const auto next = task(tasks, partition)->references().next(); next && *next < reading.next) assigned_ = false;
  if (!assigned_) assign(tasks);
  if (assigned_) read(tasks);
}

// Who waits for nothing more, is not here any more, or is silent.
void ReferenceReader::leave_round(const Tasks& tasks) {
  std::erase_if(round_, [&](const auto& one) {
    const PartitionTask* const owner = task(tasks, one.first);
    return owner == nullptr || !owner->references().waits();
  });
  const auto silent = [this](const auto& one) { return passed(one.second.heard_at, kSilent); };
  for (auto one = std::find_if(round_.begin(), round_.end(), silent); one != round_.end();
       one = std::find_if(round_.begin(), round_.end(), silent))
    leave(*task(tasks, one->first), "nothing comes");
  if (!round_.empty() || !reader_) return;
  assigned_ = false;
  if (const auto ended = reader_->assign({}); !ended) failed(ended.error(), tasks);  // what is fetched is not wanted
}

// In turn, as far as there is room beside what was read and has not left; who was silent if nobody else waits.
void ReferenceReader::begin_round(const Tasks& tasks) {
  std::uint64_t bytes = 0;
  for (const auto& task : tasks)
    if (!task->references().waits()) bytes += task->references().bytes();
  std::erase_if(left_at_, [this](const auto& one) { return passed(one.second, kAfterSilence); });
  const std::size_t begin = first_;
  bool no_room = false;
  for (std::size_t i = 0; i < 2 * tasks.size() && !no_room; ++i) {
    const std::size_t place = (begin + i) % tasks.size();
    const bool others_wait = i < tasks.size() || reading();
    PartitionTask& task = *tasks[place];
    const auto next = task.references().next();
    if (task.phase() != Phase::kRunning || !next || round_.contains(task.partition())) continue;
    const auto left = left_at_.find(task.partition());
    if (left != left_at_.end() && (others_wait || !passed(left->second, kAfterUnread))) continue;
    const std::uint64_t more = task.references().bytes();
    no_room = bytes > 0 && bytes + more > static_cast<std::uint64_t>(application_.settings.batch_bytes_max);
    if (no_room) break;
    bytes += more;
    round_.emplace(task.partition(), Reading{*next, clock_.steady()});
    first_ = place + 1;
    assigned_ = false;
  }
  if (reading() || !no_room) no_room_since_.reset();
  if (!reading() && no_room) forget_unused(tasks);
}

// Somebody's turn did not come to use what was read for it: others must not wait for that for ever.
void ReferenceReader::forget_unused(const Tasks& tasks) {
  if (!no_room_since_) no_room_since_ = clock_.steady();
  if (!passed(*no_room_since_, kUnused)) return;
  no_room_since_.reset();
  for (const auto& task : tasks)
    if (!task->references().waits()) task->references().clear();
}

// False: not now.
bool ReferenceReader::open(const Tasks& tasks) {
  if (reader_) return true;
  auto opened = cluster_.scattered_reader();
  if (!opened) {
    failed(opened.error(), tasks);
    return false;
  }
  reader_ = std::move(opened).value();
  assigned_ = false;
  return true;
}

void ReferenceReader::assign(const Tasks& tasks) {
  std::vector<kafka::TopicPartitionOffset> positions;
  for (auto& [partition, reading] : round_) {
    reading.next = task(tasks, partition)->references().next().value_or(reading.next);
    positions.push_back({place(partition), reading.next});
  }
  const auto assigned = reader_->assign(positions);
  if (!assigned) return failed(assigned.error(), tasks);
  assigned_ = true;
}

void ReferenceReader::read(const Tasks& tasks) {
  for (std::size_t i = 0; i < kRecordsPerStep; ++i) {
    auto polled = reader_->poll(Milliseconds(0));
    if (!polled) return failed(polled.error(), tasks);
    if (!take(polled.value(), tasks)) return;
  }
}

// False: nothing comes at once.
bool ReferenceReader::take(const kafka::LogPolled& polled, const Tasks& tasks) {
  if (std::holds_alternative<kafka::Nothing>(polled)) return false;
  const Partition partition = std::visit(
      [](const auto& one) {
        if constexpr (requires { one.where; }) return one.where.partition;
        return Partition(-1);
      },
      polled);
  const auto one = round_.find(partition);
  PartitionTask* const owner = one != round_.end() ? task(tasks, partition) : nullptr;
  if (owner == nullptr) return true;
  Reading& reading = one->second;
  if (const auto* failure = std::get_if<kafka::PartitionFailure>(&polled)) {
    assigned_ = false;
    cannot_read(*failure, *owner, reading.next);
    return false;
  }
  reading.heard_at = clock_.steady();
  if (const auto* end = std::get_if<kafka::EndOfLog>(&polled)) {
    owner->references().gone_before(end->offset);
    return true;
  }
  const auto& record = std::get<kafka::Record>(polled);
  if (record.offset < reading.next) return true;
  reading.next = Offset(record.offset.value() + 1);
  unread_.erase(partition);
  if (owner->references().read(record, owner->store().hash())) told_at_.reset();
  const auto next = owner->references().next();
  if (!next) return false;  // what comes behind it is not wanted
  if (next->value() - reading.next.value() > kReadOverMax) assigned_ = false;
  return assigned_;
}

// Retention may have taken it. Whatever else, damage too, is no proof that it is gone: it may pass, or a person gives
// it back, and nobody else waits for that.
void ReferenceReader::cannot_read(const kafka::PartitionFailure& failure, PartitionTask& task, Offset reading) {
  const auto next = task.references().next();
  if (kafka::is_out_of_range(failure.error)) {
    const std::array<kafka::TopicPartition, 1> here = {failure.where};
    const auto begins = reader_->begins(here, kAskBeginsLimit);
    if (begins) task.references().gone_before(begins.value().front().offset);
    if (task.references().next() != next) return;
  }
  // What is damaged in front of the next that is wanted is read over: it is read from there.
  if (kafka::is_damage(failure.error) && next && reading < *next) return;
  if (kafka::is_damage(failure.error)) task.references().give_up(true);
  if (kafka::is_damage(failure.error) && task.references().waits())
    tell(task.partition(), failure.error.message);
  else
    leave(task, failure.error.message);
}

void ReferenceReader::leave(PartitionTask& task, const std::string& why) {
  left_at_[task.partition()] = clock_.steady();
  round_.erase(task.partition());
  note_unread(task);
  tell(task.partition(), why);
}

void ReferenceReader::note_unread(PartitionTask& task) {
  Unread& unread = unread_.try_emplace(task.partition(), Unread{clock_.steady(), clock_.steady()}).first->second;
  if (passed(unread.last, kForgotten)) unread.since = clock_.steady();
  unread.last = clock_.steady();
  if (passed(unread.since, kUnreadable)) task.references().give_up(false);
}

void ReferenceReader::serve() {
  if (reader_ && !reading()) reader_->serve();
}

void ReferenceReader::failed(const Error& error, const Tasks& tasks) {
  for (const auto& [partition, reading] : round_)
    if (PartitionTask* const owner = task(tasks, partition)) note_unread(*owner);
  round_.clear();
  reader_.reset();
  failed_at_ = clock_.steady();
  tell(error.message);
}

void ReferenceReader::tell(Partition partition, const std::string& why) {
  tell("partition " + std::to_string(partition.value()) + ": " + why);
}

void ReferenceReader::tell(const std::string& error) {
  if (told_at_ && !passed(*told_at_, kTellEvery)) return;
  told_at_ = clock_.steady();
  spdlog::warn("references=unread topic={} error={}", application_.topics.name(application_.topics.of(Role::kRequests)),
               log::outside(error));
}

}  // namespace reseq::runtime
