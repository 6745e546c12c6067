// Places: where a pipeline that knows nothing of the resequencer keeps the id, the sequence and the target of a record,
// and what a record says there as a Command.
//
// Thread rule: any thread; pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "codec/command_decoder.h"
#include "codec/place.h"
#include "model/command.h"
#include "model/order.h"
#include "model/target.h"

namespace reseq::observe {

using codec::parse_place;
using codec::Place;

// Of the records of one topic.
struct Places {
  Place id;
  Place sequence;
  std::optional<Place> target;  // of a result; absent: there is one target, number 0
};

// A Request for a record of kRequests, a SequenceResult for one of kCommands, always an upsert without epoch: what a
// null payload means in a foreign pipeline is not known, and no count depends on it. Refused, in this order:
// missing_id, empty_id, id_too_long, missing_sequence, malformed_sequence, missing_target, unknown_target.
[[nodiscard]] Command decode(const codec::InputRecord& record, const Places& places, SequenceKind kind,
                             const TargetTable& targets);

}  // namespace reseq::observe
