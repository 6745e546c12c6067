// REGISTER, whether it came as a request or as a command: table R.
// Thread rule: pure functions.
#pragma once

#include "engine/context.h"
#include "engine/ruling.h"
#include "model/command.h"
#include "model/partition_state.h"

namespace reseq::engine {

// What the rows of the table are told apart by.
struct RegisterFacts {
  bool reprocesses = false;  // the order is a new revision of the row's newest one
  bool behind = false;       // o < barrier
  bool reused = false;       // a request, o is the newest requested order, with another payload hash
  bool known = false;        // there is a row
  TargetSet moved;           // targets asked for with newest(t) < o or none
  TargetSet late;            // request: pending at o, which no request asked for before
  TargetSet newer;           // targets asked for with newest(t) > o
  bool unchanged = false;    // a request, all of its targets have what it asks for
};
[[nodiscard]] TableRow classify(const RegisterFacts& facts);

// All targets that a registration asks for, ordered ones too. `row` null = no row.
[[nodiscard]] TargetSet targets_asked(const Registration& what, const Row* row, const Context& context);
// What a request asks for, where somebody compares; else null.
[[nodiscard]] inline const Digest* content_of(const Request& request) {
  return request.wish != nullptr && request.wish->content != Digest() ? &request.wish->content : nullptr;
}

// What follows is about targets that are not ordered.
// `row` null = no row. `position` is the request's offset.
[[nodiscard]] Ruling decide_request(const Request& request, Offset position, const Row* row,
                                    const PartitionState& state, const Context& context);
[[nodiscard]] Ruling decide_register(const Register& command, const Row* row, const PartitionState& state,
                                     const Context& context);

}  // namespace reseq::engine
