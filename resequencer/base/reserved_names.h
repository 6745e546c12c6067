// Reserved names: of what later versions will do. Until then a record with such a header is refused, because to ignore
// it would be wrong; a configuration with such a key does not load; and nothing else may be called so, or a log written
// today would mean something else tomorrow. Who builds one of these takes its name out of here.
// schemas/wire.md lists the headers and schemas/reasons.md the reasons and outcomes; tests keep them the same.
#pragma once

#include <array>
#include <string_view>

namespace reseq::reserved {

// clang-format off

// On any input.
inline constexpr std::array<std::string_view, 15> kHeaders = {
    // failures
    "reseq-retry",
    // trees
    "reseq-root", "reseq-parent", "reseq-order", "reseq-order-key", "reseq-children", "reseq-shared", "reseq-last",
    "reseq-tree", "reseq-run",
    // orders, loads, groups of linked records
    "reseq-previous-seq", "reseq-transaction", "reseq-group", "reseq-links", "reseq-part"};

// Of an input.
inline constexpr std::array<std::string_view, 1> kOutcomes = {"staged"};

inline constexpr std::array<std::string_view, 13> kReasons = {
    // trees
    "tree_incomplete", "tree_closed", "parent_unknown", "parent_closed", "parent_conflict", "kind_conflict",
    "foreign_child", "rank_too_long", "too_many_nodes",
    // orders, loads
    "skipped", "transaction_aborted", "transaction_ended", "unknown_transaction"};

// Tables and keys of the configuration; of a table all its keys.
inline constexpr std::array<std::string_view, 4> kKeys = {"trees", "loads", "match", "rest"};

// clang-format on

template <typename Names>
[[nodiscard]] constexpr bool has(const Names& names, std::string_view name) {
  for (const std::string_view each : names)
    if (each == name) return true;
  return false;
}

}  // namespace reseq::reserved
