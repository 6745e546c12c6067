// Job: what goes into a journal and what comes out of it, as plain as it can be said: documents are numbers, orders are
// sequences of the epoch 0. The job table, the engine and every wrong journal are asked and answer in these words.
// Thread rule: plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/command.h"
#include "model/effects.h"
#include "model/ids.h"
#include "model/reason.h"
#include "model/target.h"

namespace reseq::journal {

inline constexpr std::size_t kDocuments = 3;
inline constexpr std::size_t kTargets = 3;
inline constexpr TargetSet kAllTargets{(std::uint64_t{1} << kTargets) - 1};
inline constexpr TargetSet kDefaultTargets{3};  // of a request without a list

using OrderNumber = std::uint64_t;

// The rules of `[dispatch]`, with numbers that a small history reaches.
struct Rules {
  std::uint64_t in_flight_max = 2;
  std::uint8_t default_priority = 100;
  unsigned idle_from = 200;  // 256 = never
  std::int64_t process_at_max_ms = 300;
  std::int64_t consolidate_ms = 0;
  bool consolidate_measured = false;
  bool one_at_a_time = true;
  std::int64_t lease_ms = 100;
  std::uint32_t timeouts_max = 1;
  bool last_attempt_only = false;
  bool skips_unchanged = false;
  std::uint32_t retries_max = 2;
  std::uint32_t repeats_max = 2;
  std::int64_t backoff_ms = 1;  // of every retry
  bool inherit_failed = false;  // the same content again fails at once
  TargetSet potent;             // work for them must not be done twice
  std::size_t breaker_documents = 2;
  std::int64_t breaker_pause_ms = 15;
  std::int64_t breaker_pause_max_ms = 60;
  friend bool operator==(const Rules&, const Rules&) = default;
};

enum class Kind : std::uint8_t {
  kRequest,
  kExpire,
  kNow,
  kPostpone,
  kResume,
  kRegister,
  kResult,
  kUnregister,
  kHeartbeat,
  kFail
};

[[nodiscard]] constexpr bool is_of_operator(Kind kind) {
  return kind == Kind::kExpire || kind == Kind::kNow || kind == Kind::kPostpone || kind == Kind::kResume;
}

// One input, whatever its kind.
struct Input {
  Kind kind = Kind::kRequest;
  std::size_t document = 0;
  OrderNumber order = 0;
  std::optional<TargetSet> targets;  // none: of a request what is configured, of others everything
  bool deletes = false;              // a request, a REGISTER
  std::uint64_t hash = 0;            // of its payload
  std::optional<std::uint8_t> priority;
  std::optional<UnixMs> process_at;  // of a request; of kPostpone, which has always one
  std::optional<UnixMs> expires_at;
  UnixMs timestamp;           // of its record
  std::uint32_t attempt = 0;  // of a result and a heartbeat, 0 = it does not say
  std::int64_t position = 0;  // in its topic
  FailureKind failure = FailureKind::kUnknown;
  FailureScope scope = FailureScope::kDocument;
  std::uint8_t error = 0;
  bool without_effect = false;  // of a failure

  [[nodiscard]] bool deletes_all() const { return deletes && !targets; }
};

// Inputs of one transaction, in their order: requests, operations, commands.
struct Batch {
  UnixMs now;
  std::vector<Input> inputs;
};

struct Verdict {
  Outcome outcome = Outcome::kDropped;
  Reason reason = Reason::kNone;
  friend bool operator==(const Verdict&, const Verdict&) = default;
};

struct Dispatched {
  std::size_t document = 0;
  OrderNumber order = 0;
  TargetSet targets;
  std::uint32_t attempt = 1;
  UnixMs lease_until;
  friend bool operator==(const Dispatched&, const Dispatched&) = default;
};

struct Released {
  std::size_t document = 0;
  TargetNumber target;
  OrderNumber order = 0;
  friend bool operator==(const Released&, const Released&) = default;
};

// A dead letter of what has lost too many leases, or failed for good. In no order.
struct TimedOut {
  std::size_t document = 0;
  OrderNumber order = 0;
  friend auto operator<=>(const TimedOut&, const TimedOut&) = default;
};

// What a batch said.
struct Answer {
  std::vector<Verdict> verdicts;  // of each input
  std::vector<Released> released;
  std::vector<TimedOut> timed_out;
  std::vector<Dispatched> dispatched;
  std::size_t waiting = 0;     // documents that wait behind it
  std::size_t processing = 0;  // and those that are under way
  std::size_t failed = 0;      // targets that failed for good, and nothing newer came for them
  TargetSet down;              // whose breakers are open behind it
  friend bool operator==(const Answer&, const Answer&) = default;
};

// A target that waits for a result.
struct Pending {
  std::size_t document = 0;
  OrderNumber order = 0;
  TargetNumber target;
  std::uint32_t attempt = 1;
};

// Whoever plays a history.
class Player {
 public:
  virtual ~Player() = default;
  [[nodiscard]] virtual Answer play(const Batch& batch) = 0;
  [[nodiscard]] virtual std::vector<Pending> pending() const = 0;
};

// Empty if both say the same, otherwise what differs first. Outcomes of heartbeats are not compared.
[[nodiscard]] std::string difference(const Batch& batch, const Answer& expected, const Answer& got);

[[nodiscard]] std::string describe(const Rules& rules);
[[nodiscard]] std::string describe(TargetSet targets);
[[nodiscard]] std::string describe(const Input& input);
[[nodiscard]] std::string describe(const Verdict& verdict);
[[nodiscard]] std::string describe(const Dispatched& dispatched);
[[nodiscard]] std::string describe(const Batch& batch, const Answer& answer);

}  // namespace reseq::journal
