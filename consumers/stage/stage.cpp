#include "consumers/stage/stage.h"

#include <algorithm>
#include <future>
#include <string>
#include <utility>

#include "base/assert.h"

namespace reseq::stage {
namespace {

constexpr Milliseconds kQueueFullPause{10};
constexpr Milliseconds kPollSlice{100};
constexpr Milliseconds kDrainAtEnd{10'000};
// Leases are looked after so often; they are a second long at least.
constexpr std::int64_t kLeasesEveryMs = 20;

Error without_lease(const Ticket& ticket) {
  return {.what_to_do = ErrorClass::kInvalid,
          .message = "a record of `work` has no lease (offset " + std::to_string(ticket.offset.value()) +
                     " of partition " + std::to_string(ticket.partition.value()) +
                     "), and nothing would give it back after a commit on receipt: that needs dispatch.mode = "
                     "\"journal\""};
}

}  // namespace

std::string_view Work::header(std::string_view name) const {
  for (auto header = headers.rbegin(); header != headers.rend(); ++header)
    if (header->name == name) return header->value ? std::string_view(*header->value) : std::string_view();
  return {};
}

UnixMs wall_clock() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return UnixMs(std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
}

Stage::Stage(std::unique_ptr<WorkReader> reader, std::unique_ptr<ResultSender> sender, StageLimits limits,
             LeaseKeeping leases)
    : reader_(std::move(reader)),
      sender_(std::move(sender)),
      limits_(limits),
      keeping_(std::move(leases)),
      committed_at_(Clock::now()) {
  reader_->listen(*this);
}

// What is finished is committed while the reader leaves the group.
Stage::~Stage() {
  reader_->close();
}

Result<std::optional<Work>> Stage::next(Milliseconds limit) {
  if (Result<> tended = tend(); !tended) return tended.error();
  if (!received_.empty()) {
    Result<std::optional<Work>> received = hand_out_received();
    if (!received || received.value()) return received;
    limit = kAtOnce;  // it goes on to poll, because a rebalance may be what keeps it from committing
  }
  if (full()) {
    if (Result<> taken = take_acknowledgements(limit); !taken) return taken.error();
    return std::optional<Work>();
  }

  Result<std::optional<WorkRecord>> record = reader_->poll(limit);
  if (!record) return record.error();
  if (record.value()) return hand_out(std::move(*record.value()));
  for (const NextOffset& position : reader_->positions()) in_flight_.reached(position.partition, position.next);
  return std::optional<Work>();
}

Result<> Stage::tend() {
  keep_leases();
  if (Result<> taken = take_acknowledgements(kAtOnce); !taken) return taken;
  return commit_when_due();
}

Result<std::optional<Work>> Stage::hand_out(WorkRecord record) {
  Work work{.ticket = in_flight_.start(record.partition, record.offset),
            .key = std::move(record.key),
            .payload = std::move(record.payload),
            .headers = std::move(record.headers)};
  const bool on_receipt = limits_.commit == CommitWhen::kOnReceipt;
  const std::optional<Lease> lease = lease_of(work.headers, record.timestamp, keeping_.now);
  if (!lease) {
    if (on_receipt) return without_lease(work.ticket);
    return std::optional<Work>(std::move(work));
  }
  if (keeping_.now() >= stop_at(*lease)) {  // somebody else has it
    in_flight_.give_up(work.ticket);
    return std::optional<Work>();
  }
  work.lease = leases_.add(work.ticket, *lease, heartbeat_of(work.key, work.headers));
  work.has_lease = true;
  if (!on_receipt) return std::optional<Work>(std::move(work));
  in_flight_.keep(work.ticket);
  received_.push_back(std::move(work));
  return hand_out_received();
}

Result<std::optional<Work>> Stage::hand_out_received() {
  if (received_committed_ == 0) {
    const Result<bool> committed = try_commit();
    if (!committed) return committed.error();
    if (!committed.value()) return std::optional<Work>();
    received_committed_ = received_.size();
  }
  while (received_committed_ > 0) {
    std::optional<Work> work = std::move(received_.front());
    received_.pop_front();
    --received_committed_;
    if (in_flight_.contains(work->ticket)) return work;  // its lease may have been lost meanwhile
  }
  return std::optional<Work>();
}

// What cannot be committed now is read again by the next owner: nothing to report.
void Stage::drop_received(std::span<const Partition> partitions) {
  const auto uncommitted = received_.begin() + static_cast<std::ptrdiff_t>(received_committed_);
  const auto dropped = std::remove_if(uncommitted, received_.end(), [&](const Work& work) {
    if (std::find(partitions.begin(), partitions.end(), work.ticket.partition) == partitions.end()) return false;
    in_flight_.drop(work.ticket);
    return true;
  });
  received_.erase(dropped, received_.end());
}

Result<> Stage::send(const Work& work, const StageResult& result) {
  const std::vector<OwnedHeader> headers = result_headers(work.headers, result);
  keep_leases();
  while (in_flight_.contains(work.ticket)) {
    Result<> sent = sender_->send(work.ticket, work.key, result.payload, headers);
    if (sent) {
      in_flight_.sent(work.ticket);
      return Done{};
    }
    if (sent.error().what_to_do != ErrorClass::kRetriable) return sent;
    if (Result<> taken = take_acknowledgements(kQueueFullPause); !taken) return taken;
  }
  return Done{};  // dropped: whoever owns the partition now, or has the lease, sends it
}

void Stage::finish(const Work& work) {
  in_flight_.finished(work.ticket);
}

void Stage::keep_leases() {
  if (leases_.empty()) return;
  const UnixMs now = keeping_.now();
  const std::int64_t since = now.value() - kept_at_.value();
  if (since >= 0 && since < kLeasesEveryMs) return;
  kept_at_ = now;
  if (leases_.round_under_way()) {
    const HeartbeatSender::Round round = keeping_.heartbeats->round();
    if (round == HeartbeatSender::Round::kAcknowledged) leases_.round_acknowledged();
    if (round == HeartbeatSender::Round::kFailed) leases_.round_failed(now);
  }
  for (const LostLease& lost : leases_.take_lost(now)) {
    in_flight_.give_up(lost.ticket);
    lost_.push_back(lost);
  }
  // Behind the lost ones: what was dropped in a pause that has outlasted its lease has to stop as well.
  leases_.keep_only([&](const Ticket& ticket) { return in_flight_.contains(ticket) || sender_->holds(ticket); });
  if (keeping_.heartbeats == nullptr) return;
  const std::vector<HeartbeatRecord> due = leases_.begin_round(now);
  if (!due.empty()) keeping_.heartbeats->send(due);
}

void Stage::give_up(const Work& work) {
  RESEQ_ASSERT(work.has_lease, "work that nothing gives back is given up");
  in_flight_.give_up(work.ticket);
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
  const Result<bool> committed = try_commit();
  if (!committed) return committed.error();
  return Done{};
}

Result<bool> Stage::try_commit() {
  committed_at_ = Clock::now();
  const std::vector<NextOffset> offsets = in_flight_.take_committable();
  if (offsets.empty()) return true;
  committing_ = true;
  Result<> committed = reader_->commit(offsets);
  committing_ = false;
  if (committed) return true;
  // Not committed is not lost: the same records are read again.
  if (!means_later(committed.error())) return committed.error();
  in_flight_.not_committed(offsets);
  return false;
}

void Stage::on_assigned(std::span<const Partition> partitions) {
  for (const Partition partition : partitions) in_flight_.assigned(partition);
}

void Stage::on_revoked(std::span<const Partition> partitions, bool may_commit) {
  // Inside of a commit nobody knows yet what becomes of it.
  const Result<bool> committed = may_commit && !committing_ ? try_commit() : Result<bool>(false);
  if (committed && committed.value()) received_committed_ = received_.size();
  drop_received(partitions);
  for (const Partition partition : partitions) in_flight_.revoked(partition);
}

Result<> Stage::drain(Milliseconds limit) {
  const Clock::time_point until = Clock::now() + std::chrono::milliseconds(limit.value());
  while (in_flight_.unacknowledged() > 0 && Clock::now() < until) {
    keep_leases();
    if (Result<> taken = take_acknowledgements(kQueueFullPause); !taken) return taken;
  }
  while (true) {
    const std::size_t held = sender_->held();
    if (Result<> committed = commit(); !committed) return committed;
    // As long as each commit takes a part of what is kept.
    if (sender_->held() >= held || Clock::now() >= until) return Done{};
  }
}

namespace {

std::vector<StageResult> answers_of(Stage& stage, const WorkHandler& handler, const Work& work) {
  if (!work.has_lease) return handler(work);
  std::future<std::vector<StageResult>> answers =
      std::async(std::launch::async, [&handler, &work] { return handler(work); });
  while (answers.wait_for(std::chrono::milliseconds(kLeasesEveryMs)) != std::future_status::ready) stage.keep_leases();
  (void)stage.take_lost();
  return answers.get();
}

}  // namespace

Result<> run_stage(Stage& stage, const WorkHandler& handler, const std::function<bool()>& stop) {
  while (!stop()) {
    Result<std::optional<Work>> work = stage.next(kPollSlice);
    if (!work) return work.error();
    if (!work.value()) continue;
    for (const StageResult& result : asked_for(work.value()->headers, answers_of(stage, handler, *work.value())))
      if (Result<> sent = stage.send(*work.value(), result); !sent) return sent;
    stage.finish(*work.value());
  }
  return stage.drain(kDrainAtEnd);
}

}  // namespace reseq::stage
