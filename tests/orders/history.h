// History: what happens in a world of lanes, drawn at random and cut down when it is wrong.
// Thread rule: plain values.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/orders/lane_words.h"
#include "tests/support/suite_amount.h"

namespace reseq::orders {

enum class Action : std::uint8_t {
  kRequest,
  kAnswer,  // of the oldest work that was not answered, or of any
  kBatch,
  kClock,
  kLose,
  kLate,    // a request that is older than others of its document
  kResend,  // of a request, or of a result
  kReuse,   // of an order, with another payload
  kDelete,
  kUnregister,
  kStray,  // a result or an UNREGISTER that nobody asked for
  kRegister,
  kSkip,
  kExpire,
  kReprocess,  // of an order that the target without a lane has not as its newest
  kCount,
};

struct Step {
  Action action = Action::kBatch;
  std::uint8_t document = 0;
  std::uint8_t pick = 0;
  std::uint8_t targets = 0;
  std::uint8_t amount = 0;
};

using History = std::vector<Step>;

[[nodiscard]] std::string describe(const History& history);

using test::Amount;
// Of the whole suite.
[[nodiscard]] Amount suite_amount();

// Plays a history; empty: nothing is wrong.
using Play = std::function<std::string(const History&)>;

struct Failure {
  int after_cases = 0;
  std::string violation;
  History history;
};
// Nothing if every history was right; else the first one that was wrong, cut down.
[[nodiscard]] std::optional<Failure> check(const Amount& amount, const Play& play);

}  // namespace reseq::orders
