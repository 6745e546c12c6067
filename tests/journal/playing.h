// Playing: a history through the engine, over rows held in memory as they are encoded: what a batch changed is written
// as its bytes and read again from them.
// Thread rule: one thread.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "driver/batch_driver.h"
#include "engine/journal/journal.h"
#include "tests/gate/encoded_rows.h"
#include "tests/journal/job.h"

namespace reseq::journal {

// Nothing waits; only what failed does; all wait for their turn.
enum class Mode : std::uint8_t { kAtOnce, kTriedAgain, kJournal };

class EnginePlayer final : public Player {
 public:
  EnginePlayer(const Rules& rules, Mode mode);

  // Other rules from now on.
  void take(const Rules& rules, Mode mode);
  [[nodiscard]] Answer play(const Batch& batch) override;
  [[nodiscard]] std::vector<Pending> pending() const override;
  // The rows of the decision tables that inputs have met.
  [[nodiscard]] const std::set<TableRow>& met() const { return met_; }
  // Asserts that a worker wakes up for what may leave, and for nothing else.
  void check_wake_up() const;
  // What is held in the state beside documents.
  [[nodiscard]] std::size_t held() const;

 private:
  [[nodiscard]] Command command_of(const Input& input);
  void apply(const engine::Batch& decided, const Batch& batch);
  [[nodiscard]] Answer answer_of(const engine::Batch& decided, const Batch& batch) const;
  [[nodiscard]] std::size_t document_of(const engine::Batch& decided, const Batch& batch, InputIndex input) const;
  [[nodiscard]] std::uint64_t number_of(const Dispatched& one) const;

  engine::Context context_;
  bool skips_unchanged_ = false;
  std::optional<engine::Journal> journal_;
  gate::EncodedRows rows_;
  PartitionState state_;
  std::deque<Wish> wishes_;  // of the running batch
  std::set<TableRow> met_;
};

}  // namespace reseq::journal
