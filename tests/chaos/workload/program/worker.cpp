#include "tests/chaos/workload/program/worker.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "codec/header_names.h"
#include "codec/target_names.h"
#include "tests/chaos/workload/plan.h"

namespace reseq::chaos {

namespace header = codec::header;

namespace {

constexpr Milliseconds kLongestPoll{50};
constexpr Milliseconds kDrainLimit{5'000};

template <typename Number>
Number number_in(std::string_view text) {
  Number value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The first one is not said.
std::uint64_t attempt_of(const stage::Work& work) {
  if (!work.has_lease) return 0;
  return std::max<std::uint64_t>(number_in<std::uint64_t>(work.header(header::kAttempt)), 1);
}

}  // namespace

Result<> Worker::run(const std::function<bool()>& stop) {
  while (!stop()) {
    Result<std::optional<stage::Work>> read = stage_->next(until_next());
    if (!read) return read.error();
    if (read.value()) take(std::move(*read.value()));
    if (Result<> sent = send_what_is_due(); !sent) return sent;
  }
  return stage_->drain(kDrainLimit);
}

void Worker::take(stage::Work work) {
  const std::string id = work.key.value_or("");
  const WorkOrder order{.id = id,
                        .epoch = number_in<std::uint32_t>(work.header(header::kEpoch)),
                        .sequence = number_in<std::uint64_t>(work.header(header::kSeq)),
                        .revision = number_in<std::uint64_t>(work.header(header::kRevision)),
                        .attempt = attempt_of(work)};
  std::vector<PlannedAnswer> planned = answers(seed_, order, codec::names_in(work.header(header::kTargets)));
  const Clock::time_point now = Clock::now();
  auto record = std::make_shared<Record>(Record{.work = std::move(work), .open = planned.size()});
  if (planned.empty()) stage_->finish(record->work);
  for (PlannedAnswer& answer : planned)
    waiting_.push(
        {now + std::chrono::milliseconds(answer.after.value()), ++scheduled_, record, std::move(answer.result)});
}

Result<> Worker::send_what_is_due() {
  while (!waiting_.empty() && waiting_.top().due <= Clock::now()) {
    Waiting waiting = waiting_.top();
    waiting_.pop();
    Record& record = *waiting.record;
    if (!stage_->in_flight(record.work)) continue;  // its partition went to another member
    if (waiting.result.answer == stage::Answer::kSequence) waiting.result.payload = result_payload(record.work.payload);
    if (Result<> sent = stage_->send(record.work, waiting.result); !sent) return sent;
    if (--record.open == 0) stage_->finish(record.work);
  }
  return Done{};
}

Milliseconds Worker::until_next() const {
  if (waiting_.empty()) return kLongestPoll;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(waiting_.top().due - Clock::now());
  return Milliseconds(std::clamp<std::int64_t>(left.count(), 0, kLongestPoll.value()));
}

}  // namespace reseq::chaos
