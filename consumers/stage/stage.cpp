#include "consumers/stage/stage.h"

#include <utility>

namespace reseq::stage {
namespace {

constexpr Milliseconds kQueueFullPause{10};
constexpr Milliseconds kPollSlice{100};
constexpr Milliseconds kDrainAtEnd{10'000};

}  // namespace

std::string_view Work::header(std::string_view name) const {
  for (auto header = headers.rbegin(); header != headers.rend(); ++header)
    if (header->name == name) return header->value ? std::string_view(*header->value) : std::string_view();
  return {};
}

Stage::Stage(std::unique_ptr<WorkReader> reader, std::unique_ptr<ResultSender> sender, StageLimits limits)
    : reader_(std::move(reader)), sender_(std::move(sender)), limits_(limits), committed_at_(Clock::now()) {
  reader_->listen(*this);
}

// What is finished is committed while the reader leaves the group.
Stage::~Stage() {
  reader_->close();
}

Result<std::optional<Work>> Stage::next(Milliseconds limit) {
  if (Result<> taken = take_acknowledgements(kAtOnce); !taken) return taken.error();
  if (Result<> committed = commit_when_due(); !committed) return committed.error();
  if (full()) {
    if (Result<> taken = take_acknowledgements(limit); !taken) return taken.error();
    return std::optional<Work>();
  }

  Result<std::optional<WorkRecord>> record = reader_->poll(limit);
  if (!record) return record.error();
  if (record.value()) return std::optional<Work>(hand_out(std::move(*record.value())));
  for (const NextOffset& position : reader_->positions()) in_flight_.reached(position.partition, position.next);
  return std::optional<Work>();
}

Work Stage::hand_out(WorkRecord record) {
  return {.ticket = in_flight_.start(record.partition, record.offset),
          .key = std::move(record.key),
          .payload = std::move(record.payload),
          .headers = std::move(record.headers)};
}

Result<> Stage::send(const Work& work, const StageResult& result) {
  const std::vector<OwnedHeader> headers = result_headers(work.headers, result);
  while (in_flight_.contains(work.ticket)) {
    Result<> sent = sender_->send(work.ticket, work.key, result.payload, headers);
    if (sent) {
      in_flight_.sent(work.ticket);
      return Done{};
    }
    if (sent.error().what_to_do != ErrorClass::kRetriable) return sent;
    if (Result<> taken = take_acknowledgements(kQueueFullPause); !taken) return taken;
  }
  return Done{};  // dropped: whoever owns the partition now sends it
}

void Stage::finish(const Work& work) {
  in_flight_.finished(work.ticket);
}

Result<> Stage::take_acknowledgements(Milliseconds limit) {
  Result<std::vector<Ticket>> tickets = sender_->acknowledged(limit);
  if (!tickets) return tickets.error();
  for (const Ticket& ticket : tickets.value()) in_flight_.acknowledged(ticket);
  return Done{};
}

Result<> Stage::commit_when_due() {
  const bool makes_room = full() && sender_->held() > 0;
  if (!makes_room && Clock::now() - committed_at_ < limits_.commit_interval) return Done{};
  return commit();
}

Result<> Stage::commit() {
  committed_at_ = Clock::now();
  const std::vector<NextOffset> offsets = in_flight_.take_committable();
  if (offsets.empty()) return Done{};
  Result<> committed = reader_->commit(offsets);
  if (committed) return Done{};
  // Not committed is not lost: the same records are read again.
  if (!means_later(committed.error())) return committed;
  in_flight_.not_committed(offsets);
  return Done{};
}

void Stage::on_assigned(std::span<const Partition> partitions) {
  for (const Partition partition : partitions) in_flight_.assigned(partition);
}

void Stage::on_revoked(std::span<const Partition> partitions, bool may_commit) {
  // What cannot be committed now is read again by the next owner: nothing to report.
  if (may_commit) (void)commit();
  for (const Partition partition : partitions) in_flight_.revoked(partition);
}

Result<> Stage::drain(Milliseconds limit) {
  const Clock::time_point until = Clock::now() + std::chrono::milliseconds(limit.value());
  while (in_flight_.unacknowledged() > 0 && Clock::now() < until)
    if (Result<> taken = take_acknowledgements(kQueueFullPause); !taken) return taken;
  while (true) {
    const std::size_t held = sender_->held();
    if (Result<> committed = commit(); !committed) return committed;
    // As long as each commit takes a part of what is kept.
    if (sender_->held() >= held || Clock::now() >= until) return Done{};
  }
}

Result<> run_stage(Stage& stage, const WorkHandler& handler, const std::function<bool()>& stop) {
  while (!stop()) {
    Result<std::optional<Work>> work = stage.next(kPollSlice);
    if (!work) return work.error();
    if (!work.value()) continue;
    for (const StageResult& result : handler(*work.value()))
      if (Result<> sent = stage.send(*work.value(), result); !sent) return sent;
    stage.finish(*work.value());
  }
  return stage.drain(kDrainAtEnd);
}

}  // namespace reseq::stage
