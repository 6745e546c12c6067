// Deciding: one batch through the engine over rows held in memory, as the runtime does it, and a copy of all that came
// out. Also the seam at which the sensitivity tests make a wrong engine out of the right one.
// Thread rule: one thread.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/batch.h"
#include "tests/property/history.h"

namespace reseq::property {

struct PlannedInput {
  const Input* input = nullptr;
  bool requests_read = false;
};

struct Plan {
  std::span<const PlannedInput> inputs;
  std::span<const std::size_t> timers;  // documents
};

struct ChangedRow {
  std::size_t document = 0;
  std::optional<Row> row;
  friend bool operator==(const ChangedRow&, const ChangedRow&) = default;
};

// What a closed batch said. The views in events are those of the inputs.
struct Decided {
  std::size_t taken = 0;                         // inputs decided, from the front of the plan
  engine::Taken last = engine::Taken::kDecided;  // why the one behind them was not
  std::vector<Decision> decisions;
  std::vector<Emission> emissions;
  std::vector<Event> events;
  std::vector<ChangedRow> changes;
  PartitionState state;
};

// A wrong engine: changes what the right one said. `rows` are those before the batch.
using Corruption = std::function<void(Decided&, const Plan&, const Rows& rows)>;

// What the oracle looks at.
enum class Judged : std::uint8_t {
  kAll,
  kOutcomes,  // what left the engine, not the rows that it keeps
  kEnd,       // the end alone
};

struct WrongEngine {
  Corruption corrupt;
  bool never_asks_for_requests = false;
  bool differs_each_time = false;
  Judged judged = Judged::kAll;

  [[nodiscard]] bool is_right() const { return !corrupt && !never_asks_for_requests && !differs_each_time; }
};

// Decides the plan up to the first input that the engine puts off.
[[nodiscard]] Decided decide(const Plan& plan, const Rows& rows, const PartitionState& state,
                             const engine::Context& context, const WrongEngine& wrong);

// Empty if both say the same, otherwise what differs.
[[nodiscard]] std::string difference(const Decided& a, const Decided& b);

}  // namespace reseq::property
