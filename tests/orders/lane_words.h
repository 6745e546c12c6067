// What goes into lanes and what comes out of them, as plain as it can be said: documents are numbers, orders are
// sequences of the epoch 0. The lane table, the engine and every wrong lane are asked and answer in these words.
// Thread rule: plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/effects.h"
#include "model/ids.h"
#include "model/target.h"

namespace reseq::orders {

inline constexpr std::size_t kDocuments = 3;
inline constexpr TargetNumber kNewest{0};
inline constexpr TargetNumber kStrict{1};
inline constexpr TargetNumber kTotal{2};
inline constexpr std::size_t kTargets = 3;
inline constexpr TargetSet kAllTargets{7};
inline constexpr std::int64_t kGapMs = 3'000;       // behind the dispatch of a head
inline constexpr std::int64_t kPatienceMs = 1'000;  // behind what was in front of it

using OrderNumber = std::uint64_t;

enum class Kind : std::uint8_t { kRequest, kExpire, kSkip, kRegister, kResult, kUnregister };

struct Input {
  Kind kind = Kind::kRequest;
  std::size_t document = 0;
  OrderNumber order = 0;
  TargetSet targets;          // asked for; of a result and a skip one; empty: `*` of an UNREGISTER
  bool deletes = false;       // a request: for all targets when it has no list
  bool has_list = true;       // of a request
  std::uint64_t hash = 0;     // of its payload
  bool reprocess = false;     // a request that is to be done once more
  bool too_large = false;     // a result that its output cannot take
  std::int64_t position = 0;  // in its topic
};

// Inputs of one transaction in their order: requests, operations, commands.
struct Batch {
  UnixMs now;
  bool fenced = false;  // inputs were read to ends asked now: gaps may be seen
  std::vector<Input> inputs;
};

struct Verdict {
  Outcome outcome = Outcome::kDropped;
  Reason reason = Reason::kNone;
  friend bool operator==(const Verdict&, const Verdict&) = default;
};

struct Forwarded {
  std::size_t document = 0;
  OrderNumber order = 0;
  TargetSet targets;
  std::size_t input = 0;  // its request
  friend bool operator==(const Forwarded&, const Forwarded&) = default;
};

struct Released {
  std::size_t document = 0;
  OrderNumber order = 0;
  TargetNumber target;
  friend bool operator==(const Released&, const Released&) = default;
};

// What a batch said.
struct Answer {
  std::vector<Verdict> verdicts;  // of each input
  std::vector<Forwarded> forwarded;
  std::vector<Released> released;  // in the order of their versions
  std::vector<Released> skipped;   // dead letters of gaps
  std::size_t places = 0;          // in all lanes behind it
  std::size_t held = 0;            // of them those with results
};

// Whoever plays a history.
class Player {
 public:
  virtual ~Player() = default;
  [[nodiscard]] virtual Answer play(const Batch& batch) = 0;
};

// Empty if both say the same, otherwise what differs first. What is released or skipped has an order within its lane
// alone: that of the document, or for a total target that of the partition.
[[nodiscard]] std::string difference(const Answer& expected, const Answer& got);
[[nodiscard]] std::string describe(const Batch& batch, const Answer& answer);

}  // namespace reseq::orders
