// Playing: a history through the engine, over rows held in memory as they are encoded.
// Thread rule: one thread.
#pragma once

#include <set>

#include "engine/context.h"
#include "engine/orders/orders.h"
#include "tests/gate/encoded_rows.h"
#include "tests/orders/lane_words.h"

namespace reseq::orders {

class EnginePlayer final : public Player {
 public:
  // `rows_max`: of a turn.
  explicit EnginePlayer(std::uint32_t rows_max = UINT32_MAX);

  [[nodiscard]] Answer play(const Batch& batch) override;
  // The rows of the decision tables that inputs have met.
  [[nodiscard]] const std::set<TableRow>& met() const { return met_; }
  // Asserts that the first place of each lane, and no other, says when it is to be looked at again.
  void check_heads() const;
  // Something is to leave that had no room in its turn.
  [[nodiscard]] bool has_more() const;
  // When the first head is waited for no longer.
  [[nodiscard]] std::optional<UnixMs> next_gap() const;

 private:
  [[nodiscard]] Answer answer_of(const engine::Batch& decided, const Batch& batch) const;

  engine::Context context_;
  engine::Orders orders_{true};
  std::uint32_t rows_max_;
  gate::EncodedRows rows_;
  PartitionState state_;
  std::set<TableRow> met_;
};

}  // namespace reseq::orders
