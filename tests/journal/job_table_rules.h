// Words for tests of the job table: inputs as short as they can be, and the table that they are played on.
// Thread rule: one thread.
#pragma once

#include <gtest/gtest.h>
#include <optional>
#include <utility>
#include <vector>

#include "tests/journal/job_table.h"

namespace reseq::journal {

inline constexpr Verdict kWaits{Outcome::kWaiting, Reason::kNone};
inline constexpr Verdict kForwards{Outcome::kForwarded, Reason::kNone};
inline constexpr Verdict kIsSuperseded{Outcome::kDropped, Reason::kSuperseded};
inline constexpr Verdict kIsDuplicate{Outcome::kDropped, Reason::kDuplicate};
inline constexpr Verdict kIsExpired{Outcome::kDropped, Reason::kExpired};
inline constexpr Verdict kReleases{Outcome::kReleased, Reason::kNone};
inline constexpr Verdict kApplies{Outcome::kApplied, Reason::kNone};
inline constexpr Verdict kChangesNothing{Outcome::kDropped, Reason::kNoChange};
inline constexpr Verdict kIsUnknown{Outcome::kDropped, Reason::kUnregistered};
inline constexpr Verdict kIsMalformed{Outcome::kDeadLettered, Reason::kMalformedHeader};

inline constexpr TargetSet kZero{1};
inline constexpr TargetSet kOne{2};
inline constexpr TargetSet kBoth{3};

// Which documents and orders a batch dispatched, in that order.
inline std::vector<std::pair<std::size_t, OrderNumber>> sent(const Answer& answer) {
  std::vector<std::pair<std::size_t, OrderNumber>> all;
  for (const Dispatched& one : answer.dispatched) all.emplace_back(one.document, one.order);
  return all;
}

struct Ask {
  std::optional<std::uint8_t> priority = {};
  std::optional<std::int64_t> process_at = {};
  std::optional<std::int64_t> expires_at = {};
  std::int64_t timestamp = 0;
};

inline Input request(std::size_t document, OrderNumber order, TargetSet targets = kBoth, const Ask& ask = {}) {
  Input input;
  input.document = document;
  input.order = order;
  input.targets = targets;
  input.hash = order;
  input.priority = ask.priority;
  if (ask.process_at) input.process_at = UnixMs(*ask.process_at);
  if (ask.expires_at) input.expires_at = UnixMs(*ask.expires_at);
  input.timestamp = UnixMs(ask.timestamp);
  return input;
}

inline Input delete_all(std::size_t document, OrderNumber order, const Ask& ask = {}) {
  Input input = request(document, order, {}, ask);
  input.deletes = true;
  input.targets.reset();
  return input;
}

inline Input command(Kind kind, std::size_t document, OrderNumber order, std::optional<TargetSet> targets,
                     std::uint32_t attempt = 1) {
  Input input;
  input.kind = kind;
  input.document = document;
  input.order = order;
  input.targets = targets;
  input.attempt = attempt;
  return input;
}

inline Input result(std::size_t document, OrderNumber order, TargetSet target, std::uint32_t attempt = 1) {
  return command(Kind::kResult, document, order, target, attempt);
}

inline Input heartbeat(std::size_t document, OrderNumber order, std::uint32_t attempt, std::int64_t timestamp) {
  Input input = command(Kind::kHeartbeat, document, order, std::nullopt, attempt);
  input.timestamp = UnixMs(timestamp);
  return input;
}

inline Input now(std::size_t document, std::optional<TargetSet> targets = {}) {
  return command(Kind::kNow, document, 0, targets);
}

inline Input postpone(std::size_t document, std::int64_t until, std::optional<TargetSet> targets = {}) {
  Input input = command(Kind::kPostpone, document, 0, targets);
  input.process_at = UnixMs(until);
  return input;
}

class JobTableRules : public testing::Test {
 protected:
  Answer at(std::int64_t now, std::vector<Input> inputs = {}) { return table().play({UnixMs(now), std::move(inputs)}); }

  JobTable& table() {
    if (!table_) table_.emplace(rules);
    return *table_;
  }

  Rules rules;

 private:
  std::optional<JobTable> table_;
};

}  // namespace reseq::journal
