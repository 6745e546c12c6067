#include "demo/pipeline/worker.h"

#include <algorithm>
#include <utility>

namespace reseq::demo {
namespace {

constexpr Milliseconds kLongestPoll{50};
constexpr Milliseconds kDrainLimit{2'000};

}  // namespace

Worker::Worker(std::unique_ptr<stage::Stage> stage, Seed seed, std::vector<std::string> targets, WorkerCounts& counts)
    : stage_(std::move(stage)), seed_(seed), targets_(std::move(targets)), counts_(counts) {}

Result<> Worker::run(const std::atomic<bool>& stop) {
  while (!stop.load()) {
    Result<std::optional<stage::Work>> read = stage_->next(until_next());
    if (!read) return read.error();
    counts_.partitions = stage_->partitions_owned();
    if (read.value()) {
      ++counts_.records;
      auto work = std::make_shared<const stage::Work>(std::move(*read.value()));
      const Milliseconds delay = treatment(*work).work;
      schedule(delay, Step::kFirstAttempt, std::move(work));
    }
    if (Result<> done = do_what_is_due(); !done) return done;
  }
  return stage_->drain(kDrainLimit);
}

Result<> Worker::do_what_is_due() {
  while (!waiting_.empty() && waiting_.top().due <= Clock::now()) {
    const Waiting waiting = waiting_.top();
    waiting_.pop();
    if (!stage_->in_flight(*waiting.work)) continue;  // its partition went to another worker
    if (Result<> done = do_step(waiting); !done) return done;
  }
  return Done{};
}

Result<> Worker::do_step(const Waiting& waiting) {
  const Treatment plan = treatment(*waiting.work);
  if (waiting.step == Step::kFirstAttempt && plan.retry) {
    ++counts_.retries;
    schedule(*plan.retry, Step::kResult, waiting.work);
    return Done{};
  }
  if (Result<> sent = send(*waiting.work); !sent) return sent;
  if (waiting.step != Step::kDuplicate && plan.duplicate) {
    ++counts_.duplicates;
    schedule(*plan.duplicate, Step::kDuplicate, waiting.work);
    return Done{};
  }
  stage_->finish(*waiting.work);
  return Done{};
}

Result<> Worker::send(const stage::Work& work) {
  for (const std::string& target : targets_) {
    Result<> sent = stage_->send(work, {.answer = stage::Answer::kSequence, .target = target, .payload = work.payload});
    if (!sent) return sent;
    ++counts_.results;
  }
  return Done{};
}

void Worker::schedule(Milliseconds delay, Step step, std::shared_ptr<const stage::Work> work) {
  waiting_.push({Clock::now() + std::chrono::milliseconds(delay.value()), ++scheduled_, step, std::move(work)});
}

Treatment Worker::treatment(const stage::Work& work) const {
  return treatment_of(seed_, work.key.value_or(std::string()), work.header("reseq-seq"));
}

Milliseconds Worker::until_next() const {
  if (waiting_.empty()) return kLongestPoll;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(waiting_.top().due - Clock::now());
  return Milliseconds(std::clamp<std::int64_t>(left.count(), 0, kLongestPoll.value()));
}

}  // namespace reseq::demo
