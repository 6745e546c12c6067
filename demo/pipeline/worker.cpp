#include "demo/pipeline/worker.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

namespace reseq::demo {
namespace {

constexpr Milliseconds kLongestPoll{50};
constexpr Milliseconds kDrainLimit{2'000};

std::uint32_t attempt_of(const stage::Work& work) {
  std::uint32_t attempt = 1;
  const std::string_view text = work.header("reseq-attempt");
  std::from_chars(text.data(), text.data() + text.size(), attempt);
  return attempt;
}

WorkBegun begun_with(const stage::Work& work) {
  return {.micros = micros_now(),
          .request = request_number(work.key.value_or(std::string()), work.header("reseq-seq")),
          .attempt = attempt_of(work)};
}

}  // namespace

Worker::Worker(std::unique_ptr<stage::Stage> stage, Seed seed, Faults faults, std::vector<std::string> targets,
               PacedClock clock, WorkerCounts& counts, WorkLog& log)
    : stage_(std::move(stage)),
      seed_(seed),
      faults_(std::move(faults)),
      targets_(std::move(targets)),
      clock_(clock),
      counts_(counts),
      log_(log) {}

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
  const std::vector<std::size_t> targets = answered(work);
  auto record = std::make_shared<Record>(Record{.work = std::move(work), .open_targets = targets.size()});
  if (targets.empty()) stage_->finish(record->work);
  for (const std::size_t target : targets)
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
  auto failure = waiting.step == Step::kDuplicate ? std::nullopt : fault(record.work, targets_[waiting.target]);
  const bool failed = failure.has_value();
  Result<> sent = failed ? say(record.work, targets_[waiting.target], std::move(*failure))
                         : send(record.work, targets_[waiting.target]);
  if (!sent) return sent;
  if (waiting.step != Step::kDuplicate && plan.duplicate && !failed) {
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

Result<> Worker::say(const stage::Work& work, const std::string& target, stage::WorkFailure failure) {
  Result<> sent = stage_->send(work, {.answer = stage::Answer::kFail, .target = target, .failure = std::move(failure)});
  if (sent) ++counts_.failures;
  return sent;
}

std::optional<stage::WorkFailure> Worker::fault(const stage::Work& work, const std::string& target) const {
  const std::string id = work.key.value_or(std::string());
  return faults_.of({.target = target,
                     .id = id,
                     .sequence = work.header("reseq-seq"),
                     .attempt = attempt_of(work),
                     .payload = work.payload});
}

std::vector<std::size_t> Worker::answered(const stage::Work& work) const {
  const std::vector<std::string> listed = stage::targets_of(work.headers);
  const std::string id = work.key.value_or(std::string());
  std::vector<std::size_t> answered;
  for (std::size_t target = 0; target < targets_.size(); ++target) {
    const std::string& name = targets_[target];
    if (!listed.empty() && std::find(listed.begin(), listed.end(), name) == listed.end()) continue;
    if (!faults_.lost(name, id, work.header("reseq-seq"))) answered.push_back(target);
  }
  return answered;
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
