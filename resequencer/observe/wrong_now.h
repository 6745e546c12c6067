// Wrong now: documents that the output has left with something else than their newest request.
//   overwritten  the last result in the output is older than one before it: whoever applied them in their order has
//                old content. Sure, as a stale write is
//   missing      the newest request has no result yet, by timestamps
// What was overwritten is noted in the row of the document, as an extension that only an observer writes: it lies on
// disk like the row, however many there are, and goes when a result puts the document right.
// Thread rule: pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "model/order.h"
#include "model/row.h"
#include "model/target.h"
#include "observe/tally.h"

namespace reseq::observe {

struct Overwritten {
  std::string written;  // the order of the result that was written last, as JSON
  UnixMs since;
};
using OverwrittenTargets = std::map<TargetNumber, Overwritten>;

// Of a row of an observer; empty: nothing was overwritten.
[[nodiscard]] OverwrittenTargets overwritten_in(const Row& row);
void note_overwritten(const OverwrittenTargets& targets, Row& row);

[[nodiscard]] Json order_json(const Order& order, SequenceKind kind);

struct WrongCounts {
  std::uint64_t overwritten = 0;
  std::uint64_t missing = 0;
};
// One line of JSON for each target of the document that is wrong, without its newline.
using WrongLine = std::function<void(const std::string& line)>;
void tell_wrong(std::string_view id, const Row& row, const TargetTable& targets, SequenceKind kind,
                const WrongLine& line, WrongCounts& counts);

}  // namespace reseq::observe
