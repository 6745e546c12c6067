// Operations on what runs: control records that instances take in their order, exactly once, and answer on the events
// topic (schemas/wire.md, "Control"). Whoever may write the control topic may do them.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/ask.h"
#include "cli/dead_letter.h"

namespace reseq::cli {

struct OperationOptions {
  AskOptions ask;
  bool dry_run = false;
  std::string control_id;       // stands in the audit event, in front of a part that is drawn
  std::string* told = nullptr;  // where JSON is put instead of stdout, by whoever has none
};

// What the operator has seen; an operation that finds something else does nothing.
struct Expectation {
  std::optional<std::string> sequence;  // of the newest request, as the producer writes it
  std::uint32_t epoch = 0;
};

struct ExpireRequest {
  std::string id;
  std::optional<std::string> target;
  Expectation expected;
  std::optional<std::int32_t> partition;  // needed only with partitioner = unchecked
};
struct SkipRequest {
  std::string id;
  std::string target;
  std::optional<std::string> sequence;  // absent: of what the target waits for, if that is of this document
  std::uint32_t epoch = 0;
  std::optional<std::int32_t> partition;  // needed only with partitioner = unchecked and a sequence
};
struct ReleaseRequest {
  LetterPlace place;
  Expectation expected;
  bool unknown = false;  // also when nothing is known of the document
};
struct FloorRequest {
  std::uint64_t version = 0;
  std::optional<std::string> target;
  std::optional<std::uint64_t> expected;  // floor so far, 0 = none
  std::optional<std::int32_t> partition;  // absent: all
};

// What a program gets that has asked for it.
void put(const std::string& json, const OperationOptions& options);
// A name that no other operation has: its events are told from all others by it.
[[nodiscard]] std::string draw_control_id();
// kInvalid: the configuration has no such target.
[[nodiscard]] Result<> check_target(const config::Settings& settings, const std::optional<std::string>& target);
// kInvalid: whoever decides it would refuse the target or the name.
[[nodiscard]] Result<> check_operation(const config::Settings& settings, const std::optional<std::string>& target,
                                       const OperationOptions& options);

// A date as an operator types it. kInvalid: it is none, has passed, or lies further ahead than anything may wait.
[[nodiscard]] Result<UnixMs> date_to_wait_for(const std::string& text, UnixMs now, Milliseconds most);

// Each prints what became of it, by partition. kInvalid: some partition refused it, or it cannot be written. kTimeout:
// it is written, and nobody has confirmed it within the time-out.
Result<> expire(const config::Settings& settings, const ExpireRequest& wanted, const OperationOptions& options);
// What waits of this document and target is to be dispatched at once, or not before the date that `until` says.
Result<> dispatch(const config::Settings& settings, const ExpireRequest& wanted,
                  const std::optional<std::string>& until, const OperationOptions& options);
// An ordered target waits for this version of a document no more. kInvalid also: it waits for another one.
Result<> skip(const config::Settings& settings, const SkipRequest& wanted, const OperationOptions& options);
Result<> raise_version_floor(const config::Settings& settings, const FloorRequest& wanted,
                             const OperationOptions& options);
// `partition` absent: all.
Result<> pause(const config::Settings& settings, bool paused, std::optional<std::int32_t> partition,
               const OperationOptions& options);
// A target that could not be reached can be reached again. `partition` absent: for all.
Result<> resume_target(const config::Settings& settings, const std::string& target,
                       std::optional<std::int32_t> partition, const OperationOptions& options);
// A dead-lettered result goes out although nothing waits for it, unless a newer one is known.
Result<> release(const config::Settings& settings, const ReleaseRequest& wanted, const OperationOptions& options);

}  // namespace reseq::cli
