// Query: what a client asks on `<app>.admin.requests`, as JSON (schemas/admin.requests.schema.json). Every instance
// reads every request and answers for the partitions that it owns; one that owns none of those asked about is silent.
//
//   document   everything that is known of one document
//   list       documents of each partition, or of one, in order of their ids, page by page
//   stats      partitions: counts of outcomes, rates, documents, lag, restore
//   topology   instances and their partitions
//   config     the configuration that an instance runs with; secrets are masked
//
// Thread rule: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "model/ids.h"

namespace reseq::admin {

// Raised when a client of the version before would misread an answer. Members may be added without that.
inline constexpr std::int64_t kProtocol = 1;

namespace header {
inline constexpr std::string_view kCorrelationId = "reseq-correlation-id";  // required, comes back with each reply
inline constexpr std::string_view kReplyTopic = "reseq-reply-topic";        // default: <app>.admin.replies
}  // namespace header

inline constexpr std::size_t kCorrelationIdBytesMax = 128;
inline constexpr std::size_t kRequestBytesMax = 64 * 1024;
inline constexpr std::size_t kPageDocumentsMax = 1000;
inline constexpr std::size_t kPageDocumentsDefault = 100;
inline constexpr Milliseconds kTimeoutDefault{5'000};
inline constexpr Milliseconds kTimeoutMax{60'000};

enum class State : std::uint8_t {
  kAny,
  kLive,        // waits for a result
  kOverdue,     // longer than registration_timeout_ms
  kStarving,    // longer than starvation_after_ms, because newer requests keep coming
  kCompleted,   // waits for nothing; remembered to stop old results
  kWaiting,     // an order of it waits for its dispatch
  kProcessing,  // an order of it was dispatched and is under way
  kStuck,       // an order of it was dispatched so often in vain that it is tried behind all others
  kRetrying,    // work of it failed, and is tried again
  kFailed,      // work of it failed for good, and nothing newer came since
  kHeld,        // a result of it is there, and an ordered target waits for something before it
  kGap,         // what that is: it is waited for, and holds results back
};
// What the orders are about that wait or are under way.
[[nodiscard]] constexpr bool is_of_the_queue(State state) {
  return state == State::kWaiting || state == State::kProcessing || state == State::kStuck;
}
// What is said of work that could not be done.
[[nodiscard]] constexpr bool is_of_failures(State state) {
  return state == State::kRetrying || state == State::kFailed;
}
// What is said of lanes of ordered targets.
[[nodiscard]] constexpr bool is_of_lanes(State state) {
  return state == State::kHeld || state == State::kGap;
}
[[nodiscard]] std::string_view name_of(State state);

struct DocumentQuery {
  std::string id;
};
// Bytes of an error that `stats` and the page show: documents are counted by them.
inline constexpr std::size_t kShownErrorBytes = 200;
// What was said last of the failures that are wanted.
struct WantedError {
  std::string part = {};                  // stands in it, in this case; empty = does not matter
  std::optional<std::string> shown = {};  // it is this, or shown as this; empty = nothing was said
  [[nodiscard]] bool is_any() const { return part.empty() && !shown; }
  [[nodiscard]] bool fits(std::string_view error) const;
  friend bool operator==(const WantedError&, const WantedError&) = default;
};
struct ListQuery {
  std::optional<Partition> partition = {};  // absent: all, which is for first pages
  std::string id_prefix = {};
  State state = State::kAny;
  Milliseconds older_than{0};  // waits for at least so long; 0 = does not matter
  WantedError error = {};      // of failures only
  std::size_t documents_max = kPageDocumentsDefault;
  std::string cursor = {};  // of the page before; empty = the first page. Bytes that mean nothing to a client
};
struct StatsQuery {};
struct TopologyQuery {};
struct ConfigQuery {};
using Query = std::variant<DocumentQuery, ListQuery, StatsQuery, TopologyQuery, ConfigQuery>;
[[nodiscard]] std::string_view name_of(const Query& query);

struct Request {
  Query query;
  Milliseconds timeout = kTimeoutDefault;  // the client waits no longer, so nobody has to answer later
};

// Why a request has no other answer. On the wire: never rename.
enum class Refusal : std::uint8_t {
  kMalformedRequest,     // no JSON, or not as the schema says
  kUnsupportedProtocol,  // of a newer client
  kUnknownQuery,         // this version does not know it
  kNoSuchPartition,
  kNotReady,  // the partition is owned, and its state is not caught up yet
  kTimeout,   // the worker that owns it was busy for too long
  kFault,     // the state cannot be read; it is being rebuilt
  kCount
};
[[nodiscard]] std::string_view name_of(Refusal refusal);

struct Refused {
  Refusal why = Refusal::kMalformedRequest;
  std::string detail;  // for a person
};

[[nodiscard]] std::variant<Request, Refused> parse_request(std::string_view json);
[[nodiscard]] std::string write_request(const Request& request);

}  // namespace reseq::admin
