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
// As for inputs: what is damaged on its way is whole the next time.
constexpr unsigned kDamagedReadsMax = 10;

}  // namespace

PartitionTask* ReferenceReader::task(const Tasks& tasks, Partition partition) const {
  const auto found =
      std::find_if(tasks.begin(), tasks.end(), [&](const auto& task) { return task->partition() == partition; });
  if (found == tasks.end() || (*found)->phase() != Phase::kRunning) return nullptr;
  return found->get();
}

void ReferenceReader::step(const Tasks& tasks) {
  if (reading()) {
    std::erase_if(round_, [&](const auto& one) {
      const PartitionTask* const owner = task(tasks, one.first);
      return owner == nullptr || !owner->references().waits();
    });
    if (round_.empty() && reader_) {  // what was fetched ahead is not wanted
      damaged_.clear();
      if (const auto ended = reader_->assign({}); !ended) return failed(tasks, ended.error());
    }
  }
  if (!reading()) begin_round(tasks);
  if (!reading() || clock_.steady() < retry_at_) return;
  if (!reader_) {
    auto opened = cluster_.log_reader();
    if (!opened) return wait_after(opened.error());
    reader_ = std::move(opened).value();
    assigned_ = false;
  }
  // More may be wanted since, of what was read over.
  for (const auto& [partition, from] : round_)
    if (const auto next = task(tasks, partition)->references().next(); next && *next < from) assigned_ = false;
  if (!assigned_) assign(tasks);
  if (assigned_) read(tasks);
}

// In turn, as far as there is room.
void ReferenceReader::begin_round(const Tasks& tasks) {
  std::uint64_t bytes = 0;
  for (const auto& task : tasks)
    if (!task->references().waits()) bytes += task->references().bytes();
  const std::size_t begin = first_;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const std::size_t place = (begin + i) % tasks.size();
    PartitionTask& task = *tasks[place];
    const auto next = task.references().next();
    if (task.phase() != Phase::kRunning || !next) continue;
    bytes += task.references().bytes();
    if (reading() && bytes > static_cast<std::uint64_t>(application_.settings.batch_bytes_max)) return;
    round_.emplace(task.partition(), *next);
    first_ = place + 1;
    assigned_ = false;
  }
}

void ReferenceReader::assign(const Tasks& tasks) {
  std::vector<kafka::TopicPartitionOffset> positions;
  for (auto& [partition, from] : round_) {
    from = task(tasks, partition)->references().next().value_or(from);
    positions.push_back({place(partition), from});
  }
  const auto assigned = reader_->assign(positions);
  if (!assigned) return failed(tasks, assigned.error());
  assigned_ = true;
}

void ReferenceReader::read(const Tasks& tasks) {
  for (std::size_t i = 0; i < kRecordsPerStep; ++i) {
    auto polled = reader_->poll(Milliseconds(0));
    if (!polled) return failed(tasks, polled.error());
    if (!take(polled.value(), tasks)) return;
  }
}

// False: nothing comes at once.
bool ReferenceReader::take(kafka::LogPolled& polled, const Tasks& tasks) {
  if (auto* record = std::get_if<kafka::Record>(&polled)) {
    const auto one = round_.find(record->where.partition);
    PartitionTask* const owner = one != round_.end() ? task(tasks, one->first) : nullptr;
    if (owner == nullptr || record->offset < one->second) return true;
    one->second = Offset(record->offset.value() + 1);
    damaged_.erase(one->first);
    told_ = false;
    (void)owner->references().read(std::move(*record), owner->store().hash());
    const auto next = owner->references().next();
    if (!next) return false;  // what comes behind it is not wanted
    if (next->value() - one->second.value() > kReadOverMax) assigned_ = false;
    return assigned_;
  }
  if (const auto* end = std::get_if<kafka::EndOfLog>(&polled)) {
    const auto one = round_.find(end->where.partition);
    PartitionTask* const owner = one != round_.end() ? task(tasks, one->first) : nullptr;
    if (owner != nullptr) owner->references().gone_before(end->offset);
    return true;
  }
  if (const auto* failure = std::get_if<kafka::PartitionFailure>(&polled)) {
    assigned_ = false;
    if (PartitionTask* const owner = task(tasks, failure->where.partition)) cannot_read(*failure, *owner);
  }
  return false;
}

// Retention may have taken it. What a person must give back is waited for.
void ReferenceReader::cannot_read(const kafka::PartitionFailure& failure, PartitionTask& task) {
  if (kafka::is_out_of_range(failure.error)) {
    const std::array<kafka::TopicPartition, 1> here = {failure.where};
    const auto begins = reader_->begins(here, kAskBeginsLimit);
    if (!begins) return wait_after(begins.error());
    const Offset begin = begins.value().front().offset;
    const auto next = task.references().next();
    task.references().gone_before(begin);
    if (!next || *next < begin) return;
  }
  if (kafka::is_damage(failure.error) && ++damaged_[task.partition()] >= kDamagedReadsMax) {
    if (const auto next = task.references().next()) task.references().gone_before(Offset(next->value() + 1));
    return;
  }
  wait_after(failure.error);
}

// Its records are of no more use, and have to go first.
void ReferenceReader::failed(const Tasks& tasks, const Error& error) {
  for (const auto& task : tasks) task->references().clear();
  round_.clear();
  reader_.reset();
  wait_after(error);
}

void ReferenceReader::wait_after(const Error& error) {
  retry_at_ = Milliseconds(clock_.steady().value() + kAfterUnread.value());
  if (told_ && clock_.steady().value() - told_at_.value() < kTellEvery.value()) return;
  told_ = true;
  told_at_ = clock_.steady();
  spdlog::warn("references=unread topic={} error={}", application_.topics.name(application_.topics.of(Role::kRequests)),
               log::outside(error.message));
}

}  // namespace reseq::runtime
