// Lane: the queue of an ordered target, in which each request that it still waits for has a place: of a strict target
// one for each document, in the order of its sequences; of a total one for the partition, in the order of `requests`.
// Places are rows of their own (codec/place_row.h).
// Thread rule: plain values.
#pragma once

#include <cstdint>

#include "model/order.h"
#include "model/target.h"

namespace reseq {

// What the row of a document knows of an ordered target.
struct Lane {
  TargetNumber target;
  // Number of the document, in the keys of its places: given out once in the partition, the same in all of its lanes.
  std::uint64_t document = 0;
  std::uint64_t places = 0;  // that the document has in it
  // Nothing up to here gets a place any more. Strict: the highest order that has left the lane. Total: the highest one
  // that was given a place.
  Order mark;
  friend bool operator==(const Lane&, const Lane&) = default;
};

}  // namespace reseq
