// Tally: what was counted, of which document how often, and how it is written down. Bounded, however long it counts.
//
// Of a result it is sure, whenever which topic was read: in_order, out_of_order and duplicates compare it only with the
// results of its document and target that stand before it in the output.
//   in_order      above all of them
//   out_of_order  below one of them: a stale write, that puts old content over newer
//   duplicates    the same as the highest of them
// By the timestamps of records: superseded (in order, but the newest request known was made before it was written; at
// least so many, because of several newer requests only the newest is remembered), unregistered (no request with its
// sequence was read before it), and answer_ms.
//
// Invariant: results = in_order + out_of_order + duplicates + withdrawn + sum of results_refused.
// Thread rule: plain value.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "metrics/histogram.h"
#include "model/effects.h"
#include "model/ids.h"
#include "observe/top_list.h"

namespace reseq::observe {

// Members keep the order in which they are written.
using Json = nlohmann::ordered_json;

using CountsOfReasons = std::array<std::uint64_t, static_cast<std::size_t>(Reason::kCount)>;
using CountsOfRows = std::array<std::uint64_t, static_cast<std::size_t>(TableRow::kCount)>;

[[nodiscard]] std::uint64_t sum_of(const CountsOfReasons& counts);

// Whether keys decide the partitions, of the records of one topic that have an id.
struct Routing {
  std::uint64_t with_id = 0;
  std::uint64_t keyed_by_id = 0;  // the key is the id
  std::uint64_t murmur2 = 0;      // the partition is the one that murmur2 of the id gives
  std::uint64_t crc32 = 0;
};

struct Tally {
  // Of the input. requests = registered + repeated + behind + reused + resets + sum of requests_refused.
  std::uint64_t requests = 0;
  std::uint64_t registered = 0;  // newest of its document
  std::uint64_t repeated = 0;    // the same sequence with the same payload again
  std::uint64_t behind = 0;      // a newer request of the document stands before it
  std::uint64_t reused = 0;      // the same sequence with another payload
  std::uint64_t resets = 0;
  CountsOfReasons requests_refused{};

  // Of the output.
  std::uint64_t results = 0;
  std::uint64_t in_order = 0;
  std::uint64_t out_of_order = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t withdrawn = 0;     // for a target that UNREGISTER took away, or that its request did not name
  std::uint64_t superseded = 0;    // part of in_order
  std::uint64_t unregistered = 0;  // beside the others
  CountsOfReasons results_refused{};
  CountsOfRows table_rows{};             // of the decision tables that results met
  std::uint64_t other_commands = 0;      // REGISTER and UNREGISTER, which are no results
  std::uint64_t other_commands_bad = 0;  // of those, without effect

  Routing input_routing;
  Routing output_routing;
  std::uint64_t without_timestamp = 0;
  UnixMs first;  // of the timestamps; 0 = none
  UnixMs last;

  metrics::Histogram lateness_ms;       // of stale writes: since the newer one was written
  metrics::Histogram reorder_distance;  // of stale writes: sequence numbers behind the newest written (u64)
  metrics::Histogram answer_ms;         // from the newest request of a document to its result
  std::int64_t lateness_ms_max = 0;
  std::uint64_t reorder_distance_max = 0;
  std::int64_t answer_ms_max = 0;

  TopList worst;  // documents by stale writes
};

// Everything, exactly: what from_json() takes.
[[nodiscard]] Json to_json(const Tally& tally);
// Throws nlohmann::json::exception when it is none.
[[nodiscard]] Tally from_json(const Json& json);

// A histogram as [{"le": 16, "count": 3}, ...], only buckets that hold something; the last one has no "le".
[[nodiscard]] Json histogram_json(const metrics::Histogram& histogram);
// The upper end of the bucket in which this part (0..1) of the observations ends; 0 when there are none.
[[nodiscard]] std::uint64_t quantile(const metrics::Histogram& histogram, double part);

}  // namespace reseq::observe
