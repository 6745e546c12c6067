// Stage: one worker of a pipeline. Reads `work` as a member of a group (read_committed), hands out records, sends their
// results to `commands` with the same key and all headers. Work may be finished in any order and at any later time,
// many records at once. It comes in two modes with the same calls:
//
//   at least once   A result is sent at once. An offset is committed when everything up to it was finished and
//                   acknowledged. After a crash what was not committed is done again: a result may stand twice.
//   transactional   Results are kept until every earlier record of their partition is finished too, and go out in one
//                   Kafka transaction with the offsets of those records, so that offsets and results agree: each result
//                   stands exactly once. A slow record holds back the results behind it, not the work on them. What is
//                   kept counts as in flight, and a commit interval is the least time that a result takes.
//
// A record whose partition went to another member is dropped: sending for it does nothing, the other member has it. The
// transactional mode also drops what it has when a transaction failed, and reads it again.
//
// Where the resequencer has a journal, work has a lease (lease.h). As long as a record is in flight, the stage sends
// heartbeats for it, every third of the lease. When none is acknowledged in time, it drops the record before the lease
// ends, because then the resequencer sends the document to somebody else. A record whose lease is over when it is read
// is not handed out. With leases a stage may also commit on receipt, in the first of the two modes:
//
//   after work   as above. A record comes again when this process dies, and when its lease is lost.
//   on receipt   The offset is committed before the record is handed out. Only the lease gives it back, and a record
//                without one is refused. Whoever gets the partition, the record stays with this process.
// Thread rule: one thread per Stage; a process may have many.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "consumers/stage/heartbeats.h"
#include "consumers/stage/in_flight.h"
#include "consumers/stage/lease.h"
#include "consumers/stage/result.h"
#include "consumers/stage/work_reader.h"

namespace reseq::stage {

// When the offset of a record is committed.
enum class CommitWhen : unsigned char { kAfterWork, kOnReceipt };

struct StageLimits {
  // Records handed out and not finished, or whose results are kept; then nothing is read. A stage that stays full for
  // max.poll.interval.ms loses its partitions, as every consumer that does not poll.
  std::size_t in_flight_max = 1'000;
  std::chrono::milliseconds commit_interval{200};
  CommitWhen commit = CommitWhen::kAfterWork;
};

[[nodiscard]] UnixMs wall_clock();

struct LeaseKeeping {
  std::unique_ptr<HeartbeatSender> heartbeats = {};  // none: leases end as `work` says
  std::function<UnixMs()> now = wall_clock;          // has to agree with that of the resequencer
};

// A record of `work`, whole: it may be kept as long as the computation takes.
struct Work {
  Ticket ticket;
  std::optional<std::string> key;
  std::optional<std::string> payload;
  std::vector<OwnedHeader> headers;
  // Is told when its lease is lost: the work is to stop then, nothing of it is sent any more. Nobody ever tells one of
  // work without a lease.
  std::stop_token lease = {};
  bool has_lease = false;

  [[nodiscard]] bool lease_lost() const { return lease.stop_requested(); }
  // The last value of that name; empty when it is absent or null.
  [[nodiscard]] std::string_view header(std::string_view name) const;
};

class Stage : private AssignmentListener {
 public:
  // REQUIRES: a sender that holds nothing, for commits on receipt.
  Stage(std::unique_ptr<WorkReader> reader, std::unique_ptr<ResultSender> sender, StageLimits limits,
        LeaseKeeping leases = {});
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  ~Stage() override;

  // The next record, if one comes within the limit and there is room for it. Does everything else on the way:
  // acknowledgements, rebalances, commits, heartbeats. Call it regularly. An error: this stage is done for, open a new
  // one. kInvalid: it is to commit on receipt, and a record has no lease.
  Result<std::optional<Work>> next(Milliseconds limit);

  // Sends an answer, whatever it says; any number per record. Waits while the producer's queue is full.
  Result<> send(const Work& work, const StageResult& result);

  // All that next() does but reading: for whoever has no use for another record now.
  Result<> tend();

  // No more results will be sent for it.
  void finish(const Work& work);

  // Sends heartbeats and drops what was lost. next() and send() do that, too: call it at least every tenth of a lease
  // while neither is called.
  void keep_leases();
  // Whose work has to stop, since the last call.
  std::vector<LostLease> take_lost() { return std::exchange(lost_, {}); }
  // Nothing (more) comes of it here: no heartbeat is sent any more, and its lease gives it back. REQUIRES: it has one.
  void give_up(const Work& work);

  // False when the record is finished, or was dropped because its partition went elsewhere or its lease was lost.
  [[nodiscard]] bool in_flight(const Work& work) const { return in_flight_.contains(work.ticket); }
  [[nodiscard]] std::size_t in_flight_count() const { return in_flight_.size(); }
  [[nodiscard]] std::size_t partitions_owned() const { return in_flight_.owned().size(); }

  // Waits up to the limit for acknowledgements of what was finished, and commits. For an orderly end.
  Result<> drain(Milliseconds limit);

 private:
  using Clock = std::chrono::steady_clock;
  // So many more are read while nothing can be committed on receipt.
  static constexpr std::size_t kReceivedMax = 100;
  [[nodiscard]] bool full() const {
    return in_flight_.size() + sender_->held() >= limits_.in_flight_max + (received_.empty() ? 0 : kReceivedMax);
  }
  Result<> take_acknowledgements(Milliseconds limit);
  Result<> commit_when_due();
  Result<> commit();
  // False: it was not committed, and nothing is lost.
  Result<bool> try_commit();
  void on_assigned(std::span<const Partition> partitions) override;
  void on_revoked(std::span<const Partition> partitions, bool may_commit) override;
  // None: its lease is over, or on receipt: its offset is not committed yet.
  Result<std::optional<Work>> hand_out(WorkRecord record);
  Result<std::optional<Work>> hand_out_received();
  void drop_received(std::span<const Partition> partitions);

  std::unique_ptr<WorkReader> reader_;
  std::unique_ptr<ResultSender> sender_;
  StageLimits limits_;
  LeaseKeeping keeping_;
  InFlight in_flight_;
  Clock::time_point committed_at_;
  Leases leases_;
  UnixMs kept_at_;
  std::vector<LostLease> lost_;
  bool committing_ = false;
  std::deque<Work> received_;           // on receipt: not handed out yet
  std::size_t received_committed_ = 0;  // so many at the front may be
};

// The simplest pipeline: one record after the other until `stop` says so. The handler answers all results of a record,
// and what failed (Answer::kFail); what is for targets that nobody asked for is left out, see asked_for(). While it
// works on a record with a lease, it does so in another thread, and Work::lease tells it when to stop.
using WorkHandler = std::function<std::vector<StageResult>(const Work&)>;
Result<> run_stage(Stage& stage, const WorkHandler& handler, const std::function<bool()>& stop);

}  // namespace reseq::stage
