// Names of targets on the wire and in the target table: the grammar, and lists of them.
// Thread rule: any thread.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/arena.h"
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

// The names of a list as they stand there, for who has no table; of an empty one none.
[[nodiscard]] std::vector<std::string> names_in(std::string_view list);

// The list of these. REQUIRES: they are not empty, the table names all of them.
[[nodiscard]] std::string_view list_of(TargetSet targets, const TargetTable& table, Arena& arena);

}  // namespace reseq::codec
