// Context: everything beside command and state that a decision depends on, as values: time, configuration, limits.
// Thread rule: read-only while a batch runs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/command.h"
#include "model/guards.h"
#include "model/ids.h"
#include "model/target.h"

namespace reseq::engine {

class Gate;

// `[[route]]`: which targets a request without an explicit list has. All conditions that are set must hold; the first
// rule that matches wins.
struct Route {
  std::string id_prefix;             // empty = any
  std::string id_glob;               // shell glob over the whole id (* ? [set]), empty = any
  std::string header, header_value;  // header empty = any; of a doubled header the last counts
  TargetSet targets;
};

enum class Intake : std::uint8_t { kInline, kTap };
enum class OnUnregistered : std::uint8_t { kDeadLetter, kDrop };
enum class OnMissing : std::uint8_t { kDeadLetter, kRedirect, kStop };

// Of which outcomes `events` tells; drops: of what was stopped, and of a RESET. Of overdue documents it always does.
enum class EventPolicy : std::uint8_t { kNone, kDrops, kAll };

struct Policies {
  OnUnregistered on_unregistered = OnUnregistered::kDeadLetter;
  OnUnregistered on_unregistered_target = OnUnregistered::kDeadLetter;
  OnMissing on_missing = OnMissing::kDeadLetter;
  EventPolicy events = EventPolicy::kNone;
};

// `[dispatch]`: how requests wait for their turn.
struct DispatchRules {
  bool journal = false;                // off: what is to be forwarded leaves at once; what waits drains as it came
  std::uint64_t in_flight_max = 1000;  // documents that are under way at a time
  std::uint8_t default_priority = 100;
  unsigned idle_from_priority = 200;  // from there on only while nothing more urgent is under way or due; 256 = never
  Milliseconds process_at_max{std::int64_t{3} * 24 * 3600 * 1000};
  Milliseconds consolidate;           // not before so long behind the insertion,
  bool consolidate_measured = false;  // or as long as dispatches take to their last release
  bool one_at_a_time = true;          // a newer order of a document is not dispatched while an older one is under way
  Milliseconds lease{std::int64_t{3600} * 1000};
  std::uint32_t timeouts_max = 5;
  bool failures = false;           // `[failures]`: workers may say that they could not do it,
  std::uint32_t retries_max = 20;  // and it is tried again so often for a target,
  Milliseconds backoff{1'000};     // so long behind the first time, then doubled
  Milliseconds backoff_max{600'000};
  std::uint32_t repeats_max = 3;        // unless it is the same unknown error so often in a row
  std::uint32_t breaker_documents = 5;  // so many documents close the way to a target, 0 = never,
  Milliseconds breaker_pause{5'000};    // and one tries it behind this one, which is doubled
  Milliseconds breaker_pause_max{60'000};
  bool markers = false;            // the output is told of what is given up,
  bool inherit_failed = false;     // and the same content again is given up at once
  bool last_attempt_only = false;  // results of earlier attempts are refused
  std::uint64_t held_bytes_max = std::uint64_t{256} << 20U;

  // What was dispatched is known until it ends: it has a lease, or may fail.
  [[nodiscard]] bool keeps_under_way() const { return journal || failures; }
};

// What ordered targets need (engine/orders).
struct LaneRules {
  OrderedTargets targets;
  Milliseconds gap_timeout{600'000};  // so long behind its dispatch the head of a lane is waited for
  bool markers = false;               // the output is told of what was skipped
  // Orders of a document that a journal has for ordered targets; what comes then stands in its lane alone, until one of
  // these ends.
  std::uint32_t lane_in_flight_max = 16;
  // What cannot wait for that gets in beyond it, up to this: a row has to fit its changelog.
  std::size_t journal_entries_max = 1'000;
};

struct Context {
  UnixMs now;           // of the batch
  Partition partition;  // that is decided
  Intake intake = Intake::kInline;
  bool requests_carry_epochs = false;  // tap: RESET is refused unless they do
  Policies policies;

  TargetSet all_targets;      // configured
  TargetSet default_targets;  // when no route matches; empty = no_target
  std::vector<Route> routes;
  TargetSet monotonic;  // targets configured `monotonic`
  TargetSet potent;     // work for them must not be done twice

  Milliseconds starvation_after;      // 0 = off
  Milliseconds registration_timeout;  // 0 = off
  Milliseconds watermark_retention{std::int64_t{7} * 24 * 3600 * 1000};
  Milliseconds max_clock_drift{std::int64_t{60} * 1000};

  std::uint64_t work_bytes_max = UINT64_MAX;                // largest record that `work` takes
  std::array<std::uint64_t, kMaxTargets> output_bytes_max;  // per target number, largest record its output takes
  DispatchRules dispatch;
  LaneRules lanes;
  const Gate* gate = nullptr;  // in front of `work`; none: forwards leave at once
  Guards guards;
  Context() { output_bytes_max.fill(UINT64_MAX); }

  // Nothing waits for a date that lies further ahead.
  [[nodiscard]] bool may_wait_until(UnixMs date) const {
    return date.value() - (now < UnixMs() ? 0 : now.value()) <= dispatch.process_at_max.value();
  }
};

}  // namespace reseq::engine
