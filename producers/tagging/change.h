// Change: what a producer wants to say about one document, before it has a form on the wire.
// Thread rule: plain value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/command.h"
#include "model/order.h"

namespace reseq::tagging {

// Of an application whose requests wait (dispatch.mode = "journal"). Dates are as they go on the wire: milliseconds
// since 1970, or RFC 3339.
struct Turn {
  std::optional<std::uint8_t> priority = {};  // the smallest goes first; absent: the default of the application
  std::string process_at = {};                // not before; empty = at once
  std::string expires_at = {};                // nobody wants it from then on; empty = never; not of a delete
};

struct Change {
  std::string id;  // any bytes, 1 .. kMaxIdBytes
  // A number for the kinds u64 and timestamp (nanoseconds since 1970); text, as it goes on the wire, for every kind.
  std::variant<std::uint64_t, std::string> sequence;
  Op op = Op::kUpsert;
  std::optional<std::string> payload = {};  // absent = null; an empty payload is not null
  std::vector<std::string> targets = {};    // empty: the routes of the application decide
  std::optional<Epoch> epoch = {};          // absent: the default epoch of the partition
  Turn turn = {};
};

}  // namespace reseq::tagging
