// Places: where a pipeline that knows nothing of the resequencer keeps the id, the sequence and the target of a record,
// and what a record says there as a Command. Of a doubled header the last one counts.
//
//   place := "key" | "header:" name
//
// Thread rule: any thread; pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "codec/command_decoder.h"
#include "model/command.h"
#include "model/order.h"
#include "model/target.h"

namespace reseq::observe {

struct Place {
  std::string header;  // empty = the key
  [[nodiscard]] bool is_key() const { return header.empty(); }
  friend bool operator==(const Place&, const Place&) = default;
};

// Empty when the text is no place.
[[nodiscard]] std::optional<Place> parse_place(std::string_view text);

// Of the records of one topic.
struct Places {
  Place id;
  Place sequence;
  std::optional<Place> target;  // of a result; absent: there is one target, number 0
};

// The value at a place. Absent: no such header, or it or the key is null.
[[nodiscard]] std::optional<std::string_view> value_at(const Place& place, const codec::InputRecord& record);

// A Request for a record of kRequests, a SequenceResult for one of kCommands, always an upsert without epoch: what a
// null payload means in a foreign pipeline is not known, and no count depends on it. Refused, in this order:
// missing_id, empty_id, id_too_long, missing_sequence, malformed_sequence, missing_target, unknown_target.
[[nodiscard]] Command decode(const codec::InputRecord& record, const Places& places, SequenceKind kind,
                             const TargetTable& targets);

}  // namespace reseq::observe
