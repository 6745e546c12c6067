// Names of targets on the wire and in the target table: the grammar, and lists of them.
// Thread rule: any thread.
#pragma once

#include <string_view>
#include <variant>

#include "model/reason.h"
#include "model/target.h"

namespace reseq::codec {

// [A-Za-z0-9._-]{1,100}: what may also be part of a topic's name.
[[nodiscard]] bool is_target_name(std::string_view name);

// Comma separated names, no blanks; a name twice counts once. kMalformedHeader: empty list, empty or impossible name;
// kUnknownTarget: the table lacks one (only told when all names are well-formed).
[[nodiscard]] std::variant<TargetSet, Reason> parse_targets(std::string_view list, const TargetTable& table);

// One name; the same reasons.
[[nodiscard]] std::variant<TargetNumber, Reason> parse_target(std::string_view name, const TargetTable& table);

}  // namespace reseq::codec
