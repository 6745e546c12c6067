// Faults: which call of a client fails, and how. Drawn from the seed of the world, or ordered by a test.
// Thread rule: one thread.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "tests/simulation/kafka/draw.h"

namespace reseq::simulation {

enum class Call : std::uint8_t {
  kInit,
  kBegin,
  kProduce,
  kFlush,
  kSendOffsets,
  kCommit,
  kAbort,
  kPoll,
  kAssign,
  kCommitted,
  kOffsets,  // begins, stable ends, high watermarks
  kFacts,    // cluster id, topic facts
};

enum class Fault : std::uint8_t {
  kNone,
  kRetriable,     // nothing was sent
  kTimeout,       // nothing was sent
  kUnanswered,    // timed out, and it happened
  kLate,          // timed out; the request is on its way and arrives in a later tick
  kRepeated,      // good, but the client had to send it twice, and the first request is still on its way
  kFatal,         // the client is unusable, nothing happened
  kFatalHappened  // the client is unusable, and it happened
};

struct FaultRates {
  std::uint32_t passing = 0;  // per mille of all calls: kRetriable or kTimeout
  std::uint32_t ending = 0;   // per mille of commits and aborts: the others
  std::uint32_t fatal = 0;    // per mille of the calls of a producer: kFatal
};

class Faults {
 public:
  // The next call of this kind gets this one. Orders are answered in turn, before anything is drawn.
  void order(Call call, Fault fault) { ordered_.emplace_back(call, fault); }
  void set_rates(FaultRates rates) { rates_ = rates; }

  Fault next(Call call, Draw& draw);
  // How often a client has called it.
  [[nodiscard]] std::uint64_t calls(Call call) const { return calls_[static_cast<std::size_t>(call)]; }

 private:
  std::deque<std::pair<Call, Fault>> ordered_;
  FaultRates rates_;
  std::array<std::uint64_t, static_cast<std::size_t>(Call::kFacts) + 1> calls_{};
};

// The error of a fault without effect; none for the others.
[[nodiscard]] std::optional<Error> refusal(Fault fault, std::string_view what);

}  // namespace reseq::simulation
