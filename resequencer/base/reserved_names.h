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
inline constexpr std::array<std::string_view, 20> kHeaders = {
    // failures
    "reseq-failure", "reseq-failure-scope", "reseq-error", "reseq-effect", "reseq-retry", "reseq-source",
    // trees
    "reseq-root", "reseq-parent", "reseq-order", "reseq-order-key", "reseq-children", "reseq-shared", "reseq-last",
    "reseq-tree", "reseq-run",
    // orders, loads, groups of linked records
    "reseq-previous-seq", "reseq-transaction", "reseq-group", "reseq-links", "reseq-part"};

// Values of reseq-command. Each is refused as an unknown command.
inline constexpr std::array<std::string_view, 1> kCommands = {"fail"};

// Of an input.
inline constexpr std::array<std::string_view, 3> kOutcomes = {"held", "staged", "unchanged"};

inline constexpr std::array<std::string_view, 17> kReasons = {
    // failures
    "no_request", "effect_unknown", "failed",
    // trees
    "tree_incomplete", "tree_closed", "parent_unknown", "parent_closed", "parent_conflict", "kind_conflict",
    "foreign_child", "rank_too_long", "too_many_nodes",
    // orders, loads
    "gap", "skipped", "transaction_aborted", "transaction_ended", "unknown_transaction"};

// Tables and keys of the configuration; of a table all its keys.
inline constexpr std::array<std::string_view, 10> kKeys = {
    "failures", "step", "trees", "orders", "loads", "match", "rest",
    "skip_unchanged", "unchanged_headers", "inherit_failed"};
// Of [[target]].
inline constexpr std::array<std::string_view, 2> kTargetKeys = {"order", "effect"};

// clang-format on

template <typename Names>
[[nodiscard]] constexpr bool has(const Names& names, std::string_view name) {
  for (const std::string_view each : names)
    if (each == name) return true;
  return false;
}

}  // namespace reseq::reserved
