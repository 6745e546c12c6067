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
// Thread rule: one thread per Stage; a process may have many.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "consumers/stage/in_flight.h"
#include "consumers/stage/result.h"
#include "consumers/stage/work_reader.h"

namespace reseq::stage {

struct StageLimits {
  // Records handed out and not finished, or whose results are kept; then nothing is read. A stage that stays full for
  // max.poll.interval.ms loses its partitions, as every consumer that does not poll.
  std::size_t in_flight_max = 1'000;
  std::chrono::milliseconds commit_interval{200};
};

// A record of `work`, whole: it may be kept as long as the computation takes.
struct Work {
  Ticket ticket;
  std::optional<std::string> key;
  std::optional<std::string> payload;
  std::vector<OwnedHeader> headers;

  // The last value of that name; empty when it is absent or null.
  [[nodiscard]] std::string_view header(std::string_view name) const;
};

class Stage : private AssignmentListener {
 public:
  Stage(std::unique_ptr<WorkReader> reader, std::unique_ptr<ResultSender> sender, StageLimits limits);
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  ~Stage() override;

  // The next record, if one comes within the limit and there is room for it. Does everything else on the way:
  // acknowledgements, rebalances, commits. Call it regularly. An error: this stage is done for, open a new one.
  Result<std::optional<Work>> next(Milliseconds limit);

  // Sends a result; any number per record. Waits while the producer's queue is full.
  Result<> send(const Work& work, const StageResult& result);

  // No more results will be sent for it.
  void finish(const Work& work);

  // False when the record is finished, or was dropped because its partition went elsewhere.
  [[nodiscard]] bool in_flight(const Work& work) const { return in_flight_.contains(work.ticket); }
  [[nodiscard]] std::size_t in_flight_count() const { return in_flight_.size(); }
  [[nodiscard]] std::size_t partitions_owned() const { return in_flight_.owned().size(); }

  // Waits up to the limit for acknowledgements of what was finished, and commits. For an orderly end.
  Result<> drain(Milliseconds limit);

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] bool full() const { return in_flight_.size() + sender_->held() >= limits_.in_flight_max; }
  Result<> take_acknowledgements(Milliseconds limit);
  Result<> commit_when_due();
  Result<> commit();
  void on_assigned(std::span<const Partition> partitions) override;
  void on_revoked(std::span<const Partition> partitions, bool may_commit) override;
  Work hand_out(WorkRecord record);

  std::unique_ptr<WorkReader> reader_;
  std::unique_ptr<ResultSender> sender_;
  StageLimits limits_;
  InFlight in_flight_;
  Clock::time_point committed_at_;
};

// The simplest pipeline: one record after the other until `stop` says so. The handler answers all results of a record.
using WorkHandler = std::function<std::vector<StageResult>(const Work&)>;
Result<> run_stage(Stage& stage, const WorkHandler& handler, const std::function<bool()>& stop);

}  // namespace reseq::stage
