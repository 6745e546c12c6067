// Totals: what a worker has done since it began, for the log, metrics and tests. Only what was committed counts.
// Thread rule: plain values.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "metrics/histogram.h"
#include "model/effects.h"
#include "runtime/takeover/recovery.h"
#include "runtime/worker/bad_records.h"

namespace reseq::runtime {

// Inputs by outcome and reason.
class OutcomeCounts {
 public:
  void add(const Decision& decision) { ++counts_[index(decision.outcome)][index(decision.reason)]; }
  OutcomeCounts& operator+=(const OutcomeCounts& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i)
      for (std::size_t k = 0; k < counts_[i].size(); ++k) counts_[i][k] += other.counts_[i][k];
    return *this;
  }

  [[nodiscard]] std::uint64_t of(Outcome outcome, Reason reason) const {
    return counts_[index(outcome)][index(reason)];
  }
  [[nodiscard]] std::uint64_t of(Outcome outcome) const {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : counts_[index(outcome)]) sum += count;
    return sum;
  }
  [[nodiscard]] std::uint64_t of(Reason reason) const {
    std::uint64_t sum = 0;
    for (const CountsByReason& one : counts_) sum += one[index(reason)];
    return sum;
  }
  // Outcomes that keep the record: dead letters, redirections.
  [[nodiscard]] CountsByReason bad() const {
    CountsByReason bad = counts_[index(Outcome::kDeadLettered)];
    for (std::size_t i = 0; i < bad.size(); ++i) bad[i] += counts_[index(Outcome::kRedirected)][i];
    return bad;
  }

 private:
  template <typename Enum>
  static constexpr std::size_t index(Enum value) {
    return static_cast<std::size_t>(value);
  }
  std::array<CountsByReason, static_cast<std::size_t>(Outcome::kCount)> counts_{};
};

// How it ended that an order waited for its dispatch. What ends in the batch in which it came is told by the outcome of
// its input alone.
enum class WaitEnd : std::uint8_t {
  kDispatched,    // sent to `work`
  kExpired,       // nobody wanted it any more
  kDropped,       // a newer one took its place, or an operator gave it up
  kDeadLettered,  // its record is gone, or its lease was lost too often
  kCount
};
inline constexpr std::array<std::string_view, static_cast<std::size_t>(WaitEnd::kCount)> kWaitEndNames = {
    "dispatched", "expired", "dropped", "dead_lettered"};

struct Totals {
  OutcomeCounts outcomes;
  std::uint64_t inputs = 0;
  std::array<std::uint64_t, 3> inputs_by_role{};  // per kInputs
  std::vector<std::uint64_t> outputs;             // records produced, by topic index
  std::uint64_t transactions = 0;
  std::uint64_t aborted = 0;
  std::uint64_t recycled = 0;
  std::uint64_t ends_asked = 0;
  std::uint64_t timers = 0;   // fired
  std::uint64_t expired = 0;  // watermarks swept
  std::uint64_t older_requests = 0;
  std::array<std::uint64_t, static_cast<std::size_t>(WaitEnd::kCount)> waits_ended{};
  std::uint64_t leases_lost = 0;
  std::uint64_t markers = 0;  // of outputs: of a document that failed
  std::uint64_t body_gone = 0;
  std::uint64_t held_released = 0;  // results that were held in a lane
  std::uint64_t gaps = 0;           // places in lanes that were skipped
  std::uint64_t checkpoints = 0;
  std::uint64_t checkpoints_failed = 0;
  std::uint64_t compactions = 0;
  std::uint64_t compactions_failed = 0;
  std::uint64_t reuses = 0;
  std::array<std::uint64_t, static_cast<std::size_t>(Rebuild::kCount)> rebuilds{};  // by reason

  metrics::Histogram commit_ms;           // of the call that commits
  metrics::Histogram transaction_inputs;  // how many one transaction decided
  metrics::Histogram checkpoint_ms;
  metrics::Histogram checkpoint_rows;  // that had changed since the one before
  metrics::Histogram compaction_ms;    // of one step
  metrics::Histogram forward_ms;       // from the timestamp of a request to the commit of its work
  metrics::Histogram release_ms;       // from the timestamp of a result to the commit of its output
  // Of results that came too late: since the newer one was released, and by how many sequence numbers they are behind
  // what is newest (u64 only).
  metrics::Histogram late_ms;
  metrics::Histogram late_sequences;
};

}  // namespace reseq::runtime
