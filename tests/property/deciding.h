// Deciding: one batch through the engine over rows held in memory, as the runtime does it, and a copy of all that came
// out. Also the seam at which the sensitivity tests make a wrong engine out of the right one.
// Thread rule: one thread.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "driver/batch_driver.h"
#include "tests/property/history.h"

namespace reseq::property {

struct PlannedInput {
  const Input* input = nullptr;
  bool requests_read = false;
};

struct Plan {
  std::span<const PlannedInput> inputs;
  std::span<const std::size_t> timers;           // documents
  std::span<const driver::GateTurn> turns = {};  // of the gate
  std::uint64_t bytes_max = UINT64_MAX;          // that they let through
};

// A row of another kind; none: it is gone.
struct OtherRow {
  std::string key;
  std::optional<std::string> value;
  friend bool operator==(const OtherRow&, const OtherRow&) = default;
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
  std::vector<Emission> emissions;                    // without what lives as long as the batch:
  std::map<std::uint32_t, std::uint64_t> bytes_gone;  // of dead letters, by InputIndex
  std::vector<Event> events;
  std::vector<ChangedRow> changes;
  std::vector<InputIndex> held;
  std::vector<OtherRow> others;          // what is held and what the gate changed
  std::vector<std::string> let_through;  // keys of rows: those behind the inputs, by InputIndex
  std::vector<AgendaDone> agenda;
  std::vector<std::string> generated;  // records, for a person
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
  Milliseconds turns_early{0};  // of the gate
  bool ignores_bytes = false;   // that it may let through
  bool sends_what_is_gone = false;
  bool ignores_rows = false;

  [[nodiscard]] bool is_right() const {
    return !corrupt && !never_asks_for_requests && !differs_each_time && turns_early == Milliseconds(0) &&
           !ignores_bytes && !ignores_rows;
  }
};

// Decides the plan up to the first input that the engine puts off.
[[nodiscard]] Decided decide(const Plan& plan, const Rows& rows, const PartitionState& state,
                             const engine::Context& context, const WrongEngine& wrong);

// Empty if both say the same, otherwise what differs.
[[nodiscard]] std::string difference(const Decided& a, const Decided& b);

}  // namespace reseq::property
