#include "demo/pipeline/worker.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

namespace reseq::demo {
namespace {

constexpr Milliseconds kLongestPoll{50};
constexpr Milliseconds kDrainLimit{2'000};

WorkBegun begun_with(const stage::Work& work) {
  WorkBegun begun{.micros = micros_now(),
                  .request = request_number(work.key.value_or(std::string()), work.header("reseq-seq"))};
  const std::string_view attempt = work.header("reseq-attempt");
  std::from_chars(attempt.data(), attempt.data() + attempt.size(), begun.attempt);
  return begun;
}

}  // namespace

Worker::Worker(std::unique_ptr<stage::Stage> stage, Seed seed, std::vector<std::string> targets, PacedClock clock,
               WorkerCounts& counts, WorkLog& log)
    : stage_(std::move(stage)), seed_(seed), targets_(std::move(targets)), clock_(clock), counts_(counts), log_(log) {}

Result<> Worker::run(const std::atomic<bool>& stop, const std::atomic<bool>& all_sent) {
  auto before = std::chrono::steady_clock::now();
  while (!stop.load()) {
    Result<std::optional<stage::Work>> read = stage_->next(until_next());
    if (!read) return read.error();
    counts_.partitions = stage_->partitions_owned();
    const auto now = std::chrono::steady_clock::now();
    if (all_sent.load()) clock_.end();
    clock_.advance(now - std::exchange(before, now), read.value().has_value());
    if (read.value())
      if (Result<> taken = take(std::move(*read.value())); !taken) return taken;
    if (Result<> done = do_what_is_due(); !done) return done;
  }
  return stage_->drain(kDrainLimit);
}

Result<> Worker::take(stage::Work work) {
  ++counts_.records;
  Result<> logged = log_.write(begun_with(work));
  if (!logged) return logged;
  auto record = std::make_shared<Record>(Record{.work = std::move(work), .open_targets = targets_.size()});
  for (std::size_t target = 0; target < targets_.size(); ++target)
    schedule(treatment(record->work, target).work, Step::kFirstAttempt, record, target);
  return Done{};
}

Result<> Worker::do_what_is_due() {
  while (!waiting_.empty() && waiting_.top().due <= clock_.now()) {
    const Waiting waiting = waiting_.top();
    waiting_.pop();
    if (!stage_->in_flight(waiting.record->work)) continue;  // its partition went to another worker
    if (Result<> done = do_step(waiting); !done) return done;
  }
  return Done{};
}

Result<> Worker::do_step(const Waiting& waiting) {
  Record& record = *waiting.record;
  const Treatment plan = treatment(record.work, waiting.target);
  if (waiting.step == Step::kFirstAttempt && plan.retry) {
    ++counts_.retries;
    schedule(*plan.retry, Step::kResult, waiting.record, waiting.target);
    return Done{};
  }
  if (Result<> sent = send(record.work, targets_[waiting.target]); !sent) return sent;
  if (waiting.step != Step::kDuplicate && plan.duplicate) {
    ++counts_.duplicates;
    schedule(*plan.duplicate, Step::kDuplicate, waiting.record, waiting.target);
    return Done{};
  }
  if (--record.open_targets == 0) stage_->finish(record.work);
  return Done{};
}

Result<> Worker::send(const stage::Work& work, const std::string& target) {
  Result<> sent = stage_->send(work, {.answer = stage::Answer::kSequence, .target = target, .payload = work.payload});
  if (sent) ++counts_.results;
  return sent;
}

void Worker::schedule(Milliseconds delay, Step step, std::shared_ptr<Record> record, std::size_t target) {
  waiting_.push(
      {clock_.now() + std::chrono::milliseconds(delay.value()), ++scheduled_, step, std::move(record), target});
}

Treatment Worker::treatment(const stage::Work& work, std::size_t target) const {
  return treatment_of(seed_, targets_[target], work.key.value_or(std::string()), work.header("reseq-seq"));
}

Milliseconds Worker::until_next() const {
  if (waiting_.empty()) return kLongestPoll;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(waiting_.top().due - clock_.now());
  return Milliseconds(std::clamp<std::int64_t>(left.count(), 0, kLongestPoll.value()));
}

}  // namespace reseq::demo
